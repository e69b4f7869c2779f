/* test_conf_fields.c - every option of a file arrives in its field, and each has its default. */
#include "conf_equal.h"
#include "conf_whole.h"

#include "base/log.h"
#include "providers/aws.h"
#include "providers/static.h"

static void assert_globals(const struct conf *c)
{
	assert_string_equal(c->path, "f");
	assert_string_equal(c->cluster, "lab");
	assert_string_equal(c->currency, "CHF");
	assert_string_equal(c->report_zone, "Europe/Zurich");
	assert_string_equal(c->state_dir, "/srv/burstd");
	assert_string_equal(c->listen, "127.0.0.1:9818");
	assert_true(c->listen_jobs);
	assert_int_equal(c->log_level, LOG_WARN);
	assert_int_equal(c->events_keep_ms, INT64_C(30) * 86400000);
	assert_int_equal(c->budgets_away, CONF_AWAY_REQUEUE);
	assert_int_equal(c->people.admins.n, 2);
	assert_int_equal(c->people.admins.v[0], 0);
	assert_int_equal(c->people.admins.v[1], 1001);
	assert_int_equal(c->people.admin_groups.n, 2);
	assert_int_equal(c->people.admin_groups.v[0], 0);
	assert_int_equal(c->people.admin_groups.v[1], 1002);
	assert_int_equal(c->people.operator_groups.n, 1);
	assert_int_equal(c->people.operator_groups.v[0], 1003);
	assert_int_equal(c->people.finance_groups.n, 1);
	assert_int_equal(c->people.finance_groups.v[0], 1004);
	assert_string_equal(c->prices_file, "/etc/prices.conf");
	assert_string_equal(c->slurm_bin, "/opt/slurm/bin");
	assert_string_equal(c->slurm_conf, "/etc/slurm/slurm.conf");
	assert_int_equal(c->billing_unit_nano_h, 10000000);
	assert_int_equal(c->reconfigure_ms, 44000);
	assert_int_equal(c->nproviders, 3);
	assert_int_equal(c->npools, 3);
	assert_int_equal(c->nbudgets, 3);
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
	assert_null(sim->own);
	assert_string_equal(sim->user_data_file, "/etc/data");
	assert_null(sim->user_data);
	assert_int_equal(sim->bootstrap, CONF_BOOTSTRAP_IMAGE);
	assert_int_equal(sim->attest_as, CONF_ATTEST_OFF);
	assert_int_equal(sim->attest, CONF_ATTEST_OFF);
	assert_string_equal(sim->account, "a-1");
	assert_int_equal(sim->check_address, 0);
	assert_string_equal(sim->address_map, "10.0.0.0/8=11.0.0.0/8");
	assert_string_equal(sim->attest_ca_file, "/etc/at.pem");
	assert_null(sim->attest_ca);
	assert_int_equal(c->providers[1].attest_as, CONF_ATTEST_OFF);
	assert_int_equal(c->providers[1].check_address, 1);
	assert_null(c->providers[1].user_data_file);
	assert_int_equal(sim->driver_line, 9);
	assert_int_equal(sim->credential_line, 9);
	assert_int_equal(sim->ca_line, 10);
	assert_int_equal(c->providers[1].ca_line, 0);
}

/* What only its driver knows is in a struct of the driver's. */
static void assert_own_options(const struct conf *c)
{
	const struct static_options *site = c->providers[1].own;
	const struct aws_options *ec2 = c->providers[2].own;

	assert_ptr_equal(c->providers[1].own_options, &static_options);
	assert_string_equal(site->off[1], "off");
	assert_string_equal(site->off[2], "%n");
	assert_null(site->off[3]);
	assert_string_equal(site->program, "/opt/burst");
	assert_ptr_equal(c->providers[2].own_options, &aws_options);
	assert_string_equal(ec2->region, "eu-west-9");
	assert_string_equal(ec2->subnets, "az1=subnet-1,az2=subnet-2");
	assert_int_equal(c->providers[2].attest, CONF_ATTEST_AWS);
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
	assert_int_equal(p->unmount_wait_ms, 6000);
	assert_true(p->dynamic);
	assert_int_equal(p->fabric_hops, 1);
	assert_string_equal(p->interconnect, "ib:8x400");
	assert_string_equal(p->image, "img-1");
	assert_int_equal(p->image_canaries, 3);
	assert_int_equal(p->image_trial_ms, 960000);
	assert_int_equal(p->image_at_once, 5);
	assert_string_equal(p->jurisdiction, "SE");
	assert_int_equal(p->place_line, 15);
	assert_int_equal(p->line, 23);
}

static void assert_other_pools(const struct conf *c)
{
	const struct conf_offer *s = c->pools[2].offers;

	assert_int_equal(c->pools[2].noffers, 2);
	assert_int_equal(c->pools[2].place_line, 0);
	assert_int_equal(s->market, PROVIDER_RESERVED);
	assert_int_equal(s->provider_line, 27);
	assert_int_equal(s->line, 31);
	assert_int_equal(s->max_price_nano_h, INT64_C(2500000000));
	assert_string_equal(s->jurisdiction, "IE");
	assert_string_equal(s->interconnect, "efa");
	assert_string_equal(s->image, "img-2");
	assert_int_equal(s[1].provider_index, 1);
	assert_int_equal(s[1].provider_line, 32);
	assert_int_equal(c->pools[1].provider_index, 1);
	assert_int_equal(c->pools[1].max_rate_nano_h, 0);
	assert_ptr_equal(conf_pool_of(c, "d02"), &c->pools[1]);
}

static void assert_list(char *const *list, const char *first, const char *second)
{
	assert_non_null(list);
	assert_string_equal(list[0], first);
	assert_string_equal(list[1], second);
	assert_null(list[2]);
}

static void assert_budgets(const struct conf *c)
{
	const struct conf_budget *b = &c->budgets[0];

	assert_string_equal(b->name, "physics");
	assert_list(b->partitions, "gpu", "long");
	assert_list(b->pools, "h100", "mixed");
	assert_list(b->accounts, "physics", "astro");
	assert_list(b->users, "ann", "bob");
	assert_list(b->qos, "high", "low");
	assert_list(b->wckeys, "w1", "w2");
	assert_list(b->providers, "sim", "ec2");
	assert_int_equal(b->market, PROVIDER_RESERVED);
	assert_int_equal(b->each, CONF_EACH_ACCOUNT);
	assert_int_equal(b->amount_nano, INT64_C(50000000000000));
	assert_int_equal(b->rate_nano_h, INT64_C(120500000000));
	assert_string_equal(b->period, "year from 04-01");
	assert_int_equal(b->period_rule.kind, PERIOD_YEAR);
	assert_int_equal(b->period_rule.month, 4);
	assert_int_equal(b->rollover, 20);
	assert_int_equal(b->reserve, CONF_RESERVE_LEASE);
	assert_int_equal(b->lease_ms, 8 * 3600000);
	assert_int_equal(b->notify_at.n, 2);
	assert_int_equal(b->notify_at.at[0], 80);
	assert_int_equal(b->notify_at.at[1], 90);
	assert_int_equal(b->spot_only_at, 91);
	assert_int_equal(b->stop_at, 99);
	assert_int_equal(c->budgets[2].drain_at, 101);
	assert_int_equal(b->drain_at, 0); /* of jobs */
	assert_int_equal(b->requeue_at, 102);
	assert_int_equal(b->kill_at, 103);
	assert_int_equal(b->grace_ms, 15 * 60000);
	assert_int_equal(b->unknown, CONF_UNKNOWN_ALLOW);
	assert_string_equal(b->contact, "f@x.org, room 7");
	assert_int_equal(conf_budget_line(b, "grace"), 39);
}

static void assert_alerts(const struct conf *c)
{
	const struct conf_alert *hook = conf_alert_named(c, "hook");
	const struct conf_alert *chat = conf_alert_named(c, "chat");
	const struct conf_alert *mail = conf_alert_named(c, "mail");

	assert_int_equal(c->nalerts, 3);
	assert_int_equal(hook->kind, CONF_ALERT_WEBHOOK);
	assert_string_equal(hook->url, "https://hooks.example/b");
	assert_string_equal(hook->secret_file, "/etc/hook.key");
	assert_string_equal(hook->ca_file, "/etc/hook.pem");
	assert_list(hook->budgets, "physics", "now");
	assert_int_equal(chat->kind, CONF_ALERT_SLACK);
	assert_string_equal(chat->url, "");
	assert_string_equal(chat->url_file, "/etc/slack.url");
	assert_null(chat->secret_file);
	assert_null(chat->budgets);
	assert_null(chat->ca_file);
	assert_int_equal(mail->kind, CONF_ALERT_SMTP);
	assert_string_equal(mail->url, "smtps://mail.example:465");
	assert_string_equal(mail->from, "burstd@example.org");
	assert_list(mail->to, "ops@example.org", "finance@example.org");
	assert_string_equal(mail->user, "burst");
	assert_string_equal(mail->password_file, "/etc/mail.pw");
	assert_int_equal(conf_alert_line(hook, "url"), conf_alert_line(hook, "kind"));
	assert_true(conf_alert_line(hook, "url") > 0);
	assert_null(conf_alert_named(c, "other"));
}

static void assert_default_budget(const struct conf_budget *b)
{
	assert_string_equal(b->name, "now");
	assert_null(b->partitions);
	assert_null(b->pools);
	assert_null(b->accounts);
	assert_null(b->users);
	assert_null(b->qos);
	assert_null(b->wckeys);
	assert_null(b->providers);
	assert_int_equal(b->market, CONF_MARKET_ANY);
	assert_int_equal(b->each, CONF_EACH_NONE);
	assert_int_equal(b->amount_nano, 0);
	assert_int_equal(b->rate_nano_h, INT64_C(7000000000));
	assert_string_equal(b->period, "month");
	assert_int_equal(b->period_rule.kind, PERIOD_MONTH);
	assert_int_equal(b->rollover, 0);
	assert_int_equal(b->reserve, CONF_RESERVE_FULL);
	assert_int_equal(b->lease_ms, 4 * 3600000);
	assert_int_equal(b->notify_at.n, 0);
	assert_int_equal(b->spot_only_at, 0);
	assert_int_equal(b->stop_at, 100);
	assert_int_equal(b->drain_at, 0);
	assert_int_equal(b->requeue_at, 0);
	assert_int_equal(b->kill_at, 0);
	assert_int_equal(b->grace_ms, 10 * 60000);
	assert_int_equal(b->unknown, CONF_UNKNOWN_REFUSE);
	assert_string_equal(b->contact, "");
}

static void test_every_field(void **state)
{
	struct conf *c = parsed(whole);

	(void)state;
	assert_globals(c);
	assert_nodes(&c->nodes);
	assert_providers(c);
	assert_own_options(c);
	assert_first_pool(c);
	assert_other_pools(c);
	assert_budgets(c);
	assert_default_budget(&c->budgets[1]);
	assert_alerts(c);
	conf_free(c);
}

static void test_defaults(void **state)
{
	struct conf *c = parsed(HEAD SIM POOL);
	const struct conf_provider *sim = &c->providers[0];
	const struct conf_pool *p = &c->pools[0];

	(void)state;
	assert_string_equal(c->report_zone, "UTC");
	assert_int_equal(c->nbudgets, 0);
	assert_int_equal(c->nalerts, 0);
	assert_string_equal(c->state_dir, "/var/lib/burstd");
	assert_string_equal(c->listen, "");
	assert_int_equal(c->log_level, LOG_INFO);
	assert_int_equal(c->events_keep_ms, INT64_C(90) * 86400000);
	assert_int_equal(c->budgets_away, CONF_AWAY_START);
	assert_int_equal(c->people.admins.n, 0);
	assert_int_equal(c->people.admin_groups.n, 0);
	assert_int_equal(c->people.operator_groups.n, 0);
	assert_int_equal(c->people.finance_groups.n, 0);
	assert_null(c->prices_file);
	assert_string_equal(c->slurm_bin, "/usr/bin");
	assert_null(c->slurm_conf);
	assert_int_equal(c->billing_unit_nano_h, 0);
	assert_int_equal(c->reconfigure_ms, 60000);
	assert_text_equal(sim->name, "sim");
	assert_text_equal(sim->driver, "sim");
	assert_text_equal(sim->url, "");
	assert_text_equal(sim->credential_file, NULL);
	assert_text_equal(sim->ca_file, NULL);
	assert_text_equal(sim->attest_ca_file, NULL);
	assert_int_equal(sim->bootstrap, CONF_BOOTSTRAP_USER_DATA);
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
		if (conf_file_parse(&c, "f", text, provider_options, &e) < 0)
			fail_msg("%s", e.msg);
		assert_int_equal(c->secrets.release, CONF_USER_DATA);
		if (c->providers[0].vouchers != rows[i].want)
			fail_msg("%s", rows[i].provider);
		assert_int_equal(c->providers[0].attest, CONF_ATTEST_OFF);
		conf_free(c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_field),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_attest),
		cmocka_unit_test(test_vouchers),
	};

	return cmocka_run_group_tests_name("fields of conf_file", tests, NULL, NULL);
}
