/* Every option of a file arrives in its field, is written out again, and may be reloaded just when
 * its table says so; and the shipped example. */
#include "conf_text.h"

#include "base/log.h"
#include "core/conf_option.h"

/* Every field away from its default. */
static const char whole[] =
	"cluster = \"lab\"\n"
	"currency = \"CHF\"\n"
	"state_dir = \"/srv/burstd\"\n"
	"listen = \"127.0.0.1:9818\"\n"
	"log_level = \"warn\" events_keep = \"30d\"\n"
	"admins = {\"root\", \"1001\"}\n"
	"slurm { bin_dir = \"/opt/slurm/bin\" conf = \"/etc/slurm/slurm.conf\" } "
	"secrets { driver = \"vault\" address = \"https://v1:8200,https://v2:8200\" ca_file = "
	"\"/etc/vault.pem\" namespace = \"hpc/\" mount = \"kv2\" name = \"slurm/prod/node\" "
	"auth_mount = \"approle2\" role_id = \"role-1\" role_name = \"burstd-prod\" "
	"credential_file = \"/etc/secret-id\" rotate_role_id = \"role-9\" rotate_role_name = "
	"\"burst-rotate\" switch_command = {\"/switch\", \"now\"} region = \"us-east-9\" role = "
	"\"arn:aws:iam::2:role/s\" sts_url = \"https://sts.secrets\" metadata_url = "
	"\"http://127.0.0.1:1339\" dir = \"/srv/secrets\" release = \"broker\" wrap_ttl = \"45s\" "
	"poll = \"47s\" timeout = \"49s\" } "
	"nodes { listen = \"0.0.0.0:8443\" url = {\"https://b1:8443\", \"https://[fd00::1]:8443\"} "
	"conf_server = {\"c1:6817\", \"c2:6817\"} claim_ttl = \"21m\" deadman = \"22m\" auth = "
	"slurm "
	"munge_socket = \"/run/m2\" node_init = \"/opt/node-init\" slurmd_options = \"-v -b\" }\n"
	"provider \"sim\" {\n"
	"	driver = \"sim\" url = \"http://127.0.0.1:8900\" credential_file = "
	"\"/etc/sim.token\"\n"
	"	ca_file = \"/etc/ca.pem\" settle = \"61s\" list_every = \"31s\" cooldown = \"62s\" "
	"unreachable_after = \"63s\" "
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
	" notice_queue = \"https://sqs.example/1/q\" attest = off account = \"a-1\" "
	"check_address = false attest_ca_file = \"/etc/attest.pem\"\n"
	"}\n"
	"provider \"b\" { driver = \"static\" attest = off }\n"
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
	"	jurisdictions = {\"EU\", \"CH\"} jurisdiction = \"SE\" job_comment = true fabric = "
	"pg-7 interconnect = \"ib:8x400\"\n"
	"}\n"
	"pool \"own\" { nodes = \"d[01-02]\" provider = \"b\" type = t region = r max_nodes = 2\n"
	"	max_rate = \"0\" }\n"
	"pool \"mixed\" { nodes = \"e[1-4]\" max_nodes = 4 max_rate = \"9\"\n"
	"	offer \"s\" { type = \"big\" provider = \"sim\"\n"
	"		region = \"eu-west-1\" zone = \"c\" market = \"reserved\"\n"
	"		price = \"1.5\" max_price = \"2.5\" jurisdiction = \"IE\" fabric = job\n"
	"		interconnect = efa\n"
	"	}\n"
	"	offer \"o\" { provider = \"b\" type = u region = q }\n"
	"}\n";

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
	assert_int_equal(a->attest_as, b->attest_as);
	assert_int_equal(a->attest, b->attest);
	assert_text_equal(a->account, b->account);
	assert_int_equal(a->check_address, b->check_address);
	assert_text_equal(a->attest_ca_file, b->attest_ca_file);
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

static void assert_nodes_equal(const struct conf_nodes *a, const struct conf_nodes *b)
{
	assert_text_equal(a->listen, b->listen);
	assert_words_equal(a->urls, b->urls);
	assert_words_equal(a->conf_servers, b->conf_servers);
	assert_int_equal(a->claim_ms, b->claim_ms);
	assert_int_equal(a->deadman_ms, b->deadman_ms);
	assert_int_equal(a->auth, b->auth);
	assert_text_equal(a->munge_socket, b->munge_socket);
	assert_text_equal(a->node_init, b->node_init);
	assert_text_equal(a->slurmd_options, b->slurmd_options);
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
	assert_nodes_equal(&a->nodes, &b->nodes);
	assert_int_equal(a->nproviders, b->nproviders);
	for (size_t i = 0; i < a->nproviders; i++)
		assert_provider_equal(&a->providers[i], &b->providers[i]);
	assert_int_equal(a->npools, b->npools);
	for (size_t i = 0; i < a->npools; i++)
		assert_pool_equal(&a->pools[i], &b->pools[i]);
	assert_int_equal(a->by_node.n, b->by_node.n);
}

static void assert_globals(const struct conf *c)
{
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
	assert_int_equal(c->npools, 3);
	assert_int_equal(c->state_dir_line, 3);
	assert_int_equal(c->slurm_bin_line, 7);
	assert_int_equal(c->slurm_conf_line, 7);
}

static void assert_nodes(const struct conf_nodes *n)
{
	assert_string_equal(n->listen, "0.0.0.0:8443");
	assert_string_equal(n->urls[0], "https://b1:8443");
	assert_string_equal(n->urls[1], "https://[fd00::1]:8443");
	assert_null(n->urls[2]);
	assert_string_equal(n->conf_servers[1], "c2:6817");
	assert_null(n->conf_servers[2]);
	assert_int_equal(n->claim_ms, 21 * 60000);
	assert_int_equal(n->deadman_ms, 22 * 60000);
	assert_int_equal(n->auth, CONF_AUTH_SLURM);
	assert_string_equal(n->munge_socket, "/run/m2");
	assert_string_equal(n->node_init, "/opt/node-init");
	assert_string_equal(n->slurmd_options, "-v -b");
	assert_int_equal(n->line, 7);
}

static void assert_providers(const struct conf *c)
{
	const struct conf_provider *sim = &c->providers[0];

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
	assert_int_equal(sim->attest_as, CONF_ATTEST_OFF);
	assert_int_equal(sim->attest, CONF_ATTEST_OFF);
	assert_string_equal(sim->account, "a-1");
	assert_int_equal(sim->check_address, 0);
	assert_string_equal(sim->attest_ca_file, "/etc/attest.pem");
	assert_null(sim->attest_ca);
	assert_int_equal(c->providers[1].attest_as, CONF_ATTEST_OFF);
	assert_int_equal(c->providers[1].check_address, 1);
	assert_string_equal(c->providers[1].image, "");
	assert_null(c->providers[1].user_data_file);
	assert_null(c->providers[1].on);
	assert_int_equal(sim->driver_line, 9);
	assert_int_equal(sim->credential_line, 9);
	assert_int_equal(sim->ca_line, 10);
	assert_int_equal(c->providers[1].ca_line, 0);
}

static void assert_first_pool(const struct conf *c)
{
	const struct conf_pool *p = &c->pools[0];

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
	assert_string_equal(p->interconnect, "ib:8x400");
	assert_string_equal(p->jurisdiction, "SE");
	assert_int_equal(p->place_line, 15);
	assert_int_equal(p->line, 22);
}

static void assert_other_pools(const struct conf *c)
{
	const struct conf_offer *s = c->pools[2].offers;

	assert_int_equal(c->pools[2].noffers, 2);
	assert_int_equal(c->pools[2].place_line, 0);
	assert_int_equal(s->market, PROVIDER_RESERVED);
	assert_int_equal(s->provider_line, 26);
	assert_int_equal(s->line, 30);
	assert_int_equal(s->max_price_nano_h, INT64_C(2500000000));
	assert_string_equal(s->jurisdiction, "IE");
	assert_string_equal(s->interconnect, "efa");
	assert_int_equal(s[1].provider_index, 1);
	assert_int_equal(s[1].provider_line, 31);
	assert_int_equal(c->pools[1].provider_index, 1);
	assert_int_equal(c->pools[1].max_rate_nano_h, 0);
	assert_ptr_equal(conf_pool_of(c, "d02"), &c->pools[1]);
}

static void test_every_field(void **state)
{
	struct conf *c = parsed(whole);

	(void)state;
	assert_globals(c);
	assert_nodes(&c->nodes);
	assert_providers(c);
	assert_first_pool(c);
	assert_other_pools(c);
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
	assert_text_equal(sim->attest_ca_file, NULL);
	assert_int_equal(sim->attest_as, CONF_ATTEST_AUTO);
	assert_int_equal(sim->attest, CONF_ATTEST_OFF); /* there is no section nodes */
	assert_int_equal(sim->check_address, 1);
	assert_string_equal(c->nodes.listen, "");
	assert_null(c->nodes.urls);
	assert_null(c->nodes.conf_servers);
	assert_int_equal(c->nodes.claim_ms, 0);
	assert_int_equal(c->nodes.deadman_ms, 600000);
	assert_int_equal(c->nodes.auth, CONF_AUTH_MUNGE);
	assert_string_equal(c->nodes.munge_socket, "");
	assert_string_equal(c->nodes.node_init, "");
	assert_string_equal(c->nodes.slurmd_options, "");
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

/* Without the section nodes nobody claims; with it each driver has its way, or the admin's. */
/* Whose machines are given a token, and by whom nobody is asked who it is. */
static void test_vouchers(void **state)
{
	static const struct {
		const char *provider;
		bool want;
	} rows[] = {{"driver = sim", true},
		    {"driver = aws", true},
		    {"driver = sim attest = auto", true},
		    {"driver = sim attest = off", false},
		    {"driver = static", false}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[400];
		struct conf *c;
		struct err e;

		(void)snprintf(text, sizeof(text),
			       "cluster = a currency = EUR\n"
			       "secrets { driver = vault release = user-data ca_file = \"/ca\" }\n"
			       "nodes { conf_server = {\"c:1\"} }\nprovider \"x\" { %s }\n",
			       rows[i].provider);
		if (conf_file_parse(&c, "f", text, &e) < 0)
			fail_msg("%s", e.msg);
		assert_int_equal(c->secrets.release, CONF_USER_DATA);
		if (c->providers[0].vouchers != rows[i].want)
			fail_msg("%s", rows[i].provider);
		assert_int_equal(c->providers[0].attest, CONF_ATTEST_OFF);
		conf_free(c);
	}
}

static void test_attest(void **state)
{
	static const struct {
		const char *provider;
		enum conf_attest want;
	} rows[] = {
		{"driver = aws", CONF_ATTEST_AWS},
		{"driver = sim", CONF_ATTEST_CALLBACK},
		{"driver = static", CONF_ATTEST_OFF},
		{"driver = sim attest = off", CONF_ATTEST_OFF},
		{"driver = sim attest = address", CONF_ATTEST_ADDRESS},
		{"driver = sim attest = aws", CONF_ATTEST_AWS},
		{"driver = aws attest = callback", CONF_ATTEST_CALLBACK},
		{"driver = other attest = gcp", CONF_ATTEST_GCP},
		{"driver = other attest = azure attest_ca_file = \"/ca\"", CONF_ATTEST_AZURE},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		for (int nodes = 0; nodes < 2; nodes++) {
			char text[400];
			struct conf *c;

			(void)snprintf(text, sizeof(text), "%s%sprovider p { %s }\n", HEAD,
				       nodes ? NODES : "", rows[i].provider);
			c = parsed(text);
			assert_int_equal(c->providers[0].attest,
					 nodes ? rows[i].want : CONF_ATTEST_OFF);
			conf_free(c);
		}
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
	{"secrets", "driver", "\"vault\"", "\"aws\""},
	{"secrets", "address", "\"https://v1:8200,https://v2:8200\"", "\"https://v3:8200\""},
	{"secrets", "ca_file", "\"/etc/vault.pem\"", "\"\""},
	{"secrets", "namespace", "\"hpc/\"", "\"\""},
	{"secrets", "mount", "\"kv2\"", "\"kv3\""},
	{"secrets", "name", "\"slurm/prod/node\"", "\"slurm/x\""},
	{"secrets", "auth_mount", "\"approle2\"", "\"approle3\""},
	{"secrets", "role_id", "\"role-1\"", "\"role-2\""},
	{"secrets", "role_name", "\"burstd-prod\"", "\"burstd-x\""},
	{"secrets", "credential_file", "\"/etc/secret-id\"", "\"\""},
	{"secrets", "rotate_role_id", "\"role-9\"", "\"role-8\""},
	{"secrets", "rotate_role_name", "\"burst-rotate\"", "\"burst-x\""},
	{"secrets", "switch_command", "{\"/switch\", \"now\"}", "{}"},
	{"secrets", "region", "\"us-east-9\"", "\"us-east-8\""},
	{"secrets", "role", "\"arn:aws:iam::2:role/s\"", "\"\""},
	{"secrets", "sts_url", "\"https://sts.secrets\"", "\"\""},
	{"secrets", "metadata_url", "\"http://127.0.0.1:1339\"", "\"\""},
	{"secrets", "dir", "\"/srv/secrets\"", "\"\""},
	{"secrets", "release", "\"broker\"", "\"wrap\""},
	{"secrets", "wrap_ttl", "\"45s\"", "\"46s\""},
	{"secrets", "poll", "\"47s\"", "\"48s\""},
	{"secrets", "timeout", "\"49s\"", "\"50s\""},
	{"nodes", "listen", "\"0.0.0.0:8443\"", "\"[::]:8443\""},
	{"nodes", "url", "\"https://b1:8443\", ", ""},
	{"nodes", "conf_server", "\"c1:6817\", ", ""},
	{"nodes", "claim_ttl", "\"21m\"", "\"0s\""},
	{"nodes", "deadman", "\"22m\"", "\"0s\""},
	{"nodes", "auth", "auth = slurm", "auth = munge"},
	{"nodes", "munge_socket", "\"/run/m2\"", "\"\""},
	{"nodes", "node_init", "\"/opt/node-init\"", "\"\""},
	{"nodes", "slurmd_options", "\"-v -b\"", "\"\""},
	{"provider", "driver", "\"sim\" url", "\"other\" url"},
	{"provider", "url", "\"http://127.0.0.1:8900\"", "\"\""},
	{"provider", "credential_file", "\"/etc/sim.token\"", "\"\""},
	{"provider", "ca_file", "\"/etc/ca.pem\"", "\"\""},
	{"provider", "settle", "\"61s\"", "\"62s\""},
	{"provider", "list_every", "\"31s\"", "\"32s\""},
	{"provider", "cooldown", "\"62s\"", "\"64s\""},
	{"provider", "unreachable_after", "\"63s\"", "\"65s\""},
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
	{"provider", "attest", "static\" attest = off", "static\" attest = auto"},
	{"provider", "account", "\"a-1\"", "\"\""},
	{"provider", "check_address", "check_address = false", "check_address = true"},
	{"provider", "attest_ca_file", "\"/etc/attest.pem\"", "\"\""},
	{"pool", "nodes", "\"c[1-8]\"", "\"c[1-9]\""},
	{"pool", "provider", "provider = \"sim\" type", "provider = \"b\" type"},
	{"pool", "type", "\"gpu_8x_h100\"", "\"x\""},
	{"pool", "region", "\"eu-north-1\"", "\"x\""},
	{"pool", "zone", "\"a\"", "\"\""},
	{"pool", "market", "\"spot\"", "\"on-demand\""},
	{"pool", "jurisdiction", "\"SE\"", "\"DE\""},
	{"pool", "fabric", "pg-7", "pg-8"},
	{"pool", "interconnect", "\"ib:8x400\"", "\"\""},
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
	{"offer", "fabric", "fabric = job", "fabric = none"},
	{"offer", "interconnect", "= efa", "= roce"},
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
		cmocka_unit_test(test_every_field), cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_attest),      cmocka_unit_test(test_print_loads_again),
		cmocka_unit_test(test_vouchers),    cmocka_unit_test(test_print_loads_again),
		cmocka_unit_test(test_reload),      cmocka_unit_test(test_example),
	};

	return cmocka_run_group_tests_name("fields of conf_file", tests, NULL, NULL);
}
