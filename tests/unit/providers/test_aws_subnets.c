/* test_aws_subnets.c - where EC2 has no capacity in one subnet, a create of the driver aws goes on
 * in the next. */
#include "tests/unit/providers/aws_lab.h"

#define REFUSED(code)                                                                              \
	XML "<Response><Errors><Error><Code>" code "</Code><Message>m</Message></Error></Errors>"  \
	    "</Response>"
#define DRY REFUSED("InsufficientInstanceCapacity")
#define LAUNCHED(items)                                                                            \
	XML "<RunInstancesResponse><instancesSet>" items "</instancesSet></RunInstancesResponse>"
#define NEW(index)                                                                                 \
	"<item><instanceId>i-" index "</instanceId><amiLaunchIndex>" index "</amiLaunchIndex>"     \
	"<instanceState><name>pending</name></instanceState></item>"

/* Three subnets, of which two are in zone a; by default in any zone. */
static struct provider_op anywhere(size_t n)
{
	struct provider_op op = create(n);

	place.zone = "";
	return op;
}

static void put(char *out, size_t size, const struct provider_request *rq, const char *name)
{
	const char *at = strstr(rq->body, name);

	assert_non_null(at);
	at += strlen(name);
	(void)snprintf(out, size, "%.*s", (int)strcspn(at, "&"), at);
}

/* Refuse op for want of capacity: the cursor of its next request. */
static const char *refuse(const struct provider_op *op)
{
	static char cursor[PROVIDER_CURSOR_MAX + 1];
	struct provider_result r;

	parse(&r, op, 500, DRY);
	assert_int_equal(r.code, PROVIDER_MORE);
	assert_true(strlen(r.cursor) > 0);
	(void)snprintf(cursor, sizeof(cursor), "%s", r.cursor);
	provider_result_fini(&r);
	return cursor;
}

static void test_each_subnet_is_tried_once_with_a_token_of_its_own(void **state)
{
	char subnets[3][64], tokens[3][128], cursors[3][16] = {""};
	struct provider_op op = anywhere(2);
	struct provider_request rq;
	struct provider_result r;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		op.cursor = cursors[i];
		build(&rq, &op);
		put(subnets[i], sizeof(subnets[i]), &rq, "SubnetId=");
		put(tokens[i], sizeof(tokens[i]), &rq, "ClientToken=");
		assert_true(has(&rq, "MaxCount=2"));
		provider_request_fini(&rq);
		for (size_t k = 0; k < i; k++) {
			assert_string_not_equal(subnets[i], subnets[k]);
			assert_string_not_equal(tokens[i], tokens[k]);
		}
		if (i < 2)
			(void)snprintf(cursors[i + 1], sizeof(cursors[0]), "%s", refuse(&op));
	}
	assert_string_equal(tokens[0], "tok");
	parse(&r, &op, 500, DRY); /* there is no other */
	assert_int_equal(r.code, PROVIDER_CAPACITY);
	provider_result_fini(&r);
}

static void subnet_of(char *out, size_t size, const struct provider_op *op)
{
	struct provider_request rq;

	build(&rq, op);
	put(out, size, &rq, "SubnetId=");
	provider_request_fini(&rq);
}

/* It is too large for one, or each of its nodes has its own voucher. */
static void test_a_job_of_several_launches_begins_in_one_subnet(void **state)
{
	struct provider_op op = anywhere(1);
	char first[64], next[64];
	unsigned others = 0;

	(void)state;
	wants[0].group = 7;
	subnet_of(first, sizeof(first), &op);
	for (int i = 0; i < 16; i++) {
		char token[16];

		(void)snprintf(token, sizeof(token), "t%d", i);
		op.u.create.token = token;
		wants[0].group = 7;
		subnet_of(next, sizeof(next), &op);
		assert_string_equal(next, first);
		wants[0].group = (uint32_t)(8 + i);
		subnet_of(next, sizeof(next), &op);
		others += strcmp(next, first) != 0;
	}
	assert_in_range(others, 4, 16);
}

/* Once there are machines in a group it is in one zone: a second subnet may be in another, and is
 * not tried.  Different units begin in different ones. */
static void test_all_creates_of_a_unit_are_in_one_subnet(void **state)
{
	struct provider_op op = anywhere(1);
	char first[64], next[64], name[32], token[16];
	struct provider_result r;
	unsigned others = 0;

	(void)state;
	place.of_unit = true;
	place.fabric = "burstd-0a1b2c3d-c1-8";
	subnet_of(first, sizeof(first), &op);
	for (int i = 0; i < 16; i++) {
		(void)snprintf(token, sizeof(token), "t%d", i);
		op.u.create.token = token;
		wants[0].group = (uint32_t)i;
		place.fabric = "burstd-0a1b2c3d-c1-8";
		subnet_of(next, sizeof(next), &op);
		assert_string_equal(next, first);
		(void)snprintf(name, sizeof(name), "burstd-0a1b2c3d-c%d-8", 9 + 8 * i);
		place.fabric = name;
		subnet_of(next, sizeof(next), &op);
		others += strcmp(next, first) != 0;
	}
	assert_in_range(others, 4, 16);
	parse(&r, &op, 500, DRY);
	assert_int_equal(r.code, PROVIDER_CAPACITY);
	provider_result_fini(&r);
	place.of_unit = false;
	place.fabric = NULL;
}

/* I4: what is asked again is asked with the same bytes. */
static void test_the_same_step_is_the_same_request(void **state)
{
	struct provider_op op = anywhere(1);
	struct provider_request a, b;

	(void)state;
	op.cursor = "1";
	build(&a, &op);
	build(&b, &op);
	assert_string_equal(a.body, b.body);
	provider_request_fini(&a);
	provider_request_fini(&b);
}

static void test_only_for_want_of_capacity(void **state)
{
	static const struct {
		const char *error;
		enum provider_code code;
	} rows[] = {
		{REFUSED("VcpuLimitExceeded"), PROVIDER_QUOTA},
		{REFUSED("UnauthorizedOperation"), PROVIDER_DENIED},
		{REFUSED("RequestLimitExceeded"), PROVIDER_RATE},
		{REFUSED("InvalidParameterValue"), PROVIDER_INVALID},
	};
	struct provider_op op = anywhere(1);

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct provider_result r;

		parse(&r, &op, 400, rows[i].error);
		assert_int_equal(r.code, rows[i].code);
		assert_string_equal(r.cursor, "");
		provider_result_fini(&r);
	}
}

/* burstd repeats a step that is denied, for half an hour; here nothing has begun. */
static void test_a_subnet_that_is_denied_or_deleted_is_passed_over(void **state)
{
	struct provider_op op = anywhere(1);
	struct provider_result r;

	(void)state;
	op.cursor = "1";
	parse(&r, &op, 403, REFUSED("UnauthorizedOperation"));
	assert_int_equal(r.code, PROVIDER_MORE);
	provider_result_fini(&r);
	op.cursor = "2";
	parse(&r, &op, 403, REFUSED("UnauthorizedOperation"));
	assert_int_equal(r.code, PROVIDER_CAPACITY);
	assert_non_null(strstr(r.message, "UnauthorizedOperation"));
	provider_result_fini(&r);
	op.cursor = ""; /* somebody has deleted one */
	parse(&r, &op, 400, REFUSED("InvalidSubnetID.NotFound"));
	assert_int_equal(r.code, PROVIDER_MORE);
	provider_result_fini(&r);
	op.cursor = "2";
	parse(&r, &op, 400, REFUSED("InvalidSubnetID.NotFound"));
	assert_int_equal(r.code, PROVIDER_CAPACITY);
	provider_result_fini(&r);
	place.zone = "eu-west-1b"; /* there is but one */
	op.cursor = "";
	parse(&r, &op, 400, REFUSED("InvalidSubnetID.NotFound"));
	assert_int_equal(r.code, PROVIDER_INVALID);
	provider_result_fini(&r);
	place.zone = "";
	op.cursor = "2";
	parse(&r, &op, 400, REFUSED("ExpiredToken")); /* the session ends: that is to be repeated */
	assert_int_equal(r.code, PROVIDER_DENIED);
	provider_result_fini(&r);
}

/* Its machines may be in one zone already; a group that was made for the job is empty. */
static void test_an_admins_group_stays_where_it_is_and_a_jobs_own_goes_on(void **state)
{
	struct provider_op op = anywhere(2);
	struct provider_result r;

	(void)state;
	wants[0].group = wants[1].group = 1;
	place.fabric = "admins";
	parse(&r, &op, 500, DRY);
	assert_int_equal(r.code, PROVIDER_CAPACITY);
	provider_result_fini(&r);
	place.fabric = op.u.create.token;
	(void)refuse(&op);
	place.fabric = NULL;
}

static void test_one_subnet_is_all_there_is(void **state)
{
	struct provider_op op = create(1); /* in zone b, which has one */
	struct provider_result r;

	(void)state;
	parse(&r, &op, 500, DRY);
	assert_int_equal(r.code, PROVIDER_CAPACITY);
	provider_result_fini(&r);
}

/* What six nodes of three jobs get when EC2 launches `have` of them: O has it, C is refused, and W
 * is wanted as before. */
static const struct {
	const char *zone, *cursor, *items, *codes;
} parts[] = {
	{"", "", NEW("0") NEW("1"), "OOWWWW"},
	{"", "1", NEW("0") NEW("1") NEW("2"), "OOOCWW"}, /* a job stays in one zone */
	{"", "2", NEW("0") NEW("1") NEW("2"), "OOOCCC"}, /* no subnet is left */
	{"eu-west-1b", "", NEW("0") NEW("1"), "OOCCCC"},
};

static void test_jobs_that_got_nothing_may_get_it_in_another_subnet(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(parts); i++) {
		struct provider_op op = anywhere(6);
		struct provider_result r;
		char codes[7] = "";
		char body[4096];

		place.zone = parts[i].zone;
		op.cursor = parts[i].cursor;
		for (size_t k = 0; k < 6; k++)
			wants[k].group = (uint32_t)(1 + k / 2);
		(void)snprintf(body, sizeof(body), LAUNCHED("%s"), parts[i].items);
		parse(&r, &op, 200, body);
		assert_int_equal(r.code, PROVIDER_OK);
		assert_int_equal(r.nitems, 6);
		for (size_t k = 0; k < 6; k++)
			codes[k] = r.items[k].code == PROVIDER_OK         ? 'O'
				   : r.items[k].code == PROVIDER_CAPACITY ? 'C'
				   : r.items[k].code == PROVIDER_NOT_YET  ? 'W'
									  : '?';
		assert_string_equal(codes, parts[i].codes);
		provider_result_fini(&r);
	}
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_each_subnet_is_tried_once_with_a_token_of_its_own),
		T(test_a_job_of_several_launches_begins_in_one_subnet),
		T(test_all_creates_of_a_unit_are_in_one_subnet),
		T(test_the_same_step_is_the_same_request),
		T(test_only_for_want_of_capacity),
		T(test_a_subnet_that_is_denied_or_deleted_is_passed_over),
		T(test_an_admins_group_stays_where_it_is_and_a_jobs_own_goes_on),
		T(test_one_subnet_is_all_there_is),
		T(test_jobs_that_got_nothing_may_get_it_in_another_subnet),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
