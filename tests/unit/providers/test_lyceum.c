/* test_lyceum.c - the driver lyceum: its options, and what it sends. */
#include "lyceum_lab.h"

#include "core/conf.h"
#include "providers/registry.h"

static void test_it_is_registered(void **state)
{
	(void)state;
	assert_ptr_equal(provider_find("lyceum"), &provider_lyceum);
	assert_ptr_equal(provider_lyceum.options, &lyceum_options);
	assert_int_equal(lyceum_options.attest, CONF_ATTEST_OFF); /* there is no user-data */
}

static void test_options_that_cannot_be(void **state)
{
	static const struct {
		const char *key, *user_data, *says;
	} rows[] = {
		{NULL, NULL, "want ssh_public_key"},
		{"", NULL, "want ssh_public_key"},
		{"lab", NULL, "want ssh_public_key"}, /* the name of a key, as Lambda wants it */
		{"/root/.ssh/id_ed25519.pub", NULL, "want ssh_public_key"},
		{"ssh-ed25519", NULL, "want ssh_public_key"},
		{BLOB, NULL, "want ssh_public_key"},
		{"x509-ed25519 AAAADHg1MDktZWQyNTUxOQ==", NULL, "want ssh_public_key"},
		{"ssh-rsa " BLOB, NULL, "want ssh_public_key"}, /* of another kind */
		{"ssh-ed2551 " BLOB, NULL, "want ssh_public_key"},
		{"ssh-ed25519 AAAAQ3NzaC1lZDI1NTE5", NULL, "want ssh_public_key"}, /* cut */
		{"ssh-ed25519 AAAAC3NzaC1lZDI1NT", NULL, "want ssh_public_key"},
		{"ssh-ed25519 AAAA", NULL, "want ssh_public_key"},
		{"ssh-ed25519 AQAAC3NzaC1lZDI1NTE5", NULL, "want ssh_public_key"},
		{"-----BEGIN OPENSSH PRIVATE KEY----- b3BlbnNzaC1r", NULL, "want ssh_public_key"},
		{KEY "\n" BLOB, NULL, "want ssh_public_key"},
		{KEY, "#cloud-config\n", "user_data_file: Lyceum's VMs get no user-data"},
	};
	struct provider_conf bare = {.name = "here", .credential = SECRET};
	struct err e = {0};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(open_with(rows[i].key, rows[i].user_data, &e), -1);
		assert_null(self);
		assert_non_null(strstr(e.msg, rows[i].says));
		assert_null(strstr(e.msg, "b3BlbnNzaC1r"));
	}
	assert_int_equal(provider_lyceum.open(&self, &bare, &e), -1);
}

static void test_keys_of_each_kind(void **state)
{
	static const char *const keys[] = {
		KEY, KEY " me@here, at home", "ssh-rsa AAAAB3NzaC1yc2FhYmM=",
		"ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTZhYmM=",
		"sk-ssh-ed25519@openssh.com AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29t"};
	char *longest = mem_zalloc(5401);

	(void)state;
	for (size_t i = 0; i < COUNT(keys); i++) {
		assert_int_equal(open_with(keys[i], "", NULL), 0);
		provider_lyceum.close(self);
	}
	memset(longest, 'A', 5400);
	memcpy(longest, KEY, strlen(KEY));
	assert_int_equal(open_with(longest, NULL, NULL), -1);
	longest[5200 + strlen("ssh-ed25519 ")] = '\0';
	assert_int_equal(open_with(longest, NULL, NULL), 0);
	provider_lyceum.close(self);
	free(longest);
}

static void test_what_every_provider_must_have(void **state)
{
	const struct lyceum_options o = {.ssh_public_key = KEY};
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

		assert_int_equal(provider_lyceum.open(&self, &conf, &e), -1);
		assert_null(strstr(e.msg, SECRET));
	}
}

/* No tokens: a repeated create is another VM.  No limit is known, so none is kept to. */
static void test_what_lyceum_can_do(void **state)
{
	struct provider_caps caps = provider_lyceum.caps(self);

	(void)state;
	assert_int_equal(caps.flags, PROVIDER_TAGS);
	assert_int_equal(caps.create_max, 1);
	assert_int_equal(caps.delete_max, 1);
	assert_null(caps.limits);
}

/* The bytes of each request, twice. */
static void sends(const struct provider_op *op, const char *method, const char *url,
		  const char *body)
{
	struct provider_op later = *op;
	struct provider_request rq = {0}, again = {0};
	int auth = 0;

	later.at_ms = 1; /* I4 */
	assert_int_equal(provider_lyceum.build(self, op, &rq, NULL), 0);
	assert_int_equal(provider_lyceum.build(self, &later, &again, NULL), 0);
	assert_string_equal(rq.method, method);
	assert_string_equal(rq.url, url);
	assert_string_equal(rq.body != NULL ? rq.body : "", body);
	assert_string_equal(again.url, rq.url);
	assert_string_equal(again.body != NULL ? again.body : "", body);
	for (int h = 0; rq.headers[h] != NULL; h++)
		auth += strcmp(rq.headers[h], "Authorization: Bearer " SECRET) == 0;
	assert_int_equal(auth, 1);
	provider_request_fini(&rq);
	provider_request_fini(&again);
}

#define CREATE(profile, gpus, market)                                                              \
	"{\"user_public_key\":\"" KEY "\",\"hardware_profile\":\"" profile                         \
	"\",\"instance_specs\":{\"gpu_count\":" gpus "},\"instance_type\":\"" market               \
	"\",\"display_name\":\"" NAME "\"}"

static void test_requests(void **state)
{
	static const char *const odd[] = {"../pricing?x=1"};
	struct provider_op op = op_of(PROVIDER_LIST);

	(void)state;
	sends(&op, "GET", API "vms/list?include_terminated=false", "");
	op.cursor = "all";
	sends(&op, "GET", API "vms/list", "");
	op = op_of(PROVIDER_DELETE);
	sends(&op, "DELETE", API "vms/i-1", "");
	op.u.del.ids = odd;
	sends(&op, "DELETE", API "vms/..%2Fpricing%3Fx%3D1", "");
	op = op_of(PROVIDER_QUOTES);
	sends(&op, "GET", API "pricing", "");
}

static void test_creates(void **state)
{
	static const struct {
		const char *type;
		enum provider_market market;
		const char *body;
	} rows[] = {
		{"h100.8x", PROVIDER_ON_DEMAND, CREATE("h100", "8", "on-demand")},
		{"h100.8x", PROVIDER_SPOT, CREATE("h100", "8", "spot")},
		{"l40s.1x", PROVIDER_ON_DEMAND, CREATE("l40s", "1", "on-demand")},
		{"a_new-one.16x", PROVIDER_SPOT, CREATE("a_new-one", "16", "spot")},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct provider_place there = {
			.type = rows[i].type, .region = "", .zone = "", .market = rows[i].market};
		struct provider_op op = op_of(PROVIDER_CREATE);

		op.u.create.place = &there;
		sends(&op, "POST", API "vms/create", rows[i].body);
	}
}

/* Who asks Lyceum for no GPU, or says the number in another place, gets one GPU and a bill. */
static void test_types_that_are_none(void **state)
{
	static const char *const types[] = {"",
					    "h100",
					    "h100.",
					    "h100.x",
					    "h100.0x",
					    "h100.08x",
					    "h100.8",
					    "h100.8xx",
					    ".8x",
					    "gpu_8x_h100",
					    "h100.1e1x",
					    "h100.-8x",
					    "H100.8x",
					    "spot.h100.8x",
					    "h100.1000x",
					    "h100 .8x",
					    "a23456789012345678901234567890123.8x"};

	(void)state;
	for (size_t i = 0; i < COUNT(types); i++) {
		const struct provider_place there = {.type = types[i], .region = "", .zone = ""};
		struct provider_op op = op_of(PROVIDER_CREATE);
		struct provider_request rq = {0};
		struct err e = {0};

		op.u.create.place = &there;
		if (provider_lyceum.build(self, &op, &rq, &e) != -1)
			fail_msg("%s: %s", types[i], rq.body);
		assert_non_null(strstr(e.msg, "such as h100.8x"));
	}
}

static void test_requests_that_cannot_be(void **state)
{
	static const struct provider_place reserved = {
		.type = "h100.8x", .region = "", .zone = "", .market = PROVIDER_RESERVED};
	static const struct provider_place fabric = {
		.type = "h100.8x", .region = "", .zone = "", .fabric = "f"};
	static const struct provider_want no_gen = {"n1", 0, 0}, capitals = {"GPU1", 1, 0};
	static const struct provider_want long_name = {
		"n123456789012345678901234567890123456789012345678901", 1, 0};
	struct provider_op ops[11];

	(void)state;
	for (size_t i = 0; i < 7; i++)
		ops[i] = op_of(PROVIDER_CREATE);
	ops[0].u.create.nwants = 2;
	ops[1].u.create.place = &reserved;
	ops[2].u.create.place = &fabric;
	/* Nothing that we could not read again is bought. */
	ops[3].u.create.wants = &no_gen;
	ops[4].u.create.wants = &capitals;
	ops[5].u.create.wants = &long_name;
	ops[6].u.create.user_data = "#!/bin/sh\n";
	ops[7] = op_of(PROVIDER_NOTICES);
	ops[8] = op_of(PROVIDER_LOGIN);
	ops[9] = ops[10] = op_of(PROVIDER_DELETE);
	ops[9].u.del.nids = 0;
	ops[10].u.del.nids = 2;
	for (size_t i = 0; i < COUNT(ops); i++) {
		struct provider_request rq = {0};
		struct err e = {0};

		assert_int_equal(provider_lyceum.build(self, &ops[i], &rq, &e), -1);
		assert_int_equal(e.code, ERR_INVALID);
		assert_null(rq.url);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_it_is_registered),
		cmocka_unit_test(test_options_that_cannot_be),
		cmocka_unit_test(test_keys_of_each_kind),
		cmocka_unit_test(test_what_every_provider_must_have),
		T(test_what_lyceum_can_do),
		T(test_requests),
		T(test_creates),
		T(test_types_that_are_none),
		T(test_requests_that_cannot_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
