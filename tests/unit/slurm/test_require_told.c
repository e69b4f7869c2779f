/* test_require_told.c - what else is given out of a configuration: the report, joined parameters,
 * and nodes that slurmctld does not know. */
#include "slurm/unknown.h"
#include "slurm_config.h"

static void test_report(void **state)
{
	char *config = fixture("22.05", "bare-config");
	struct slurm_report r;
	struct need n;
	struct str s;

	(void)state;
	need_init(&n);
	assert_int_equal(slurm_require(text_of(config), text_of(""), &n.need, &r, NULL), 0);
	assert_int_equal(r.version.number, 220508);
	assert_string_equal(r.boot_time, "2026-11-21T12:27:12");
	assert_int_equal(r.by_severity[SLURM_ERROR], 8);
	assert_int_equal(r.by_severity[SLURM_WARNING], 6);
	assert_int_equal(r.by_severity[SLURM_ADVICE], 2);
	for (size_t i = 1; i < r.n; i++)
		assert_true(r.problems[i - 1].severity >= r.problems[i].severity);
	str_init(&s, 1000);
	slurm_problem_print(&r.problems[2], &s);
	assert_string_equal(s.p, "ReturnToService is 0, wanted 2: A node that was DOWN stays DOWN "
				 "when its next instance registers, which bills for nothing.");
	str_fini(&s);
	need_fini(&n);
	free(config);
}

/* Where a setting is there twice, the first counts. */
static void test_twice(void **state)
{
	char *config = fixture("24.11", "config");
	struct need n;

	(void)state;
	need_init(&n);
	edit(config, "JobRequeue", "1\nJobRequeue = 0");
	check(config, "", &n.need, SHORT_CRED);
	edit(config, "JobRequeue", "0\nJobRequeue = 1");
	check(config, "", &n.need, "error JobRequeue, " SHORT_CRED);
	need_fini(&n);
	free(config);
}

/* What is not shown cannot be checked: said once for each setting, and in its place. */
static void test_not_shown(void **state)
{
	char *config = fixture("24.11", "config");
	struct need n;

	(void)state;
	need_init(&n);
	edit(config, "ResumeProgram", NULL);
	edit(config, "SlurmctldParameters", NULL);
	edit(config, "AuthInfo", NULL);
	edit(config, "JobRequeue", "0");
	check(config, "", &n.need,
	      "error JobRequeue, warning ResumeProgram, warning SlurmctldParameters, "
	      "warning AuthInfo");
	need_fini(&n);
	free(config);
}

/* What is there already stays, in one line with what is missing. */
static void test_joined_parameters(void **state)
{
	static const struct {
		const char *is, *joined;
	} rows[] = {
		{"idle_on_node_suspend,power_save_interval=1,cloud_reg_addrs", ""},
		{"node_reg_mem_percent=80",
		 "node_reg_mem_percent=80,idle_on_node_suspend,power_save_interval=1,"
		 "cloud_reg_addrs"},
		{"reboot_from_controller,power_save_interval=1",
		 "reboot_from_controller,power_save_interval=1,idle_on_node_suspend,"
		 "cloud_reg_addrs"},
		/* slurmctld looks for its words with any case, and among spaces. */
		{"Idle_On_Node_Suspend,POWER_SAVE_INTERVAL=2,Cloud_Reg_Addrs", ""},
		{"idle_on_node_suspend, power_save_interval=1 , cloud_reg_addrs", ""},
		{"Power_Save_Interval=30,Cloud_DNS,idle_on_node_suspend",
		 "idle_on_node_suspend,power_save_interval=1,cloud_reg_addrs"},
		{"reboot_from_controller, power_save_interval=30,  cloud_dns,",
		 "reboot_from_controller,idle_on_node_suspend,power_save_interval=1,"
		 "cloud_reg_addrs"},
		{"power_save_interval=30,power_save_interval=1",
		 "idle_on_node_suspend,power_save_interval=1,cloud_reg_addrs"},
		{"power_save_interval=1,idle_on_node_suspend,power_save_min_interval=30",
		 "power_save_interval=1,idle_on_node_suspend,cloud_reg_addrs"},
		/* Another setting that only begins so stays, and is none of ours. */
		{"no_power_save_interval=9,idle_on_node_suspend_x",
		 "no_power_save_interval=9,idle_on_node_suspend_x,idle_on_node_suspend,"
		 "power_save_interval=1,cloud_reg_addrs"},
		{"(null)", "idle_on_node_suspend,power_save_interval=1,cloud_reg_addrs"},
		{"reboot_from_controller,power_save_interval=30,cloud_dns,node_reg_mem_percent=80",
		 "reboot_from_controller,node_reg_mem_percent=80,idle_on_node_suspend,"
		 "power_save_interval=1,cloud_reg_addrs"},
		{"idle_on_node_suspend,power_save_interval=1,cloud_reg_addrs,cloud_dns",
		 "idle_on_node_suspend,power_save_interval=1,cloud_reg_addrs"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *config = fixture("22.05", "config");
		struct slurm_report r;
		struct need n;

		print_message("# %s\n", rows[i].is);
		need_init(&n);
		edit(config, "SlurmctldParameters", rows[i].is);
		assert_int_equal(slurm_require(text_of(config), text_of(""), &n.need, &r, NULL), 0);
		assert_string_equal(r.parameters, rows[i].joined);
		need_fini(&n);
		free(config);
	}
}

/* Nodes of pools that slurmctld does not have: nothing would ever be bought for them. */
static void test_unknown_nodes(void **state)
{
	static const struct {
		const char *release, *config, *unknown[2], *found;
	} rows[] = {
		{"22.05", "config", {NULL, NULL}, NULL},
		{"22.05", "config", {NULL, "a[7-9]"}, "without a[7-9] of pool a100"},
		{"24.11",
		 "config",
		 {"c1 and 200 more", "a1"},
		 "without c1 and 200 more of pool h100, and nodes of 1 more pools"},
		/* It hides what is powered down: PrivateData is what is wrong. */
		{"22.05", "bare-config", {"c1", NULL}, NULL},
		{"24.11", "bare-config", {"c1", NULL}, "without c1 of pool h100"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *config = fixture(rows[i].release, rows[i].config);
		const struct slurm_problem *p = NULL;
		struct slurm_report r;
		struct need n;

		print_message("# %s %s\n", rows[i].release, rows[i].config);
		need_init(&n);
		for (size_t k = 0; k < 2; k++)
			n.pools[k].unknown = rows[i].unknown[k];
		assert_int_equal(slurm_require(text_of(config), text_of(""), &n.need, &r, NULL), 0);
		for (size_t k = 0; k < r.n; k++)
			if (strcmp(r.problems[k].setting, "NodeName") == 0)
				p = &r.problems[k];
		assert_int_equal(p != NULL, rows[i].found != NULL);
		if (p != NULL)
			assert_string_equal(p->found, rows[i].found);
		if (p != NULL)
			assert_int_equal(p->severity, SLURM_ERROR);
		need_fini(&n);
		free(config);
	}
}

/* Those of a dynamic pool are in no line: burstd could not create them, and says why. */
static void test_nodes_that_cannot_be_created(void **state)
{
	char *config = fixture("24.11", "config");
	const struct slurm_problem *p = NULL;
	struct slurm_report r;
	struct need n;

	(void)state;
	need_init(&n);
	n.pools[0].unknown = "c[1-2]";
	n.pools[0].uncreated = "scontrol: no room";
	assert_int_equal(slurm_require(text_of(config), text_of(""), &n.need, &r, NULL), 0);
	for (size_t k = 0; k < r.n; k++)
		if (strcmp(r.problems[k].setting, "NodeName") == 0)
			p = &r.problems[k];
	assert_non_null(p);
	assert_string_equal(p->found, "without c[1-2] of pool h100");
	assert_string_equal(p->wanted, "that burstd can create them (scontrol: no room)");
	need_fini(&n);
	free(config);
}

static bool is_even(void *ctx, const char *node)
{
	(void)ctx;
	return (node[strlen(node) - 1] - '0') % 2 == 0;
}

static void test_unknown_text(void **state)
{
	static const struct {
		const char *nodes, *want;
	} rows[] = {
		{"c[2,4]", NULL},
		{"c[1-5]", "c[1,3,5]"},
		{"c[1001-1099]", "c1001 and 49 more"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct hostlist *h;
		char *text;

		assert_int_equal(hostlist_parse(&h, rows[i].nodes, strlen(rows[i].nodes), NULL), 0);
		text = slurm_unknown(h, is_even, NULL);
		if (rows[i].want == NULL)
			assert_null(text);
		else
			assert_string_equal(text, rows[i].want);
		free(text);
		hostlist_free(h);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_joined_parameters),
		cmocka_unit_test(test_unknown_nodes),
		cmocka_unit_test(test_nodes_that_cannot_be_created),
		cmocka_unit_test(test_unknown_text),
		cmocka_unit_test(test_report),
		cmocka_unit_test(test_twice),
		cmocka_unit_test(test_not_shown),
	};

	return cmocka_run_group_tests_name("require_told", tests, NULL, NULL);
}
