/* test_lambda.c - the driver lambda: its options, and what it sends. */
#include "lambda_lab.h"

#include "providers/registry.h"

static void test_it_is_registered(void **state)
{
	(void)state;
	assert_ptr_equal(provider_find("lambda"), &provider_lambda);
	assert_ptr_equal(provider_lambda.options, &lambda_options);
}

static void test_options_that_cannot_be(void **state)
{
	static char none[] = "", lan[] = "lan",
		    long_key[] = "0123456789abcdef0123456789abcdef"
				 "0123456789abcdef0123456789abcdef0";
	static const struct {
		struct lambda_options o;
		const char *says;
	} rows[] = {
		{{.ssh_key = NULL}, "want ssh_key"},
		{{.ssh_key = none}, "want ssh_key"},
		{{.ssh_key = long_key}, "want ssh_key"},
		{{.ssh_key = key, .address = lan}, "address: want public or private"},
		{{.ssh_key = key, .address = none}, "address: want public or private"},
	};
	struct err e = {0};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(open_with(&rows[i].o, NULL, &e), -1);
		assert_null(self);
		assert_non_null(strstr(e.msg, rows[i].says));
	}
	assert_int_equal(open_with(NULL, NULL, &e), -1);
}

static void test_what_every_provider_must_have(void **state)
{
	const struct lambda_options o = {.ssh_key = key};
	static const struct {
		const char *url, *credential;
	} rows[] = {
		{"ftp://x", SECRET},
		{NULL, NULL},
		{NULL, "two words"},
		{NULL, SECRET "\r\nX-Evil: 1"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct provider_conf conf = {.name = "p",
						   .url = rows[i].url,
						   .credential = rows[i].credential,
						   .options = &o};
		struct err e = {0};

		assert_int_equal(provider_lambda.open(&self, &conf, &e), -1);
		assert_null(strstr(e.msg, SECRET));
	}
}

/* "Cannot exceed 1MB": the launch would be refused, each time. */
static void test_user_data_that_is_too_long(void **state)
{
	const struct lambda_options o = {.ssh_key = key};
	struct provider_op op = op_of(PROVIDER_CREATE);
	struct provider_request rq = {0};
	char *text = mem_zalloc(1000002);
	struct err e = {0};

	(void)state;
	memset(text, 'x', 1000001);
	assert_int_equal(open_with(&o, text, &e), -1);
	assert_int_equal(e.code, ERR_LIMIT);
	assert_int_equal(open_with(&o, NULL, NULL), 0);
	op.u.create.user_data = text;
	assert_int_equal(provider_lambda.build(self, &op, &rq, NULL), -1);
	text[1000000] = '\0';
	assert_int_equal(provider_lambda.build(self, &op, &rq, NULL), 0);
	provider_request_fini(&rq);
	provider_lambda.close(self);
	assert_int_equal(open_with(&o, text, NULL), 0);
	provider_lambda.close(self);
	free(text);
}

/* One launch in 12 s, and one request of any kind in a second. */
static void test_documented_limits(void **state)
{
	struct provider_caps caps = provider_lambda.caps(self);

	(void)state;
	/* no tokens: a repeated launch is another */
	assert_int_equal(caps.flags, PROVIDER_TAGS | PROVIDER_IMAGES);
	assert_int_equal(caps.create_max, 1);
	assert_true(caps.delete_max > 1);
	assert_int_equal(caps.limits[PROVIDER_CREATE].requests.size, 1);
	assert_int_equal(caps.limits[PROVIDER_CREATE].requests.gains, 1);
	assert_in_range(caps.limits[PROVIDER_CREATE].requests.every_ms, 12000, 12200);
	assert_int_equal(caps.together.size, 1);
	assert_int_equal(caps.together.gains, 1);
	assert_in_range(caps.together.every_ms, 1000, 1100);
}

#define NAME "\"name\":\"" PREFIX "-c-h100-7\","
#define TAGS                                                                                       \
	"\"tags\":[{\"key\":\"burstd-cluster\",\"value\":\"" CLUSTER "\"},"                        \
	"{\"key\":\"burstd-node\",\"value\":\"h100-7\"},"                                          \
	"{\"key\":\"burstd-generation\",\"value\":\"12\"}]}"
#define LAUNCH                                                                                     \
	"{\"region_name\":\"us-west-1\",\"instance_type_name\":\"gpu_8x_h100\","                   \
	"\"ssh_key_names\":[\"lab key\"]," NAME

static void test_requests(void **state)
{
	static const struct {
		enum provider_op_kind kind;
		const char *method, *url, *body;
	} rows[] = {
		{PROVIDER_CREATE, "POST", API "instance-operations/launch",
		 LAUNCH "\"hostname\":\"h100-7\"," TAGS},
		{PROVIDER_LIST, "GET", API "instances", ""},
		{PROVIDER_DELETE, "POST", API "instance-operations/terminate",
		 "{\"instance_ids\":[\"i-1\",\"i-2\"]}"},
		{PROVIDER_QUOTES, "GET", API "instance-types", ""},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct provider_op op = op_of(rows[i].kind);
		struct provider_request rq = {0}, again = {0};
		int auth = 0;

		assert_int_equal(provider_lambda.build(self, &op, &rq, NULL), 0);
		op.at_ms = 1; /* I4: later */
		assert_int_equal(provider_lambda.build(self, &op, &again, NULL), 0);
		assert_string_equal(rq.method, rows[i].method);
		assert_string_equal(rq.url, rows[i].url);
		assert_string_equal(rq.body != NULL ? rq.body : "", rows[i].body);
		assert_string_equal(again.url, rq.url);
		assert_string_equal(again.body != NULL ? again.body : "", rows[i].body);
		for (int h = 0; rq.headers[h] != NULL; h++)
			auth += strcmp(rq.headers[h], "Authorization: Bearer " SECRET) == 0;
		assert_int_equal(auth, 1);
		provider_request_fini(&rq);
		provider_request_fini(&again);
	}
}

static void launch_is(const char *body)
{
	struct provider_op op = op_of(PROVIDER_CREATE);
	char *got = body_of(&op);

	assert_string_equal(got, body);
	free(got);
}

static void test_all_that_a_launch_may_have(void **state)
{
	static const char family[] = "lambda-stack-24-04", rules[] = "aa,bb",
			  fs[] = "home,data set";
	static const char hex[] = "ddaedf1b7a0e41ac981711504493b242";
	static const char uuid[] = "43336648-096d-4cba-9aa2-f9bb7727639d";
	const struct lambda_options by_family = {
		.ssh_key = key, .image = family, .firewall_rulesets = rules, .file_systems = fs};
	const struct lambda_options by_id = {.ssh_key = key, .image = hex};
	const struct lambda_options by_uuid = {.ssh_key = key, .image = uuid};

	(void)state;
	assert_int_equal(open_with(&by_family, "#cloud-config\n", NULL), 0);
	launch_is(LAUNCH "\"hostname\":\"h100-7\",\"image\":{\"family\":\"lambda-stack-24-04\"},"
			 "\"user_data\":\"#cloud-config\\n\","
			 "\"file_system_names\":[\"home\",\"data set\"],"
			 "\"firewall_rulesets\":[{\"id\":\"aa\"},{\"id\":\"bb\"}]," TAGS);
	provider_lambda.close(self);
	assert_int_equal(open_with(&by_id, NULL, NULL), 0);
	launch_is(LAUNCH "\"hostname\":\"h100-7\",\"image\":"
			 "{\"id\":\"ddaedf1b7a0e41ac981711504493b242\"}," TAGS);
	provider_lambda.close(self);
	assert_int_equal(open_with(&by_uuid, NULL, NULL), 0);
	launch_is(LAUNCH "\"hostname\":\"h100-7\",\"image\":"
			 "{\"id\":\"43336648-096d-4cba-9aa2-f9bb7727639d\"}," TAGS);
	provider_lambda.close(self);
}

/* core/roll.h */
static void test_the_image_of_a_create_is_before_that_of_the_configuration(void **state)
{
	static const char family[] = "lambda-stack-24-04";
	const struct lambda_options o = {.ssh_key = key, .image = family};
	struct provider_op op = op_of(PROVIDER_CREATE);
	struct provider_place at = *op.u.create.place;
	char *got;

	(void)state;
	assert_int_equal(open_with(&o, NULL, NULL), 0);
	at.image = "mine-2";
	op.u.create.place = &at;
	got = body_of(&op);
	assert_string_equal(got, LAUNCH "\"hostname\":\"h100-7\",\"image\":"
					"{\"family\":\"mine-2\"}," TAGS);
	free(got);
	provider_lambda.close(self);
}

static void test_the_text_of_a_create_is_before_that_of_the_configuration(void **state)
{
	const struct lambda_options o = {.ssh_key = key};
	struct provider_op op = op_of(PROVIDER_CREATE);
	char *body;

	(void)state;
	assert_int_equal(open_with(&o, "everybody's", NULL), 0);
	op.u.create.user_data = "#!/bin/sh\n: \"x\"\n";
	body = body_of(&op);
	assert_non_null(strstr(body, "\"user_data\":\"#!/bin/sh\\n: \\\"x\\\"\\n\","));
	assert_null(strstr(body, "everybody"));
	free(body);
	provider_lambda.close(self);
}

/* Slurm's names may have what a host name of Lambda's may not; it gives the machine one, then. */
static void test_a_node_that_is_no_host_name(void **state)
{
	static const char *const nodes[] = {"GPU-1", "gpu_1", "gpu.1"};

	(void)state;
	for (size_t i = 0; i < COUNT(nodes); i++) {
		const struct provider_want odd = {nodes[i], 1, 0};
		struct provider_op op = op_of(PROVIDER_CREATE);
		char *body, tag[80];

		op.u.create.wants = &odd;
		body = body_of(&op);
		assert_null(strstr(body, "hostname"));
		(void)snprintf(tag, sizeof(tag), "\"value\":\"%s\"", nodes[i]);
		assert_non_null(strstr(body, tag));
		free(body);
	}
}

static void test_requests_that_cannot_be(void **state)
{
	static const char *const many[LAMBDA_REMOVE_MAX + 1] = {"i"};
	static const struct provider_place spot = {
		.type = "t", .region = "r", .zone = "", .market = PROVIDER_SPOT};
	static const struct provider_place fabric = {
		.type = "t", .region = "r", .zone = "", .fabric = "f"};
	static const struct provider_want no_gen = {"n1", 0, 0};
	static const struct provider_want long_name = {
		"n123456789012345678901234567890123456789012345678901", 1, 0};
	struct provider_op ops[10];

	(void)state;
	for (size_t i = 0; i < 6; i++)
		ops[i] = op_of(PROVIDER_CREATE);
	ops[0].u.create.nwants = 2;
	ops[1].u.create.place = &spot;
	ops[2].u.create.place = &fabric;
	ops[3].u.create.wants = &no_gen;
	ops[4].u.create.wants = &long_name; /* nothing that we could not read again is bought */
	ops[5].u.create.user_data = "\xff";
	ops[6] = op_of(PROVIDER_NOTICES);
	ops[7] = op_of(PROVIDER_REPORT);
	ops[8] = ops[9] = op_of(PROVIDER_DELETE);
	ops[8].u.del.nids = 0;
	ops[9].u.del.ids = many;
	ops[9].u.del.nids = COUNT(many);
	for (size_t i = 0; i < COUNT(ops); i++) {
		struct provider_request rq = {0};
		struct err e = {0};

		assert_int_equal(provider_lambda.build(self, &ops[i], &rq, &e), -1);
		assert_int_equal(e.code, ERR_INVALID);
		assert_null(rq.url);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_it_is_registered),
		cmocka_unit_test(test_options_that_cannot_be),
		cmocka_unit_test(test_what_every_provider_must_have),
		cmocka_unit_test(test_user_data_that_is_too_long),
		T(test_documented_limits),
		T(test_requests),
		cmocka_unit_test(test_the_image_of_a_create_is_before_that_of_the_configuration),
		cmocka_unit_test(test_all_that_a_launch_may_have),
		cmocka_unit_test(test_the_text_of_a_create_is_before_that_of_the_configuration),
		T(test_a_node_that_is_no_host_name),
		T(test_requests_that_cannot_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
