/* test_parse.c - what scontrol and squeue print, of several releases, and what they might. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "slurm/parse.h"

static const struct {
	const char *text;
	uint32_t flags; /* besides KNOWN */
} states[] = {
	{"IDLE+CLOUD+POWERED_DOWN", SLURM_IDLE | SLURM_CLOUD | SLURM_POWERED_DOWN},
	{"ALLOCATED+CLOUD+NOT_RESPONDING+POWERING_UP",
	 SLURM_ALLOCATED | SLURM_CLOUD | SLURM_NOT_RESPONDING | SLURM_POWERING_UP},
	{"MIXED+CLOUD", SLURM_ALLOCATED | SLURM_CLOUD},
	{"DOWN*+CLOUD", SLURM_DOWN | SLURM_CLOUD | SLURM_NOT_RESPONDING},
	{"IDLE+CLOUD+POWERING_DOWN", SLURM_IDLE | SLURM_CLOUD | SLURM_POWERING_DOWN},
	{"DOWN+CLOUD+POWERED_DOWN", SLURM_DOWN | SLURM_CLOUD | SLURM_POWERED_DOWN},
	{"IDLE+CLOUD+DRAIN+INVALID_REG",
	 SLURM_IDLE | SLURM_CLOUD | SLURM_DRAIN | SLURM_INVALID_REG},
	{"IDLE+CLOUD+RESERVED", SLURM_IDLE | SLURM_CLOUD | SLURM_RESERVED},
	{"ALLOCATED+CLOUD+POWER_DOWN", SLURM_ALLOCATED | SLURM_CLOUD | SLURM_POWER_DOWN},
	{"IDLE+A_WORD_OF_THE_FUTURE+CLOUD", SLURM_IDLE | SLURM_CLOUD},
	{"POWERED_DOWNISH", 0},
	{"", 0},
	{"+++", 0},
};

static void test_states(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		print_message("# %s\n", states[i].text);
		assert_int_equal(slurm_parse_state(states[i].text, strlen(states[i].text)),
				 states[i].flags | SLURM_KNOWN);
	}
}

struct got {
	struct slurm_node n[8];
	size_t count;
};

static void take(void *ctx, const struct slurm_node *n)
{
	struct got *g = ctx;

	assert_true(g->count < 8);
	g->n[g->count++] = *n;
}

static const char two_nodes[] =
	"NodeName=c1 Arch=x86_64 CoresPerSocket=1 CPUAlloc=0 CPUTot=8 CPULoad=0.33 "
	"AvailableFeatures=cloud ActiveFeatures=cloud Gres=gpu:h100:8 NodeAddr=10.77.0.12 "
	"NodeHostName=c1 Version=22.05.8 OS=Linux 6.1.0 #1 SMP RealMemory=1000 AllocMem=0 "
	"FreeMem=N/A "
	"Sockets=8 Boards=1 State=IDLE+CLOUD ThreadsPerCore=1 TmpDisk=0 Weight=10 Owner=N/A "
	"MCS_label=N/A Partitions=cloud  BootTime=2026-11-21T02:00:00 "
	"Reason=said State=DOWN NodeAddr=6.6.6.6 a=b [root@2026-11-21T02:00:00]\n"
	"NodeName=c2 NodeAddr=c2 NodeHostName=c2 State=IDLE+CLOUD+POWERED_DOWN Partitions=cloud "
	"Reason=InstanceId=i-8 InstanceId=i-9 [root@2026-11-21T02:00:00] Comment=InstanceId=i-6 "
	"InstanceId=i-7 InstanceType=gpu ReservationName=r\n";

static void test_nodes(void **state)
{
	struct got g = {0};
	struct err e;

	(void)state;
	assert_int_equal(slurm_parse_nodes(two_nodes, strlen(two_nodes), take, &g, &e), 2);
	assert_string_equal(g.n[0].name, "c1");
	assert_int_equal(g.n[0].flags, SLURM_KNOWN | SLURM_IDLE | SLURM_CLOUD);
	assert_true(slurm_text_is(g.n[0].addr, "10.77.0.12"));
	assert_memory_equal(g.n[0].reason.p, "said State=DOWN", 15);
	assert_string_equal(g.n[1].name, "c2");
	assert_true(slurm_text_is(g.n[1].host, "c2"));
	assert_false(slurm_text_is(g.n[1].addr, "c22"));
	assert_int_equal(g.n[0].instance.n, 0);
	assert_true(slurm_text_is(g.n[0].gres, "gpu:h100:8"));
	assert_true(slurm_text_is(g.n[0].cpus, "8"));
	assert_true(slurm_text_is(g.n[0].memory, "1000"));
	assert_true(slurm_text_is(g.n[0].tmp, "0"));
	assert_null(g.n[1].cpus.p);
	assert_true(slurm_text_is(g.n[1].instance, "i-7"));
}

static void test_gpus(void **state)
{
	static const struct {
		const char *gres;
		uint32_t n;
		const char *model;
		enum slurm_parts parts;
	} all[] = {
		{"gpu:h100:8", 8, "h100", SLURM_WHOLE},
		{"gpu:H100:8(S:0-1)", 8, "h100", SLURM_WHOLE},
		{"gpu:8(S:0-1)", 8, NULL, SLURM_WHOLE},
		{"gpu:a100_80g:8", 8, NULL, SLURM_WHOLE},
		{"gpu:big:2", 2, NULL, SLURM_WHOLE},
		{"gpu:big.one:2", 2, NULL, SLURM_WHOLE},
		{"gpu:v1g.x:2", 2, NULL, SLURM_WHOLE},
		{"gpu:vg.1:2", 2, NULL, SLURM_WHOLE},
		{"fast:1,gpu:a100:4(S:0,2)", 4, "a100", SLURM_WHOLE},
		{"fast:1,gpu:a100:4(S:0,2),gpu:v100:2", 6, NULL, SLURM_WHOLE},
		{"gpu:a100:1,gpu:a100_3g.20gb:2", 0, NULL, SLURM_SOME_PARTS},
		{"gpu:a100_3g.20gb:2,gpu:a100:1", 0, NULL, SLURM_SOME_PARTS},
		{"gpu:a100_3g.20gb:2", 0, NULL, SLURM_ALL_PARTS},
		{"fast:1,gpu:1g.10gb:7(S:0-1),gpu:2g.20gb:1", 0, NULL, SLURM_ALL_PARTS},
		{"fast:3g.20gb:1", 0, NULL, SLURM_WHOLE},
		{"(null)", 0, NULL, SLURM_WHOLE},
		{"shard:gpu:8", 0, NULL, SLURM_WHOLE},
		{"gpu:", 0, NULL, SLURM_WHOLE},
		{"gpu:h100", 0, NULL, SLURM_WHOLE},
		{"", 0, NULL, SLURM_WHOLE},
	};
	struct slurm_gpus g;

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		print_message("# %s\n", all[i].gres);
		g = slurm_parse_gpus((struct slurm_text){all[i].gres, strlen(all[i].gres)});
		assert_int_equal(g.n, all[i].n);
		assert_int_equal(g.parts, all[i].parts);
		assert_int_equal(g.model == NULL, all[i].model == NULL);
		if (g.model != NULL)
			assert_string_equal(g.model, all[i].model);
	}
	g = slurm_parse_gpus((struct slurm_text){NULL, 0});
	assert_int_equal(g.n, 0);
	assert_null(g.model);
}

/* Anything that is not whole is an error: a node that is not shown would be believed gone. */
static const struct {
	const char *name, *text;
} broken[] = {
	{"empty", ""},
	{"no nodes", "No nodes in the system\n"},
	{"cut in the middle", "NodeName=c1 NodeAddr=c1 State=IDLE\nNodeName=c2 NodeAddr=c2 Sta"},
	{"cut at a line's end", "NodeName=c1 NodeAddr=c1 State=IDLE\nNodeName=c2"},
	{"an error between", "NodeName=c1 State=IDLE\nslurm_load_node error: boom\n"},
	{"no state", "NodeName=c1 NodeAddr=c1\n"},
	{"no name", "NodeName= State=IDLE\n"},
	{"a name that is too long",
	 "NodeName=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa "
	 "State=IDLE\n"},
};

static void test_broken(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		struct got g = {0};
		struct err e = {0};

		print_message("# %s\n", broken[i].name);
		assert_int_equal(
			slurm_parse_nodes(broken[i].text, strlen(broken[i].text), take, &g, &e),
			-1);
		assert_non_null(strstr(e.msg, "scontrol"));
	}
}

static void test_print(void **state)
{
	char out[200];

	(void)state;
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		slurm_print_state(states[i].flags | SLURM_KNOWN, out, sizeof(out));
		assert_int_equal(slurm_parse_state(out, strlen(out)),
				 states[i].flags | SLURM_KNOWN);
	}
	slurm_print_state(0, out, sizeof(out));
	assert_string_equal(out, "");
	slurm_print_state(UINT32_MAX, out, 10); /* too small: cut at a word, never overrun */
	assert_true(strlen(out) < 10);
}

static bool held;

static void look_whether_held(void *ctx, const struct slurm_node *n)
{
	(void)ctx;
	held = slurm_node_holds(n);
}

/* F42, slurmctld 22.05: "gres/gpu: ... bad node_offset". */
static void test_what_nobody_has_and_is_counted(void **state)
{
	static const struct {
		const char *line;
		bool held;
	} rows[] = {
		{"State=IDLE+CLOUD+POWERED_DOWN CfgTRES=cpu=8 AllocTRES=", false},
		{"State=IDLE+CLOUD+POWERED_DOWN", false},
		{"State=IDLE+CLOUD+POWERED_DOWN CfgTRES=cpu=8 AllocTRES=gres/gpu=8", true},
		{"State=IDLE+CLOUD+POWERED_DOWN AllocTRES=gres/gpu=8 CurrentWatts=0", true},
		{"Gres=gpu:h100:8 GresUsed=gpu:h100:8(IDX:0-7) State=IDLE+CLOUD+POWERED_DOWN",
		 true},
		{"Gres=gpu:a:8 GresUsed=gpu:a:0(IDX:N/A),gpu:b:2(IDX:0,3) State=IDLE+POWERED_DOWN",
		 true},
		{"GresUsed=gpu:a:0(IDX:N/A),gpu:b:0(IDX:N/A) State=IDLE+POWERED_DOWN", false},
		{"GresUsed= State=IDLE+POWERED_DOWN", false},
		/* A site without AccountingStorageTRES=gres/gpu: AllocTRES has none of them.  The
		 * last three are 24.11's and 26.05's, of nodes that have not registered too. */
		{"Gres=gpu:h100:8 GresDrain=N/A GresUsed=gpu:h100:8(IDX:0-7) "
		 "State=IDLE+CLOUD+POWERED_DOWN CfgTRES=cpu=8 AllocTRES=",
		 true},
		{"GresUsed=license:0,gpu:a:2,gpu:b:0(IDX:N/A) State=IDLE+POWERED_DOWN", true},
		{"GresUsed=gpu:a:0,gpu:b:0 State=IDLE+POWERED_DOWN", false},
		{"GresUsed=gpu:(null):0 State=IDLE+CLOUD+POWERED_DOWN", false},
		{"GresUsed=gpu:(null):0(IDX:N/A) State=IDLE+CLOUD+POWERED_DOWN", false},
		{"GresUsed=gpu:(null):8(IDX:0-7) State=IDLE+CLOUD+POWERED_DOWN", true},
		{"State=ALLOCATED+CLOUD AllocTRES=gres/gpu=8", false},
		{"State=IDLE+CLOUD AllocTRES=gres/gpu=8", false},
		{"State=IDLE+COMPLETING+POWERED_DOWN AllocTRES=gres/gpu=8", false},
		{"State=ALLOCATED+POWERED_DOWN AllocTRES=gres/gpu=8", false}, /* it is to be on */
		{"State=IDLE+POWERED_DOWN Reason=AllocTRES=gres/gpu=8", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[200];
		int n = snprintf(text, sizeof(text), "NodeName=c1 %s\n", rows[i].line);

		assert_int_equal(slurm_parse_nodes(text, (size_t)n, look_whether_held, NULL, NULL),
				 1);
		if (held != rows[i].held)
			fail_msg("%s", rows[i].line);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_nobody_has_and_is_counted),
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_nodes),
		cmocka_unit_test(test_gpus),
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_print),
	};

	return cmocka_run_group_tests_name("slurm parse", tests, NULL, NULL);
}
