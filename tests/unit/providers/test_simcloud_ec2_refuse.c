/* test_simcloud_ec2_refuse.c - EC2's face of simcloud refuses and fails in EC2's words. */
#include "simrun.h"
#include "simrun_ec2.h"

#include "base/clock.h"
#include "providers/aws.h"

static void test_faults_are_told_in_ec2s_words(void **state)
{
	static const struct {
		const char *rule;
		enum provider_code code;
		const char *words;
	} table[] = {
		{"{\"op\":\"create\",\"action\":\"error\",\"code\":\"capacity\",\"count\":1}",
		 PROVIDER_CAPACITY, "InsufficientInstanceCapacity: none of this type"},
		{"{\"op\":\"create\",\"action\":\"error\",\"code\":\"quota\",\"count\":1,"
		 "\"message\":\"MaxSpotInstanceCountExceeded: no more\"}",
		 PROVIDER_QUOTA, "MaxSpotInstanceCountExceeded: no more"},
		{"{\"op\":\"create\",\"action\":\"error\",\"code\":\"rate\",\"count\":1}",
		 PROVIDER_RATE, "RequestLimitExceeded"},
		{"{\"op\":\"create\",\"action\":\"error\",\"code\":\"internal\",\"count\":1,"
		 "\"when\":\"after\"}",
		 PROVIDER_AMBIGUOUS, "InternalError"},
		{"{\"op\":\"create\",\"action\":\"garbage\",\"count\":1}", PROVIDER_AMBIGUOUS,
		 "malformed reply"},
		{"{\"op\":\"create\",\"action\":\"truncate\",\"count\":1}", PROVIDER_AMBIGUOUS,
		 "malformed reply"},
	};
	struct provider_result r;
	char token[16];

	(void)state;
	for (size_t i = 0; i < COUNT(table); i++) {
		simrun_do(&S, "POST", "/admin/faults", table[i].rule);
		(void)snprintf(token, sizeof(token), "t-%zu", i);
		create(&r, token, 2);
		refused(&r, table[i].code, table[i].words);
	}
	assert_int_equal(rows(), 6); /* of the last three */
	create(&r, "t-5", 2);
	assert_int_equal(good(&r), 2);
	provider_result_fini(&r);
	assert_int_equal(rows(), 6);
	simrun_do(&S, "POST", "/admin/faults",
		  "{\"op\":\"create\",\"action\":\"partial\",\"keep\":3,\"count\":1}");
	create(&r, "t-6", 8);
	assert_int_equal(good(&r), 3);
	provider_result_fini(&r);
	simrun_do(&S, "POST", "/admin/faults",
		  "{\"op\":\"list\",\"action\":\"empty\",\"count\":1}");
	list(&r, "");
	assert_int_equal(r.ninstances, 0);
	provider_result_fini(&r);
	simrun_do(&S, "POST", "/admin/config",
		  "{\"buckets\":{\"list\":{\"rate\":0.1,\"burst\":1}}}");
	list(&r, "");
	provider_result_fini(&r);
	list(&r, "");
	assert_true(r.retry_after_ms > 0);
	refused(&r, PROVIDER_RATE, "RequestLimitExceeded");
}

/* EC2 counts requests and instances, each in a bucket of its own. */
static void test_instances_have_a_bucket_beside_that_of_requests(void **state)
{
	struct provider_op op = {.kind = PROVIDER_DELETE};
	struct provider_result r, made;
	const char *ids[8];

	(void)state;
	/* A hundredth of an instance a second: the test is over before there is another. */
	simrun_do(
		&S, "POST", "/admin/config",
		"{\"buckets\":{\"create\":{\"rate\":0.01,\"burst\":4,\"instances\":{\"rate\":0.01,"
		"\"burst\":10}},\"delete\":{\"rate\":0.01,\"burst\":9,\"instances\":{\"rate\":0.01,"
		"\"burst\":5}}}}");
	create(&made, "t-1", 8);
	assert_int_equal(good(&made), 8);
	create(&r, "t-2", 3); /* there are two */
	assert_true(r.retry_after_ms > 60000);
	refused(&r, PROVIDER_RATE, "RequestLimitExceeded");
	create(&r, "t-3", 2);
	assert_int_equal(good(&r), 2);
	provider_result_fini(&r);
	assert_int_equal(rows(), 10);
	for (size_t i = 0; i < 8; i++)
		ids[i] = made.items[i].instance.id;
	op.u.del.ids = ids;
	op.u.del.nids = 4;
	drive(&op, &r);
	assert_int_equal(good(&r), 4);
	provider_result_fini(&r);
	op.u.del.ids = ids + 4;
	op.u.del.nids = 2;
	drive(&op, &r);
	refused(&r, PROVIDER_RATE, "RequestLimitExceeded");
	op.u.del.nids = 1;
	drive(&op, &r);
	assert_int_equal(good(&r), 1);
	provider_result_fini(&r);
	provider_result_fini(&made);
}

/* Reading an instance costs by the length of what EC2 says about it. */
static void test_an_instance_shows_as_many_interfaces_as_it_has(void **state)
{
	struct provider_result r;
	struct simrun_reply list_of;
	const char *p;
	size_t n = 0;

	(void)state;
	simrun_do(&S, "POST", "/admin/config", "{\"interfaces\":32}");
	create(&r, "t-1", 1);
	assert_int_equal(good(&r), 1);
	provider_result_fini(&r);
	list(&r, "");
	assert_int_equal(r.ninstances, 1);
	assert_int_equal(strncmp(r.instances[0].addr, "10.77.", 6), 0);
	provider_result_fini(&r);
	send_in("eu-north-1", "Action=DescribeInstances&Version=2016-11-15", &list_of);
	for (p = list_of.body.p; (p = strstr(p, "<networkInterfaceId>")) != NULL; p++)
		n++;
	assert_int_equal(n, 32);
	simrun_done(&list_of);
}

static void test_only_who_signs_with_the_key_is_served(void **state)
{
	static const char *const keys[] = {
		"aws_access_key_id = AKIDLAB\naws_secret_access_key = lab/secret+keY\n",
		"aws_access_key_id = AKIDLAC\naws_secret_access_key = lab/secret+key\n"};
	struct provider_result r;

	(void)state;
	for (size_t i = 0; i < COUNT(keys); i++) {
		open_driver(keys[i], NULL);
		create(&r, "t-1", 1);
		refused(&r, PROVIDER_DENIED, "AuthFailure");
	}
	open_driver(KEY, NULL);
	clock_off = -301000;
	create(&r, "t-1", 1);
	refused(&r, PROVIDER_TRANSIENT, "RequestExpired");
	clock_off = 301000;
	create(&r, "t-1", 1);
	refused(&r, PROVIDER_TRANSIENT, "RequestExpired");
	assert_int_equal(rows(), 0);
	clock_off = 290000;
	create(&r, "t-1", 1);
	assert_int_equal(good(&r), 1);
	provider_result_fini(&r);
}

/* The request of a list, as it may be sent by somebody else. */
static void send_list(const char *change, const char *to, long status, const char *words)
{
	struct provider_op op = {.kind = PROVIDER_LIST, .at_ms = clock_wall_ms()};
	struct provider_request rq = {0};
	struct curl_slist *headers = NULL;
	struct simrun_reply r;
	struct str body;

	op.u.list.cluster = cluster;
	op.cursor = "";
	assert_int_equal(provider_aws.build(driver, &op, &rq, NULL), 0);
	str_init(&body, 1 << 16);
	for (const char *p = rq.body; *p != '\0';) {
		if (change != NULL && strncmp(p, change, strlen(change)) == 0) {
			str_adds(&body, to);
			p += strlen(change);
		} else {
			str_add(&body, p++, 1);
		}
	}
	for (int i = 0; rq.headers[i] != NULL; i++)
		if (to != NULL || strncmp(rq.headers[i], "Authorization", 13) != 0)
			headers = curl_slist_append(headers, rq.headers[i]);
	simrun_send(&r, "POST", rq.url, headers, body.p);
	if (r.status != status || strstr(r.body.p, words) == NULL)
		fail_msg("%ld %s", r.status, r.body.p);
	curl_slist_free_all(headers);
	provider_request_fini(&rq);
	str_fini(&body);
	simrun_done(&r);
}

static void test_what_was_changed_on_the_way_is_refused(void **state)
{
	(void)state;
	send_list("burstd-cluster", "burstd-cluster", 200, "<reservationSet>");
	send_list("burstd-cluster", "burstd-cluste2", 401, "<Code>AuthFailure</Code>");
	send_list(NULL, NULL, 401, "<Code>MissingAuthenticationToken</Code>");
}

static void test_another_region_does_not_know_of_them(void **state)
{
	static const char list[] = "Action=DescribeInstances&Version=2016-11-15";
	static const char end[] = "Action=TerminateInstances&Version=2016-11-15&InstanceId.1=%s";
	struct provider_result r;
	char body[160];

	(void)state;
	create(&r, "t-1", 1);
	assert_int_equal(good(&r), 1);
	(void)snprintf(body, sizeof(body), end, r.items[0].instance.id);
	provider_result_fini(&r);
	ask_in("eu-west-1", list, 200, "<reservationSet></reservationSet>");
	ask_in("eu-west-1", body, 400, "InvalidInstanceID.NotFound");
	ask_in("eu-north-1", list, 200, "<reservationId>");
	ask_in("eu-north-1", body, 200, "<instanceId>");
}

static void test_what_ec2_would_not_understand_is_refused(void **state)
{
	static const struct {
		const char *body;
		long status;
		const char *words;
	} table[] = {
		{RUN "&InstanceType=gpu_8x_h100", 200, "<amiLaunchIndex>1</amiLaunchIndex>"},
		{RUN "&InstanceType=gpu_8x_h100&Instancetype=x", 400, "UnknownParameter"},
		{RUN "&InstanceType=gpu_8x_h100&SubnetId=sub", 400, "InvalidSubnetID.NotFound"},
		{RUN "&InstanceType=none", 400, "Unsupported"},
		{RUN "&MinCount=2&InstanceType=gpu_8x_h100", 400, "UnknownParameter"},
		{RUN "&InstanceType=gpu_8x_h100&InstanceMarketOptions.MarketType=x", 400,
		 "InvalidParameterValue"},
		{RUN "&InstanceType=gpu_8x_h100&UserData=%23!", 400, "InvalidUserData.Malformed"},
		{RUN "&InstanceType=gpu_8x_h100&UserData=IyEvYmluL3No", 200, "<instancesSet>"},
		{RUN "&InstanceType=gpu_8x_h100&MetadataOptions.HttpTokens=no", 400,
		 "InvalidParameterValue"},
		{RUN "&InstanceType=gpu_8x_h100&MetadataOptions.HttpPutResponseHopLimit=1", 200,
		 "<instancesSet>"},
		{RUN "&InstanceType=gpu_8x_h100&MetadataOptions.HttpPutResponseHopLimit=65", 400,
		 "InvalidParameterValue"},
		{"Action=RunInstances&Version=2016-11-15&MaxCount=2&ImageId=a", 400,
		 "<Message>The request must contain the parameter MinCount"},
		{"Action=RunInstances&Version=2016-11-15&MinCount=3&MaxCount=2&ImageId=a"
		 "&InstanceType=gpu_8x_h100",
		 400, "InvalidParameterValue"},
		{"Action=RunInstances&Version=2016-11-15&MinCount=1&MaxCount=1"
		 "&InstanceType=gpu_8x_h100",
		 400, "MissingParameter"},
		{"Action=StopInstances&Version=2016-11-15", 400, "InvalidAction"},
		{"Action=DescribeInstances&Version=2010-01-01", 400, "InvalidAction"},
		{"Action=DescribeInstances&Version=2016-11-15&MaxResults=4", 400,
		 "InvalidParameterValue"},
		{"Action=DescribeInstances&Version=2016-11-15&Filter.1.Name=color"
		 "&Filter.1.Value.1=red",
		 400, "The filter 'color' is invalid"},
		{"Action=DescribeInstances&Version=2016-11-15&NextToken=x", 400,
		 "InvalidParameterValue"},
		{"Action=TerminateInstances&Version=2016-11-15", 400, "MissingParameter"},
		{"Action=%zz", 400, "MalformedQueryString"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(table); i++)
		ask(table[i].body, table[i].status, table[i].words);
	assert_int_equal(rows(), 6);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_faults_are_told_in_ec2s_words),
		T(test_instances_have_a_bucket_beside_that_of_requests),
		T(test_an_instance_shows_as_many_interfaces_as_it_has),
		T(test_only_who_signs_with_the_key_is_served),
		T(test_what_was_changed_on_the_way_is_refused),
		T(test_another_region_does_not_know_of_them),
		T(test_what_ec2_would_not_understand_is_refused),
	};
#undef T

	return cmocka_run_group_tests_name("simcloud_ec2_refuse", tests, NULL, NULL);
}
