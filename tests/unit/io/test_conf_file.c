/* What conf_file.h promises: whole files, their errors with the right line, and the shipped
 * example. */
#include "io/conf_file.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/paths.h"
#include "core/conf_option.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

#define HEAD     "cluster = lab\ncurrency = EUR\n"
#define SIM      "provider sim { driver = sim }\n"
#define POOL_END "provider = sim type = t region = r max_nodes = 8 max_rate = \"300\" }\n"
#define POOL     "pool p { nodes = \"c[1-8]\" " POOL_END
#define OFFERS   "pool p { nodes = c1 max_nodes = 1 max_rate = \"1\" "
#define OFFER_O  "offer o { provider = sim type = t region = r }\n"
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

/* Every field away from its default. */
static const char whole[] =
	"cluster = \"lab\"\n"
	"currency = \"CHF\"\n"
	"state_dir = \"/srv/burstd\"\n"
	"listen = \"127.0.0.1:9818\"\n"
	"log_level = \"warn\" events_keep = \"30d\"\n"
	"admins = {\"root\", \"1001\"}\n"
	"slurm { bin_dir = \"/opt/slurm/bin\" conf = \"/etc/slurm/slurm.conf\" }\n"
	"provider \"sim\" {\n"
	"	driver = \"sim\" url = \"http://127.0.0.1:8900\" credential_file = "
	"\"/etc/sim.token\"\n"
	"	ca_file = \"/etc/ca.pem\" settle = \"61s\" list_every = \"31s\" cooldown = \"62s\" "
	"timeout = "
	"\"1500ms\"\n"
	"	concurrency = 17 rate = 3 on = {\"/site\", \"on\", \"%n\"} off = {\"/site\", "
	"\"off\", "
	"\"%n\"} status = {\"/cat\", \"%n\"} records = \"/srv/static\" program = "
	"\"/opt/burst-static\""
	" region = \"eu-west-9\""
	" image = \"ami-1\""
	" subnets = \"az1=subnet-1,az2=subnet-2\""
	" security_groups = \"sg-1,sg-2\""
	" instance_profile = \"nodes\""
	" key_name = \"ops\""
	" launch_template = \"lt-1:7\""
	" user_data_file = \"/etc/user-data\""
	" role = \"arn:aws:iam::1:role/b\""
	" sts_url = \"https://sts.example\""
	" metadata_url = \"http://127.0.0.1:1338\""
	" notice_queue = \"https://sqs.example/1/q\"\n"
	"}\n"
	"provider \"b\" { driver = \"static\" }\n"
	"pool \"h100\" {\n"
	"	nodes = \"c[1-8]\" provider = \"sim\" type = \"gpu_8x_h100\" region = "
	"\"eu-north-1\"\n"
	"	zone = \"a\" market = \"spot\" max_nodes = 7 max_rate = \"300.5\" price = "
	"\"29.52\"\n"
	"	boot_timeout = \"11m\" warm = 2 quantum = \"1h\" policy = \"cheapest\" gang = "
	"\"best_effort\"\n"
	"	max_price = \"30\" spot_share = 51 fallback_refusals = 3 fallback_after = \"12m\"\n"
	"	checkpoint_signal = USR1 checkpoint_to = steps checkpoint_command = {\"/ck\", "
	"\"%j\"}\n"
	"	rebalance = drain rebalance_wait = \"7m\"\n"
	"	jurisdictions = {\"EU\", \"CH\"} jurisdiction = \"SE\" job_comment = true\n"
	"}\n"
	"pool \"own\" { nodes = \"d[01-02]\" provider = \"b\" type = t region = r max_nodes = 2\n"
	"	max_rate = \"0\" }\n"
	"pool \"mixed\" { nodes = \"e[1-4]\" max_nodes = 4 max_rate = \"9\"\n"
	"	offer \"s\" { type = \"big\" provider = \"sim\"\n"
	"		region = \"eu-west-1\" zone = \"c\" market = \"reserved\"\n"
	"		price = \"1.5\" max_price = \"2.5\" jurisdiction = \"IE\"\n"
	"	}\n"
	"	offer \"o\" { provider = \"b\" type = u region = q }\n"
	"}\n";

static struct conf *parsed(const char *text)
{
	struct conf *c;
	struct err e = {0};

	if (conf_file_parse(&c, "f", text, &e) < 0)
		fail_msg("%s", e.msg);
	return c;
}

static void assert_text_equal(const char *got, const char *want)
{
	assert_int_equal(got == NULL, want == NULL);
	if (want != NULL)
		assert_string_equal(got, want);
}

static void assert_words_equal(char *const *got, char *const *want)
{
	size_t i = 0;

	assert_int_equal(got == NULL, want == NULL);
	for (; want != NULL && want[i] != NULL; i++)
		assert_text_equal(got[i], want[i]);
	assert_true(got == NULL || got[i] == NULL);
}

static void assert_provider_equal(const struct conf_provider *a, const struct conf_provider *b)
{
	assert_text_equal(a->name, b->name);
	assert_text_equal(a->driver, b->driver);
	assert_text_equal(a->url, b->url);
	assert_text_equal(a->credential_file, b->credential_file);
	assert_text_equal(a->ca_file, b->ca_file);
	assert_int_equal(a->settle_ms, b->settle_ms);
	assert_int_equal(a->list_ms, b->list_ms);
	assert_int_equal(a->timeout_ms, b->timeout_ms);
	assert_int_equal(a->concurrency, b->concurrency);
	assert_int_equal(a->rate, b->rate);
	assert_words_equal(a->on, b->on);
	assert_words_equal(a->off, b->off);
	assert_words_equal(a->status, b->status);
	assert_text_equal(a->records, b->records);
	assert_text_equal(a->program, b->program);
	assert_text_equal(a->region, b->region);
	assert_text_equal(a->image, b->image);
	assert_text_equal(a->subnets, b->subnets);
	assert_text_equal(a->security_groups, b->security_groups);
	assert_text_equal(a->instance_profile, b->instance_profile);
	assert_text_equal(a->key_name, b->key_name);
	assert_text_equal(a->launch_template, b->launch_template);
	assert_text_equal(a->user_data_file, b->user_data_file);
	assert_text_equal(a->role, b->role);
	assert_text_equal(a->sts_url, b->sts_url);
	assert_text_equal(a->metadata_url, b->metadata_url);
	assert_text_equal(a->notice_queue, b->notice_queue);
}

static void assert_offer_equal(const struct conf_offer *a, const struct conf_offer *b)
{
	assert_text_equal(a->name, b->name);
	assert_text_equal(a->provider, b->provider);
	assert_int_equal(a->provider_index, b->provider_index);
	assert_text_equal(a->type, b->type);
	assert_text_equal(a->region, b->region);
	assert_text_equal(a->zone, b->zone);
	assert_int_equal(a->market, b->market);
	assert_int_equal(a->price_nano_h, b->price_nano_h);
	assert_int_equal(a->max_price_nano_h, b->max_price_nano_h);
	assert_text_equal(a->jurisdiction, b->jurisdiction);
}

static void assert_pool_equal(const struct conf_pool *a, const struct conf_pool *b)
{
	assert_text_equal(a->name, b->name);
	assert_text_equal(a->nodes_text, b->nodes_text);
	assert_int_equal(a->nodes->n, b->nodes->n);
	assert_text_equal(a->provider, b->provider);
	assert_int_equal(a->provider_index, b->provider_index);
	assert_text_equal(a->type, b->type);
	assert_text_equal(a->region, b->region);
	assert_text_equal(a->zone, b->zone);
	assert_int_equal(a->spot, b->spot);
	assert_int_equal(a->max_nodes, b->max_nodes);
	assert_int_equal(a->max_rate_nano_h, b->max_rate_nano_h);
	assert_int_equal(a->price_nano_h, b->price_nano_h);
	assert_int_equal(a->boot_ms, b->boot_ms);
	assert_int_equal(a->warm, b->warm);
	assert_int_equal(a->quantum_ms, b->quantum_ms);
	assert_text_equal(a->jurisdiction, b->jurisdiction);
	assert_int_equal(a->policy, b->policy);
	assert_int_equal(a->gang, b->gang);
	assert_int_equal(a->max_price_nano_h, b->max_price_nano_h);
	assert_int_equal(a->spot_share, b->spot_share);
	assert_int_equal(a->fallback_refusals, b->fallback_refusals);
	assert_int_equal(a->fallback_ms, b->fallback_ms);
	assert_words_equal(a->jurisdictions, b->jurisdictions);
	assert_int_equal(a->job_comment, b->job_comment);
	assert_string_equal(a->checkpoint_signal, b->checkpoint_signal);
	assert_int_equal(a->checkpoint_to, b->checkpoint_to);
	assert_words_equal(a->checkpoint_command, b->checkpoint_command);
	assert_int_equal(a->rebalance, b->rebalance);
	assert_int_equal(a->rebalance_wait_ms, b->rebalance_wait_ms);
	assert_int_equal(a->noffers, b->noffers);
	for (size_t i = 0; i < a->noffers; i++)
		assert_offer_equal(&a->offers[i], &b->offers[i]);
}

/* Lines and the path apart. */
static void assert_conf_equal(const struct conf *a, const struct conf *b)
{
	assert_text_equal(a->cluster, b->cluster);
	assert_text_equal(a->currency, b->currency);
	assert_text_equal(a->state_dir, b->state_dir);
	assert_text_equal(a->listen, b->listen);
	assert_int_equal(a->log_level, b->log_level);
	assert_int_equal(a->events_keep_ms, b->events_keep_ms);
	assert_text_equal(a->slurm_bin, b->slurm_bin);
	assert_text_equal(a->slurm_conf, b->slurm_conf);
	assert_int_equal(a->nadmins, b->nadmins);
	for (size_t i = 0; i < a->nadmins; i++)
		assert_int_equal(a->admins[i], b->admins[i]);
	assert_int_equal(a->nproviders, b->nproviders);
	for (size_t i = 0; i < a->nproviders; i++)
		assert_provider_equal(&a->providers[i], &b->providers[i]);
	assert_int_equal(a->npools, b->npools);
	for (size_t i = 0; i < a->npools; i++)
		assert_pool_equal(&a->pools[i], &b->pools[i]);
	assert_int_equal(a->by_node.n, b->by_node.n);
}

static void test_every_field(void **state)
{
	struct conf *c = parsed(whole);
	const struct conf_provider *sim = &c->providers[0];
	const struct conf_pool *p = &c->pools[0];
	const struct conf_offer *s = c->pools[2].offers;

	(void)state;
	assert_string_equal(c->path, "f");
	assert_string_equal(c->cluster, "lab");
	assert_string_equal(c->currency, "CHF");
	assert_string_equal(c->state_dir, "/srv/burstd");
	assert_string_equal(c->listen, "127.0.0.1:9818");
	assert_int_equal(c->log_level, LOG_WARN);
	assert_int_equal(c->events_keep_ms, INT64_C(30) * 86400000);
	assert_int_equal(c->nadmins, 2);
	assert_int_equal(c->admins[0], 0);
	assert_int_equal(c->admins[1], 1001);
	assert_string_equal(c->slurm_bin, "/opt/slurm/bin");
	assert_string_equal(c->slurm_conf, "/etc/slurm/slurm.conf");
	assert_int_equal(c->nproviders, 2);
	assert_text_equal(sim->name, "sim");
	assert_text_equal(sim->driver, "sim");
	assert_text_equal(sim->url, "http://127.0.0.1:8900");
	assert_text_equal(sim->credential_file, "/etc/sim.token");
	assert_text_equal(sim->ca_file, "/etc/ca.pem");
	assert_int_equal(sim->settle_ms, 61000);
	assert_int_equal(sim->list_ms, 31000);
	assert_int_equal(sim->timeout_ms, 1500);
	assert_int_equal(sim->concurrency, 17);
	assert_int_equal(sim->rate, 3);
	assert_string_equal(sim->off[1], "off");
	assert_string_equal(sim->off[2], "%n");
	assert_null(sim->off[3]);
	assert_string_equal(sim->program, "/opt/burst-static");
	assert_string_equal(sim->region, "eu-west-9");
	assert_string_equal(sim->subnets, "az1=subnet-1,az2=subnet-2");
	assert_string_equal(sim->user_data_file, "/etc/user-data");
	assert_null(sim->user_data);
	assert_string_equal(c->providers[1].image, "");
	assert_null(c->providers[1].user_data_file);
	assert_null(c->providers[1].on);
	assert_int_equal(c->npools, 3);
	assert_int_equal(p->nodes->n, 8);
	assert_string_equal(p->type, "gpu_8x_h100");
	assert_string_equal(p->region, "eu-north-1");
	assert_string_equal(p->zone, "a");
	assert_true(p->spot);
	assert_int_equal(p->max_nodes, 7);
	assert_int_equal(p->max_rate_nano_h, INT64_C(300500000000));
	assert_int_equal(p->price_nano_h, INT64_C(29520000000));
	assert_int_equal(p->boot_ms, 660000);
	assert_int_equal(p->nodes_line, 15);
	assert_int_equal(c->state_dir_line, 3);
	assert_int_equal(c->slurm_bin_line, 7);
	assert_int_equal(c->slurm_conf_line, 7);
	assert_int_equal(sim->driver_line, 9);
	assert_int_equal(sim->credential_line, 9);
	assert_int_equal(sim->ca_line, 10);
	assert_int_equal(c->providers[1].ca_line, 0);
	assert_int_equal(p->warm, 2);
	assert_int_equal(p->quantum_ms, 3600000);
	assert_int_equal(p->policy, CONF_CHEAPEST);
	assert_int_equal(p->gang, CONF_BEST_EFFORT);
	assert_int_equal(p->max_price_nano_h, INT64_C(30000000000));
	assert_int_equal(p->spot_share, 51);
	assert_int_equal(p->fallback_refusals, 3);
	assert_int_equal(p->fallback_ms, 720000);
	assert_string_equal(p->jurisdictions[1], "CH");
	assert_null(p->jurisdictions[2]);
	assert_int_equal(p->job_comment, 1);
	assert_int_equal(c->pools[1].job_comment, 0);
	assert_string_equal(p->checkpoint_signal, "USR1");
	assert_int_equal(p->checkpoint_to, CONF_TO_STEPS);
	assert_string_equal(p->checkpoint_command[1], "%j");
	assert_int_equal(p->rebalance, CONF_REBALANCE_DRAIN);
	assert_int_equal(p->rebalance_wait_ms, 420000);
	assert_string_equal(p->jurisdiction, "SE");
	assert_int_equal(p->place_line, 15);
	assert_int_equal(p->line, 22);
	assert_int_equal(c->pools[2].noffers, 2);
	assert_int_equal(c->pools[2].place_line, 0);
	assert_int_equal(s->market, PROVIDER_RESERVED);
	assert_int_equal(s->provider_line, 26);
	assert_int_equal(s->line, 29);
	assert_int_equal(s->max_price_nano_h, INT64_C(2500000000));
	assert_string_equal(s->jurisdiction, "IE");
	assert_int_equal(s[1].provider_index, 1);
	assert_int_equal(s[1].provider_line, 30);
	assert_int_equal(c->pools[1].provider_index, 1);
	assert_int_equal(c->pools[1].max_rate_nano_h, 0);
	assert_ptr_equal(conf_pool_of(c, "d02"), &c->pools[1]);
	conf_free(c);
}

static void test_defaults(void **state)
{
	struct conf *c = parsed(HEAD SIM POOL);
	const struct conf_provider *sim = &c->providers[0];
	const struct conf_pool *p = &c->pools[0];

	(void)state;
	assert_string_equal(c->state_dir, "/var/lib/burstd");
	assert_string_equal(c->listen, "");
	assert_int_equal(c->log_level, LOG_INFO);
	assert_int_equal(c->events_keep_ms, INT64_C(90) * 86400000);
	assert_int_equal(c->nadmins, 0);
	assert_string_equal(c->slurm_bin, "/usr/bin");
	assert_null(c->slurm_conf);
	assert_text_equal(sim->name, "sim");
	assert_text_equal(sim->driver, "sim");
	assert_text_equal(sim->url, "");
	assert_text_equal(sim->credential_file, NULL);
	assert_text_equal(sim->ca_file, NULL);
	assert_int_equal(sim->settle_ms, 60000);
	assert_int_equal(sim->list_ms, 30000);
	assert_int_equal(sim->timeout_ms, 30000);
	assert_int_equal(sim->concurrency, 16);
	assert_int_equal(sim->rate, 0);
	assert_string_equal(p->zone, "");
	assert_false(p->spot);
	assert_int_equal(p->price_nano_h, 0);
	assert_int_equal(p->boot_ms, 600000);
	assert_int_equal(p->warm, 0);
	assert_int_equal(p->quantum_ms, 0);
	assert_int_equal(p->policy, CONF_ORDERED);
	assert_int_equal(p->gang, CONF_ALL_OR_NOTHING);
	assert_int_equal(p->max_price_nano_h, 0);
	assert_int_equal(p->spot_share, 100);
	assert_int_equal(p->fallback_refusals, 0);
	assert_int_equal(p->fallback_ms, 0);
	assert_null(p->jurisdictions);
	assert_string_equal(p->checkpoint_signal, "");
	assert_int_equal(p->checkpoint_to, CONF_TO_BATCH);
	assert_null(p->checkpoint_command);
	assert_int_equal(p->rebalance, CONF_REBALANCE_IGNORE);
	assert_int_equal(p->rebalance_wait_ms, 0);
	assert_string_equal(p->jurisdiction, "");
	assert_int_equal(p->noffers, 0);
	conf_free(c);
}

static const struct {
	const char *name, *text;
	const char *want; /* how the message begins; after "f:" */
} bad_rows[] = {
	{"empty", "", "1: cluster is missing (Slurm's ClusterName)"},
	{"missing currency", "cluster = lab\n\n\n", "4: currency is missing"},
	{"bad value", HEAD "listen = \"0.0.0.0:80\"\n", "3: listen: want a loopback"},
	{"unknown option", HEAD "clusterr = x\n",
	 "3: no such option \"clusterr\" outside the sections; did you mean \"cluster\"?"},
	{"unknown in a pool", HEAD SIM "pool p {\n node = x\n}\n",
	 "5: no such option \"node\" in a pool; did you mean \"nodes\"?"},
	{"unknown in slurm", HEAD "slurm { bin = x }\n", "3: no such option \"bin\" in a slurm"},
	{"unknown section", HEAD "pools p { }\n",
	 "3: no such option \"pools\" outside the sections; did you mean \"pool\"?"},
	{"lines after comments", "# one\n/* two\nthree */ # four\n" HEAD "x = 1",
	 "6: no such option \"x\""},
	{"option twice", HEAD "cluster = b\n", "3: cluster is there twice, first in line 1"},
	{"option twice in a pool", HEAD SIM "pool p { type = a\ntype = b }",
	 "5: type is there twice, first in line 4"},
	{"provider twice", HEAD SIM "\n" SIM,
	 "5: provider \"sim\" is there twice; the first ends in line 3"},
	{"pool twice", HEAD SIM POOL POOL,
	 "5: pool \"p\" is there twice; the first ends in line 4"},
	{"one of two of a name twice", HEAD "provider p { driver = sim }\n" POOL_P POOL_P,
	 "5: this kind of section has the title \"p\" already"},
	{"byte order mark", "\xef\xbb\xbf" HEAD SIM,
	 "1: begins with a byte order mark (BOM): save the file without it"},
	{"duration as burstctl shows it", HEAD "provider x {\ndriver = sim\nsettle = 1d00h\n}\n",
	 "5: provider \"x\": settle: \"1d00h\": want one number and one unit, such as 30s, 15m or "
	 "24h"},
	{"command without a path", HEAD "provider x {\ndriver = static\non = {ipmi, \"%n\"}\n}\n",
	 "5: provider \"x\": on: \"ipmi\": want the absolute path of a program first"},
	{"command with a wrong place",
	 HEAD "provider x {\ndriver = static\noff = {\"/x\", \"%h\"}\n}\n",
	 "5: provider \"x\": off: \"%h\": want %n, %a or %%"},
	{"slurm twice", HEAD "slurm { }\nslurm { }\n", "4: slurm is there twice"},
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
	 "6: pool \"p\": max_nodes is missing (instances at the same time"},
	{"no place in a pool", HEAD SIM "pool p {\nnodes = c1 max_nodes = 1 max_rate = \"1\"\n}\n",
	 "6: pool \"p\": provider is missing (whose machines they are), or an offer"},
	{"missing in an offer", HEAD SIM OFFERS "offer o {\nprovider = sim type = t\n}\n}\n",
	 "6: offer \"o\": region is missing"},
	{"a place beside offers",
	 HEAD SIM OFFERS "offer o { provider = sim type = t region = r }\nmarket = spot\n}\n",
	 "5: pool \"p\" has offers: provider, type, region, zone, market, price and jurisdiction "
	 "are "
	 "theirs"},
	{"offer twice", HEAD SIM OFFERS "\n" OFFER_O OFFER_O "}\n",
	 "6: offer \"o\" is there twice; the first ends in line 5"},
	{"offers of one name in two pools, and a pool twice",
	 HEAD SIM OFFERS OFFER_O "}\n" OFFERS OFFER_O "}\n",
	 "6: pool \"p\" is there twice; the first ends in line 5"},
	{"no such provider of an offer",
	 HEAD SIM OFFERS "offer o { type = t region = r\nprovider = simm } }\n",
	 "5: pool \"p\": offer \"o\": there is no provider \"simm\""},
	{"unknown in an offer", HEAD SIM OFFERS "offer o {\nmax_nodes = 1 } }\n",
	 "5: no such option \"max_nodes\" in an offer"},
	{"offer misspelt", HEAD SIM OFFERS "\noffers o { } }\n",
	 "5: no such option \"offers\" in a pool; did you mean \"offer\"?"},
	{"offer without a title", HEAD SIM OFFERS "\noffer { } }\n",
	 "5: offer has no title: want offer \"NAME\" { ... }"},
	{"bad title of an offer", HEAD SIM OFFERS "offer \"a b\" { } }\n",
	 "4: offer \"a b\": want a name"},
	{"option twice in an offer", HEAD SIM OFFERS "offer o { type = a\ntype = b } }\n",
	 "5: type is there twice, first in line 4"},
	{"bad jurisdiction", HEAD SIM OFFERS "jurisdictions = {EU,\n eu} }\n",
	 "5: pool \"p\": jurisdictions: \"eu\": want capital letters"},
	{"not a signal", HEAD SIM OFFERS "checkpoint_signal = SIG-1\n} }\n",
	 "4: pool \"p\": checkpoint_signal: want a signal such as USR1"},
	{"a signal that is too long",
	 HEAD SIM OFFERS "checkpoint_signal = A2345678901234567\n} }\n",
	 "4: pool \"p\": checkpoint_signal: want a signal such as USR1"},
	{"a hook with a word of another",
	 HEAD SIM OFFERS "checkpoint_command = {\"/c\", \"%a\"}\n} }\n",
	 "4: pool \"p\": checkpoint_command: \"%a\": want %j, %n, %d or %%"},
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
	{"uid too large", HEAD "admins = {4294967295}\n", "3: admins: there is no user"},
	{"uid of junk", HEAD "admins = {12ab}\n", "3: admins: there is no user"},
	{"environment", HEAD "state_dir = \"${HOME}\"\n", "3: the environment is not looked at"},
	{"environment, unquoted", HEAD "state_dir = ${HOME}\n",
	 "3: the environment is not looked at"},
	{"environment, hidden", HEAD "state_dir = \"/$\\x7bHOME}\"\n",
	 "3: state_dir: holds a control byte"},
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
	 "4: conf belongs inside of its section"},
	{"the loader's own option", HEAD "\"\\001loader\" = x\n", "3: syntax error"},
	{"control byte", HEAD "\n\x01\n", "4: a control byte"},
};

static void test_bad(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(bad_rows); i++) {
		struct conf *c;
		struct err e = {0};

		print_message("# %s\n", bad_rows[i].name);
		assert_int_equal(conf_file_parse(&c, "f", bad_rows[i].text, &e), -1);
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
	assert_int_equal(conf_file_parse(&c, "f", example, &e), -1);
	assert_string_equal(e.msg,
			    "f:13: no such option \"url2\" in a provider; did you mean \"url\"?");

	c = parsed("cluster=lab state_dir=/a//c\ncurrency='EUR'// comment\nadmins += {0} // x\n"
		   "provider p { driver = sim url = http://127.0.0.1:1//x }\r\n/**/\n");
	assert_string_equal(c->state_dir, "/a//c");
	assert_string_equal(c->providers[0].url, "http://127.0.0.1:1//x");
	assert_int_equal(c->nadmins, 1);
	conf_free(c);
}

static void print(const struct conf *c, struct str *s)
{
	str_init(s, CONF_PRINT_MAX);
	conf_print(c, s);
	assert_false(s->full);
}

static void test_print_loads_again(void **state)
{
	const char *texts[] = {whole, HEAD, HEAD SIM POOL};

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		struct conf *a = parsed(texts[i]), *b;
		struct str s, again;

		print(a, &s);
		b = parsed(s.p);
		assert_conf_equal(a, b);
		for (size_t k = 0; k < conf_noptions; k++) /* every option is written out */
			if (a->npools > 0)
				assert_non_null(strstr(s.p, conf_options[k].name));
		print(b, &again);
		assert_string_equal(s.p, again.p);
		str_fini(&s);
		str_fini(&again);
		conf_free(a);
		conf_free(b);
	}
}

/* A good value that is not the one in `whole`. */
static const struct {
	const char *section, *name, *from, *to;
} changes[] = {
	{"", "cluster", "\"lab\"", "\"lib\""},
	{"", "currency", "\"CHF\"", "\"EUR\""},
	{"", "state_dir", "\"/srv/burstd\"", "\"/srv/b\""},
	{"", "listen", "\"127.0.0.1:9818\"", "\"\""},
	{"", "log_level", "\"warn\"", "\"debug\""},
	{"", "events_keep", "\"30d\"", "\"31d\""},
	{"", "admins", "{\"root\", \"1001\"}", "{}"},
	{"slurm", "bin_dir", "\"/opt/slurm/bin\"", "\"/usr/bin\""},
	{"slurm", "conf", "\"/etc/slurm/slurm.conf\"", "\"\""},
	{"provider", "driver", "\"sim\" url", "\"other\" url"},
	{"provider", "url", "\"http://127.0.0.1:8900\"", "\"\""},
	{"provider", "credential_file", "\"/etc/sim.token\"", "\"\""},
	{"provider", "ca_file", "\"/etc/ca.pem\"", "\"\""},
	{"provider", "settle", "\"61s\"", "\"62s\""},
	{"provider", "list_every", "\"31s\"", "\"32s\""},
	{"provider", "cooldown", "\"62s\"", "\"63s\""},
	{"provider", "timeout", "\"1500ms\"", "\"2s\""},
	{"provider", "concurrency", "concurrency = 17", "concurrency = 18"},
	{"provider", "rate", "rate = 3", "rate = 4"},
	{"provider", "on", "\"on\", ", ""},
	{"provider", "off", "off = {\"/site\", \"off\", \"%n\"}", "off = {}"},
	{"provider", "status", "\"/cat\"", "\"/dog\""},
	{"provider", "records", "\"/srv/static\"", "\"/srv/x\""},
	{"provider", "program", "\"/opt/burst-static\"", "\"/opt/x\""},
	{"provider", "region", "\"eu-west-9\"", "\"\""},
	{"provider", "image", "\"ami-1\"", "\"\""},
	{"provider", "subnets", "\"az1=subnet-1,az2=subnet-2\"", "\"\""},
	{"provider", "security_groups", "\"sg-1,sg-2\"", "\"\""},
	{"provider", "instance_profile", "\"nodes\"", "\"\""},
	{"provider", "key_name", "\"ops\"", "\"\""},
	{"provider", "launch_template", "\"lt-1:7\"", "\"\""},
	{"provider", "user_data_file", "\"/etc/user-data\"", "\"\""},
	{"provider", "role", "\"arn:aws:iam::1:role/b\"", "\"\""},
	{"provider", "sts_url", "\"https://sts.example\"", "\"\""},
	{"provider", "metadata_url", "\"http://127.0.0.1:1338\"", "\"\""},
	{"provider", "notice_queue", "\"https://sqs.example/1/q\"", "\"\""},
	{"pool", "nodes", "\"c[1-8]\"", "\"c[1-9]\""},
	{"pool", "provider", "provider = \"sim\" type", "provider = \"b\" type"},
	{"pool", "type", "\"gpu_8x_h100\"", "\"x\""},
	{"pool", "region", "\"eu-north-1\"", "\"x\""},
	{"pool", "zone", "\"a\"", "\"\""},
	{"pool", "market", "\"spot\"", "\"on-demand\""},
	{"pool", "jurisdiction", "\"SE\"", "\"DE\""},
	{"pool", "max_nodes", "max_nodes = 7", "max_nodes = 8"},
	{"pool", "max_rate", "\"300.5\"", "\"1\""},
	{"pool", "price", "\"29.52\"", "\"\""},
	{"pool", "boot_timeout", "\"11m\"", "\"13m\""},
	{"pool", "warm", "warm = 2", "warm = 3"},
	{"pool", "quantum", "\"1h\"", "\"30m\""},
	{"pool", "policy", "\"cheapest\"", "\"ordered\""},
	{"pool", "gang", "\"best_effort\"", "\"all_or_nothing\""},
	{"pool", "max_price", "max_price = \"30\"", "max_price = \"31\""},
	{"pool", "spot_share", "spot_share = 51", "spot_share = 52"},
	{"pool", "fallback_refusals", "refusals = 3", "refusals = 4"},
	{"pool", "fallback_after", "\"12m\"", "\"14m\""},
	{"pool", "job_comment", "job_comment = true", "job_comment = false"},
	{"pool", "checkpoint_signal", "= USR1", "= USR2"},
	{"pool", "checkpoint_to", "= steps", "= full"},
	{"pool", "checkpoint_command", "\"%j\"", "\"%n\""},
	{"pool", "rebalance", "= drain", "= ignore"},
	{"pool", "rebalance_wait", "\"7m\"", "\"8m\""},
	{"pool", "jurisdictions", "\"EU\", ", ""},
	{"offer", "provider", "provider = \"sim\"\n", "provider = \"b\"\n"},
	{"offer", "type", "\"big\"", "\"small\""},
	{"offer", "region", "\"eu-west-1\"", "\"eu-west-2\""},
	{"offer", "zone", "zone = \"c\"", "zone = \"d\""},
	{"offer", "market", "\"reserved\"", "\"spot\""},
	{"offer", "price", "\"1.5\"", "\"1.6\""},
	{"offer", "max_price", "\"2.5\"", "\"2.6\""},
	{"offer", "jurisdiction", "\"IE\"", "\"DE\""},
};

/* Each option alone: read at all (the printed text changes), and reloadable just when the table
 * says so. */
static void test_reload(void **state)
{
	struct conf *old = parsed(whole);

	(void)state;
	assert_int_equal(COUNT(changes), conf_noptions);
	for (size_t i = 0; i < COUNT(changes); i++) {
		const struct conf_option *o = conf_option_find(changes[i].section, changes[i].name);
		const char *at = strstr(whole, changes[i].from);
		struct conf *next;
		struct err e = {0};
		struct str s;

		print_message("# %s %s\n", changes[i].section, changes[i].name);
		assert_ptr_equal(o, &conf_options[i]);
		assert_non_null(at);
		str_init(&s, sizeof(whole) + 100);
		str_add(&s, whole, (size_t)(at - whole));
		str_adds(&s, changes[i].to);
		str_adds(&s, at + strlen(changes[i].from));
		next = parsed(s.p);
		assert_int_equal(conf_may_replace(old, next, &e), o->reload ? 0 : -1);
		if (!o->reload) {
			assert_non_null(strstr(e.msg, o->name));
			assert_non_null(strstr(e.msg, "restart"));
		}
		assert_int_equal(conf_may_replace(old, old, &e), 0);
		conf_free(next);
		str_fini(&s);
	}
	conf_free(old);
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
		 ": others than its owner may write it (mode 0664): chmod go-w"},
		{"writable by all", HEAD, sizeof(HEAD) - 1, 0646, "(mode 0646): chmod go-w"},
		{"UTF-16",
		 "\xff\xfe"
		 "c\0",
		 4, 0600, ":1: is UTF-16: save the file as UTF-8"},
		{"zero byte", HEAD "\0x", sizeof(HEAD "\0x") - 1, 0600, "zero byte"},
	};
	char dir[] = "/tmp/confXXXXXX", path[64];
	struct conf *c;
	struct err e = {0};

	(void)state;
	assert_non_null(mkdtemp(dir));
	(void)snprintf(path, sizeof(path), "%s/burstd.conf", dir);
	assert_int_equal(conf_file_load(&c, path, &e), -1);
	assert_null(c);
	assert_non_null(strstr(e.msg, "No such file"));
	assert_null(strstr(e.msg, "looks nowhere else"));
	/* Who has named no file is told how to. */
	if (access(PATHS_CONF, F_OK) != 0) {
		assert_int_equal(conf_file_load(&c, PATHS_CONF, &e), -1);
		assert_string_equal(
			e.msg, PATHS_CONF
			": No such file or directory; burstd looks nowhere else unless it is told: "
			"burstd --config FILE, burstctl config check FILE, burstctl check FILE");
	}
	for (size_t i = 0; i < COUNT(rows); i++) {
		print_message("# %s\n", rows[i].name);
		write_file(path, rows[i].text, rows[i].len, rows[i].mode);
		assert_int_equal(conf_file_load(&c, path, &e), rows[i].want == NULL ? 0 : -1);
		assert_int_equal(c == NULL, rows[i].want != NULL);
		if (rows[i].want != NULL) {
			assert_memory_equal(e.msg, path, strlen(path));
			assert_non_null(strstr(e.msg, rows[i].want));
		}
		conf_free(c);
	}
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(conf_file_load(&c, path, &e), -1); /* and does not hang */
	assert_non_null(strstr(e.msg, ": not a plain file"));
	unlink(path);
	write_file(path, HEAD, sizeof(HEAD) - 1, 0644);
	if (chown(path, 65534, (gid_t)-1) == 0) {
		assert_int_equal(conf_file_load(&c, path, &e), -1);
		assert_non_null(
			strstr(e.msg, ": belongs to uid 65534: want it to be root's or our"));
	}
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
	assert_int_equal(conf_file_parse(&c, "f", text, &e), -1);
	assert_string_equal(e.msg, "f:1: longer than 1048576 bytes");
	free(text);
}

/* --- the example that is installed -------------------------------------------------------------
 */

static char *read_example(void)
{
	FILE *in = fopen("scripts/pkg/burstd.conf", "r");
	char *text = mem_zalloc(1 << 16);

	assert_non_null(in); /* tests are run in the root of the tree */
	assert_true(fread(text, 1, (1 << 16) - 1, in) > 0);
	fclose(in);
	return text;
}

/* Make "#name = value" an option, where it is one that is shown with its default. */
static void uncomment(char *text)
{
	for (char *p = text; (p = strchr(p, '#')) != NULL; p++)
		if (p[1] >= 'a' && p[1] <= 'z')
			*p = ' ';
}

/* The pool that is shown as a whole stands behind "#" and a tab. */
static void uncomment_pool(char *text)
{
	for (char *p = text; (p = strstr(p, "\n#\t")) != NULL; p++)
		p[1] = ' ';
}

static void test_example(void **state)
{
	char *text = read_example();
	struct conf *plain = parsed(text), *full;

	(void)state;
	uncomment(text);
	full = parsed(text); /* the defaults it shows are the defaults */
	assert_conf_equal(plain, full);
	assert_int_equal(plain->npools, 1);
	for (size_t i = 0; i < conf_noptions; i++) {
		char want[64];

		(void)snprintf(want, sizeof(want), "%s = ", conf_options[i].name);
		if (strstr(text, want) == NULL)
			fail_msg("the example lacks %s %s", conf_options[i].section,
				 conf_options[i].name);
	}
	conf_free(plain);
	conf_free(full);
	uncomment_pool(text);
	full = parsed(text);
	assert_int_equal(full->npools, 2);
	assert_int_equal(full->pools[1].noffers, 2);
	conf_free(full);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_field),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_syntax),
		cmocka_unit_test(test_print_loads_again),
		cmocka_unit_test(test_reload),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_user_data_is_read_from_its_file),
		cmocka_unit_test(test_too_long),
		cmocka_unit_test(test_example),
	};

	return cmocka_run_group_tests_name("conf_file", tests, NULL, NULL);
}
