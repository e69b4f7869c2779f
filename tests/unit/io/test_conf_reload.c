/* test_conf_reload.c - every option may be reloaded just when its table says so. */
#include "conf_text.h"
#include "conf_whole.h"

#include "core/conf_option.h"

/* A good value that is not the one in `whole`. */
static const struct {
	const char *section, *name, *from, *to;
} changes[] = {
	{"", "cluster", "\"lab\"", "\"lib\""},
	{"", "currency", "\"CHF\"", "\"EUR\""},
	{"", "report_zone", "\"Europe/Zurich\"", "\"UTC\""},
	{"", "state_dir", "\"/srv/burstd\"", "\"/srv/b\""},
	{"", "listen", "\"127.0.0.1:9818\"", "\"\""},
	{"", "listen_jobs", "listen_jobs = true", "listen_jobs = false"},
	{"", "log_level", "\"warn\"", "\"debug\""},
	{"", "events_keep", "\"30d\"", "\"31d\""},
	{"", "admins", "{\"root\", \"1001\"}", "{}"},
	{"", "admin_groups", "{\"root\", \"1002\"}", "{}"},
	{"", "operator_groups", "{\"1003\"}", "{\"1003\", \"1004\"}"},
	{"", "finance_groups", "{\"1004\"}", "{}"},
	{"", "budgets_away", "= requeue", "= start"},
	{"", "prices_file", "\"/etc/prices.conf\"", "\"/etc/other.conf\""},
	{"slurm", "bin_dir", "\"/opt/slurm/bin\"", "\"/usr/bin\""},
	{"slurm", "conf", "\"/etc/slurm/slurm.conf\"", "\"\""},
	{"slurm", "billing_unit", "\"0.01\"", "\"\""},
	{"slurm", "reconfigure_every", "\"44s\"", "\"43s\""},
	{"secrets", "driver", "\"vault\"", "\"aws\""},
	{"secrets", "address", "\"https://v1:8200,https://v2:8200\"", "\"https://v3:8200\""},
	{"secrets", "ca_file", "\"/etc/vault.pem\"", "\"\""},
	{"secrets", "namespace", "\"hpc/\"", "\"\""},
	{"secrets", "mount", "\"kv2\"", "\"kv3\""},
	{"secrets", "name", "\"slurm/prod/node\"", "\"slurm/x\""},
	{"secrets", "auth_mount", "\"approle2\"", "\"approle3\""},
	{"secrets", "role_id", "\"role-1\"", "\"role-2\""},
	{"secrets", "role_name", "\"burstd-prod\"", "\"burstd-x\""},
	{"secrets", "credential_file", "\"/etc/sid\"", "\"\""},
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
	{"provider", "user_data_file", "\"/etc/data\"", "\"\""},
	{"provider", "bootstrap", "bootstrap = image", "bootstrap = ssh"},
	{"provider", "attest", "static\" attest = off", "static\" attest = auto"},
	{"provider", "account", "\"a-1\"", "\"\""},
	{"provider", "check_address", "check_address = false", "check_address = true"},
	{"provider", "address_map", "/8=11.0", "/8=12.0"},
	{"provider", "attest_ca_file", "\"/etc/at.pem\"", "\"\""},
	{"pool", "nodes", "\"c[1-8]\"", "\"c[1-9]\""},
	{"pool", "provider", "provider=\"sim\" type", "provider=\"b\" type"},
	{"pool", "type", "\"gpu_8x_h100\"", "\"x\""},
	{"pool", "region", "\"eu-north-1\"", "\"x\""},
	{"pool", "zone", "\"a\"", "\"\""},
	{"pool", "market", "\"spot\"", "\"on-demand\""},
	{"pool", "jurisdiction", "\"SE\"", "\"DE\""},
	{"pool", "unit", "unit = 2", "unit = 4"},
	{"pool", "fabric", "pg-7", "pg-8"},
	{"pool", "fabric_hops", "fabric_hops = 1", "fabric_hops = 2"},
	{"pool", "interconnect", "\"ib:8x400\"", "\"\""},
	{"pool", "image", "\"img-1\"", "\"\""},
	{"pool", "image_canaries", "canaries = 3", "canaries = 4"},
	{"pool", "image_trial", "\"16m\"", "\"17m\""},
	{"pool", "image_at_once", "at_once = 5", "at_once = 6"},
	{"pool", "max_nodes", "max_nodes = 7", "max_nodes = 8"},
	{"pool", "max_rate", "\"300.5\"", "\"1\""},
	{"pool", "price", "\"29.52\"", "\"\""},
	{"pool", "boot_timeout", "\"11m\"", "\"13m\""},
	{"pool", "node", "CPUs=4 ", "CPUs=5 "},
	{"pool", "gres", "\"gpu:h100:8\"", "\"gpu:h100:4\""},
	{"pool", "dynamic", "dynamic = true", "dynamic = false"},
	{"pool", "warm", "warm = 2", "warm = 3"},
	{"pool", "quantum", "\"1h\"", "\"30m\""},
	{"pool", "policy", "\"cheapest\"", "\"ordered\""},
	{"pool", "gang", "\"best_effort\"", "\"all_or_nothing\""},
	{"pool", "max_price", "max_price=\"30\"", "max_price=\"31\""},
	{"pool", "spot_share", "spot_share = 51", "spot_share = 52"},
	{"pool", "fallback_refusals", "refusals = 3", "refusals = 4"},
	{"pool", "fallback_after", "\"12m\"", "\"14m\""},
	{"pool", "job_comment", "job_comment = true", "job_comment = false"},
	{"pool", "checkpoint_signal", "= USR1", "= USR2"},
	{"pool", "checkpoint_to", "= steps", "= full"},
	{"pool", "checkpoint_command", "\"%j\"", "\"%n\""},
	{"pool", "rebalance", "= drain", "= ignore"},
	{"pool", "rebalance_wait", "\"7m\"", "\"8m\""},
	{"pool", "unmount_wait", "\"6s\"", "\"5s\""},
	{"pool", "jurisdictions", "\"EU\", ", ""},
	{"offer", "provider", "provider=\"sim\"\n", "provider=\"b\"\n"},
	{"offer", "type", "\"big\"", "\"small\""},
	{"offer", "region", "\"eu-west-1\"", "\"eu-west-2\""},
	{"offer", "zone", "zone=\"c\"", "zone=\"d\""},
	{"offer", "market", "\"reserved\"", "\"spot\""},
	{"offer", "price", "\"1.5\"", "\"1.6\""},
	{"offer", "max_price", "\"2.5\"", "\"2.6\""},
	{"offer", "jurisdiction", "\"IE\"", "\"DE\""},
	{"offer", "fabric", "fabric = job", "fabric = none"},
	{"offer", "interconnect", "= efa", "= roce"},
	{"offer", "image", "\"img-2\"", "\"\""},
	{"budget", "partitions", "\"gpu\", ", ""},
	{"budget", "pools", "{\"h100\", ", "{"},
	{"budget", "accounts", "\"physics\", \"astro\"", "\"astro\""},
	{"budget", "users", "\"ann\", ", ""},
	{"budget", "qos", "\"high\", ", ""},
	{"budget", "wckeys", "\"w1\", ", ""},
	{"budget", "providers", "{\"sim\", \"ec2\"}", "{\"sim\"}"},
	{"budget", "market", "market = reserved each", "market = any each"},
	{"budget", "each", "each = account", "each = user"},
	{"budget", "amount", "\"50000.00\"", "\"50000.01\""},
	{"budget", "rate", "\"120.5\"", "\"\""},
	{"budget", "period", "\"year from 04-01\"", "\"quarter\""},
	{"budget", "rollover", "\"20%\"", "none"},
	{"budget", "reserve", "reserve = lease lease=\"8h\"", "reserve = full"},
	{"budget", "lease", "\"8h\"", "\"9h\""},
	{"budget", "notify_at", "{80, 90}", "{80}"},
	{"budget", "spot_only_at", "spot_only_at = 91", "spot_only_at = 0"},
	{"budget", "stop_at", "stop_at = 99", "stop_at = 98"},
	{"budget", "drain_at", "drain_at = 101", "drain_at = 100"},
	{"budget", "requeue_at", "requeue_at = 102", "requeue_at = 101"},
	{"budget", "kill_at", "kill_at = 103", "kill_at = 0"},
	{"budget", "grace", "\"15m\"", "\"16m\""},
	{"budget", "unknown", "= allow", "= refuse"},
	{"budget", "contact", "f@x", "money@"},
	{"alert", "kind", "kind = slack", "kind = webhook secret_file = \"/k\""},
	{"alert", "url", "hooks.example/b", "hooks.example/c"},
	{"alert", "url_file", "/etc/slack.url", "/etc/other.url"},
	{"alert", "secret_file", "/etc/hook.key", "/etc/other.key"},
	{"alert", "ca_file", "/etc/hook.pem", "/etc/other.pem"},
	{"alert", "from", "burstd@example.org", "burst@example.org"},
	{"alert", "to", "\"ops@example.org\", ", ""},
	{"alert", "user", "user = burst", "user = bart"},
	{"alert", "password_file", "/etc/mail.pw", "/etc/other.password"},
	{"alert", "budgets", "{\"physics\", \"now\"}", "{\"now\"}"},
};

struct seen {
	const struct conf_option *o;
	bool found; /* a change of it was reported */
};

static void note_change(void *ctx, const struct conf_change *change)
{
	struct seen *s = ctx;

	if (change->option != NULL && strcmp(change->section, s->o->section) == 0 &&
	    strcmp(change->option, s->o->name) == 0)
		s->found = true;
}

/* Each option alone: read at all, reported as a change, and reloadable just when the table
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
		struct seen seen;
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
		seen = (struct seen){.o = o};
		conf_diff(old, next, note_change, &seen);
		assert_true(seen.found);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reload),
	};

	return cmocka_run_group_tests_name("reload of conf_file", tests, NULL, NULL);
}
