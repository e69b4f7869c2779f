/* test_aws_group.c - a fabric is a placement group of EC2's: what is asked for, and what the
 * answers mean. */
#include "tests/unit/providers/aws_lab.h"

static struct provider_op fabric(enum provider_op_kind kind)
{
	struct provider_op op = {.kind = kind, .at_ms = now_ms};

	op.u.fabric.cluster = UUID;
	op.u.fabric.name = "burstd-0a1b2c3d-17";
	op.cursor = "";
	return op;
}

static void test_a_group_is_made_with_our_tag_listed_by_it_and_deleted_by_name(void **state)
{
	static const struct {
		enum provider_op_kind kind;
		const char *body;
	} rows[] = {
		{PROVIDER_FABRIC_MAKE,
		 "Action=CreatePlacementGroup&Version=2016-11-15&GroupName=burstd-0a1b2c3d-17"
		 "&Strategy=cluster&TagSpecification.1.ResourceType=placement-group"
		 "&TagSpecification.1.Tag.1.Key=burstd-cluster"
		 "&TagSpecification.1.Tag.1.Value=" UUID},
		{PROVIDER_FABRIC_LIST,
		 "Action=DescribePlacementGroups&Version=2016-11-15"
		 "&Filter.1.Name=tag%3Aburstd-cluster&Filter.1.Value.1=" UUID},
		{PROVIDER_FABRIC_DROP,
		 "Action=DeletePlacementGroup&Version=2016-11-15&GroupName=burstd-0a1b2c3d-17"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct provider_op op = fabric(rows[i].kind);
		struct provider_request rq;

		build(&rq, &op);
		assert_string_equal(rq.body, rows[i].body);
		assert_non_null(header(&rq, "Authorization"));
		provider_request_fini(&rq);
		op.u.fabric.cluster = "a b";
		assert_int_equal(provider_aws.build(self, &op, &rq, NULL), -1);
	}
}

static void test_a_launch_names_its_group_and_is_never_a_fleet(void **state)
{
	struct provider_conf conf = usual();
	struct provider_op op = create(1);
	struct provider_request rq;

	(void)state;
	own.launch_template = "lt-1";
	own.image = "";
	reopen(&conf);
	place.zone = "";
	build(&rq, &op);
	assert_true(has(&rq, "Action=CreateFleet"));
	assert_null(strstr(rq.body, "GroupName"));
	provider_request_fini(&rq);
	place.fabric = "pg-1"; /* a group is in one zone: there is nothing to choose */
	assert_int_equal(provider_aws.fits(self, &op.u.create), 1);
	build(&rq, &op);
	assert_true(has(&rq, "Action=RunInstances"));
	assert_true(has(&rq, "Placement.GroupName=pg-1"));
	provider_request_fini(&rq);
	place.fabric = "a b";
	assert_int_equal(provider_aws.build(self, &op, &rq, NULL), -1);
}

static void test_a_job_of_a_group_comes_whole(void **state)
{
	struct provider_op op = create(8);
	struct provider_request rq;

	(void)state;
	for (size_t i = 0; i < 8; i++)
		wants[i].group = 5;
	place.fabric = "tok";
	assert_int_equal(provider_aws.fits(self, &op.u.create), 8);
	build(&rq, &op);
	assert_true(has(&rq, "MinCount=8"));
	assert_true(has(&rq, "MaxCount=8"));
	assert_true(has(&rq, "Placement.GroupName=tok"));
	provider_request_fini(&rq);
}

#define GROUPS(items)                                                                              \
	XML "<DescribePlacementGroupsResponse><placementGroupSet>" items                           \
	    "</placementGroupSet></DescribePlacementGroupsResponse>"
#define GROUP(name, state)                                                                         \
	"<item><groupName>" name "</groupName><strategy>cluster</strategy><state>" state           \
	"</state><tagSet>" OURS "</tagSet></item>"

static void test_groups_are_listed_but_for_those_that_go(void **state)
{
	struct provider_op op = fabric(PROVIDER_FABRIC_LIST);
	struct provider_result r;

	(void)state;
	parse(&r, &op, 200,
	      GROUPS(GROUP("a", "available") GROUP("b", "deleting") GROUP("c", "pending")
			     GROUP("d", "deleted") GROUP("two words", "available")));
	assert_int_equal(r.code, PROVIDER_OK);
	assert_int_equal(r.nfabrics, 2);
	assert_string_equal(r.fabrics[0].name, "a");
	assert_string_equal(r.fabrics[1].name, "c");
	assert_string_equal(r.cursor, "");
	provider_result_fini(&r);
}

#define ERROR(word)                                                                                \
	XML "<Response><Errors><Error><Code>" word                                                 \
	    "</Code><Message>so it is</Message></Error></Errors></Response>"

static void test_what_ec2_says_of_groups(void **state)
{
	static const struct {
		enum provider_op_kind kind;
		long status;
		const char *body;
		enum provider_code code;
	} rows[] = {
		{PROVIDER_FABRIC_MAKE, 200,
		 "<CreatePlacementGroupResponse><return>true</return>"
		 "</CreatePlacementGroupResponse>",
		 PROVIDER_OK},
		{PROVIDER_FABRIC_MAKE, 400, ERROR("InvalidPlacementGroup.Duplicate"), PROVIDER_OK},
		{PROVIDER_FABRIC_MAKE, 400, ERROR("PlacementGroupLimitExceeded"), PROVIDER_QUOTA},
		{PROVIDER_FABRIC_MAKE, 403, ERROR("UnauthorizedOperation"), PROVIDER_DENIED},
		{PROVIDER_FABRIC_MAKE, 503, ERROR("RequestLimitExceeded"), PROVIDER_RATE},
		{PROVIDER_FABRIC_MAKE, 500, ERROR("InternalError"), PROVIDER_TRANSIENT},
		{PROVIDER_FABRIC_MAKE, 200, "<html/>", PROVIDER_TRANSIENT},
		{PROVIDER_FABRIC_MAKE, 400, ERROR("InvalidParameterValue"), PROVIDER_INVALID},
		{PROVIDER_FABRIC_DROP, 200,
		 "<DeletePlacementGroupResponse><return>true</return>"
		 "</DeletePlacementGroupResponse>",
		 PROVIDER_OK},
		{PROVIDER_FABRIC_DROP, 400, ERROR("InvalidPlacementGroup.Unknown"),
		 PROVIDER_NOT_FOUND},
		{PROVIDER_FABRIC_DROP, 400, ERROR("InvalidPlacementGroup.InUse"), PROVIDER_NOT_YET},
		{PROVIDER_FABRIC_LIST, 200, GROUPS(""), PROVIDER_OK},
		{PROVIDER_FABRIC_LIST, 200, "<DescribePlacementGroupsResponse/>",
		 PROVIDER_TRANSIENT},
		{PROVIDER_FABRIC_LIST, 403, ERROR("UnauthorizedOperation"), PROVIDER_DENIED},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct provider_op op = fabric(rows[i].kind);
		struct provider_result r;

		parse(&r, &op, rows[i].status, rows[i].body);
		if (r.code != rows[i].code)
			fail_msg("row %zu: %s", i, provider_code_str(r.code));
		assert_int_equal(r.message[0] == '\0', r.code == PROVIDER_OK);
		provider_result_fini(&r);
	}
}

/* A job's own was made a moment ago: the same again, for another group would be as new.  An admin's
 * is a slip of his. */
static void test_a_launch_into_a_group_that_ec2_does_not_know_yet(void **state)
{
	struct provider_op op = create(2);
	struct provider_result r;

	(void)state;
	place.fabric = "tok";
	parse(&r, &op, 400, ERROR("InvalidPlacementGroup.Unknown"));
	assert_int_equal(r.code, PROVIDER_AMBIGUOUS);
	provider_result_fini(&r);
	place.fabric = "burstd-0a1b2c3d-c1-8"; /* of a unit: made again, by its name */
	place.of_unit = true;
	parse(&r, &op, 400, ERROR("InvalidPlacementGroup.Unknown"));
	assert_int_equal(r.code, PROVIDER_NOT_YET);
	provider_result_fini(&r);
	place.of_unit = false;
	place.fabric = "pg-1";
	parse(&r, &op, 400, ERROR("InvalidPlacementGroup.Unknown"));
	assert_int_equal(r.code, PROVIDER_INVALID);
	provider_result_fini(&r);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_a_group_is_made_with_our_tag_listed_by_it_and_deleted_by_name),
		T(test_a_launch_names_its_group_and_is_never_a_fleet),
		T(test_a_job_of_a_group_comes_whole),
		T(test_groups_are_listed_but_for_those_that_go),
		T(test_what_ec2_says_of_groups),
		T(test_a_launch_into_a_group_that_ec2_does_not_know_yet),
	};
#undef T

	return cmocka_run_group_tests_name("aws_group", tests, NULL, NULL);
}
