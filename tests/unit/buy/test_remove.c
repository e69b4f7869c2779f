/* test_remove.c - what carries our tag and is nobody's is deleted, and one that may not be deleted
 * keeps no other alive.
 *
 * On a bare struct engine: the cloud and the records are the test's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "buy/buy.h"
#include "cloud/cloud.h"
#include "tests/unit/engine/bare_state.h"

enum { STRAYS = 5, SENT_MAX = 16, MINUTE = 60000 };

static struct fix {
	struct engine e;
	struct conf conf;
	struct conf_provider provider;
	struct cloud cloud;
	int64_t now;
	unsigned slots; /* requests that may go out */
	unsigned hurried;
	struct {
		char ids[128]; /* "s0;s1;" */
		size_t n;
		request_fn fn;
		void *ctx;
	} sent[SENT_MAX];
	size_t nsent, on_record;
	size_t committed; /* of them, durably on record */
	char left[64];    /* the numbers of those that went out, "0;1;" */
	char posted[300], events[600];
	int64_t retry_ms; /* of the last one that was posted */
} F;

int64_t engine_now(const struct engine *e)
{
	(void)e;
	return F.now;
}

void engine_commit(struct engine *e)
{
	(void)e;
	F.committed = F.on_record;
}

const struct node_limits *engine_limits(const struct engine *e, const struct node *n,
					struct node_limits *out)
{
	(void)e;
	(void)n;
	return out;
}

void engine_post(struct engine *e, struct fleet_node *fn, const struct node_event *ev)
{
	size_t n = strlen(F.posted);

	(void)e;
	F.retry_ms = ev->retry_ms;
	(void)snprintf(F.posted + n, sizeof(F.posted) - n, "%s %s;", fn->n.name,
		       node_event_str(ev->type));
}

void engine_event(struct engine *e, const char *node, uint64_t gen, const char *type,
		  const char *detail)
{
	size_t n = strlen(F.events);

	(void)e;
	(void)gen;
	if (strcmp(type, "stray-deleted") == 0)
		return;
	(void)snprintf(F.events + n, sizeof(F.events) - n, "%s %s: %s\n", node, type, detail);
}

bool cloud_ready(struct cloud *c, enum provider_op_kind kind)
{
	(void)c;
	(void)kind;
	return F.slots > 0;
}

void cloud_hurry(struct cloud *c)
{
	(void)c;
	F.hurried++;
}

struct request *cloud_reserve(struct cloud *c, const struct provider_op *op, request_fn fn,
			      void *ctx)
{
	(void)c;
	assert_int_equal(op->kind, PROVIDER_DELETE);
	assert_true(F.nsent < SENT_MAX);
	F.slots--;
	F.sent[F.nsent].ids[0] = '\0';
	for (size_t i = 0; i < op->u.del.nids; i++) {
		strncat(F.sent[F.nsent].ids, op->u.del.ids[i], 16);
		strncat(F.sent[F.nsent].ids, ";", 2);
	}
	F.sent[F.nsent].n = op->u.del.nids;
	F.sent[F.nsent].fn = fn;
	F.sent[F.nsent].ctx = ctx;
	return (struct request *)(void *)&F.sent[F.nsent++];
}

void cloud_send_reserved(struct request *rq)
{
	size_t n = strlen(F.left);

	for (size_t i = 0; i < F.nsent; i++)
		if ((void *)rq == (void *)&F.sent[i]) {
			assert_true(i < F.committed); /* I28 */
			(void)snprintf(F.left + n, sizeof(F.left) - n, "%zu;", i);
		}
}

void audit_begin(struct audit *a, size_t max)
{
	(void)a;
	(void)max;
}

void audit_delete(struct audit *a, struct fleet_node *fn, const char *id)
{
	(void)a;
	(void)fn;
	(void)id;
}

void audit_stray(struct audit *a, const char *node, const char *id, bool again)
{
	(void)a;
	(void)node;
	(void)id;
	(void)again;
}

void audit_put_delete(struct engine *e, struct audit *a, const char *target)
{
	(void)e;
	(void)a;
	(void)target;
	assert_int_equal(++F.on_record, F.nsent + 1); /* I28 */
}

static char name[] = "ec2";

/* s0 ... s4, long known. */
static int setup(void **state)
{
	(void)state;
	F = (struct fix){.now = INT64_C(1800000000000), .slots = 8};
	bare_state(&F.e);
	F.provider = (struct conf_provider){.name = name, .settle_ms = 1000};
	F.conf = (struct conf){.providers = &F.provider, .nproviders = 1};
	F.e.conf = &F.conf;
	F.e.cloud->all = &F.cloud;
	F.e.poll.snapshot_ms = F.now; /* it has none of their nodes */
	F.cloud = (struct cloud){.e = &F.e, .conf = &F.provider, .caps.delete_max = 3};
	F.cloud.strays = mem_zalloc(STRAYS * sizeof(*F.cloud.strays));
	F.cloud.nstrays = STRAYS;
	for (int i = 0; i < STRAYS; i++) {
		(void)snprintf(F.cloud.strays[i].id, sizeof(F.cloud.strays[i].id), "s%d", i);
		(void)snprintf(F.cloud.strays[i].node, sizeof(F.cloud.strays[i].node), "x%d", i);
		F.cloud.strays[i].first_ms = F.now - MINUTE;
	}
	fleet_init(&F.e.fleet, 1);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	for (size_t i = 0; i < F.nsent; i++)
		free(F.sent[i].ctx);
	free(F.cloud.strays);
	fleet_fini(&F.e.fleet);
	return 0;
}

/* The i-th of those sent comes to this; codes: of its items, or NULL. */
static void answer(size_t i, enum provider_code code, const enum provider_code *codes)
{
	struct provider_result r = {.code = code, .message = "no right to"};

	if (codes != NULL) {
		r.items = mem_zalloc(F.sent[i].n * sizeof(*r.items));
		r.nitems = F.sent[i].n;
		for (size_t k = 0; k < r.nitems; k++)
			r.items[k].code = codes[k];
	}
	F.sent[i].fn(&F.cloud, F.sent[i].ctx, &r);
	free(r.items);
}

/* What was sent and answered, so that there is room for more. */
static void forget_sent(void)
{
	while (F.nsent > 0)
		free(F.sent[--F.nsent].ctx);
	F.on_record = 0;
	F.committed = 0;
	F.left[0] = '\0';
}

static void test_strays_are_deleted_and_asked_for_again_after_a_minute(void **state)
{
	(void)state;
	remove_run(&F.e);
	assert_int_equal(F.nsent, 1);
	assert_string_equal(F.sent[0].ids, "s0;s1;s2;");
	remove_run(&F.e);
	assert_int_equal(F.nsent, 2);
	assert_string_equal(F.sent[1].ids, "s3;s4;");
	remove_run(&F.e);
	assert_int_equal(F.nsent, 2);
	answer(0, PROVIDER_AMBIGUOUS, NULL);
	assert_int_equal(F.hurried, 1);
	answer(1, PROVIDER_RATE, NULL);
	assert_int_equal(F.hurried, 1); /* nothing to see (I30) */
	F.now += MINUTE;
	remove_run(&F.e);
	assert_string_equal(F.sent[2].ids, "s0;s1;s2;");
}

static void test_one_that_may_not_be_deleted_is_asked_for_alone(void **state)
{
	static const enum provider_code spoilt[] = {PROVIDER_TRANSIENT, PROVIDER_DENIED,
						    PROVIDER_TRANSIENT};

	(void)state;
	remove_run(&F.e);
	answer(0, PROVIDER_OK, spoilt);
	remove_run(&F.e);
	assert_string_equal(F.sent[1].ids, "s3;s4;");
	F.now += MINUTE;
	remove_run(&F.e);
	assert_int_equal(F.nsent,
			 3); /* that one later: it is not for this that there are more (I30) */
	assert_string_equal(F.sent[2].ids, "s0;s2;s3;");
	F.now += 10 * MINUTE;
	remove_run(&F.e);
	assert_int_equal(F.nsent, 5);
	assert_string_equal(F.sent[3].ids, "s4;s0;s2;");
	assert_string_equal(F.sent[4].ids, "s1;");
}

/* n1 ... n4 are to be deleted. */
static void add_nodes(void)
{
	F.cloud.nstrays = 0;
	F.cloud.caps.delete_max = 4;
	for (int i = 1; i <= 4; i++) {
		char id[16];
		struct node n;

		(void)snprintf(id, sizeof(id), "n%d", i);
		(void)fleet_name(&F.e.fleet, id, 0);
		node_init(&n, id, 1, F.now);
		n.state = NODE_DELETING;
		memcpy(n.instance, id, strlen(id) + 1);
		(void)fleet_add(&F.e.fleet, &n);
	}
}

static const char told[] = " deletes-refused: provider ec2 does not delete 4 instances, and "
			   "perhaps others: no right to; burstd retries\n";

/* All that goes out now is denied, until nothing does; the sizes of the requests. */
static void deny_all(char sizes[200])
{
	size_t answered = F.nsent;

	sizes[0] = '\0';
	remove_run(&F.e);
	while (answered < F.nsent) {
		size_t n = strlen(sizes);

		(void)snprintf(sizes + n, 200 - n, "%zu ", F.sent[answered].n);
		F.slots++;
		answer(answered++, PROVIDER_DENIED, NULL);
	}
}

/* F22: the right to delete is gone, say.  That is no fault of an instance: none is given up, it is
 * told once, and when that is clear they are asked for together again (I30). */
static void test_a_delete_that_is_refused_whole_is_told_once(void **state)
{
	static const enum provider_code fine[4] = {PROVIDER_OK};
	char sizes[200];

	(void)state;
	add_nodes();
	deny_all(sizes);
	assert_string_equal(sizes, "4 ");
	deny_all(sizes);
	assert_string_equal(sizes, "2 2 ");
	for (int i = 0; i < 4; i++) { /* sixteen in all */
		deny_all(sizes);
		assert_string_equal(sizes, "1 1 1 1 ");
		forget_sent();
	}
	for (int i = 0; i < 3; i++) {
		deny_all(sizes);
		assert_string_equal(sizes, "4 ");
		assert_null(strstr(F.posted, "denied"));
		assert_string_equal(F.events, told);
	}
	F.now += 10 * MINUTE; /* perhaps it was one of them after all */
	deny_all(sizes);
	deny_all(sizes);
	assert_string_equal(sizes, "2 2 ");
	F.cloud.delete_most = 0;
	remove_run(&F.e);
	answer(F.nsent - 1, PROVIDER_OK, fine);
	F.events[0] = '\0';
	deny_all(sizes);
	assert_string_equal(F.events, told); /* it was over, and begins anew */
}

/* One of them is protected, or somebody else's by now, and the provider denies the whole request:
 * the others go. */
static void test_a_delete_that_is_denied_for_one_is_cut_in_two(void **state)
{
	static const enum provider_code fine[2] = {PROVIDER_OK};

	(void)state;
	add_nodes();
	remove_run(&F.e);
	answer(0, PROVIDER_DENIED, NULL);
	remove_run(&F.e);
	assert_string_equal(F.sent[1].ids, "n1;n2;");
	assert_string_equal(F.sent[2].ids, "n3;n4;");
	answer(2, PROVIDER_OK, fine);
	answer(1, PROVIDER_DENIED, NULL);
	F.posted[0] = '\0';
	remove_run(&F.e);
	assert_string_equal(F.sent[3].ids, "n1;");
	assert_string_equal(F.sent[4].ids, "n2;");
	answer(3, PROVIDER_DENIED, NULL);
	assert_string_equal(F.posted, "n1 delete-failed;"); /* nothing went since: is it n1? */
	answer(4, PROVIDER_OK, fine);
	F.posted[0] = '\0';
	F.cloud.caps.delete_max = 1;
	F.slots = 8;
	remove_run(&F.e);
	answer(7, PROVIDER_DENIED, NULL);
	assert_string_equal(F.posted, "n1 delete-denied;"); /* it is */
}

/* Here, too, one keeps no other; and it is asked for alone from then on. */
static void test_strays_that_are_denied_for_one_are_cut_in_two_as_well(void **state)
{
	static const enum provider_code fine[2] = {PROVIDER_OK};

	(void)state;
	F.cloud.nstrays = 2;
	F.slots = 16;
	remove_run(&F.e);
	answer(0, PROVIDER_DENIED, NULL);
	F.now += MINUTE;
	remove_run(&F.e);
	remove_run(&F.e);
	assert_string_equal(F.sent[1].ids, "s0;");
	assert_string_equal(F.sent[2].ids, "s1;");
	answer(1, PROVIDER_DENIED, NULL);
	answer(2, PROVIDER_OK, fine);
	assert_false(F.cloud.strays[0].apart);
	F.cloud.nstrays = 1;
	F.now += MINUTE;
	remove_run(&F.e);
	answer(3, PROVIDER_DENIED, NULL);
	assert_true(F.cloud.strays[0].apart);
}

/* The provider looks at a host while its instance runs. */
static void test_one_whose_host_is_being_reported_waits_for_that(void **state)
{
	struct fleet_node *fn;

	(void)state;
	add_nodes();
	fn = fleet_find(&F.e.fleet, "n2")->newest;
	fn->reporting = true;
	remove_run(&F.e);
	assert_string_equal(F.sent[0].ids, "n1;n3;n4;");
	fn->reporting = false;
	remove_run(&F.e);
	assert_string_equal(F.sent[1].ids, "n2;");
}

/* F7, P1: three that are throttled again and again kept the others for ever. */
static void test_who_was_asked_to_end_in_vain_lets_others_go_first(void **state)
{
	(void)state;
	add_nodes();
	F.cloud.caps.delete_max = 2;
	fleet_find(&F.e.fleet, "n1")->newest->asked = true;
	fleet_find(&F.e.fleet, "n3")->newest->asked = true;
	F.slots = 1;
	remove_run(&F.e);
	assert_int_equal(F.nsent, 1);
	assert_string_equal(F.sent[0].ids, "n2;n4;");
	F.slots = 1;
	remove_run(&F.e);
	assert_string_equal(F.sent[1].ids, "n1;n3;");
}

/* EC2 has a limit on the instances, too. */
static void test_a_delete_has_no_more_instances_than_the_provider_lets_through(void **state)
{
	static const struct provider_limit own[PROVIDER_NOPS] = {
		[PROVIDER_DELETE] = {.instances = {3, 1}}};

	(void)state;
	add_nodes();
	limit_init(&F.cloud.limit, 8, 0, own, F.now);
	F.slots = 1;
	remove_run(&F.e);
	assert_string_equal(F.sent[0].ids, "n1;n2;n3;");
}

static void test_one_that_is_refused_alone_is_denied(void **state)
{
	static const enum provider_code codes[4] = {PROVIDER_TRANSIENT, PROVIDER_DENIED,
						    PROVIDER_TRANSIENT, PROVIDER_TRANSIENT};

	(void)state;
	add_nodes();
	remove_run(&F.e);
	answer(0, PROVIDER_OK, codes);
	assert_string_equal(F.posted, "n1 delete-failed;n2 delete-denied;n3 delete-failed;"
				      "n4 delete-failed;");
	F.cloud.caps.delete_max = 1;
	remove_run(&F.e);
	F.posted[0] = '\0';
	answer(1, PROVIDER_DENIED, NULL);
	assert_string_equal(F.posted, "n1 delete-denied;");
	assert_string_equal(F.events, "");
}

/* Which of them makes no sense it does not say: they are asked for in halves. */
static void test_a_delete_that_makes_no_sense_is_cut_in_two(void **state)
{
	static const enum provider_code fine[2] = {PROVIDER_OK};

	(void)state;
	add_nodes();
	remove_run(&F.e);
	answer(0, PROVIDER_INVALID, NULL);
	remove_run(&F.e);
	assert_int_equal(F.nsent, 3);
	assert_string_equal(F.sent[1].ids, "n1;n2;");
	assert_string_equal(F.sent[2].ids, "n3;n4;");
	answer(1, PROVIDER_OK, fine);
	answer(2, PROVIDER_INVALID, NULL);
	F.posted[0] = '\0';
	remove_run(&F.e);
	assert_int_equal(F.nsent, 7);
	assert_string_equal(F.sent[3].ids, "n1;");
	answer(3, PROVIDER_INVALID, NULL);
	assert_string_equal(F.posted, "n1 delete-denied;");
	answer(4, PROVIDER_OK, fine);
	F.slots = 8;
	remove_run(&F.e);
	assert_string_equal(F.sent[7].ids, "n1;n2;"); /* whole again */
}

/* What bills longest goes first, nodes before what is nobody's; and a request leaves when all of
 * this turn are on record, each once. */
static void test_deletes_leave_in_their_order(void **state)
{
	(void)state;
	add_nodes();
	F.cloud.nstrays = STRAYS;
	F.cloud.caps.delete_max = 2;
	remove_run(&F.e);
	assert_int_equal(F.nsent, 3);
	assert_string_equal(F.sent[0].ids, "n1;n2;");
	assert_string_equal(F.sent[1].ids, "n3;n4;");
	assert_string_equal(F.sent[2].ids, "s0;s1;");
	assert_string_equal(F.left, "0;1;2;");
}

/* F20, F57: a 404 says "gone" only a settle time after what may have made it, and after our start,
 * for our clock may have jumped then; and it is as old as the question. */
static void test_an_early_404_is_not_believed(void **state)
{
	enum { LONG = -60000, SETTLE = 1000 };
	static const struct {
		int64_t start, sent, started, answered; /* from now on */
		bool gone;
	} rows[] = {
		{LONG, LONG, LONG, 0, true},           {LONG, LONG, -SETTLE, 0, true},
		{LONG, LONG, 1 - SETTLE, 0, false},    {LONG, LONG, 1 - SETTLE, 9000, false},
		{LONG, 1 - SETTLE, LONG, 0, false},    {1 - SETTLE, LONG, LONG, 0, false},
		{LONG, -SETTLE, LONG, 0, true},        {-SETTLE, LONG, LONG, 0, true},
		{LONG, LONG, 1 - SETTLE, LONG, false}, {3600000, LONG, LONG, 9000, false},
	};

	(void)teardown(state);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct node *n;

		(void)setup(state);
		add_nodes();
		n = &fleet_find(&F.e.fleet, "n1")->newest->n;
		n->start_ms = F.now + rows[i].start;
		n->sent_ms = F.now + rows[i].sent;
		F.e.started_ms = F.now + rows[i].started;
		F.cloud.caps.delete_max = 1;
		F.slots = 1;
		remove_run(&F.e);
		assert_string_equal(F.sent[0].ids, "n1;");
		F.now += rows[i].answered;
		answer(0, PROVIDER_OK, (enum provider_code[]){PROVIDER_NOT_FOUND});
		print_message("# row %zu\n", i);
		assert_string_equal(F.posted,
				    rows[i].gone ? "n1 delete-accepted;" : "n1 delete-failed;");
		(void)teardown(state);
	}
	(void)setup(state);
}

static void test_strays_that_make_no_sense_together_are_cut_in_two_as_well(void **state)
{
	(void)state;
	F.cloud.caps.delete_max = 4;
	F.cloud.nstrays = 4;
	F.slots = 8;
	remove_run(&F.e);
	assert_string_equal(F.sent[0].ids, "s0;s1;s2;s3;");
	answer(0, PROVIDER_INVALID, NULL);
	F.now += MINUTE;
	remove_run(&F.e);
	remove_run(&F.e);
	assert_int_equal(F.nsent, 3);
	assert_string_equal(F.sent[1].ids, "s0;s1;");
	assert_string_equal(F.sent[2].ids, "s2;s3;");
}

static void test_without_a_slot_nothing_is_put_down_as_asked(void **state)
{
	(void)state;
	F.slots = 0;
	remove_run(&F.e);
	assert_int_equal(F.nsent, 0);
	assert_int_equal(F.cloud.strays[0].asked_ms, 0);
	F.slots = 1;
	F.cloud.strays[0].apart = true;
	remove_run(&F.e);
	assert_int_equal(F.nsent, 1);
	assert_string_equal(F.sent[0].ids, "s1;s2;s3;"); /* many first */
	assert_int_equal(F.cloud.strays[0].asked_ms, 0);
	assert_int_equal(F.cloud.strays[4].asked_ms, 0);
}

/* P1, F7: with one request a second the first 60 would be asked again and again, and no other. */
static void test_strays_have_their_turn_one_after_the_other(void **state)
{
	char order[32] = "";

	(void)state;
	F.cloud.caps.delete_max = 1;
	for (int i = 0; i < 7; i++) {
		F.slots = 1;
		remove_run(&F.e);
		assert_int_equal(F.nsent, 1);
		(void)snprintf(order + 3 * i, 4, "%.3s", F.sent[0].ids);
		answer(0, PROVIDER_RATE, NULL);
		forget_sent();
		F.now += MINUTE / 2;
	}
	assert_string_equal(order, "s0;s1;s2;s3;s4;s0;s1;");
}

static void test_strays_that_are_asked_alone_have_their_turn_too(void **state)
{
	char order[32] = "";

	(void)state;
	for (size_t i = 0; i < F.cloud.nstrays; i++)
		F.cloud.strays[i].apart = true;
	for (int i = 0; i < 7; i++) {
		F.slots = 1;
		remove_run(&F.e);
		assert_int_equal(F.nsent, 1);
		(void)snprintf(order + 3 * i, 4, "%.3s", F.sent[0].ids);
		answer(0, PROVIDER_RATE, NULL);
		forget_sent();
		F.now += 5 * MINUTE;
	}
	assert_string_equal(order, "s0;s1;s2;s3;s4;s0;s1;");
}

/* P1: a pause of its own, as long as it has not gone through so far, came on top of that. */
static void test_a_throttled_delete_waits_as_long_as_its_kind(void **state)
{
	static const struct {
		enum provider_code code;
		int64_t said_ms, until_ms, want_ms;
	} rows[] = {
		{PROVIDER_RATE, 0, 2000, 2000},
		{PROVIDER_RATE, 7000, 7000, 7000},
		{PROVIDER_RATE, 300, 1000, 1000},
		{PROVIDER_TRANSIENT, 5000, 5000, 5000},
	};

	(void)state;
	add_nodes();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct provider_result r = {.code = rows[i].code,
					    .retry_after_ms = rows[i].said_ms};

		F.slots = 1;
		remove_run(&F.e);
		F.cloud.limit.kinds[PROVIDER_DELETE].until_ms = F.now + rows[i].until_ms;
		F.sent[0].fn(&F.cloud, F.sent[0].ctx, &r);
		assert_int_equal(F.retry_ms, F.now + rows[i].want_ms);
		forget_sent();
	}
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_strays_are_deleted_and_asked_for_again_after_a_minute),
		T(test_one_that_may_not_be_deleted_is_asked_for_alone),
		T(test_strays_have_their_turn_one_after_the_other),
		T(test_strays_that_are_asked_alone_have_their_turn_too),
		T(test_a_throttled_delete_waits_as_long_as_its_kind),
		T(test_without_a_slot_nothing_is_put_down_as_asked),
		T(test_a_delete_that_is_refused_whole_is_told_once),
		T(test_one_whose_host_is_being_reported_waits_for_that),
		T(test_who_was_asked_to_end_in_vain_lets_others_go_first),
		T(test_a_delete_has_no_more_instances_than_the_provider_lets_through),
		T(test_one_that_is_refused_alone_is_denied),
		T(test_a_delete_that_makes_no_sense_is_cut_in_two),
		T(test_a_delete_that_is_denied_for_one_is_cut_in_two),
		T(test_strays_that_are_denied_for_one_are_cut_in_two_as_well),
		T(test_deletes_leave_in_their_order),
		T(test_an_early_404_is_not_believed),
		T(test_strays_that_make_no_sense_together_are_cut_in_two_as_well),
	};
#undef T

	return cmocka_run_group_tests_name("remove", tests, NULL, NULL);
}
