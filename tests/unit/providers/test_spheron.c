/* test_spheron.c - the driver spheron: its options, and what it sends. */
#include "spheron_lab.h"

#include "providers/registry.h"

static void test_it_is_registered(void **state)
{
	(void)state;
	assert_ptr_equal(provider_find("spheron"), &provider_spheron);
	assert_ptr_equal(provider_spheron.options, &spheron_options);
}

/* teamId is documented as optional, and required all the same. */
static void test_what_must_be_given(void **state)
{
	static const char none[] = "";
	static const struct spheron_options rows[] = {
		{NULL, ssh_key, os}, {none, ssh_key, os}, {team, NULL, os}, {team, ssh_key, none}};
	struct err e = {0};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(open_with(&rows[i], NULL, &e), -1);
		assert_null(self);
		assert_non_null(strstr(e.msg, "want team, ssh_key and operating_system"));
	}
	assert_int_equal(open_with(NULL, NULL, &e), -1);
}

static void test_a_credential_that_cannot_be(void **state)
{
	static const char *const rows[] = {NULL, "two words", SECRET "\r\nX-Evil: 1"};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct provider_conf conf = {
			.name = "p", .credential = rows[i], .options = &options};
		struct err e = {0};

		assert_int_equal(provider_spheron.open(&self, &conf, &e), -1);
		assert_null(strstr(e.msg, SECRET));
	}
}

/* 10 creates in 15 minutes of a user, and 250 requests in 15 minutes of an address: in any 15
 * minutes, the first included, when buckets are full. */
static void test_documented_limits(void **state)
{
	struct provider_caps caps = provider_spheron.caps(self);
	const struct provider_limit *create = &caps.limits[PROVIDER_CREATE];
	uint32_t all = create->window.most;

	(void)state;
	assert_int_equal(caps.flags, PROVIDER_TAGS); /* no tokens: a repeated create is another */
	assert_int_equal(caps.create_max, 1);
	assert_int_equal(caps.delete_max, 1);
	assert_int_equal(create->window.most, 10);
	/* Requests may arrive closer to each other than they were sent. */
	assert_in_range(create->window.every_ms, 905000, 930000);
	assert_int_equal(create->requests.gains, 0);
	for (int k = PROVIDER_LIST; k <= PROVIDER_QUOTES; k++) {
		assert_int_equal(caps.limits[k].requests.every_ms, 900000);
		all += caps.limits[k].requests.size + caps.limits[k].requests.gains;
	}
	assert_in_range(all, 240, 250);
}

#define CREATE                                                                                     \
	"{\"provider\":\"voltage-park\",\"offerId\":\"gpu_8x_h100_us-east-1\",\"gpuType\":"        \
	"\"H100\",\"gpuCount\":8,\"region\":\"us-east-1\",\"operatingSystem\":"                    \
	"\"Ubuntu Server 22.04\",\"instanceType\":\"%s\",\"teamId\":\"team-1\","                   \
	"\"sshKeyId\":\"key-1\",\"name\":\"" NAME "\"%s}"

static void create_is(const char *kind, const char *more)
{
	struct provider_op op = op_of(PROVIDER_CREATE);
	struct provider_request rq = {0};
	char text[1024];

	(void)snprintf(text, sizeof(text), CREATE, kind, more);
	assert_int_equal(provider_spheron.build(self, &op, &rq, NULL), 0);
	assert_string_equal(rq.method, "POST");
	assert_string_equal(rq.url, API "deployments");
	assert_string_equal(rq.body, text);
	provider_request_fini(&rq);
}

static void test_all_that_a_create_says_is_of_one_offer(void **state)
{
	static const struct {
		const char *zone, *kind;
		enum provider_market market;
	} rows[] = {
		{"voltage-park:8xH100", "DEDICATED", PROVIDER_ON_DEMAND},
		{"voltage-park:8xH100:CLUSTER", "CLUSTER", PROVIDER_ON_DEMAND},
		{"voltage-park:8xH100:BARE_METAL", "BARE_METAL", PROVIDER_ON_DEMAND},
		{"voltage-park:8xH100:CLUSTER:no-cloud-init", "CLUSTER", PROVIDER_ON_DEMAND},
		{"voltage-park:8xH100", "SPOT", PROVIDER_SPOT},
		{"voltage-park:8xH100:no-cloud-init", "SPOT", PROVIDER_SPOT},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		place.zone = rows[i].zone;
		place.market = rows[i].market;
		create_is(rows[i].kind, "");
	}
}

static void test_zones_that_are_none(void **state)
{
	static const char *const rows[] = {"",
					   "us-east-1a",
					   "voltage-park",
					   "voltage-park:",
					   ":8xH100",
					   "voltage-park:H100",
					   "voltage-park:8x",
					   "voltage-park:x8",
					   "voltage-park:-8xH100",
					   "voltage-park:100001xH100",
					   "voltage-park:99999999999999999999xH100",
					   "voltage-park:8xH100:",
					   "voltage-park:8xH100:cloud-init",
					   "voltage-park:8xH100:CLUSTER:",
					   "voltage-park:8xH100:CLUSTER:DEDICATED",
					   "voltage-park:8xH100:no-cloud-init:"};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct provider_op op = op_of(PROVIDER_CREATE);
		struct provider_request rq = {0};
		struct err e = {0};

		place.zone = rows[i];
		if (provider_spheron.build(self, &op, &rq, &e) != -1)
			fail_msg("zone \"%s\": %s", rows[i], rq.body);
		assert_non_null(strstr(e.msg, "want PROVIDER:COUNTxGPU"));
	}
}

/* writeFiles would come after the commands. */
#define INIT(coded)                                                                                \
	",\"cloudInit\":{\"runcmd\":[\"(umask 077 && echo " coded                                  \
	" | base64 -d >/root/burst-user-data && chmod 700 /root/burst-user-data && "               \
	"/root/burst-user-data; rc=$?; rm -f /root/burst-user-data; exit $rc)\"]}"

static void test_user_data_is_a_command_of_cloud_init(void **state)
{
	struct provider_op op = op_of(PROVIDER_CREATE);
	struct provider_request rq = {0};

	(void)state;
	assert_int_equal(open_with(&options, "#!/bin/sh\n", NULL), 0);
	create_is("DEDICATED", INIT("IyEvYmluL3NoCg=="));
	op.u.create.user_data = "#!/own\n"; /* before that of the configuration */
	assert_int_equal(provider_spheron.build(self, &op, &rq, NULL), 0);
	assert_non_null(strstr(rq.body, "echo IyEvb3duCg== |"));
	assert_null(strstr(rq.body, "IyEvYmluL3NoCg=="));
	provider_request_fini(&rq);
	provider_spheron.close(self);
}

/* Spheron would take it, and drop it: the machine would never be a node, and bill. */
static void test_user_data_and_an_offer_without_cloud_init(void **state)
{
	static const char *const zones[] = {"voltage-park:8xH100:no-cloud-init",
					    "voltage-park:8xH100:CLUSTER:no-cloud-init"};

	(void)state;
	for (size_t i = 0; i < COUNT(zones); i++) {
		struct provider_op op = op_of(PROVIDER_CREATE);
		struct provider_request rq = {0};
		struct err e = {0};

		place.zone = zones[i];
		op.u.create.user_data = "#!/bin/sh\n";
		assert_int_equal(provider_spheron.build(self, &op, &rq, &e), -1);
		assert_non_null(strstr(e.msg, "offer gpu_8x_h100_us-east-1 has no cloud-init"));
	}
}

static void test_user_data_that_is_no_script(void **state)
{
	struct provider_op op = op_of(PROVIDER_CREATE);
	struct provider_request rq = {0};
	struct err e = {0};

	(void)state;
	assert_int_equal(open_with(&options, "#cloud-config\n", &e), -1);
	assert_non_null(strstr(e.msg, "must be a script"));
	assert_int_equal(open_with(&options, "", NULL), 0); /* none */
	create_is("DEDICATED", "");
	op.u.create.user_data = "#cloud-config\n";
	assert_int_equal(provider_spheron.build(self, &op, &rq, NULL), -1);
	provider_spheron.close(self);
}

static void test_requests(void **state)
{
	static const struct {
		enum provider_op_kind kind;
		const char *cursor, *method, *url;
	} rows[] = {
		{PROVIDER_CREATE, "", "POST", API "deployments"},
		{PROVIDER_LIST, "", "GET", API "deployments?page=1&limit=100&teamId=team-1"},
		{PROVIDER_LIST, "7", "GET", API "deployments?page=7&limit=100&teamId=team-1"},
		{PROVIDER_DELETE, "", "DELETE", API "deployments/6a01"},
		{PROVIDER_QUOTES, "", "GET", API "gpu-offers?page=1&limit=100"},
		{PROVIDER_QUOTES, "2", "GET", API "gpu-offers?page=2&limit=100"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct provider_op op = op_of(rows[i].kind);
		struct provider_request rq = {0}, again = {0};
		int auth = 0, agent = 0;

		op.cursor = rows[i].cursor;
		assert_int_equal(provider_spheron.build(self, &op, &rq, NULL), 0);
		op.at_ms = 1; /* I4: later */
		assert_int_equal(provider_spheron.build(self, &op, &again, NULL), 0);
		assert_string_equal(rq.method, rows[i].method);
		assert_string_equal(rq.url, rows[i].url);
		assert_string_equal(again.url, rq.url);
		assert_string_equal(again.body != NULL ? again.body : "",
				    rq.body != NULL ? rq.body : "");
		for (int h = 0; rq.headers[h] != NULL; h++) {
			auth += strcmp(rq.headers[h], "Authorization: Bearer " SECRET) == 0;
			agent += strncmp(rq.headers[h], "User-Agent: burstd", 18) == 0;
		}
		assert_int_equal(auth, 1);
		assert_int_equal(agent, 1); /* a request without may be forbidden */
		provider_request_fini(&rq);
		provider_request_fini(&again);
	}
}

static void test_requests_that_cannot_be(void **state)
{
	static const char *const up[] = {".."};
	static const struct provider_want no_gen = {"n1", 0, 0}, capitals = {"GPU-1", 1, 0};
	struct provider_place odd[4];
	struct provider_op ops[12];

	(void)state;
	for (size_t i = 0; i < 4; i++)
		odd[i] = place;
	odd[0].market = PROVIDER_RESERVED;
	odd[1].fabric = "f";
	odd[2].type = "";
	odd[3].region = "";
	for (size_t i = 0; i < 8; i++)
		ops[i] = op_of(PROVIDER_CREATE);
	for (size_t i = 0; i < 4; i++)
		ops[i].u.create.place = &odd[i];
	ops[4].u.create.nwants = 2;
	ops[5].u.create.wants = &no_gen;
	ops[6].u.create.wants = &capitals; /* whether names keep them nobody says */
	ops[7].u.create.cluster = "x";
	ops[8] = op_of(PROVIDER_NOTICES);
	ops[9] = op_of(PROVIDER_REPORT);
	ops[10] = ops[11] = op_of(PROVIDER_DELETE);
	ops[10].u.del.nids = 2;
	ops[11].u.del.ids = up;
	for (size_t i = 0; i < COUNT(ops); i++) {
		struct provider_request rq = {0};
		struct err e = {0};

		assert_int_equal(provider_spheron.build(self, &ops[i], &rq, &e), -1);
		assert_int_equal(e.code, ERR_INVALID);
		assert_null(rq.url);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_it_is_registered),
		cmocka_unit_test(test_what_must_be_given),
		cmocka_unit_test(test_a_credential_that_cannot_be),
		T(test_documented_limits),
		T(test_all_that_a_create_says_is_of_one_offer),
		T(test_zones_that_are_none),
		cmocka_unit_test(test_user_data_is_a_command_of_cloud_init),
		T(test_user_data_and_an_offer_without_cloud_init),
		cmocka_unit_test(test_user_data_that_is_no_script),
		T(test_requests),
		T(test_requests_that_cannot_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
