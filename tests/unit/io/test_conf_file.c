/* What conf_file.h promises of whole files: what is wrong with one is told with the right line, and
 * whose file it may be. */
#include "conf_text.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/paths.h"

#define OFFERS  "pool p { nodes = c1 max_nodes = 1 max_rate = \"1\" "
#define OFFER_O "offer o { provider = sim type = t region = r }\n"
#define TOKENS  "secrets { driver = vault release = user-data ca_file = \"/ca\" }\n"
#define TOLD    "nodes { conf_server = {\"c:1\"} }\n"
#define POOL_JOB                                                                                   \
	"pool p { nodes = c1 max_nodes = 1 provider = sim type = t region = r max_rate = \"1\" "   \
	"fabric = job }\n"
#define POOL_P                                                                                     \
	"pool p { nodes = \"c[1-8]\" provider = p type = t region = r max_nodes = 8 max_rate = "   \
	"\"300\" }\n"

static const char example[] =
	"cluster   = \"lab\"\n"
	"currency  = \"EUR\"   # a comment, which libconfuse counts as lines of its own\n"
	"/* another\n"
	"   one */\n"
	"state_dir = \"/srv/burstd\"\n"
	"listen    = \"127.0.0.1:9818\"\n"
	"log_level = \"warn\"\n"
	"admins    = {\"root\", # in a list\n"
	"             1001}\n"
	"slurm { bin_dir = \"/opt/slurm/bin\"  conf = \"/etc/slurm/slurm.conf\" }\n"
	"provider \"sim\" {\n"
	"	driver = \"sim\"  url = http://127.0.0.1:8900/#x\n"
	"	url2\n"
	"}\n";

static const struct {
	const char *name, *text;
	const char *want; /* how the message begins; after "f:" */
} bad_rows[] = {
	{"empty", "", "1: cluster is missing (Slurm's ClusterName)"},
	{"missing currency", "cluster = lab\n\n\n", "4: currency is missing"},
	{"bad value", HEAD "listen = \"0.0.0.0:80\"\n", "3: listen: want a loopback"},
	{"unknown option", HEAD "clusterr = x\n",
	 "3: unknown option \"clusterr\" outside the sections; did you mean \"cluster\"?"},
	{"unknown in a pool", HEAD SIM "pool p {\n nods = x\n}\n",
	 "5: unknown option \"nods\" in a pool; did you mean \"nodes\"?"},
	{"unknown in slurm", HEAD "slurm { bin = x }\n", "3: unknown option \"bin\" in a slurm"},
	{"unknown section", HEAD "pools p { }\n",
	 "3: unknown option \"pools\" outside the sections; did you mean \"pool\"?"},
	{"lines after comments", "# one\n/* two\nthree */ # four\n" HEAD "x = 1",
	 "6: unknown option \"x\""},
	{"option twice", HEAD "cluster = b\n", "3: cluster is defined twice, first in line 1"},
	{"option twice in a pool", HEAD SIM "pool p { type = a\ntype = b }",
	 "5: type is defined twice, first in line 4"},
	{"provider twice", HEAD SIM "\n" SIM,
	 "5: provider \"sim\" is defined twice; the first ends in line 3"},
	{"pool twice", HEAD SIM POOL POOL,
	 "5: pool \"p\" is defined twice; the first ends in line 4"},
	{"one of two of a name twice", HEAD "provider p { driver = sim }\n" POOL_P POOL_P,
	 "5: title \"p\" is defined twice for this kind of section"},
	{"curly quotes", HEAD "provider \xe2\x80\x9csim\xe2\x80\x9d { driver = sim }\n",
	 "3: contains a curly quote: write \" instead"},
	{"byte order mark", "\xef\xbb\xbf" HEAD SIM,
	 "1: begins with a byte order mark (BOM): save the file without it"},
	{"duration as burstctl shows it", HEAD "provider x {\ndriver = sim\nsettle = 1d00h\n}\n",
	 "5: provider \"x\": settle: \"1d00h\": want one number and one unit, such as 30s, 15m or "
	 "24h"},
	{"command without a path", HEAD "provider x {\ndriver = static\non = {ipmi, \"%n\"}\n}\n",
	 "5: provider \"x\": on: \"ipmi\": want the absolute path of a program first"},
	{"command with a wrong place",
	 HEAD "provider x {\ndriver = static\noff = {\"/x\", \"%h\"}\n}\n",
	 "5: provider \"x\": off: \"%h\": only %n, %a and %% are allowed"},
	{"unknown in secrets", HEAD "secrets { adress = x }\n",
	 "3: unknown option \"adress\" in secrets; did you mean \"address\"?"},
	{"secrets twice", HEAD "secrets { }\nsecrets { }\n", "4: secrets is defined twice"},
	{"a short wrap_ttl", HEAD "secrets {\n wrap_ttl = 10s }\n", "4: wrap_ttl: \"10s\": want"},
	{"unknown in nodes", HEAD "nodes { urls = x }\n",
	 "3: unknown option \"urls\" in nodes; did you mean \"url\"?"},
	{"nodes twice", HEAD NODES "nodes { }\n", "5: nodes is defined twice"},
	{"nodes without a listener", HEAD "nodes {\n url = {\"https://b\"} }\n",
	 "4: nodes: listen is missing (ADDRESS:PORT)"},
	{"nodes without a URL", HEAD "nodes { listen = \"[::]:1\" conf_server = {\"c:1\"} }\n",
	 "3: nodes: url is missing"},
	{"nodes without slurmctld", HEAD "nodes { listen = \"[::]:1\" url = {\"https://b\"} }\n",
	 "3: nodes: conf_server is missing"},
	{"nodes without keys",
	 HEAD "nodes { listen = \"[::]:1\" url = {\"https://b\"} conf_server = {\"c:1\"} }\n",
	 "3: nodes: machines get the cluster's keys from a secret store: driver of section "
	 "secrets is missing"},
	{"a listener by name", HEAD "nodes {\n listen = \"localhost:1\" }\n",
	 "4: listen: want an address and port such as 0.0.0.0:8443"},
	{"a listener without a port", HEAD "nodes {\n listen = \"0.0.0.0\" }\n",
	 "4: listen: want an address and port"},
	{"nodes without TLS", HEAD "nodes {\n url = {\"http://b\"} }\n",
	 "4: url: \"http://b\": want https://HOST[:PORT], and no path"},
	{"a URL with a path", HEAD "nodes {\n url = {\"https://b/x\"} }\n", "4: url: "},
	{"a URL twice", HEAD "nodes {\n url = {\"https://b\", \"https://b\"} }\n",
	 "4: url: https://b is listed twice"},
	{"slurmctld without a port", HEAD "nodes {\n conf_server = {\"c1\"} }\n",
	 "4: conf_server: \"c1\": want HOST:PORT"},
	{"slurmctld by an address that nodes do not take",
	 HEAD "nodes {\n conf_server = {\"c1:6817\", \"[2001:db8::1]:6817\"} }\n",
	 "4: conf_server: \"[2001:db8::1]:6817\": want HOST:PORT, without [ ]"},
	{"dynamic nodes of which nothing is known",
	 HEAD SIM "pool p { nodes = c1 dynamic = true " POOL_END,
	 "4: pool \"p\": dynamic needs node: what slurmctld is to know of each of its nodes"},
	{"dynamic nodes in units",
	 HEAD SIM
	 "pool p { nodes = \"c[1-8]\" dynamic = true node = \"CPUs=1 RealMemory=1\" unit = 2 "
	 "fabric = unit " POOL_END,
	 "4: pool \"p\": dynamic is impossible with unit: slurmctld has dynamic nodes in no order"},
	{"options for a shell", HEAD "nodes {\n slurmd_options = \"-v;reboot\" }\n",
	 "4: slurmd_options: want words"},
	{"options that nodes do not take",
	 HEAD "nodes {\n slurmd_options = \"-L /var/log/slurmd.%n.log\" }\n",
	 "4: slurmd_options: want words of letters, digits and \"._:/,@+=-\", at most 4096"},
	{"static machines that claim",
	 HEAD NODES "provider p { driver = static attest = address }\n",
	 "5: provider \"p\": attest must be off: driver static has no user-data"},
	{"Azure without its roots", HEAD NODES "provider p { driver = x attest = azure }\n",
	 "5: provider \"p\": attest = azure: attest_ca_file is missing"},
	{"nothing to know Vault by",
	 HEAD "secrets {\ndriver = vault\n}\nnodes { listen = \"0.0.0.0:8443\" url = "
	      "{\"https://b\"} conf_server = {\"c:6817\"} }\n",
	 "4: secrets: ca_file is missing: with release = wrap machines check Vault's certificate "
	 "with it"},
	{"two kinds of user-data",
	 HEAD NODES "provider p { driver = aws user_data_file = \"/u\" }\n",
	 "5: provider \"p\": user_data_file: with section nodes burstd writes the user-data"},
	{"tokens for nodes that reach us", HEAD TOKENS "nodes {\n listen = \"[::]:1\" }\n",
	 "5: nodes: release = user-data is for machines that do not reach burstd: remove "
	 "listen and url"},
	{"tokens and a URL", HEAD TOKENS "nodes { url = {\"https://b\"} }\n",
	 "4: nodes: release = user-data is for machines"},
	{"tokens for nodes without slurmctld", HEAD TOKENS, "3: nodes: conf_server is missing"},
	{"tokens, and nothing to know Vault by",
	 HEAD "secrets { driver = vault\nrelease = user-data }\n" TOLD,
	 "4: secrets: ca_file is missing"},
	{"tokens, and a proof", HEAD TOKENS TOLD "provider p {\n driver = x attest = callback\n}\n",
	 "7: provider \"p\": attest: with release = user-data burstd does not check identities"},
	{"tokens, and another user-data",
	 HEAD TOKENS TOLD "provider p { driver = aws user_data_file = \"/u\" }\n",
	 "5: provider \"p\": user_data_file: with release = user-data burstd writes the user-data"},
	{"a token for all of a job", HEAD TOKENS TOLD SIM POOL_JOB,
	 "6: pool \"p\": fabric = job is impossible with release = user-data: each create makes "
	 "one machine"},
	{"a token for all of a job, in an offer",
	 HEAD TOKENS TOLD SIM OFFERS
	 "offer o { provider = sim type = t region = r\nfabric = job\n} }\n",
	 "8: pool \"p\": fabric = job is impossible with release = user-data"},
	{"no such proof", HEAD "provider p {\ndriver = x\nattest = oci\n}\n",
	 "5: provider \"p\": attest: \"oci\": want aws, gcp, azure, callback, address, off or "
	 "auto"},
	{"slurm twice", HEAD "slurm { }\nslurm { }\n", "4: slurm is defined twice"},
	{"no title", HEAD "pool { }\n", "3: pool has no title: want pool \"NAME\" { ... }"},
	{"title of slurm", HEAD "slurm x { }\n", "3: missing opening brace for section 'slurm'"},
	{"bad title", HEAD "provider \"a b\" { driver = sim }\n",
	 "3: provider \"a b\": want a name"},
	{"empty title", HEAD "provider \"\" { driver = sim }\n", "3: provider \"\": want a name"},
	{"list for a text", HEAD "state_dir = { \"/a\" }\n", "3: unexpected token '{'"},
	{"append to a text", HEAD "state_dir += \"/a\"\n", "3: attempt to append"},
	{"text for a number",
	 HEAD SIM "pool p { nodes = c1\nmax_nodes = many "
		  "provider = sim type = t region = r max_rate = \"1\" }\n",
	 "5: pool \"p\": max_nodes: \"many\": want a number from 0 to 65536"},
	{"missing in a pool", HEAD SIM "pool p {\nnodes = c1\n}\n",
	 "6: pool \"p\": max_nodes is missing (most instances at a time"},
	{"no place in a pool", HEAD SIM "pool p {\nnodes = c1 max_nodes = 1 max_rate = \"1\"\n}\n",
	 "6: pool \"p\": provider is missing (section of the provider to buy from); set it, or add "
	 "an offer"},
	{"missing in an offer", HEAD SIM OFFERS "offer o {\nprovider = sim type = t\n}\n}\n",
	 "6: offer \"o\": region is missing"},
	{"a place beside offers",
	 HEAD SIM OFFERS "offer o { provider = sim type = t region = r }\nmarket = spot\n}\n",
	 "5: pool \"p\" has offers: provider, type, region, zone, market, price and jurisdiction "
	 "belong in the offers"},
	{"offer twice", HEAD SIM OFFERS "\n" OFFER_O OFFER_O "}\n",
	 "6: offer \"o\" is defined twice; the first ends in line 5"},
	{"offers of one name in two pools, and a pool twice",
	 HEAD SIM OFFERS OFFER_O "}\n" OFFERS OFFER_O "}\n",
	 "6: pool \"p\" is defined twice; the first ends in line 5"},
	{"no such provider of an offer",
	 HEAD SIM OFFERS "offer o { type = t region = r\nprovider = simm } }\n",
	 "5: pool \"p\": offer \"o\": there is no provider \"simm\""},
	{"unknown in an offer", HEAD SIM OFFERS "offer o {\nmax_nodes = 1 } }\n",
	 "5: unknown option \"max_nodes\" in an offer"},
	{"offer misspelt", HEAD SIM OFFERS "\noffers o { } }\n",
	 "5: unknown option \"offers\" in a pool; did you mean \"offer\"?"},
	{"offer without a title", HEAD SIM OFFERS "\noffer { } }\n",
	 "5: offer has no title: want offer \"NAME\" { ... }"},
	{"bad title of an offer", HEAD SIM OFFERS "offer \"a b\" { } }\n",
	 "4: offer \"a b\": want a name"},
	{"option twice in an offer", HEAD SIM OFFERS "offer o { type = a\ntype = b } }\n",
	 "5: type is defined twice, first in line 4"},
	{"bad jurisdiction", HEAD SIM OFFERS "jurisdictions = {EU,\n eu} }\n",
	 "5: pool \"p\": jurisdictions: \"eu\": want capital letters"},
	{"not a signal", HEAD SIM OFFERS "checkpoint_signal = SIG-1\n} }\n",
	 "4: pool \"p\": checkpoint_signal: want a signal such as USR1"},
	{"a signal that is too long",
	 HEAD SIM OFFERS "checkpoint_signal = A2345678901234567\n} }\n",
	 "4: pool \"p\": checkpoint_signal: want a signal such as USR1"},
	{"KILL cannot be heard", HEAD SIM OFFERS "checkpoint_signal = KILL\n} }\n",
	 "4: pool \"p\": checkpoint_signal: a job cannot catch KILL: want a signal such as USR1"},
	{"SIGSTOP cannot be heard", HEAD SIM OFFERS "checkpoint_signal = SIGSTOP\n} }\n",
	 "4: pool \"p\": checkpoint_signal: a job cannot catch SIGSTOP: want a signal such as "
	 "USR1"},
	{"9 cannot be heard", HEAD SIM OFFERS "checkpoint_signal = 9\n} }\n",
	 "4: pool \"p\": checkpoint_signal: a job cannot catch 9: want a signal such as USR1"},
	{"19 cannot be heard", HEAD SIM OFFERS "checkpoint_signal = 19\n} }\n",
	 "4: pool \"p\": checkpoint_signal: a job cannot catch 19: want a signal such as USR1"},
	{"a hook with a word of another",
	 HEAD SIM OFFERS "checkpoint_command = {\"/c\", \"%a\"}\n} }\n",
	 "4: pool \"p\": checkpoint_command: \"%a\": only %j, %n, %d and %% are allowed"},
	{"nobody gets the signal", HEAD SIM OFFERS "checkpoint_to = job\n} }\n",
	 "4: pool \"p\": checkpoint_to: \"job\": want batch, steps or full"},
	{"syntax in an offer", HEAD SIM OFFERS "offer o {\n\ntype t } }\n",
	 "6: missing equal sign"},
	{"missing in a provider", HEAD "provider x {}\n", "3: provider \"x\": driver is missing"},
	{"no such provider",
	 HEAD SIM "pool p { nodes = c1\nprovider = simm type = t region = r max_nodes = 1 max_rate "
		  "= \"1\"\n}\n",
	 "5: pool \"p\": there is no provider \"simm\""},
	{"provider after its pool is fine, node in two pools is not",
	 HEAD POOL "pool q { nodes = \"c8\" " POOL_END SIM,
	 "4: node c8 is in pool \"p\" and in pool \"q\""},
	{"huge list costs nothing", HEAD SIM "pool p { nodes = \"n[0-999999999]\" " POOL_END,
	 "4: pool \"p\": node list"},
	{"unknown user", HEAD "admins = {root,\n no-such-user-here}\n",
	 "4: admins: there is no user \"no-such-user-here\""},
	{"unknown group", HEAD "operator_groups = {root,\n no-such-group-here}\n",
	 "4: operator_groups: there is no group \"no-such-group-here\""},
	{"gid too large", HEAD "finance_groups = {4294967295}\n",
	 "3: finance_groups: there is no group"},
	{"gid of junk", HEAD "admin_groups = {12ab}\n", "3: admin_groups: there is no group"},
	{"uid too large", HEAD "admins = {4294967295}\n", "3: admins: there is no user"},
	{"uid of junk", HEAD "admins = {12ab}\n", "3: admins: there is no user"},
	{"environment", HEAD "state_dir = \"${HOME}\"\n", "3: ${...} is not expanded"},
	{"environment, unquoted", HEAD "state_dir = ${HOME}\n", "3: ${...} is not expanded"},
	{"environment, hidden", HEAD "state_dir = \"/$\\x7bHOME}\"\n",
	 "3: state_dir: contains a control character"},
	{"open quote", HEAD "state_dir = \"/a\nlisten = \"\"\n",
	 "3: a quote is not closed in its line"},
	{"open quote at the end", HEAD "state_dir = '/a", "3: a quote is not closed in its line"},
	{"escape at the end", HEAD "state_dir = \"/a\\", "3: a quote is not closed in its line"},
	{"open comment", HEAD "\n/* \n\n", "4: a comment is not closed"},
	{"open section", HEAD "slurm {\n", "3: a brace is not closed"},
	{"stray brace", HEAD "}\n", "3: unexpected closing brace"},
	{"no equal sign", HEAD "listen \"\"\n", "3: missing equal sign"},
	{"empty name", HEAD "\"\" = 1\n", "3: syntax error"},
	{"reached into a section", HEAD "slurm {}\n\"slurm|conf\" = /a\n",
	 "4: conf belongs inside its section"},
	{"the loader's own option", HEAD "\"\\001loader\" = x\n", "3: syntax error"},
	{"control byte", HEAD "\n\x01\n", "4: contains a control character"},
};

static void test_bad(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(bad_rows); i++) {
		struct conf *c;
		struct err e = {0};

		print_message("# %s\n", bad_rows[i].name);
		assert_int_equal(conf_file_parse(&c, "f", bad_rows[i].text, provider_options, &e),
				 -1);
		assert_null(c);
		if (strncmp(e.msg, "f:", 2) != 0 ||
		    strncmp(e.msg + 2, bad_rows[i].want, strlen(bad_rows[i].want)) != 0)
			fail_msg("got: %s", e.msg);
		/* The parser's global state: the next file is not harmed. */
		conf_free(parsed(HEAD SIM POOL));
	}
}

static void test_syntax(void **state)
{
	struct conf *c;
	struct err e = {0};

	(void)state;
	assert_int_equal(conf_file_parse(&c, "f", example, provider_options, &e), -1);
	assert_string_equal(e.msg,
			    "f:13: unknown option \"url2\" in a provider; did you mean \"url\"?");

	c = parsed("cluster=lab state_dir=/a//c\ncurrency='EUR'// comment\nadmins += {0} // x\n"
		   "provider p { driver = sim url = http://127.0.0.1:1//x }\r\n/**/\n");
	assert_string_equal(c->state_dir, "/a//c");
	assert_string_equal(c->providers[0].url, "http://127.0.0.1:1//x");
	assert_int_equal(c->people.admins.n, 1);
	conf_free(c);
}

/* --- files -------------------------------------------------------------------------------------
 */

static void write_file(const char *path, const char *text, size_t len, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, len), len);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

static void test_file(void **state)
{
	static const struct {
		const char *name, *text;
		size_t len;
		mode_t mode;
		const char *want; /* NULL: good */
	} rows[] = {
		{"good", HEAD, sizeof(HEAD) - 1, 0644, NULL},
		{"private", HEAD, sizeof(HEAD) - 1, 0600, NULL},
		{"writable by group", HEAD, sizeof(HEAD) - 1, 0664,
		 ": writable by group or others (mode 0664): chmod go-w"},
		{"writable by all", HEAD, sizeof(HEAD) - 1, 0646, "(mode 0646): chmod go-w"},
		{"UTF-16",
		 "\xff\xfe"
		 "c\0",
		 4, 0600, ":1: is UTF-16: save the file as UTF-8"},
		{"zero byte", HEAD "\0x", sizeof(HEAD "\0x") - 1, 0600, "NUL byte"},
	};
	char dir[] = "/tmp/confXXXXXX", path[64];
	struct conf *c;
	struct err e = {0};

	(void)state;
	assert_non_null(mkdtemp(dir));
	(void)snprintf(path, sizeof(path), "%s/burstd.conf", dir);
	assert_int_equal(conf_file_load(&c, path, provider_options, &e), -1);
	assert_null(c);
	assert_non_null(strstr(e.msg, "No such file"));
	assert_null(strstr(e.msg, "to use another file"));
	/* Who has named no file is told how to. */
	if (access(PATHS_CONF, F_OK) != 0) {
		assert_int_equal(conf_file_load(&c, PATHS_CONF, provider_options, &e), -1);
		assert_string_equal(
			e.msg, PATHS_CONF
			": No such file or directory; to use another file: "
			"burstd --config FILE, burstctl config check FILE, burstctl check FILE");
	}
	for (size_t i = 0; i < COUNT(rows); i++) {
		print_message("# %s\n", rows[i].name);
		write_file(path, rows[i].text, rows[i].len, rows[i].mode);
		assert_int_equal(conf_file_load(&c, path, provider_options, &e),
				 rows[i].want == NULL ? 0 : -1);
		assert_int_equal(c == NULL, rows[i].want != NULL);
		if (rows[i].want != NULL) {
			assert_memory_equal(e.msg, path, strlen(path));
			assert_non_null(strstr(e.msg, rows[i].want));
		}
		conf_free(c);
	}
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(conf_file_load(&c, path, provider_options, &e),
			 -1); /* and does not hang */
	assert_non_null(strstr(e.msg, ": not a regular file"));
	unlink(path);
	write_file(path, HEAD, sizeof(HEAD) - 1, 0644);
	if (chown(path, 65534, (gid_t)-1) == 0) {
		assert_int_equal(conf_file_load(&c, path, provider_options, &e), -1);
		assert_non_null(strstr(e.msg, ": owned by uid 65534; must be owned by root or"));
	}
	unlink(path);
	rmdir(dir);
}

/* A credential that systemd loads is named, and is in the directory that it tells; who is not its
 * service looks where that is. */
static void test_credentials_of_systemd(void **state)
{
	static const char text[] =
		"cluster = c\ncurrency = EUR\n"
		"secrets { driver = vault name = b address = \"https://v\""
		" credential_file = \"credential:vault\" }\n"
		"provider a { driver = sim url = \"http://127.0.0.1:1\""
		" credential_file = \"credential:cloud.key\" }\n"
		"provider b { driver = sim url = \"http://127.0.0.1:1\""
		" credential_file = \"/etc/b\" }\n"
		"pool p { nodes = n1 provider = a type = t region = r max_nodes = 1"
		" max_rate = \"1\" }\n"
		"alert w { kind = webhook url_file = \"credential:url\""
		" secret_file = \"credential:key\" }\n";
	char dir[] = "/tmp/confXXXXXX", path[64];
	struct err e = {0};
	struct conf *c;

	(void)state;
	assert_non_null(mkdtemp(dir));
	(void)snprintf(path, sizeof(path), "%s/burstd.conf", dir);
	write_file(path, text, sizeof(text) - 1, 0644);
	assert_int_equal(setenv("CREDENTIALS_DIRECTORY", "/run/credentials/x.service", 1), 0);
	if (conf_file_load(&c, path, provider_options, &e) != 0)
		fail_msg("%s", e.msg);
	assert_string_equal(c->providers[0].credential_file,
			    "/run/credentials/x.service/cloud.key");
	assert_string_equal(c->providers[1].credential_file, "/etc/b");
	assert_string_equal(c->secrets.credential_file, "/run/credentials/x.service/vault");
	assert_string_equal(c->alerts[0].url_file, "/run/credentials/x.service/url");
	assert_string_equal(c->alerts[0].secret_file, "/run/credentials/x.service/key");
	assert_null(c->alerts[0].password_file);
	conf_free(c);
	assert_int_equal(unsetenv("CREDENTIALS_DIRECTORY"), 0);
	assert_int_equal(conf_file_load(&c, path, provider_options, &e), 0);
	assert_string_equal(c->providers[0].credential_file,
			    "/run/credentials/burstd.service/cloud.key");
	conf_free(c);
	unlink(path);
	rmdir(dir);
}

static void test_user_data_is_read_from_its_file(void **state)
{
	char path[] = "/tmp/user-data-XXXXXX";
	int fd = mkstemp(path);
	struct conf_provider p = {.user_data_file = path};
	struct err e = {0};

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "#!/bin/sh\n", 10), 10);
	assert_int_equal(conf_file_load_user_data(&p, &e), 0);
	assert_string_equal(p.user_data, "#!/bin/sh\n");
	free(p.user_data);
	p.user_data = NULL;
	assert_int_equal(fchmod(fd, 0666), 0);
	assert_int_equal(conf_file_load_user_data(&p, &e), -1);
	assert_non_null(strstr(e.msg, "user_data_file: "));
	assert_non_null(strstr(e.msg, "chmod go-w"));
	assert_null(p.user_data);
	assert_int_equal(close(fd), 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(conf_file_load_user_data(&p, &e), -1);
	p.user_data_file = NULL;
	assert_int_equal(conf_file_load_user_data(&p, &e), 0);
}

static void test_too_long(void **state)
{
	char *text = mem_zalloc(CONF_FILE_MAX + 2);
	struct conf *c;
	struct err e = {0};

	(void)state;
	memset(text, '\n', CONF_FILE_MAX + 1);
	assert_int_equal(conf_file_parse(&c, "f", text, provider_options, &e), -1);
	assert_string_equal(e.msg, "f:1: longer than 8388608 bytes");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_syntax),
		cmocka_unit_test(test_credentials_of_systemd),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_user_data_is_read_from_its_file),
		cmocka_unit_test(test_too_long),
	};

	return cmocka_run_group_tests_name("conf_file", tests, NULL, NULL);
}
