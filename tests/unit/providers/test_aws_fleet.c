/* test_aws_fleet.c - CreateFleet of the driver aws: what is asked for, and what a reply says of it.
 */
#include "tests/unit/providers/aws_lab.h"

static struct provider_place anywhere;

static struct provider_op fleet(void)
{
	struct provider_op op = create(1);

	anywhere = (struct provider_place){
		.type = "p4d.24xlarge", .region = "eu-west-1", .zone = "", .market = PROVIDER_SPOT};
	op.u.create.place = &anywhere;
	return op;
}

static void open_fleets(void)
{
	struct provider_conf conf = usual();

	own.subnets = "eu-west-1a=subnet-a,eu-west-1b=subnet-b,eu-west-1b=subnet-c";
	own.launch_template = "nodes:3";
	reopen(&conf);
}

/* core/roll.h: of a template's image EC2 would make all. */
static void test_a_fleet_may_name_its_image(void **state)
{
	struct provider_op op = fleet();
	struct provider_place named = *op.u.create.place;
	struct provider_request rq;

	(void)state;
	open_fleets();
	build(&rq, &op);
	assert_null(strstr(rq.body, "ImageId"));
	provider_request_fini(&rq);
	named.image = "ami-2";
	op.u.create.place = &named;
	build(&rq, &op);
	assert_true(has(&rq, "LaunchTemplateConfigs.1.Overrides.1.ImageId=ami-2"));
	assert_true(has(&rq, "LaunchTemplateConfigs.1.Overrides.3.ImageId=ami-2"));
	provider_request_fini(&rq);
}

static void test_a_fleet_chooses_for_one_node_among_all_subnets_of_its_place(void **state)
{
	static const char *const have[] = {
		"Action=CreateFleet",
		"Type=instant",
		"ClientToken=tok",
		"TargetCapacitySpecification.TotalTargetCapacity=1",
		"TargetCapacitySpecification.DefaultTargetCapacityType=spot",
		"SpotOptions.MinTargetCapacity=1",
		"LaunchTemplateConfigs.1.LaunchTemplateSpecification.LaunchTemplateName=nodes",
		"LaunchTemplateConfigs.1.LaunchTemplateSpecification.Version=3",
		"LaunchTemplateConfigs.1.Overrides.1.InstanceType=p4d.24xlarge",
		"LaunchTemplateConfigs.1.Overrides.1.SubnetId=subnet-a",
		"LaunchTemplateConfigs.1.Overrides.2.InstanceType=p4d.24xlarge",
		"LaunchTemplateConfigs.1.Overrides.2.SubnetId=subnet-b",
		"LaunchTemplateConfigs.1.Overrides.3.InstanceType=p4d.24xlarge",
		"LaunchTemplateConfigs.1.Overrides.3.SubnetId=subnet-c",
		"TagSpecification.1.Tag.4.Value=c1",
		"TagSpecification.1.Tag.5.Value=1"};
	struct provider_op op = fleet();
	struct provider_request rq;

	(void)state;
	open_fleets();
	build(&rq, &op);
	for (size_t i = 0; i < COUNT(have); i++)
		if (!has(&rq, have[i]))
			fail_msg("no %s in %s", have[i], rq.body);
	assert_null(strstr(rq.body, "Overrides.4"));
	provider_request_fini(&rq);
	anywhere.zone = "eu-west-1b";
	build(&rq, &op);
	assert_true(has(&rq, "LaunchTemplateConfigs.1.Overrides.1.SubnetId=subnet-b"));
	assert_true(has(&rq, "LaunchTemplateConfigs.1.Overrides.2.SubnetId=subnet-c"));
	assert_null(strstr(rq.body, "Overrides.3"));
	provider_request_fini(&rq);
	anywhere.zone = "eu-west-1a"; /* no choice is left */
	build(&rq, &op);
	assert_non_null(strstr(rq.body, "Action=RunInstances"));
	provider_request_fini(&rq);
}

/* A fleet does not say which of its instances is which: it would be somebody's guess. */
static void test_no_fleet_is_for_several_nodes_nor_for_a_gang(void **state)
{
	struct provider_op op = fleet();
	struct provider_request rq;

	(void)state;
	open_fleets();
	op.u.create.nwants = 2;
	wants[1] = (struct provider_want){.node = "c2", .gen = 1};
	assert_int_equal(provider_aws.fits(self, &op.u.create), 2); /* one launch, not two fleets */
	build(&rq, &op);
	assert_non_null(strstr(rq.body, "Action=RunInstances"));
	provider_request_fini(&rq);
	wants[0].group = wants[1].group = 1;
	assert_int_equal(provider_aws.fits(self, &op.u.create), 2);
	wants[2] = (struct provider_want){.node = "c3", .gen = 1};
	op.u.create.nwants = 3;
	assert_int_equal(provider_aws.fits(self, &op.u.create), 2); /* c3 is no job of two */
	op.u.create.nwants = 1;
	build(&rq, &op);
	assert_non_null(strstr(rq.body, "Action=RunInstances"));
	provider_request_fini(&rq);
}

/* The user-data of a fleet is that of its launch template: whose text is its own goes alone. */
static void test_no_fleet_with_user_data(void **state)
{
	struct provider_op op = fleet();
	struct provider_request rq;

	(void)state;
	open_fleets();
	op.u.create.user_data = "AB";
	build(&rq, &op);
	assert_true(has(&rq, "Action=RunInstances"));
	assert_true(has(&rq, "UserData=QUI%3D"));
	provider_request_fini(&rq);
	op = create(3);
	op.u.create.user_data = "";
	assert_int_equal(provider_aws.fits(self, &op.u.create), 3);
}

static void test_what_a_fleet_bought_is_who_was_asked_for(void **state)
{
	char *text = fixture("create-fleet.xml");
	struct provider_op op = fleet();
	struct provider_result r;

	(void)state;
	open_fleets();
	wants[0] = (struct provider_want){.node = "f1", .gen = 3};
	parse(&r, &op, 200, text);
	assert_int_equal(r.code, PROVIDER_OK);
	assert_int_equal(r.nitems, 1);
	assert_int_equal(r.items[0].code, PROVIDER_OK);
	assert_true(strncmp(r.items[0].instance.id, "i-", 2) == 0);
	assert_string_equal(r.items[0].instance.node, "f1");
	assert_int_equal(r.items[0].instance.gen, 3);
	provider_result_fini(&r);
	free(text);
}

/* Capacity here and quota there: somewhere else there may be some. */
static void test_a_fleet_that_is_refused_in_a_reply_that_went_well(void **state)
{
	char *text = fixture("create-fleet-errors.xml");
	struct provider_op op = fleet();
	struct provider_result r;

	(void)state;
	open_fleets();
	parse(&r, &op, 200, text);
	assert_int_equal(r.code, PROVIDER_OK);
	assert_int_equal(r.items[0].code, PROVIDER_CAPACITY);
	assert_non_null(strstr(r.message, "InsufficientInstanceCapacity: We currently"));
	provider_result_fini(&r);
	free(text);
}

#define FLEET(instances, errors)                                                                   \
	XML "<CreateFleetResponse><fleetInstanceSet>" instances                                    \
	    "</fleetInstanceSet><errorSet>" errors "</errorSet></CreateFleetResponse>"
#define BOUGHT(id)  "<item><instanceIds><item>" id "</item></instanceIds></item>"
#define ERROR(word) "<item><errorCode>" word "</errorCode><errorMessage>m</errorMessage></item>"

static void test_of_several_refusals_the_most_hopeful_counts(void **state)
{
	static const struct {
		const char *body;
		enum provider_code code, item;
	} rows[] = {
		{FLEET("", ERROR("VcpuLimitExceeded") ERROR("InsufficientInstanceCapacity")),
		 PROVIDER_OK, PROVIDER_CAPACITY},
		{FLEET("", ERROR("InsufficientInstanceCapacity") ERROR("RequestLimitExceeded")),
		 PROVIDER_OK, PROVIDER_RATE},
		{FLEET("", ERROR("UnauthorizedOperation") ERROR("MaxSpotInstanceCountExceeded")),
		 PROVIDER_OK, PROVIDER_QUOTA},
		{FLEET("", ERROR("InvalidParameterValue")), PROVIDER_OK, PROVIDER_INVALID},
		{FLEET("", ERROR("InternalError") ERROR("InsufficientInstanceCapacity")),
		 PROVIDER_OK, PROVIDER_AMBIGUOUS},
		/* F1: what may have happened is not sent again as what was throttled. */
		{FLEET("", ERROR("InternalError") ERROR("RequestLimitExceeded")), PROVIDER_OK,
		 PROVIDER_AMBIGUOUS},
		{FLEET("", ERROR("RequestLimitExceeded") ERROR("InternalError")), PROVIDER_OK,
		 PROVIDER_AMBIGUOUS},
		{FLEET(BOUGHT("i-1"), ERROR("InsufficientInstanceCapacity")), PROVIDER_OK,
		 PROVIDER_OK},
		{FLEET("", ""), PROVIDER_OK, PROVIDER_AMBIGUOUS}, /* it says nothing */
		{FLEET(BOUGHT("i-1") BOUGHT("i-2"), ""), PROVIDER_AMBIGUOUS, 0},
		{FLEET(BOUGHT(""), ""), PROVIDER_AMBIGUOUS, 0},
		{XML "<RunInstancesResponse/>", PROVIDER_AMBIGUOUS, 0},
	};
	struct provider_op op = fleet();

	(void)state;
	open_fleets();
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct provider_result r;

		print_message("# %s\n", rows[i].body);
		parse(&r, &op, 200, rows[i].body);
		assert_int_equal(r.code, rows[i].code);
		assert_int_equal(r.nitems, rows[i].code == PROVIDER_OK);
		if (r.nitems > 0)
			assert_int_equal(r.items[0].code, rows[i].item);
		provider_result_fini(&r);
	}
}

#define REFUSED(word, type, where)                                                                 \
	"<item><errorCode>" word "</errorCode><launchTemplateAndOverrides><overrides>"             \
	"<instanceType>" type "</instanceType>" where                                              \
	"</overrides></launchTemplateAndOverrides></item>"

/* One of its subnets may still do. */
static void test_a_fleet_is_refused_as_hopefully_as_the_best_of_its_subnets(void **state)
{
	static const char *const bodies[] = {
		FLEET("",
		      REFUSED("VcpuLimitExceeded", "p4d.24xlarge", "<subnetId>subnet-a</subnetId>")
			      REFUSED("InsufficientInstanceCapacity", "p4d.24xlarge",
				      "<subnetId>subnet-b</subnetId>")),
		FLEET("", REFUSED("InsufficientInstanceCapacity", "p4d.24xlarge",
				  "<subnetId>subnet-a</subnetId>")
				  REFUSED("VcpuLimitExceeded", "p4d.24xlarge",
					  "<subnetId>subnet-b</subnetId>")),
	};
	struct provider_op op = fleet();

	(void)state;
	open_fleets();
	for (size_t i = 0; i < COUNT(bodies); i++) {
		struct provider_result r;

		parse(&r, &op, 200, bodies[i]);
		assert_int_equal(r.items[0].code, PROVIDER_CAPACITY);
		provider_result_fini(&r);
	}
}

/* In the order of the subnets, and 0 is the first. */
static void test_on_demand_a_fleet_takes_the_first_that_is_to_be_had(void **state)
{
	struct provider_op op = fleet();
	struct provider_request rq;

	(void)state;
	open_fleets();
	anywhere.market = PROVIDER_ON_DEMAND;
	build(&rq, &op);
	assert_true(has(&rq, "OnDemandOptions.AllocationStrategy=prioritized"));
	assert_true(has(&rq, "LaunchTemplateConfigs.1.Overrides.1.Priority=0"));
	assert_true(has(&rq, "LaunchTemplateConfigs.1.Overrides.2.Priority=1"));
	provider_request_fini(&rq);
}

/* It has asked for all subnets at once. */
static void test_a_fleet_that_is_refused_does_not_go_on_in_another_subnet(void **state)
{
	struct provider_op op = fleet();
	struct provider_result r;

	(void)state;
	open_fleets();
	parse(&r, &op, 500,
	      XML "<Response><Errors><Error><Code>InsufficientInstanceCapacity</Code>"
		  "<Message>m</Message></Error></Errors></Response>");
	assert_int_equal(r.code, PROVIDER_CAPACITY);
	provider_result_fini(&r);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_a_fleet_may_name_its_image),
		T(test_a_fleet_chooses_for_one_node_among_all_subnets_of_its_place),
		T(test_no_fleet_is_for_several_nodes_nor_for_a_gang),
		T(test_no_fleet_with_user_data),
		T(test_what_a_fleet_bought_is_who_was_asked_for),
		T(test_a_fleet_that_is_refused_in_a_reply_that_went_well),
		T(test_of_several_refusals_the_most_hopeful_counts),
		T(test_a_fleet_is_refused_as_hopefully_as_the_best_of_its_subnets),
		T(test_a_fleet_that_is_refused_does_not_go_on_in_another_subnet),
		T(test_on_demand_a_fleet_takes_the_first_that_is_to_be_had),
	};
#undef T

	return cmocka_run_group_tests_name("aws fleets", tests, NULL, NULL);
}
