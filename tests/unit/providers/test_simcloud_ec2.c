/* test_simcloud_ec2.c - EC2's face of simcloud, over HTTP, mostly through the driver that burstd
 * uses: what EC2 promises and moto does not show. */
#include "simrun.h"
#include "simrun_ec2.h"

#include "base/clock.h"

static void delete_ids(struct provider_result *out, const char *const *ids, size_t n)
{
	struct provider_op op = {.kind = PROVIDER_DELETE};

	op.u.del.ids = ids;
	op.u.del.nids = n;
	drive(&op, out);
}

static void test_a_batch_is_who_its_tags_and_index_say_and_ends(void **state)
{
	const char *ids[3];
	char kept[3][PROVIDER_ID_MAX + 1], request[PROVIDER_REQUEST_MAX + 1];
	struct provider_result r;

	(void)state;
	create(&r, "t-1", 3);
	assert_int_equal(strncmp(r.request_id, "00000000-0000-4000-8000-", 24), 0);
	(void)snprintf(request, sizeof(request), "%.64s", r.request_id);
	assert_int_equal(good(&r), 3);
	for (size_t i = 0; i < 3; i++) {
		memcpy(kept[i], r.items[i].instance.id, sizeof(kept[i]));
		ids[i] = kept[i];
	}
	provider_result_fini(&r);
	list(&r, "");
	assert_string_not_equal(r.request_id, request); /* each has its own */
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
	assert_int_equal(strncmp(r.message, "EC2 launched 5 of 8 (00000000-0000-4000-8000-", 45),
			 0);
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
		assert_int_equal(r.code, r.cursor[0] != '\0' ? PROVIDER_MORE : PROVIDER_OK);
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
	op.cursor = "";
	drive(&op, &r);
	assert_int_equal(r.nquotes, 1);
	assert_string_equal(r.quotes[0].type, "gpu_8x_h100");
	assert_string_equal(r.cursor, "p");
	provider_result_fini(&r);
	op.cursor = "p";
	drive(&op, &r);
	assert_int_equal(r.nquotes, 2); /* zones a and b */
	assert_true(r.quotes[0].market == PROVIDER_SPOT && r.quotes[1].market == PROVIDER_SPOT);
	assert_int_equal(r.quotes[0].price_nano_h, INT64_C(11800000000));
	provider_result_fini(&r);
}

static void quotes_since(struct provider_result *r, const char *cursor, int64_t since_ms)
{
	static const char *const types[] = {"t"};
	struct provider_op op = {.kind = PROVIDER_QUOTES};

	op.u.quotes.types = types;
	op.u.quotes.ntypes = 1;
	op.u.quotes.since_ms = since_ms;
	op.cursor = cursor;
	drive(&op, r);
}

/* What was in force at StartTime, and each change since, down to simcloud's start; in pages of a
 * thousand. */
static void test_prices_of_the_past_are_told(void **state)
{
	enum { PAGE = 1000 };
	char cursor[PROVIDER_CURSOR_MAX + 1] = "p";
	struct provider_result r;
	int64_t since, start, last = 0;
	size_t n = 0, other = 0;

	(void)state;
	simrun_do(&S, "POST", "/admin/config",
		  "{\"offers\":[{\"type\":\"t\",\"region\":\"eu-north-1\",\"zone\":\"eu-north-1a\","
		  "\"market\":\"spot\",\"currency\":\"USD\",\"prices\":[[\"0s\",\"1\"],[\"1ms\","
		  "\"2\"]],"
		  "\"period\":\"2ms\"},{\"type\":\"t\",\"region\":\"eu-north-1\",\"zone\":"
		  "\"eu-north-1b\",\"market\":\"spot\",\"currency\":\"USD\",\"price\":\"3\"}]}");
	usleep(1200000);
	quotes_since(&r, "p", 0);
	assert_int_equal(r.nquotes, 2);
	start = r.quotes[1].valid_from_ms; /* of a price that never moved */
	provider_result_fini(&r);
	since = clock_wall_ms() - 50;
	quotes_since(&r, "p", since);
	assert_in_range(r.nquotes, 50, 500);
	for (; n + 1 < r.nquotes; n++) {
		const struct provider_quote *q = &r.quotes[n];

		assert_string_equal(q->zone, "eu-north-1a");
		assert_int_equal(q->price_nano_h,
				 INT64_C(1000000000) * (1 + (q->valid_from_ms - start) % 2));
		assert_true(n == 0 || q[-1].valid_from_ms - q->valid_from_ms == 1);
	}
	assert_int_equal(r.quotes[n - 1].valid_from_ms, since);
	assert_string_equal(r.quotes[n].zone, "eu-north-1b");
	assert_int_equal(r.quotes[n].valid_from_ms, start);
	provider_result_fini(&r);
	for (n = 0; n == 0 || cursor[0] != '\0';) {
		quotes_since(&r, cursor, start - 5000);
		assert_true(r.nquotes <= PAGE && (r.nquotes == PAGE || r.cursor[0] == '\0'));
		for (size_t i = 0; i < r.nquotes; i++, n++) {
			const struct provider_quote *q = &r.quotes[i];

			other += q->zone[10] == 'b';
			if (q->zone[10] == 'b')
				continue;
			assert_true(last == 0 || q->valid_from_ms == last - 1);
			last = q->valid_from_ms;
		}
		(void)snprintf(cursor, sizeof(cursor), "%s", r.cursor);
		provider_result_fini(&r);
	}
	assert_true(n > PAGE);
	assert_int_equal(last, start);
	assert_int_equal(other, 1);
}

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

#define TEMPLATE "LaunchTemplateConfigs.1.LaunchTemplateSpecification."
#define OVERRIDE "LaunchTemplateConfigs.1.Overrides."
#define FLEET(options)                                                                             \
	"Action=CreateFleet&Version=2016-11-15&Type=instant&" TEMPLATE                             \
	"LaunchTemplateName=n&" TEMPLATE "Version=1&" OVERRIDE                                     \
	"1.InstanceType=gpu_8x_h100&" OVERRIDE "1.SubnetId=subnet-eu-north-1a&" OVERRIDE           \
	"1.Priority=0&" OVERRIDE "2.InstanceType=gpu_8x_h100&" OVERRIDE                            \
	"2.SubnetId=subnet-eu-north-1b&" OVERRIDE                                                  \
	"2.Priority=1&TargetCapacitySpecification.DefaultTargetCapacityType=on-demand&"            \
	"TargetCapacitySpecification.TotalTargetCapacity=5" options

static size_t occurs(const char *body, const char *words)
{
	size_t n = 0;

	for (; (body = strstr(body, words)) != NULL; body++)
		n++;
	return n;
}

static void fleet_brings(const char *body, size_t parts, size_t instances)
{
	struct simrun_reply r;

	send_in("eu-north-1", body, &r);
	assert_int_equal(r.status, 200);
	assert_int_equal(occurs(r.body.p, "<instanceIds>"), parts);
	assert_int_equal(occurs(r.body.p, "<item>sim-"), instances);
	simrun_done(&r);
}

/* Each place of a fleet is a reservation, in which EC2 counts from 0. */
static void test_a_fleet_of_many_has_a_reservation_for_each_place(void **state)
{
	struct simrun_reply r;

	(void)state;
	simrun_do(&S, "POST", "/admin/capacity",
		  "{\"type\":\"gpu_8x_h100\",\"zone\":\"eu-north-1a\",\"capacity\":2}");
	fleet_brings(FLEET("&ClientToken=f-1"), 2, 5);
	fleet_brings(FLEET("&ClientToken=f-1"), 2, 5); /* again, and not anew */
	assert_int_equal(rows(), 5);
	send_in("eu-north-1", "Action=DescribeInstances&Version=2016-11-15", &r);
	assert_int_equal(occurs(r.body.p, "<reservationId>"), 2);
	assert_int_equal(occurs(r.body.p, "<amiLaunchIndex>0<"), 2);
	assert_int_equal(occurs(r.body.p, "<amiLaunchIndex>1<"), 2);
	assert_int_equal(occurs(r.body.p, "<amiLaunchIndex>2<"), 1);
	simrun_done(&r);
}

static void test_a_fleet_has_its_minimum_or_nothing(void **state)
{
	(void)state;
	simrun_do(&S, "POST", "/admin/capacity",
		  "{\"type\":\"gpu_8x_h100\",\"zone\":\"eu-north-1a\",\"capacity\":1}");
	simrun_do(&S, "POST", "/admin/capacity",
		  "{\"type\":\"gpu_8x_h100\",\"zone\":\"eu-north-1b\",\"capacity\":3}");
	ask(FLEET("&OnDemandOptions.MinTargetCapacity=2"), 400, "MinTargetCapacity");
	fleet_brings(FLEET("&OnDemandOptions.MinTargetCapacity=5&"
			   "OnDemandOptions.SingleInstanceType=true"),
		     0, 0);
	fleet_brings(FLEET("&OnDemandOptions.MinTargetCapacity=4&"
			   "OnDemandOptions.SingleAvailabilityZone=true"),
		     0, 0);
	assert_int_equal(rows(), 0);
	fleet_brings(FLEET("&OnDemandOptions.MinTargetCapacity=2&"
			   "OnDemandOptions.SingleAvailabilityZone=true"),
		     1, 3);
	fleet_brings(FLEET(""), 1, 1); /* without a minimum whatever there is */
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

#define CONSOLE "Action=GetConsoleOutput&Version=2016-11-15&InstanceId="

static void test_a_console_is_told(void **state)
{
	struct provider_op op = {.kind = PROVIDER_CONSOLE};
	struct provider_result r;
	char id[PROVIDER_ID_MAX + 1];

	(void)state;
	create(&r, "t-1", 1);
	memcpy(id, r.items[0].instance.id, sizeof(id));
	provider_result_fini(&r);
	op.u.console.id = id;
	drive(&op, &r);
	for (int i = 0; i < 500 && r.console == NULL; i++) { /* it must run */
		const struct timespec pause = {.tv_nsec = 10000000};

		assert_int_equal(r.code, PROVIDER_OK);
		provider_result_fini(&r);
		(void)nanosleep(&pause, NULL);
		drive(&op, &r);
	}
	assert_non_null(strstr(r.console, id));
	assert_non_null(strstr(r.console, "of type gpu_8x_h100\n"));
	provider_result_fini(&r);
	op.u.console.id = "i-0123";
	drive(&op, &r);
	assert_int_equal(r.code, PROVIDER_INVALID);
	provider_result_fini(&r);
	ask(CONSOLE "i-0123", 400, "InvalidInstanceID.NotFound");
	ask(CONSOLE "i-0123&Latest=yes", 400, "InvalidParameterValue");
	ask("Action=GetConsoleOutput&Version=2016-11-15", 400, "MissingParameter");
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

#define RESERVED RUN "&InstanceType=gpu_8x_h100&SubnetId=subnet-eu-north-1a"
#define TARGET   "&CapacityReservationSpecification.CapacityReservationTarget."
#define ONLY                                                                                       \
	"&CapacityReservationSpecification.CapacityReservationPreference=capacity-reservations-"   \
	"only"
#define BLOCK "&InstanceMarketOptions.MarketType=capacity-block"

static void test_a_reservation_or_a_block_is_targeted(void **state)
{
	(void)state;
	simrun_do(&S, "POST", "/admin/config",
		  "{\"offers\":[{\"type\":\"gpu_8x_h100\",\"region\":\"eu-north-1\",\"zone\":"
		  "\"eu-north-1a\",\"market\":\"reserved\",\"price\":\"0\",\"capacity\":6}]}");
	ask(RESERVED ONLY TARGET "CapacityReservationId=cr-1", 200, "<instanceId>");
	ask(RESERVED BLOCK TARGET "CapacityReservationId=cr-1", 200, "<instanceId>");
	ask(RESERVED BLOCK TARGET "CapacityReservationResourceGroupArn=arn:aws:x", 200,
	    "<instanceId>");
	ask(RESERVED ONLY TARGET "CapacityReservationId=cr-1", 500, "InsufficientInstanceCapacity");
	ask(RESERVED BLOCK, 400, "InvalidParameterValue");
	ask(RESERVED ONLY BLOCK TARGET "CapacityReservationId=cr-1", 400, "InvalidParameterValue");
	ask(RESERVED "&InstanceMarketOptions.MarketType=spot" TARGET "CapacityReservationId=cr-1",
	    400, "InvalidParameterValue");
	ask(RESERVED ONLY TARGET "CapacityReservationId=r-1", 400,
	    "InvalidCapacityReservationId.Malformed");
	ask(RESERVED ONLY TARGET "CapacityReservationResourceGroupArn=x", 400,
	    "InvalidParameterValue");
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
		T(test_prices_of_the_past_are_told),
		T(test_a_fleet_takes_what_there_is),
		T(test_a_fleet_of_many_has_a_reservation_for_each_place),
		T(test_a_fleet_has_its_minimum_or_nothing),
		T(test_a_broken_host_is_reported),
		T(test_a_console_is_told),
		T(test_any_text_may_be_a_tag),
		T(test_reserved_capacity_is_another_market),
		T(test_a_reservation_or_a_block_is_targeted),
	};
#undef T

	return cmocka_run_group_tests_name("simcloud_ec2", tests, NULL, NULL);
}
