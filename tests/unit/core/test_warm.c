/* test_warm.c - which nodes are kept on without a job, and which are powered up for that. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/slurm_flag.h"
#include "core/warm.h"

enum { NOW = 1000000000, MINUTE = 60000, HOUR = 3600000 };

/* --- how a node is -----------------------------------------------------------------------------
 */

static const struct {
	const char *what;
	uint32_t flags;
	int fn; /* state of what we have; -1: nothing */
	bool released, barred, rests, rested, unlisted;
	enum warm_state want;
} states[] = {
	{.what = "idle and up", .flags = SLURM_IDLE, .fn = NODE_READY, .want = WARM_UP},
	{.what = "with a job", .flags = SLURM_ALLOCATED, .fn = NODE_READY, .want = WARM_UP},
	{.what = "registered a moment ago",
	 .flags = SLURM_IDLE,
	 .fn = NODE_BOOTING,
	 .want = WARM_UP},
	{.what = "silent for a while",
	 .flags = SLURM_IDLE | SLURM_NOT_RESPONDING,
	 .fn = NODE_READY,
	 .want = WARM_UP},
	{.what = "told to reboot",
	 .flags = SLURM_IDLE | SLURM_REBOOT,
	 .fn = NODE_READY,
	 .want = WARM_UP},
	{.what = "up on nothing of ours", .flags = SLURM_IDLE, .fn = -1, .want = WARM_OUT},
	{.what = "up on what the provider takes back",
	 .flags = SLURM_IDLE,
	 .fn = NODE_DRAINING,
	 .want = WARM_OUT},
	{.what = "up on what is let go",
	 .flags = SLURM_IDLE,
	 .fn = NODE_BOOTING,
	 .released = true,
	 .want = WARM_OUT},
	{.what = "drained", .flags = SLURM_IDLE | SLURM_DRAIN, .fn = NODE_READY, .want = WARM_OUT},
	{.what = "down", .flags = SLURM_DOWN, .fn = NODE_READY, .want = WARM_OUT},
	{.what = "failing", .flags = SLURM_IDLE | SLURM_FAIL, .fn = NODE_READY, .want = WARM_OUT},
	{.what = "reserved",
	 .flags = SLURM_IDLE | SLURM_RESERVED,
	 .fn = NODE_READY,
	 .want = WARM_OUT},
	{.what = "in maintenance",
	 .flags = SLURM_IDLE | SLURM_MAINT,
	 .fn = NODE_READY,
	 .want = WARM_OUT},
	{.what = "registered wrong",
	 .flags = SLURM_IDLE | SLURM_INVALID_REG,
	 .fn = NODE_READY,
	 .want = WARM_OUT},
	{.what = "about to be powered down",
	 .flags = SLURM_IDLE | SLURM_POWER_DOWN,
	 .fn = NODE_READY,
	 .want = WARM_OUT},
	{.what = "powering down",
	 .flags = SLURM_IDLE | SLURM_POWERING_DOWN,
	 .fn = -1,
	 .want = WARM_OUT},
	{.what = "not known", .flags = 0, .fn = NODE_READY, .want = WARM_OUT},
	{.what = "of no pool any more",
	 .flags = SLURM_IDLE,
	 .fn = NODE_READY,
	 .unlisted = true,
	 .want = WARM_OUT},
	{.what = "booting",
	 .flags = SLURM_IDLE | SLURM_POWERING_UP | SLURM_NOT_RESPONDING,
	 .fn = NODE_BOOTING,
	 .want = WARM_COMING},
	{.what = "to be bought in a moment",
	 .flags = SLURM_IDLE | SLURM_POWERING_UP,
	 .fn = -1,
	 .want = WARM_COMING},
	{.what = "refused",
	 .flags = SLURM_IDLE | SLURM_POWERING_UP,
	 .fn = -1,
	 .barred = true,
	 .want = WARM_OUT},
	{.what = "asked for",
	 .flags = SLURM_IDLE | SLURM_POWERED_DOWN | SLURM_POWER_UP,
	 .fn = -1,
	 .want = WARM_COMING},
	{.what = "a job has it, and waits",
	 .flags = SLURM_ALLOCATED | SLURM_POWERED_DOWN,
	 .fn = -1,
	 .want = WARM_COMING},
	{.what = "off", .flags = SLURM_IDLE | SLURM_POWERED_DOWN, .fn = -1, .want = WARM_OFF},
	{.what = "off, and its instance is gone",
	 .flags = SLURM_IDLE | SLURM_POWERED_DOWN,
	 .fn = NODE_GONE,
	 .want = WARM_OFF},
	{.what = "off, and its instance not yet gone",
	 .flags = SLURM_IDLE | SLURM_POWERED_DOWN,
	 .fn = NODE_DELETING,
	 .want = WARM_OUT},
	{.what = "off, and its instance cannot be deleted",
	 .flags = SLURM_IDLE | SLURM_POWERED_DOWN,
	 .fn = NODE_QUARANTINED,
	 .want = WARM_OUT},
	{.what = "off, and rests",
	 .flags = SLURM_IDLE | SLURM_POWERED_DOWN,
	 .fn = -1,
	 .rests = true,
	 .want = WARM_OUT},
	{.what = "off, and has rested",
	 .flags = SLURM_IDLE | SLURM_POWERED_DOWN,
	 .fn = -1,
	 .rested = true,
	 .want = WARM_OFF},
	{.what = "off, and down",
	 .flags = SLURM_DOWN | SLURM_POWERED_DOWN,
	 .fn = -1,
	 .want = WARM_OUT},
	{.what = "off, and reserved",
	 .flags = SLURM_IDLE | SLURM_POWERED_DOWN | SLURM_RESERVED,
	 .fn = -1,
	 .want = WARM_OUT},
	{.what = "off, and mute",
	 .flags = SLURM_IDLE | SLURM_POWERED_DOWN | SLURM_NOT_RESPONDING,
	 .fn = -1,
	 .want = WARM_OUT},
	{.what = "vanished",
	 .flags = SLURM_POWERED_DOWN | SLURM_VANISHED,
	 .fn = -1,
	 .want = WARM_OUT},
};

static void test_a_node_that_is_of_no_use_does_not_count(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		struct fleet f;
		struct fleet_name *nm;
		struct node n;

		print_message("# %s\n", states[i].what);
		fleet_init(&f, 1);
		nm = fleet_name(&f, "c1", 0);
		nm->listed = !states[i].unlisted;
		nm->flags = states[i].flags != 0 ? states[i].flags | SLURM_KNOWN : 0;
		nm->barred = states[i].barred;
		nm->rests_ms = states[i].rests ? NOW + 1 : states[i].rested ? NOW : 0;
		if (states[i].fn >= 0) {
			node_init(&n, "c1", 1, NOW);
			n.state = (enum node_state)states[i].fn;
			n.release = states[i].released || n.state == NODE_DELETING;
			(void)fleet_add(&f, &n);
		}
		assert_int_equal(warm_state(nm, NOW), states[i].want);
		fleet_fini(&f);
	}
}

/* --- what is paid ------------------------------------------------------------------------------
 */

static void test_a_node_is_kept_until_shortly_before_its_quantum_ends(void **state)
{
	static const struct {
		const char *what;
		int64_t quantum, age; /* since its bill began */
		int64_t until;        /* after that; 0: let it go */
	} rows[] = {
		{"at once", HOUR, 0, HOUR - WARM_MARGIN_MS},
		{"in the middle", HOUR, 20 * MINUTE, HOUR - WARM_MARGIN_MS},
		{"the last moment", HOUR, HOUR - WARM_MARGIN_MS - 1, HOUR - WARM_MARGIN_MS},
		{"just before the end", HOUR, HOUR - WARM_MARGIN_MS, 0},
		{"the last millisecond", HOUR, HOUR - 1, 0},
		{"the next one has begun", HOUR, HOUR, 2 * HOUR - WARM_MARGIN_MS},
		{"the tenth", HOUR, 9 * HOUR + 1, 10 * HOUR - WARM_MARGIN_MS},
		{"a clock that is ahead of ours", HOUR, -5 * MINUTE, HOUR - WARM_MARGIN_MS},
		{"by the second", 0, 5, 0},
		{"a quantum too short to be let go in", WARM_MARGIN_MS, 5, 0},
		{"one just long enough", WARM_MARGIN_MS + 10, 5, 10},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int64_t until =
			warm_paid_until(NOW, rows[i].quantum, WARM_MARGIN_MS, NOW + rows[i].age);

		print_message("# %s\n", rows[i].what);
		assert_int_equal(until, rows[i].until != 0 ? NOW + rows[i].until : 0);
	}
	assert_int_equal(warm_paid_until(0, HOUR, WARM_MARGIN_MS, NOW),
			 0); /* its bill has not begun */
}

/* --- what is to be done ------------------------------------------------------------------------
 */

/* A node is a letter: off, out, coming, up; a capital is kept; up with a job: b, B. */
static void read_nodes(const char *text, struct warm_node *nodes)
{
	for (size_t i = 0; text[i] != '\0'; i++) {
		char c = text[i];
		bool kept = c >= 'A' && c <= 'Z';

		if (kept)
			c = (char)(c + 'a' - 'A');
		nodes[i] = (struct warm_node){.kept = kept, .busy = c == 'b'};
		nodes[i].state = c == 'o'   ? WARM_OFF
				 : c == 'x' ? WARM_OUT
				 : c == 'c' ? WARM_COMING
					    : WARM_UP;
	}
}

/* k: to be kept; w: to be powered up; c: counted, and on its way */
static void print_nodes(const struct warm_node *nodes, size_t n, char *out)
{
	for (size_t i = 0; i < n; i++)
		out[i] = nodes[i].wake ? 'w' : nodes[i].keep ? 'k' : nodes[i].counted ? 'c' : '-';
	out[n] = '\0';
}

static void test_so_many_nodes_are_kept_and_what_lacks_is_powered_up(void **state)
{
	static const struct {
		const char *what, *nodes;
		uint32_t want, room;
		const char *expect;
		uint32_t up, coming;
	} rows[] = {
		{"none is wanted", "ooUu", 0, 9, "----", 0, 0},
		{"the first two by name", "oooo", 2, 9, "ww--", 0, 0},
		{"not those out of use", "xoxo", 2, 9, "-w-w", 0, 0},
		{"as many as may be bought", "oooo", 3, 1, "w---", 0, 0},
		{"none may be bought", "oooo", 3, 0, "----", 0, 0},
		{"fewer than wanted", "xxo", 3, 9, "--w", 0, 0},
		{"what is up counts first", "ouco", 1, 9, "-k--", 1, 0},
		{"one with a job counts too", "ob", 1, 9, "-k", 1, 0},
		{"then what is coming", "ouco", 2, 9, "-kc-", 1, 1},
		{"and the rest is powered up", "ouco", 3, 9, "wkc-", 1, 1},
		{"those that are kept already stay", "uuUU", 2, 9, "--kk", 2, 0},
		{"one that is out of use makes room for another", "XuUo", 2, 9, "-kk-", 2, 0},
		{"more are up than wanted", "uuuu", 2, 9, "kk--", 2, 0},
		{"one that was kept and is coming again", "cC", 1, 9, "-c", 0, 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct warm_pool p = {.want = rows[i].want, .room = rows[i].room}, none = {0};
		size_t n = strlen(rows[i].nodes);
		struct warm_node nodes[8];
		struct warm_sum sum;
		char got[9];

		print_message("# %s\n", rows[i].what);
		read_nodes(rows[i].nodes, nodes);
		nodes[n] = (struct warm_node){.state = WARM_OFF}; /* of another pool */
		nodes[n + 1] = (struct warm_node){.state = WARM_UP};
		warm_decide(nodes, n, &p, NOW, &sum);
		assert_false(nodes[n].wake || nodes[n + 1].counted);
		nodes[n].state = WARM_UP;
		warm_decide(nodes, n, &p, NOW, &sum);
		assert_false(nodes[n].counted);
		print_nodes(nodes, n, got);
		assert_string_equal(got, rows[i].expect);
		assert_int_equal(sum.up, rows[i].up);
		assert_int_equal(sum.coming, rows[i].coming);
		assert_int_equal(sum.paid, 0);
		assert_int_equal(sum.next_ms, INT64_MAX);
		warm_decide(nodes, n, &none, NOW,
			    &sum); /* what was answered before does not count */
		print_nodes(nodes, n, got);
		assert_string_equal(got, &"--------"[8 - n]);
	}
}

static void test_what_is_paid_is_kept_beyond_what_is_wanted(void **state)
{
	static const struct {
		const char *what, *nodes;
		uint32_t want;
		int64_t age;
		const char *expect;
		uint32_t paid;
		int64_t next;
	} rows[] = {
		{"idle, in a paid hour", "uxco", 0, 20 * MINUTE, "k---", 1, HOUR - WARM_MARGIN_MS},
		{"with a job, likewise", "b", 0, 20 * MINUTE, "k", 1, HOUR - WARM_MARGIN_MS},
		{"the hour is nearly over", "U", 0, 59 * MINUTE, "-", 0, HOUR},
		{"and a job has it: the next one is paid too", "B", 0, 59 * MINUTE, "k", 1, HOUR},
		{"a job has it, and it was not kept", "b", 0, 59 * MINUTE, "-", 0, HOUR},
		{"warm in any case", "Uu", 1, 59 * MINUTE, "k-", 0, HOUR},
		{"one of them is warm", "uu", 1, 20 * MINUTE, "kk", 1, HOUR - WARM_MARGIN_MS},
		{"out of use", "x", 0, 20 * MINUTE, "-", 0, INT64_MAX},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct warm_pool p = {.want = rows[i].want, .quantum_ms = HOUR};
		size_t n = strlen(rows[i].nodes);
		struct warm_node nodes[8];
		struct warm_sum sum;
		char got[9];

		print_message("# %s\n", rows[i].what);
		read_nodes(rows[i].nodes, nodes);
		for (size_t k = 0; k < n; k++)
			nodes[k].start_ms = NOW;
		warm_decide(nodes, n, &p, NOW + rows[i].age, &sum);
		print_nodes(nodes, n, got);
		if (rows[i].want == 0) /* counted is about warm nodes */
			for (size_t k = 0; k < n; k++)
				assert_false(nodes[k].counted);
		assert_string_equal(got, rows[i].expect);
		assert_int_equal(sum.paid, rows[i].paid);
		assert_int_equal(sum.next_ms,
				 rows[i].next != INT64_MAX ? NOW + rows[i].next : INT64_MAX);
	}
}

static void test_nothing_is_paid_whose_bill_has_not_begun(void **state)
{
	const struct warm_pool p = {.quantum_ms = HOUR};
	const struct warm_pool brief = {.quantum_ms = WARM_MARGIN_MS};
	struct warm_node nodes[2];
	struct warm_sum sum;

	(void)state;
	read_nodes("uB", nodes);
	warm_decide(nodes, 2, &p, NOW, &sum);
	assert_false(nodes[0].keep || nodes[1].keep);
	assert_int_equal(sum.next_ms, INT64_MAX);
	nodes[0].start_ms = nodes[1].start_ms = NOW;
	warm_decide(nodes, 2, &brief, NOW, &sum);
	assert_false(nodes[0].keep || nodes[1].keep);
	assert_int_equal(sum.next_ms, INT64_MAX);
}

/* The soonest of all nodes. */
static void test_the_next_look_is_when_the_first_quantum_ends(void **state)
{
	const struct warm_pool p = {.quantum_ms = HOUR};
	struct warm_node nodes[3];
	struct warm_sum sum;

	(void)state;
	read_nodes("uuu", nodes);
	nodes[0].start_ms = NOW - 10 * MINUTE;
	nodes[1].start_ms = NOW - 30 * MINUTE;
	nodes[2].start_ms = NOW - 20 * MINUTE;
	warm_decide(nodes, 3, &p, NOW, &sum);
	assert_int_equal(sum.paid, 3);
	assert_int_equal(sum.next_ms, NOW + 30 * MINUTE - WARM_MARGIN_MS);
}

/* What a node takes to unmount is over before its quantum is, too. */
static void test_a_node_that_unmounts_goes_sooner(void **state)
{
	const struct warm_pool p = {.quantum_ms = HOUR, .unmount_ms = 5 * MINUTE};
	const struct warm_pool brief = {.quantum_ms = WARM_MARGIN_MS + 5 * MINUTE,
					.unmount_ms = 5 * MINUTE};
	struct warm_node nodes[1];
	struct warm_sum sum;

	(void)state;
	read_nodes("u", nodes);
	nodes[0].start_ms = NOW - 30 * MINUTE;
	warm_decide(nodes, 1, &p, NOW, &sum);
	assert_true(nodes[0].keep);
	assert_int_equal(sum.next_ms, NOW + 25 * MINUTE - WARM_MARGIN_MS);
	nodes[0].start_ms = NOW - 53 * MINUTE;
	warm_decide(nodes, 1, &p, NOW, &sum);
	assert_false(nodes[0].keep);
	nodes[0].start_ms = NOW;
	warm_decide(nodes, 1, &brief, NOW, &sum);
	assert_false(nodes[0].keep);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_node_that_is_of_no_use_does_not_count),
		cmocka_unit_test(test_a_node_is_kept_until_shortly_before_its_quantum_ends),
		cmocka_unit_test(test_so_many_nodes_are_kept_and_what_lacks_is_powered_up),
		cmocka_unit_test(test_what_is_paid_is_kept_beyond_what_is_wanted),
		cmocka_unit_test(test_nothing_is_paid_whose_bill_has_not_begun),
		cmocka_unit_test(test_the_next_look_is_when_the_first_quantum_ends),
		cmocka_unit_test(test_a_node_that_unmounts_goes_sooner),
	};

	return cmocka_run_group_tests_name("warm nodes", tests, NULL, NULL);
}
