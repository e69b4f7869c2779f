/* test_simcloud_ec2.c - EC2's face of simcloud, over HTTP, mostly through the driver that burstd
 * uses: what EC2 promises and moto does not show. */
#include "simrun.h"

#include "base/clock.h"
#include "providers/aws.h"
#include "providers/common/sigv4.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define KEY      "[default]\naws_access_key_id = AKIDLAB\naws_secret_access_key = lab/secret+key\n"

enum { MANY = 300 };

static const char cluster[] = "0b1c2d3e-0000-4000-8000-000000000001";
static struct simrun S;
static void *driver;
static int64_t clock_off; /* of the driver's */
static struct provider_want wants[MANY];
static char names[MANY][16];
static struct provider_place place;

static void open_driver(const char *credential, const char *template)
{
	char queue[128];
	struct provider_conf conf = {.name = "t",
				     .url = S.url,
				     .credential = credential,
				     .region = "eu-north-1",
				     .image = "ami-1",
				     .subnets = "eu-north-1a=subnet-eu-north-1a,"
						"eu-north-1b=subnet-eu-north-1b",
				     .security_groups = "sg-1,sg-2",
				     .instance_profile = "nodes",
				     .key_name = "k",
				     .user_data = "#!/bin/sh\n",
				     .launch_template = template,
				     .notice_queue = queue};
	struct err e;

	(void)snprintf(queue, sizeof(queue), "%s/000000000000/burstd", S.url);

	provider_aws.close(driver);
	driver = NULL;
	if (provider_aws.open(&driver, &conf, &e) != 0)
		fail_msg("%s", e.msg);
}

static int setup(void **state)
{
	char path[SIMRUN_PATH];
	const char *args[] = {"--aws-key-file", path, NULL};

	(void)state;
	S = (struct simrun){0};
	clock_off = 0;
	simrun_dir(&S);
	simrun_write(simrun_path(path, S.dir, "key"), KEY);
	simrun_start(&S, args);
	open_driver(KEY, NULL);
	simrun_do(&S, "POST", "/admin/config", "{\"boot\":\"1ms\",\"stop\":\"1ms\"}");
	place = (struct provider_place){
		.type = "gpu_8x_h100", .region = "eu-north-1", .zone = "eu-north-1a"};
	for (size_t i = 0; i < MANY; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "c%zu", i + 1);
		wants[i] = (struct provider_want){.node = names[i], .gen = 7};
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	provider_aws.close(driver);
	driver = NULL;
	assert_int_equal(simrun_stop(&S, SIGTERM), 0);
	simrun_remove(S.dir);
	return 0;
}

static void drive(struct provider_op *op, struct provider_result *out)
{
	op->at_ms = clock_wall_ms() + clock_off;
	assert_int_equal(simrun_drive(&provider_aws, driver, op, out), 0);
}

static void create(struct provider_result *out, const char *token, size_t n)
{
	struct provider_op op = {.kind = PROVIDER_CREATE};

	op.u.create = (struct provider_create){
		.cluster = cluster, .token = token, .place = &place, .wants = wants, .nwants = n};
	drive(&op, out);
}

static size_t good(const struct provider_result *r)
{
	size_t n = 0;

	assert_int_equal(r->code, PROVIDER_OK);
	while (n < r->nitems && r->items[n].code == PROVIDER_OK)
		n++;
	for (size_t i = n; i < r->nitems; i++)
		assert_int_equal(r->items[i].code, PROVIDER_CAPACITY);
	return n;
}

static void list(struct provider_result *out, const char *cursor)
{
	struct provider_op op = {.kind = PROVIDER_LIST};

	op.u.list.cluster = cluster;
	op.u.list.cursor = cursor;
	drive(&op, out);
}

static void delete_ids(struct provider_result *out, const char *const *ids, size_t n)
{
	struct provider_op op = {.kind = PROVIDER_DELETE};

	op.u.del.ids = ids;
	op.u.del.nids = n;
	drive(&op, out);
}

/* What was refused whole, and how. */
static void refused(struct provider_result *r, enum provider_code code, const char *words)
{
	assert_int_equal(r->code, code);
	if (strstr(r->message, words) == NULL)
		fail_msg("%s: %s", words, r->message);
	provider_result_fini(r);
}

static json_int_t rows(void)
{
	json_t *meter = simrun_ask(&S, "GET", "/admin/meter", NULL, 200);
	json_int_t n = (json_int_t)json_array_size(json_object_get(meter, "rows"));

	json_decref(meter);
	return n;
}

/* --- the life of instances ---------------------------------------------------------------------
 */

static void test_a_batch_is_who_its_tags_and_index_say_and_ends(void **state)
{
	const char *ids[3];
	char kept[3][PROVIDER_ID_MAX + 1];
	struct provider_result r;

	(void)state;
	create(&r, "t-1", 3);
	assert_int_equal(good(&r), 3);
	for (size_t i = 0; i < 3; i++) {
		memcpy(kept[i], r.items[i].instance.id, sizeof(kept[i]));
		ids[i] = kept[i];
	}
	provider_result_fini(&r);
	list(&r, "");
	assert_int_equal(r.ninstances, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_string_equal(r.instances[i].id, ids[i]);
		assert_string_equal(r.instances[i].node, names[i]);
		assert_int_equal(r.instances[i].gen, 7);
		assert_int_equal(strncmp(r.instances[i].addr, "10.77.", 6), 0);
	}
	provider_result_fini(&r);
	delete_ids(&r, ids, 3);
	assert_int_equal(good(&r), 3);
	provider_result_fini(&r);
	usleep(20000);
	list(&r, "");
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(r.instances[i].state, PROVIDER_ENDED);
		assert_true(r.instances[i].ended_ms > clock_wall_ms() - 10000);
		assert_string_equal(r.instances[i].node, names[i]);
	}
	provider_result_fini(&r);
}

/* The meter, which judges, knows them by name as well. */
static void test_the_meter_knows_the_nodes(void **state)
{
	json_t *meter, *row;
	struct provider_result r;

	(void)state;
	wants[1].gen = 9;
	create(&r, "t-1", 3);
	provider_result_fini(&r);
	meter = simrun_ask(&S, "GET", "/admin/meter", NULL, 200);
	row = json_array_get(json_object_get(meter, "rows"), 1);
	assert_string_equal(json_string_value(json_object_get(row, "name")), "c2");
	assert_int_equal(json_integer_value(json_object_get(row, "generation")), 9);
	assert_string_equal(json_string_value(json_object_get(row, "cluster")), cluster);
	json_decref(meter);
}

static void test_a_token_launches_once(void **state)
{
	struct provider_result r, again;
	const char *ids[1];

	(void)state;
	create(&r, "t-1", 2);
	create(&again, "t-1", 2);
	assert_int_equal(good(&again), 2);
	for (size_t i = 0; i < 2; i++)
		assert_string_equal(r.items[i].instance.id, again.items[i].instance.id);
	assert_int_equal(rows(), 2);
	provider_result_fini(&again);
	simrun_do(&S, "POST", "/admin/config", "{\"ended_keep\":\"1ms\"}");
	ids[0] = r.items[0].instance.id;
	delete_ids(&again, ids, 1);
	provider_result_fini(&again);
	usleep(20000);
	create(&again, "t-1", 2); /* of what is forgotten nothing is said */
	assert_int_equal(again.items[0].code, PROVIDER_CAPACITY);
	assert_string_equal(r.items[1].instance.id, again.items[1].instance.id);
	provider_result_fini(&again);
	create(&again, "t-1", 3); /* the same token, other bytes */
	refused(&again, PROVIDER_CONFLICT, "IdempotentParameterMismatch");
	ids[0] = r.items[1].instance.id;
	delete_ids(&again, ids, 1);
	provider_result_fini(&again);
	usleep(20000);
	create(&again, "t-1", 2);
	refused(&again, PROVIDER_CONFLICT, "IdempotentInstanceTerminated");
	assert_int_equal(rows(), 2);
	provider_result_fini(&r);
}

static void test_as_many_come_as_there_is_room_for(void **state)
{
	struct provider_result r;

	(void)state;
	simrun_do(&S, "POST", "/admin/capacity",
		  "{\"type\":\"gpu_8x_h100\",\"zone\":\"eu-north-1a\",\"capacity\":5}");
	create(&r, "t-1", 8);
	assert_int_equal(good(&r), 5);
	assert_string_equal(r.message, "EC2 launched 5 of 8");
	provider_result_fini(&r);
	create(&r, "t-1", 8); /* what it brought once it brings again */
	assert_int_equal(good(&r), 5);
	provider_result_fini(&r);
	create(&r, "t-2", 1);
	refused(&r, PROVIDER_CAPACITY, "InsufficientInstanceCapacity");
	simrun_do(&S, "POST", "/admin/capacity",
		  "{\"type\":\"gpu_8x_h100\",\"zone\":\"eu-north-1a\",\"capacity\":7}");
	for (size_t i = 0; i < 3; i++)
		wants[i].group = 1;
	create(&r, "t-3", 3); /* a job of three, and there is room for two */
	refused(&r, PROVIDER_CAPACITY, "InsufficientInstanceCapacity");
	assert_int_equal(rows(), 5);
	simrun_do(&S, "POST", "/admin/config", "{\"quota\":6}");
	wants[0].group = wants[1].group = 0;
	create(&r, "t-4", 2); /* one would be within it: EC2 does not cut there */
	refused(&r, PROVIDER_QUOTA, "VcpuLimitExceeded");
	create(&r, "t-4", 1);
	assert_int_equal(good(&r), 1);
	provider_result_fini(&r);
}

static void test_a_long_list_comes_in_pages(void **state)
{
	struct provider_result r;
	size_t n = 0, pages = 0;
	char cursor[PROVIDER_CURSOR_MAX + 1] = "";

	(void)state;
	create(&r, "t-1", MANY);
	assert_int_equal(good(&r), MANY);
	provider_result_fini(&r);
	simrun_do(&S, "POST", "/admin/config", "{\"page_max\":70}");
	do {
		list(&r, cursor);
		assert_int_equal(r.code, PROVIDER_OK);
		for (size_t i = 0; i < r.ninstances; i++)
			assert_string_equal(r.instances[i].node, names[n++]);
		memcpy(cursor, r.cursor, sizeof(cursor));
		provider_result_fini(&r);
		pages++;
	} while (cursor[0] != '\0');
	assert_int_equal(n, MANY);
	assert_int_equal(pages, 5);
}

/* One that EC2 does not know spoils the call for all. */
static void test_an_unknown_id_spoils_a_delete(void **state)
{
	const char *ids[2] = {"", "sim-00000fff"};
	struct provider_result r, d;

	(void)state;
	create(&r, "t-1", 1);
	ids[0] = r.items[0].instance.id;
	delete_ids(&d, ids, 2);
	assert_int_equal(d.items[0].code, PROVIDER_TRANSIENT);
	assert_int_equal(d.items[1].code, PROVIDER_NOT_FOUND);
	provider_result_fini(&d);
	usleep(20000);
	list(&d, "");
	assert_int_equal(d.instances[0].state, PROVIDER_RUNNING);
	provider_result_fini(&d);
	provider_result_fini(&r);
}

static void test_types_and_spot_prices_are_told(void **state)
{
	static const char *const types[] = {"gpu_8x_h100"};
	struct provider_op op = {.kind = PROVIDER_QUOTES};
	struct provider_result r;

	(void)state;
	op.u.quotes.types = types;
	op.u.quotes.ntypes = 1;
	op.u.quotes.cursor = "";
	drive(&op, &r);
	assert_int_equal(r.nquotes, 1);
	assert_string_equal(r.quotes[0].type, "gpu_8x_h100");
	assert_string_equal(r.cursor, "p");
	provider_result_fini(&r);
	op.u.quotes.cursor = "p";
	drive(&op, &r);
	assert_int_equal(r.nquotes, 2); /* zones a and b */
	assert_true(r.quotes[0].market == PROVIDER_SPOT && r.quotes[1].market == PROVIDER_SPOT);
	assert_int_equal(r.quotes[0].price_nano_h, INT64_C(11800000000));
	provider_result_fini(&r);
}

/* --- fleets ------------------------------------------------------------------------------------
 */

static void test_a_fleet_takes_what_there_is(void **state)
{
	struct provider_result r, again;

	(void)state;
	open_driver(KEY, "nodes:1");
	place.zone = "";
	simrun_do(&S, "POST", "/admin/capacity",
		  "{\"type\":\"gpu_8x_h100\",\"zone\":\"eu-north-1a\",\"capacity\":0}");
	create(&r, "f-1", 1);
	assert_int_equal(good(&r), 1);
	create(&again, "f-1", 1);
	assert_string_equal(again.items[0].instance.id, r.items[0].instance.id);
	provider_result_fini(&again);
	provider_result_fini(&r);
	list(&r, "");
	assert_int_equal(r.ninstances, 1);
	assert_string_equal(r.instances[0].node, "c1");
	provider_result_fini(&r);
	simrun_do(&S, "POST", "/admin/capacity",
		  "{\"type\":\"gpu_8x_h100\",\"zone\":\"eu-north-1b\",\"capacity\":1}");
	create(&r, "f-2", 1);
	assert_int_equal(r.items[0].code, PROVIDER_CAPACITY);
	assert_int_equal(rows(), 1);
	provider_result_fini(&r);
}

/* --- faults and refusals -----------------------------------------------------------------------
 */

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
	refused(&r, PROVIDER_DENIED, "RequestExpired");
	clock_off = 301000;
	create(&r, "t-1", 1);
	refused(&r, PROVIDER_DENIED, "RequestExpired");
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
	op.u.list.cursor = "";
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

/* A body of one's own, well signed. */
static void ask_in(const char *region, const char *body, long status, const char *words)
{
	const struct sigv4_key key = {.id = "AKIDLAB", .secret = "lab/secret+key"};
	const struct sigv4_header host = {"Host", S.url + strlen("http://")};
	const struct sigv4_request sr = {.method = "POST",
					 .path = "/",
					 .query = "",
					 .headers = &host,
					 .nheaders = 1,
					 .body = body,
					 .len = strlen(body),
					 .region = region,
					 .service = "ec2",
					 .at_ms = clock_wall_ms()};
	char date[SIGV4_DATE_SIZE], line[64];
	struct curl_slist *headers = NULL;
	struct simrun_reply r;
	struct str s;

	str_init(&s, 4096);
	str_adds(&s, "Authorization: ");
	assert_int_equal(sigv4_sign(&s, date, &key, &sr), 0);
	(void)snprintf(line, sizeof(line), "X-Amz-Date: %s", date);
	headers = curl_slist_append(curl_slist_append(headers, s.p), line);
	simrun_send(&r, "POST", S.url, headers, body);
	if (r.status != status || strstr(r.body.p, words) == NULL)
		fail_msg("%s: %ld %s", body, r.status, r.body.p);
	curl_slist_free_all(headers);
	simrun_done(&r);
	str_fini(&s);
}

static void ask(const char *body, long status, const char *words)
{
	ask_in("eu-north-1", body, status, words);
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

#define REPORT "Action=ReportInstanceStatus&Version=2016-11-15&InstanceId.1="

static void test_a_broken_host_is_reported(void **state)
{
	struct provider_op op = {.kind = PROVIDER_REPORT};
	struct provider_result r;
	char id[PROVIDER_ID_MAX + 1];

	(void)state;
	create(&r, "t-1", 1);
	memcpy(id, r.items[0].instance.id, sizeof(id));
	provider_result_fini(&r);
	op.u.report.id = id;
	op.u.report.words = "XID 79";
	drive(&op, &r);
	for (int i = 0; i < 500 && r.code != PROVIDER_OK; i++) { /* it must run */
		const struct timespec pause = {.tv_nsec = 10000000};

		provider_result_fini(&r);
		(void)nanosleep(&pause, NULL);
		drive(&op, &r);
	}
	assert_int_equal(r.code, PROVIDER_OK);
	provider_result_fini(&r);
	op.u.report.id = "i-0123";
	drive(&op, &r);
	assert_int_equal(r.code, PROVIDER_INVALID);
	provider_result_fini(&r);
	ask(REPORT "i-0123&Status=impaired", 400, "MissingParameter");
	ask(REPORT "i-0123&Status=impaired&ReasonCode.1=rust", 400, "InvalidParameterValue");
	ask(REPORT "i-0123&Status=bad&ReasonCode.1=other", 400, "InvalidParameterValue");
	ask(REPORT "i-0123&Status=ok&ReasonCode.1=other", 400, "InvalidInstanceID.NotFound");
}

#define RUN "Action=RunInstances&Version=2016-11-15&MinCount=1&MaxCount=2&ImageId=ami-1"

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

/* --- the queue --------------------------------------------------------------------------------
 */

static void hear(struct provider_result *out, const char *ack, uint32_t wait_ms)
{
	struct provider_op op = {.kind = PROVIDER_NOTICES};

	op.u.notices.cluster = cluster;
	op.u.notices.cursor = "";
	op.u.notices.ack = ack;
	op.u.notices.wait_ms = wait_ms;
	drive(&op, out);
}

static void test_a_reclaim_is_a_message_until_it_is_deleted(void **state)
{
	struct provider_result r, done;
	int64_t now;

	(void)state;
	create(&r, "t", 1);
	provider_result_fini(&r);
	hear(&r, NULL, 0);
	assert_int_equal(r.code, PROVIDER_OK);
	assert_null(r.ack);
	now = clock_wall_ms();
	simrun_do(&S, "POST", "/admin/reclaim", "{\"node\":\"c1\",\"notice_ms\":5000}");
	hear(&r, NULL, 20000);
	assert_int_equal(r.nnotices, 1);
	assert_string_equal(r.notices[0].id, "sim-00000000");
	assert_int_equal(r.notices[0].kind, PROVIDER_NOTICE_RECLAIM);
	/* Events have whole seconds: not later than it is true. */
	assert_true(r.notices[0].at_ms > now + 3900 && r.notices[0].at_ms <= now + 6000);
	hear(&done, NULL, 0); /* hidden */
	assert_int_equal(done.nnotices, 0);
	provider_result_fini(&done);
	hear(&done, r.ack, 0);
	assert_int_equal(done.code, PROVIDER_OK);
	provider_result_fini(&done);
	provider_result_fini(&r);
	hear(&r, "r-1-1", 0);
	assert_int_equal(r.code, PROVIDER_TRANSIENT);
	assert_non_null(strstr(r.message, "ReceiptHandleIsInvalid"));
	provider_result_fini(&r);
}

static void test_maintenance_and_an_end_are_messages_too(void **state)
{
	int64_t now = clock_wall_ms();
	struct provider_result r;

	(void)state;
	create(&r, "t", 2);
	provider_result_fini(&r);
	simrun_do(&S, "POST", "/admin/reclaim",
		  "{\"node\":\"c1\",\"kind\":\"maintenance\",\"notice_ms\":600000}");
	simrun_do(&S, "POST", "/admin/reclaim", "{\"node\":\"c1\",\"kind\":\"rebalance\"}");
	simrun_do(&S, "POST", "/admin/reclaim", "{\"node\":\"c1\",\"kind\":\"faulty\"}");
	simrun_do(&S, "POST", "/admin/kill", "{\"node\":\"c2\"}");
	hear(&r, NULL, 20000);
	assert_int_equal(r.nunread, 0);
	assert_int_equal(r.nnotices, 3);
	assert_int_equal(r.notices[0].kind, PROVIDER_NOTICE_MAINTENANCE);
	assert_true(r.notices[0].at_ms > now + 598000 && r.notices[0].at_ms < now + 620000);
	assert_int_equal(r.notices[1].kind, PROVIDER_NOTICE_REBALANCE);
	assert_int_equal(r.notices[2].kind, PROVIDER_NOTICE_MAINTENANCE);
	assert_int_equal(r.notices[2].at_ms, 0);
	assert_int_equal(r.nended, 1);
	assert_string_equal(r.ended[0].id, "sim-00000001");
	provider_result_fini(&r);
}

static void test_a_queue_wants_a_signature_too(void **state)
{
	struct provider_result r;

	(void)state;
	clock_off = -600000;
	hear(&r, NULL, 0);
	assert_int_equal(r.code, PROVIDER_DENIED);
	assert_non_null(strstr(r.message, "RequestExpired"));
	provider_result_fini(&r);
	clock_off = 0;
	simrun_do(&S, "POST", "/admin/faults",
		  "{\"op\":\"notices\",\"action\":\"error\",\"code\":\"rate\"}");
	hear(&r, NULL, 20000);
	assert_int_equal(r.code, PROVIDER_RATE);
	provider_result_fini(&r);
}

static void test_reserved_capacity_is_another_market(void **state)
{
	struct provider_result r;

	(void)state;
	simrun_do(&S, "POST", "/admin/config",
		  "{\"offers\":[{\"type\":\"gpu_8x_h100\",\"region\":\"eu-north-1\",\"zone\":"
		  "\"eu-north-1a\",\"market\":\"reserved\",\"price\":\"0\",\"capacity\":1}]}");
	create(&r, "t", 1);
	assert_int_equal(r.code, PROVIDER_CAPACITY); /* "Unsupported", as EC2 says it */
	provider_result_fini(&r);
	place.market = PROVIDER_RESERVED;
	create(&r, "u", 1);
	assert_int_equal(r.code, PROVIDER_OK);
	provider_result_fini(&r);
	create(&r, "v", 1);
	assert_int_equal(r.code, PROVIDER_CAPACITY);
	provider_result_fini(&r);
}

/* What is in a tag comes back as it was, whoever reads it. */
static void test_any_text_may_be_a_tag(void **state)
{
	(void)state;
	ask(RUN "&InstanceType=gpu_8x_h100&TagSpecification.1.ResourceType=instance"
		"&TagSpecification.1.Tag.1.Key=a%26b&TagSpecification.1.Tag.1.Value=%3Cx%3E+%22",
	    200, "<key>a&amp;b</key><value>&lt;x&gt; \"</value>");
	ask(RUN "&InstanceType=gpu_8x_h100&TagSpecification.1.ResourceType=instance"
		"&TagSpecification.1.Tag.1.Key=aws%3Ax&TagSpecification.1.Tag.1.Value=y",
	    400, "InvalidParameterValue");
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_a_batch_is_who_its_tags_and_index_say_and_ends),
		T(test_the_meter_knows_the_nodes),
		T(test_a_token_launches_once),
		T(test_as_many_come_as_there_is_room_for),
		T(test_a_long_list_comes_in_pages),
		T(test_an_unknown_id_spoils_a_delete),
		T(test_types_and_spot_prices_are_told),
		T(test_a_fleet_takes_what_there_is),
		T(test_faults_are_told_in_ec2s_words),
		T(test_only_who_signs_with_the_key_is_served),
		T(test_what_was_changed_on_the_way_is_refused),
		T(test_another_region_does_not_know_of_them),
		T(test_a_broken_host_is_reported),
		T(test_what_ec2_would_not_understand_is_refused),
		T(test_any_text_may_be_a_tag),
		T(test_a_reclaim_is_a_message_until_it_is_deleted),
		T(test_maintenance_and_an_end_are_messages_too),
		T(test_a_queue_wants_a_signature_too),
		T(test_reserved_capacity_is_another_market),
	};
#undef T

	return cmocka_run_group_tests_name("simcloud-ec2", tests, NULL, NULL);
}
