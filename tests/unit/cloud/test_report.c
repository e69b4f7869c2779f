/* test_report.c - a host that somebody found broken: its provider is told once, on record before,
 * and before the instance is deleted; whatever becomes of that delays nothing for long.
 *
 * On a bare struct engine: the cloud, the clock and the records are the test's. */
#include "cloud/cloud.h"
#include "store/journal_audit.h"
#include "tests/unit/engine/bare_engine.h"
#include "tests/unit/engine/bare_state.h"

static struct fix {
	struct engine e;
	struct conf conf;
	struct conf_provider provider;
	struct cloud cloud;
	bool ready;
	char story[600]; /* in order */
	request_fn fn;   /* of the request on the wire */
	void *ctx;
	unsigned sent;
} F;

static void tell(const char *a, const char *b)
{
	add(F.story, sizeof(F.story), a, b, "\n");
}

void engine_event(struct engine *e, const char *node, uint64_t gen, const char *type,
		  const char *detail)
{
	(void)e;
	(void)gen;
	add(F.story, sizeof(F.story), node, " ", type);
	tell(": ", detail);
}

void engine_commit(struct engine *e)
{
	(void)e;
	tell("commit", "");
}

bool cloud_ready(struct cloud *c, enum provider_op_kind kind)
{
	(void)c;
	(void)kind;
	return F.ready;
}

void cloud_send(struct cloud *c, const struct provider_op *op, request_fn fn, void *ctx)
{
	(void)c;
	assert_int_equal(op->kind, PROVIDER_REPORT);
	add(F.story, sizeof(F.story), "send ", op->u.report.id, ": ");
	tell(op->u.report.words, "");
	F.fn = fn;
	F.ctx = ctx;
	F.sent++;
}

void journal_put_audit(struct journal_tx *tx, const struct journal_audit *a)
{
	(void)tx;
	assert_string_equal(a->verb, "report");
	add(F.story, sizeof(F.story), "record ", a->actor, " ");
	add(F.story, sizeof(F.story), a->target, " ", a->object);
	add(F.story, sizeof(F.story), " ", a->reason, " ");
	tell(a->request, "");
}

static char name[] = "ec2";
static struct fleet_node *fn;

static int setup(void **state)
{
	struct node n;

	(void)state;
	W = (struct world){.now = BEGAN};
	F = (struct fix){.ready = true};
	bare_state(&F.e);
	F.provider = (struct conf_provider){.name = name, .timeout_ms = 30000};
	F.conf = (struct conf){.providers = &F.provider, .nproviders = 1};
	F.e.conf = &F.conf;
	F.e.cloud->all = &F.cloud;
	F.cloud =
		(struct cloud){.e = &F.e, .conf = &F.provider, .caps = {.flags = PROVIDER_REPORTS}};
	fleet_init(&F.e.fleet, 1);
	(void)fleet_name(&F.e.fleet, "c1", 0);
	node_init(&n, "c1", 3, BEGAN);
	memcpy(n.instance, "i-1", 4);
	fn = fleet_add(&F.e.fleet, &n);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	report_part.at[PART_FREE](&F.e);
	free(F.ctx);
	fleet_fini(&F.e.fleet);
	return 0;
}

static void answer(enum provider_code code, const char *message)
{
	struct provider_result r = {.code = code};

	(void)snprintf(r.message, sizeof(r.message), "%s", message);
	F.fn(&F.cloud, F.ctx, &r);
}

static void test_it_is_on_record_sent_once_and_the_delete_waits(void **state)
{
	(void)state;
	report_want(&F.e, fn, "XID 79", "root");
	assert_true(fn->reporting);
	report_part.at[PART_RUN](&F.e);
	assert_true(fn->reporting);
	answer(PROVIDER_OK, "");
	assert_false(fn->reporting);
	report_want(&F.e, fn, "XID 80", "root"); /* told again */
	report_part.at[PART_RUN](&F.e);
	assert_string_equal(F.story, "record root ec2 c1 XID 79 i-1\n"
				     "commit\n"
				     "send i-1: XID 79\n"
				     "c1 reported: provider ec2, instance i-1: XID 79\n");
	assert_true(report_part.next_ms(&F.e) == INT64_MAX);
}

static void test_those_that_wait_are_counted(void **state)
{
	struct cloud other = {.e = &F.e};
	int64_t oldest_ms = INT64_MAX;

	(void)state;
	assert_int_equal(report_queue(&F.cloud, &oldest_ms), 0);
	assert_true(oldest_ms == INT64_MAX);
	report_want(&F.e, fn, "XID 79", "root");
	F.ready = false;
	report_part.at[PART_RUN](&F.e);
	W.now += 2000;
	assert_int_equal(report_queue(&F.cloud, &oldest_ms), 1);
	assert_int_equal(oldest_ms, BEGAN);
	oldest_ms = 5;
	assert_int_equal(report_queue(&F.cloud, &oldest_ms), 1);
	assert_int_equal(oldest_ms, 5);
	assert_int_equal(report_queue(&other, &oldest_ms), 0);
	F.ready = true;
	report_part.at[PART_RUN](&F.e);
	assert_int_equal(report_queue(&F.cloud, &oldest_ms), 0);
	answer(PROVIDER_OK, "");
}

static void test_a_failure_is_told_and_that_is_all(void **state)
{
	(void)state;
	report_want(&F.e, fn, "", "");
	report_part.at[PART_RUN](&F.e);
	F.story[0] = '\0';
	answer(PROVIDER_DENIED, "UnauthorizedOperation");
	report_part.at[PART_RUN](&F.e);
	assert_string_equal(F.story, "c1 report-failed: provider ec2, instance i-1: "
				     "UnauthorizedOperation\n");
	assert_false(fn->reporting);
	assert_int_equal(F.sent, 1);
}

/* F7 */
static void test_one_that_is_throttled_is_sent_again_while_there_is_time(void **state)
{
	(void)state;
	report_want(&F.e, fn, "XID 79", "root");
	report_part.at[PART_RUN](&F.e);
	F.story[0] = '\0';
	W.now += 1000;
	answer(PROVIDER_RATE, "slowly");
	free(F.ctx);
	F.ctx = NULL;
	assert_true(fn->reporting);
	assert_int_equal(F.e.cloud->nreports, 1);
	report_part.at[PART_RUN](&F.e);
	assert_string_equal(F.story, "record reconciler ec2 c1 XID 79 i-1\ncommit\n"
				     "send i-1: XID 79\n");
	F.story[0] = '\0';
	W.now = BEGAN + 30000;
	answer(PROVIDER_RATE, "slowly");
	assert_string_equal(F.story, "c1 report-failed: provider ec2, instance i-1: slowly\n");
	assert_false(fn->reporting);
	assert_int_equal(F.e.cloud->nreports, 0);
}

/* Its requests are throttled, or there is no session: no longer than one may take. */
static void test_a_provider_without_time_is_not_waited_for(void **state)
{
	(void)state;
	F.ready = false;
	report_want(&F.e, fn, "XID 79", "root");
	report_part.at[PART_RUN](&F.e);
	assert_true(fn->reporting);
	assert_int_equal(report_part.next_ms(&F.e), BEGAN + 30000);
	W.now = BEGAN + 30000;
	F.story[0] = '\0';
	report_part.at[PART_RUN](&F.e);
	assert_string_equal(
		F.story,
		"commit\n"
		"c1 report-failed: provider ec2, instance i-1: it could not be sent in time\n");
	assert_false(fn->reporting);
	assert_int_equal(F.sent, 0);
	assert_int_equal(F.e.cloud->nreports, 0);
}

static void test_a_provider_without_an_ear_is_not_told(void **state)
{
	(void)state;
	F.cloud.caps.flags = PROVIDER_TOKENS;
	report_want(&F.e, fn, "XID 79", "root");
	report_part.at[PART_RUN](&F.e);
	assert_string_equal(F.story, "");
	assert_false(fn->reporting);
}

/* Whoever has to read it refuses half a character. */
static void test_long_words_are_cut_between_characters(void **state)
{
	char words[302] = "", want[400];

	(void)state;
	memset(words, 'x', 199);
	memcpy(words + 199, "\xc3\xa9 and more", 12);
	report_want(&F.e, fn, words, "root");
	words[199] = '\0';
	(void)snprintf(want, sizeof(want), "send i-1: %s\n", words);
	F.story[0] = '\0';
	report_part.at[PART_RUN](&F.e);
	assert_non_null(strstr(F.story, want));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_it_is_on_record_sent_once_and_the_delete_waits),
		TEST(test_those_that_wait_are_counted),
		TEST(test_a_failure_is_told_and_that_is_all),
		TEST(test_one_that_is_throttled_is_sent_again_while_there_is_time),
		TEST(test_a_provider_without_time_is_not_waited_for),
		TEST(test_a_provider_without_an_ear_is_not_told),
		TEST(test_long_words_are_cut_between_characters),
	};

	return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
