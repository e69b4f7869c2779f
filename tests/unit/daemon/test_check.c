/* burstd --check: it says what a start would complain of, with --slurm what slurm.conf lacks. */
#include "lab.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/paths.h"

enum { NOBODY = 65534 };

/* --- the start ---------------------------------------------------------------------------------
 */

#define LYCEUM(rest) LYCEUM_OF("d[1-2]", rest)
#define LYCEUM_OF(nodes, rest)                                                                     \
	"provider ly { driver = lyceum credential_file = \"DIR/token\" " rest "\n"                 \
	"ssh_public_key = \"ssh-ed25519 "                                                          \
	"AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFx"                               \
	"gZGhscHR4f\"\n}\n"                                                                        \
	"pool vms { nodes = \"" nodes                                                              \
	"\" max_nodes = 2 max_rate = \"9\" provider = ly region = eu "                             \
	"type = \"h100.8x\" }\n"
#define SPHERON(rest)                                                                              \
	"provider sp { driver = spheron credential_file = \"DIR/token\" team = t ssh_key = k "     \
	"operating_system = u " rest " }\n"                                                        \
	"pool gpus { nodes = \"d[1-2]\" max_nodes = 2 max_rate = \"9\"\n"                          \
	"offer a { provider = sp type = o1 region = r zone = \"vp:8xH100\" }\n"                    \
	"offer b { provider = sp type = o2 region = r zone = \"vp:8xH100:no-cloud-init\" } }\n"

static const struct {
	const char *name, *from, *to;
	int rc, start_rc;    /* of --check, and of a start; -1: it starts */
	const char *want[4]; /* lines of --check, behind the path of the file */
} check_rows[] = {
	{"good", NULL, NULL, 0, -1, {NULL}},
	{"bad file",
	 "currency = EUR",
	 "currency = 5",
	 LAB_BAD_CONF,
	 LAB_BAD_CONF,
	 {":2: currency: "}},
	{"unknown driver",
	 "driver = sim\n",
	 "driver = gcp\n",
	 LAB_BAD_CONF,
	 LAB_BAD_CONF,
	 {":6: provider \"sim\": no driver \"gcp\"; there are: "}},
	{"no credential",
	 "DIR/token",
	 "DIR/tokem",
	 LAB_BAD_CONF,
	 -1, /* without that provider */
	 {":8: provider \"sim\": credential_file: "}},
	{"credential of all",
	 "DIR/token",
	 "DIR/burstd.conf",
	 LAB_BAD_CONF,
	 -1,
	 {":8: provider \"sim\": "}},
	{"jurisdictions that are none",
	 "max_rate = \"300\"",
	 "max_rate = \"300\" jurisdictions = {\"XX\", \"EU\", \"EUU\"}",
	 LAB_BAD_CONF,
	 -1,
	 {":11: pool \"p\": jurisdictions: XX is not a country ",
	  ":11: pool \"p\": jurisdictions: EUU is not a country "}},
	{"jurisdictions where nothing is sold",
	 "region = r\n",
	 "region = eu-north-1 jurisdictions = {\"DE\", \"CH\"}\n",
	 LAB_BAD_CONF,
	 -1,
	 {":11: pool \"p\": jurisdictions: nothing can ever be bought: eu-north-1 is in SE"}},
	{"a jurisdiction of the site's own",
	 "region = r\n",
	 "region = r jurisdiction = \"LAB\" jurisdictions = {\"LAB\"}\n",
	 0,
	 -1,
	 {NULL}},
	{"a limit below the price of one node",
	 "max_rate = \"300\"",
	 "max_rate = \"29.51\" price = \"29.52\"",
	 LAB_BAD_CONF,
	 -1,
	 {":11: pool \"p\": max_rate is 29.51 EUR per hour, and its cheapest node costs 29.52: "
	  "nothing can ever be bought"}},
	{"likewise of each node",
	 "max_rate = \"300\"",
	 "max_rate = \"300\" max_price = \"2\" price = \"29.52\"",
	 LAB_BAD_CONF,
	 -1,
	 {":11: pool \"p\": max_price is 2.00 EUR per hour, and its cheapest node costs 29.52"}},
	{"a limit that fits only what is outside of the jurisdictions",
	 "provider = sim type = t region = r\n",
	 "jurisdictions = {\"EU\"}\n"
	 "offer us { provider = sim type = t region = us-east-1 jurisdiction = US price = \"1\" }\n"
	 "offer eu { provider = sim type = t region = eu-north-1 jurisdiction = SE price = "
	 "\"301\" }\n",
	 LAB_BAD_CONF,
	 -1,
	 {":13: pool \"p\": max_rate is 300.00 EUR per hour, and its cheapest node costs 301"}},
	{"a limit that one node fits",
	 "max_rate = \"300\"",
	 "max_rate = \"29.52\" price = \"29.52\"",
	 0,
	 -1,
	 {NULL}},
	{"no programs", "DIR/bin", "DIR", LAB_BAD_CONF, -1, {":4: bin_dir: ", ":4: bin_dir: "}},
	{"a directory as program",
	 "DIR/bin",
	 "DIR/dirs",
	 LAB_BAD_CONF,
	 -1,
	 {":4: bin_dir: ", ":4: bin_dir: "}},
	{"no slurm.conf",
	 "slurm {",
	 "slurm {\nconf = /nowhere/slurm.conf\n",
	 LAB_BAD_CONF,
	 -1,
	 {":5: conf: /nowhere/slurm.conf: No such file"}},
	{"no certificates",
	 "credential_file =",
	 "ca_file = /nowhere/ca\ncredential_file =",
	 LAB_BAD_CONF,
	 -1,
	 {":8: provider \"sim\": ca_file: /nowhere/ca: No such file"}},
	{"state_dir is a file",
	 "DIR/state",
	 "DIR/token",
	 LAB_BAD_CONF,
	 LAB_BAD_CONF,
	 {":3: state_dir: "}},
	{"state_dir in nothing", "DIR/state", "DIR/no/state", LAB_BAD_CONF, 1, {":3: state_dir: "}},
	{"state_dir for all",
	 "DIR/state",
	 "DIR/open",
	 LAB_BAD_CONF,
	 LAB_BAD_CONF,
	 {":3: state_dir: others may"}},
	{"commands that are not there",
	 "	driver = sim\n	url = \"http://127.0.0.1:1\"\n	credential_file = "
	 "\"DIR/token\"\n}\n",
	 "driver = static program = \"DIR/bin/squeue\"\n on = {\"/nowhere/on\", \"%n\"}\n"
	 "off = {\"DIR/bin/squeue\", \"%n\"}\n status = {\"/nowhere/status\", \"%n\"}\n}\n",
	 LAB_BAD_CONF,
	 -1,
	 {":10: provider \"sim\": on: /nowhere/on: No such file",
	  ":10: provider \"sim\": status: /nowhere/status: No such file"}},
	{"the program that runs such commands is not there",
	 "	driver = sim\n	url = \"http://127.0.0.1:1\"\n	credential_file = "
	 "\"DIR/token\"\n}\n",
	 "driver = static program = \"/nowhere/burst-static\"\n on = {\"DIR/bin/squeue\", \"%n\"}\n"
	 "off = {\"DIR/bin/squeue\", \"%n\"}\n status = {\"DIR/bin/squeue\", \"%n\"}\n}\n",
	 LAB_BAD_CONF,
	 -1,
	 {":10: provider \"sim\": program: /nowhere/burst-static: No such file"}},
	{"a pool that its provider can never serve",
	 "driver = sim\n\turl = \"http://127.0.0.1:1\"\n\tcredential_file = \"DIR/token\"\n}",
	 "driver = aws\n\tregion = r2\n\timage = ami-1\n}",
	 LAB_BAD_CONF,
	 -1,
	 {":11: pool \"p\": this provider is for region r2, not r"}},
	{"machines that nothing would make nodes",
	 "slurm {",
	 LYCEUM("") "slurm {",
	 LAB_BAD_CONF,
	 -1,
	 {":7: pool \"vms\": its machines get no user-data, and no image of yours: nothing would "
	  "make them nodes; set bootstrap of the provider: image, if the provider's image has "
	  "burst-node in it; ssh, if a program of yours installs it there"}},
	{"machines that a program makes nodes",
	 "slurm {",
	 LYCEUM("bootstrap = ssh") "slurm {",
	 0,
	 -1,
	 {NULL}},
	{"a node that does not fit into a name there, and is not the first",
	 "slurm {",
	 LYCEUM_OF("d[1-2],D3,D4", "bootstrap = ssh") "slurm {",
	 LAB_BAD_CONF,
	 -1,
	 {":7: pool \"vms\": nodes: provider \"ly\" has the node in the name of its instance: node "
	  "D3: this provider allows only letters in lower case, digits and - in names, and others "
	  "likewise"}},
	{"a node whose name is too long together with a generation",
	 "slurm {",
	 LYCEUM_OF("d1,d2345678901234567890123456789012345678901", "bootstrap = ssh") "slurm {",
	 LAB_BAD_CONF,
	 -1,
	 {":7: pool \"vms\": nodes: provider \"ly\" has the node in the name of its instance: node "
	  "d2345678901234567890123456789012345678901: this provider's names have at most 64 bytes, "
	  "and this one needs 65"}},
	{"machines whose image is ready",
	 "slurm {",
	 LYCEUM("bootstrap = image") "slurm {",
	 0,
	 -1,
	 {NULL}},
	{"an offer that drops the user-data, which others take",
	 "slurm {",
	 SPHERON("user_data_file = \"DIR/bin/squeue\" bootstrap = ssh") "slurm {",
	 LAB_BAD_CONF,
	 -1,
	 {":7: offer \"b\" of pool \"gpus\": "}},
	{"what EC2 tells no price of",
	 "driver = sim\n\turl = \"http://127.0.0.1:1\"\n\tcredential_file = \"DIR/token\"\n}",
	 "driver = aws\n\tregion = r\n\timage = ami-1\n}",
	 0,
	 -1,
	 {"note: :11: pool \"p\" needs a \"price\": provider \"sim\" publishes no prices of "
	  "on-demand instances in EUR, and nothing is bought at an unknown price"}},
	{"no such secret store",
	 "slurm {",
	 "secrets {\ndriver = gpg\n}\nslurm {",
	 LAB_BAD_CONF,
	 LAB_BAD_CONF,
	 {":5: secrets: no driver \"gpg\"; there are: aws, file, vault"}},
	{"a secret store without TLS",
	 "slurm {",
	 "secrets {\ndriver = vault\naddress = \"http://v:8200\"\n}\nslurm {",
	 LAB_BAD_CONF,
	 LAB_BAD_CONF,
	 {":6: secrets: address: \"http://v:8200\": want https://"}},
	{"a secret store that nobody can log in to",
	 "slurm {",
	 "secrets {\ndriver = vault\naddress = \"https://v:8200\" name = b role_id = r\n}\n"
	 "slurm {",
	 LAB_BAD_CONF,
	 -1,
	 {":7: secrets: credential_file is missing: burstd needs it to log in to vault"}},
	{"a bundle as Vault's policies name it",
	 "slurm {",
	 "secrets {\ndriver = vault\naddress = \"https://v:8200\"\nname = \"kv/data/b\" "
	 "role_id = r\n}\nslurm {",
	 LAB_BAD_CONF,
	 -1,
	 {":7: secrets: name: want the bundle's path in the KV engine: without \"kv/data/\""}},
	{"a secret store that cannot wrap, and no certificates",
	 "slurm {",
	 "secrets {\ndriver = aws region = r name = b\nca_file = /nowhere/ca\nrelease = wrap "
	 "}\nslurm {",
	 LAB_BAD_CONF,
	 LAB_BAD_CONF,
	 {":6: secrets: ca_file: /nowhere/ca: No such file",
	  ":7: secrets: driver aws cannot make wrapping tokens: want release = \"broker\""}},
	{"a secret store without a driver",
	 "slurm {",
	 "secrets {\nname = x\n}\nslurm {",
	 LAB_BAD_CONF,
	 -1,
	 {":6: secrets: driver is missing: vault, aws or file"}},
	{"no secret store, and every option of it written out",
	 "slurm {",
	 "secrets {\ndriver = \"\" mount = kv name = \"\" auth_mount = approle ca_file = \"\"\n"
	 "switch_command = {} release = wrap wrap_ttl = 1m poll = 60s timeout = 30s\n}\nslurm {",
	 0,
	 -1,
	 {NULL}},
	{"machines that claim, and a file that is not there",
	 "slurm {",
	 "secrets {\ndriver = aws region = r name = b release = broker\n}\nnodes {\n"
	 "listen = \"127.0.0.1:1\" url = {\"https://b\"} conf_server = {\"c:1\"}\n"
	 "node_init = \"/nowhere/node-init\"\n}\nslurm {",
	 LAB_BAD_CONF,
	 -1,
	 {":10: nodes: node_init: /nowhere/node-init: No such file"}},
	{"tokens of a store that has none",
	 "slurm {",
	 "secrets {\ndriver = aws region = r name = b ca_file = DIR/token\nrelease = "
	 "user-data\n}\nnodes {\n"
	 "conf_server = {\"c:1\"}\nnode_init = \"/nowhere/node-init\"\n}\nslurm {",
	 LAB_BAD_CONF,
	 LAB_BAD_CONF,
	 {":6: secrets: driver aws cannot make wrapping tokens: want release = \"broker\"",
	  "note: :6: secrets: release = user-data is weak",
	  ":11: nodes: node_init: /nowhere/node-init: No such file"}},
	{"three things at once",
	 "driver = sim\n\turl = \"http://127.0.0.1:1\"\n\tcredential_file = \"DIR/token\"\n}",
	 "driver = x\ncredential_file = /nowhere/a\n}\nprovider b { driver = y }",
	 LAB_BAD_CONF,
	 LAB_BAD_CONF,
	 {":6: provider \"sim\": no driver \"x\"",
	  ":7: provider \"sim\": credential_file: /nowhere/a: ",
	  ":9: provider \"b\": no driver \"y\""}},
};

static const char in_memory[] = "note: the spool " PATHS_SPOOL
				" is in memory (tmpfs): calls there do not outlive a reboot\n";

/* The lab's spool is in memory, which --check says among all else. */
static void without_the_note(char *text)
{
	char *at = strstr(text, in_memory);

	if (at != NULL)
		memmove(at, at + strlen(in_memory), strlen(at + strlen(in_memory)) + 1);
}

static void assert_lines(char *text, const char *const *want)
{
	const char *p = text;

	without_the_note(text);

	for (size_t i = 0; i < 4 && want[i] != NULL; i++) {
		char head[256];
		size_t note = strncmp(want[i], "note: ", 6) == 0 ? 6 : 0;

		(void)snprintf(head, sizeof(head), "%.*s%s%s", (int)note, want[i],
			       lab_path("burstd.conf"), want[i] + note);
		if (strncmp(p, head, strlen(head)) != 0)
			fail_msg("got: %s", text);
		p = strchr(p, '\n');
		assert_non_null(p);
		p++;
	}
	assert_string_equal(p, "");
}

/* --check says what a start would, with the line, and all of it; it leaves nothing behind. */
static void test_check(void **state)
{
	struct burstd *b = mem_zalloc(sizeof(*b));

	(void)state;
	lab_make_files("#!/bin/sh\nexit 1\n");
	assert_int_equal(mkdir(lab_path("open"), 0700), 0);
	assert_int_equal(chmod(lab_path("open"), 0777), 0);
	assert_int_equal(mkdir(lab_path("dirs"), 0700), 0);
	assert_int_equal(mkdir(lab_path("dirs/scontrol"), 0700), 0);
	assert_int_equal(mkdir(lab_path("dirs/squeue"), 0700), 0);
	for (size_t i = 0; i < COUNT(check_rows); i++) {
		print_message("# %s\n", check_rows[i].name);
		lab_write_conf(check_rows[i].from, check_rows[i].to);
		lab_start(b, "--check", lab_path("burstd.conf"));
		lab_finish(b);
		assert_lines(b->text, check_rows[i].want);
		assert_int_equal(b->rc, check_rows[i].rc);
		if (check_rows[i].start_rc < 0)
			continue;
		lab_start(b, "-c", lab_path("burstd.conf"));
		lab_finish(b);
		assert_int_equal(b->rc, check_rows[i].start_rc);
	}
	assert_int_equal(access(PATHS_SOCKET, F_OK), -1);
	free(b);
}

/* Where calls come from must be there, and nobody else's; what is good to know is a note. */
static void test_check_spool(void **state)
{
	static const char lost[] = "the spool, where hooks leave their calls: " PATHS_SPOOL ": ";
	struct burstd *b = mem_zalloc(sizeof(*b));

	(void)state;
	lab_make_files("#!/bin/sh\nexit 1\n");
	for (int i = 0; i < 3; i++) {
		if (i == 1)
			assert_int_equal(chmod(PATHS_SPOOL, 0722), 0);
		if (i == 2)
			assert_int_equal(rename(PATHS_SPOOL, PATHS_SPOOL "-away"), 0);
		lab_start(b, "--check", lab_path("burstd.conf"));
		lab_finish(b);
		assert_int_equal(b->rc, i == 0 ? 0 : LAB_BAD_CONF);
		assert_non_null(strstr(b->text, i == 0 ? in_memory : lost));
		assert_true((strstr(b->text, "users other than root") != NULL) == (i == 1));
	}
	assert_int_equal(rename(PATHS_SPOOL "-away", PATHS_SPOOL), 0);
	assert_int_equal(chmod(PATHS_SPOOL, 0700), 0);
	free(b);
}

/* Root looks with the eyes of the user burstd runs as. */
static void test_check_as(void **state)
{
	static const char *const token[] = {":8: provider \"sim\": credential_file: ", NULL};
	static const char *const state_dir[] = {":3: state_dir: no right to write to ", NULL};
	static const char *const conf[] = {": user ", NULL};
	struct burstd *b = mem_zalloc(sizeof(*b));

	(void)state;
	if (!lab_root)
		skip();
	lab_make_files("#!/bin/sh\nexit 1\n");
	assert_int_equal(chmod(lab_dir, 0755), 0);
	assert_true(mkdir(lab_path("state"), 0700) == 0 || errno == EEXIST);
	assert_int_equal(chown(lab_path("state"), NOBODY, NOBODY), 0);
	assert_int_equal(chown(PATHS_SPOOL, NOBODY, NOBODY), 0);
	lab_start(b, "--check", lab_path("burstd.conf")); /* root could read it */
	lab_finish(b);
	assert_lines(b->text, token);
	assert_int_equal(b->rc, LAB_BAD_CONF);
	assert_int_equal(chown(lab_path("token"), NOBODY, NOBODY), 0);
	lab_start(b, "--check", lab_path("burstd.conf"));
	lab_finish(b);
	assert_lines(b->text, (const char *const[]){NULL});
	assert_int_equal(b->rc, 0);
	assert_int_equal(chmod(lab_path("state"), 0500), 0);
	lab_start(b, "--check", lab_path("burstd.conf"));
	lab_finish(b);
	assert_lines(b->text, state_dir);
	assert_int_equal(chmod(lab_path("state"), 0700), 0);
	assert_int_equal(chmod(lab_path("burstd.conf"), 0600), 0);
	lab_start(b, "--check", lab_path("burstd.conf"));
	lab_finish(b);
	assert_lines(b->text, conf);
	assert_int_equal(b->rc, LAB_BAD_CONF);
	assert_int_equal(chown(PATHS_SPOOL, 0, 0), 0);
	assert_int_equal(chown(lab_path("state"), 0, 0), 0);
	assert_int_equal(chown(lab_path("token"), 0, 0), 0);
	free(b);
}

/* --- slurm.conf --------------------------------------------------------------------------------
 */

static const struct {
	const char *name;
	const char *config; /* of tests/fixtures/slurm/24.11; NULL: slurmctld is silent */
	const char *from, *to;
	int rc;
	const char *out, *json;
} slurm_rows[] = {
	{"as it should be", "config.txt", NULL, NULL, 0,
	 "slurm.conf: advice: AuthInfo is cred_expire=5, wanted ",
	 "{\"error\":\"\",\"pools\":true,\"version\":\"24.11.5\",\"slurm_conf\":[{\"setting\":"
	 "\"AuthInfo\",\"severity\":\"advice\""},
	{"a pool that boots for longer", "config.txt", "type = t", "boot_timeout = 20m type = t", 1,
	 "slurm.conf: error: ResumeTimeout is 900 s for pool p, wanted ",
	 "\"setting\":\"ResumeTimeout\",\"severity\":\"error\",\"found\":\"900 s for pool p\""},
	{"another cluster", "config.txt", "cluster = lab", "cluster = falcon", 1,
	 "slurm.conf: error: ClusterName is lab, wanted ", "\"setting\":\"ClusterName\""},
	{"a node of a pool that it does not have", "config.txt", "c[1-8]", "c[1-9]", 1,
	 "slurm.conf: error: NodeName is without c9 of pool p, wanted ",
	 "\"setting\":\"NodeName\",\"severity\":\"error\""},
	{"bare", "bare-config.txt", NULL, NULL, 1, "slurm.conf: error: ReturnToService is 0",
	 "\"setting\":\"ReturnToService\""},
	{"words that turn the text around",
	 "bare-config.txt | sed 's/^SlurmctldParameters .*/SlurmctldParameters = x\xe2\x80\xae"
	 "y/'",
	 NULL, NULL, 1, "write: SlurmctldParameters=x?\??y,", /* no trigraph */
	 "\"slurmctld_parameters\":\"x\\u202Ey,"},
	{"silent", NULL, NULL, NULL, 69,
	 "slurm.conf: not checked, slurmctld does not answer: DIR/bin/scontrol: exit status 1: "
	 "connection refused\n",
	 "{\"error\":\"DIR/bin/scontrol: exit status 1: connection refused\",\"pools\":true}\n"},
	{"a bad configuration", "config.txt", "currency = EUR", "currency = 5", LAB_BAD_CONF,
	 "slurm.conf: advice: AuthInfo is cred_expire=5, wanted ",
	 "{\"error\":\"\",\"pools\":false,"},
};

static void write_scontrol(const char *config)
{
	char script[2048], tree[512];

	assert_non_null(getcwd(tree, sizeof(tree)));
	(void)snprintf(script, sizeof(script),
		       "#!/bin/sh\ncd %s/tests/fixtures/slurm/24.11 || exit 9\ncase $* in\n"
		       "'show config') sed 's/^ResumeTimeout .*/ResumeTimeout = 900 sec/' "
		       "%s;;\n'-o show partitions') cat partitions.txt;;\n"
		       "'-o show nodes') for i in 1 2 3 4 5 6 7 8; do\n"
		       "echo \"NodeName=c$i Arch=x86_64 State=IDLE+CLOUD\"; done;;\n"
		       "*) exit 8;;\nesac\n",
		       tree, config != NULL ? config : "");
	lab_write("bin/scontrol",
		  config != NULL
			  ? script
			  : "#!/bin/sh\necho first >&2\necho connection refused >&2\nexit 1\n",
		  0755);
}

static void assert_out(const char *want)
{
	char text[LAB_TEXT_SIZE] = "", sought[512];
	const char *d = strstr(want, "DIR");
	int fd = open(lab_path("out"), O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0 && read(fd, text, sizeof(text) - 1) >= 0);
	(void)close(fd);
	(void)snprintf(sought, sizeof(sought), "%.*s%s%s", d != NULL ? (int)(d - want) : 0, want,
		       d != NULL ? lab_dir : "", d != NULL ? d + 3 : want);
	if (strstr(text, sought) == NULL)
		fail_msg("got: %s", text);
}

/* --slurm asks slurmctld, with the scontrol of the file, else of PATH; the exit status says how bad
 * it is. */
static void test_check_slurm(void **state)
{
	char *path = mem_strdup(getenv("PATH")), *conf = mem_strdup(lab_path("burstd.conf"));
	const char *const text[] = {"burstd", "--check", "--slurm", conf, NULL};
	const char *const json[] = {"burstd", "--check", "--slurm", "--json", conf, NULL};
	struct burstd *b = mem_zalloc(sizeof(*b));

	(void)state;
	lab_make_files("#!/bin/sh\nexit 1\n");
	(void)setenv("PATH", lab_path("bin"), 1);
	for (size_t i = 0; i < COUNT(slurm_rows); i++) {
		print_message("# %s\n", slurm_rows[i].name);
		lab_write_conf(slurm_rows[i].from, slurm_rows[i].to);
		write_scontrol(slurm_rows[i].config);
		lab_start_args(b, (char *const *)(uintptr_t)text);
		lab_finish(b);
		if (b->rc != slurm_rows[i].rc)
			print_error("%s\n", b->text);
		assert_out(slurm_rows[i].out);
		assert_int_equal(b->rc, slurm_rows[i].rc);
		lab_start_args(b, (char *const *)(uintptr_t)json);
		lab_finish(b);
		assert_out(slurm_rows[i].json);
		assert_int_equal(b->rc, slurm_rows[i].rc);
	}
	lab_start(b, "--slurm", "--check");
	lab_finish(b);
	assert_int_not_equal(b->rc, 2);
	lab_start(b, "--slurm", NULL);
	lab_finish(b);
	assert_int_equal(b->rc, 2);
	lab_start(b, "--check", "--json");
	lab_finish(b);
	assert_int_equal(b->rc, 2);
	(void)setenv("PATH", path, 1);
	free(conf);
	free(path);
	free(b);
}

/* A credential that systemd loads for burstd is shown to nobody else: that is no problem, and a
 * start outside of its service is without that provider. */
static void test_a_credential_of_systemd_is_not_seen(void **state)
{
	struct burstd *b = mem_zalloc(sizeof(*b));

	(void)state;
	lab_make_files("#!/bin/sh\nexit 1\n");
	lab_write_conf("\"DIR/token", "\"credential:token");
	lab_start(b, "--check", lab_path("burstd.conf"));
	lab_finish(b);
	assert_int_equal(b->rc, 0);
	assert_non_null(strstr(b->text, "note: credential:token is not checked: systemd shows it "
					"to burstd's service alone\n"));
	/* In the service it is a file like others. */
	assert_int_equal(setenv("CREDENTIALS_DIRECTORY", lab_dir, 1), 0);
	lab_start(b, "--check", lab_path("burstd.conf"));
	lab_finish(b);
	assert_int_equal(b->rc, 0);
	assert_null(strstr(b->text, "token"));
	lab_write_conf("\"DIR/token", "\"credential:tokem");
	lab_start(b, "--check", lab_path("burstd.conf"));
	lab_finish(b);
	assert_int_equal(b->rc, LAB_BAD_CONF);
	assert_non_null(strstr(b->text, "/tokem: No such file"));
	assert_int_equal(unsetenv("CREDENTIALS_DIRECTORY"), 0);
	free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_check),
		cmocka_unit_test(test_a_credential_of_systemd_is_not_seen),
		cmocka_unit_test(test_check_spool),
		cmocka_unit_test(test_check_as),
		cmocka_unit_test(test_check_slurm),
	};
	int rc;

	if (!lab_open(&rc))
		return rc;
	return cmocka_run_group_tests_name("burstd --check", tests, NULL, NULL);
}
