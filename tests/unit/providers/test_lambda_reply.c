/* test_lambda_reply.c - the driver lambda: what it makes of Lambda's replies.  Bodies are in the
 * form of Lambda's API description 1.10.0, with its own examples where it has them. */
#include "lambda_lab.h"

#define ERROR(code, message) "{\"error\":{\"code\":\"" code "\",\"message\":\"" message "\"}}"
#define SUGGESTS(code, message, suggestion)                                                        \
	"{\"error\":{\"code\":\"" code "\",\"message\":\"" message                                 \
	"\",\"suggestion\":\"" suggestion "\"}}"
#define MADE      "{\"data\":{\"instance_ids\":[\"0920582c7ff041399e34823a0be62549\"]}}"
#define DATA(in)  "{\"data\":[" in "]}"
#define TAG(k, v) "{\"key\":\"" k "\",\"value\":\"" v "\"}"
#define TAGS(node, gen)                                                                            \
	"\"tags\":[" TAG("team", "ml") "," TAG("burstd-cluster", CLUSTER) "," TAG(                 \
		"burstd-node", node) "," TAG("burstd-generation", gen) "]"
/* All other members of the description's example of an instance. */
#define REST                                                                                       \
	",\"ssh_key_names\":[\"My SSH key\"],\"file_system_names\":[],\"region\":{\"name\":"       \
	"\"us-west-1\",\"description\":\"California, USA\"},\"instance_type\":{\"name\":"          \
	"\"gpu_8x_example\",\"description\":\"8x\",\"gpu_description\":\"x\","                     \
	"\"price_cents_per_hour\":1592,\"specs\":{\"vcpus\":124,\"memory_gib\":1800,"              \
	"\"storage_gib\":6144,\"gpus\":8}},\"hostname\":\"198.51.100.2\",\"jupyter_token\":"       \
	"\"03b7d30d9d3e4d8fa41657bc0d478c1b\",\"actions\":{\"terminate\":{\"available\":true}}"
#define OURS(id, status)                                                                           \
	"{\"id\":\"" id "\",\"name\":\"" PREFIX "-c-h100-7\",\"ip\":\"198.51.100.2\","             \
	"\"private_ip\":\"10.0.2.100\",\"status\":\"" status "\"," TAGS("h100-7", "12") REST "}"
#define TYPE_IN(name, cents, cpus, regions)                                                        \
	"\"" name "\":{\"instance_type\":{\"name\":\"" name "\",\"description\":\"\","             \
	"\"gpu_description\":\"\",\"price_cents_per_hour\":" cents ",\"specs\":{\"vcpus\":" cpus   \
	",\"memory_gib\":1800,\"storage_gib\":6144,\"gpus\":8}},"                                  \
	"\"regions_with_capacity_available\":" regions "}"
#define TYPE(name, cents, cpus) TYPE_IN(name, cents, cpus, "[]")
#define CLOUDFLARE              "error code: 1015"

static void test_replies(void **state)
{
	static const struct {
		enum provider_op_kind kind;
		long status;
		const char *body;
		enum provider_code code;
		const char *message; /* its beginning */
	} rows[] = {
		{PROVIDER_CREATE, 200, MADE, PROVIDER_OK, ""},
		/* Nothing happened. */
		{PROVIDER_CREATE, 400,
		 ERROR("instance-operations/launch/insufficient-capacity",
		       "Not enough capacity to fulfill launch request."),
		 PROVIDER_CAPACITY, "instance-operations/launch/insufficient-capacity: Not enough"},
		{PROVIDER_CREATE, 400,
		 SUGGESTS("global/quota-exceeded", "Quota exceeded.",
			  "Contact Support to increase your quota."),
		 PROVIDER_QUOTA, "global/quota-exceeded: Quota exceeded."},
		{PROVIDER_CREATE, 403,
		 SUGGESTS("global/account-inactive", "Your account is inactive.", "Pay."),
		 PROVIDER_DENIED, "global/account-inactive: Your account is inactive."},
		{PROVIDER_CREATE, 403,
		 SUGGESTS("global/invalid-address", "Your billing address is invalid.", "Move."),
		 PROVIDER_DENIED, "global/invalid-address"},
		{PROVIDER_CREATE, 401,
		 SUGGESTS("global/invalid-api-key", "API key was invalid, expired, or deleted.",
			  ""),
		 PROVIDER_DENIED, "global/invalid-api-key"},
		{PROVIDER_CREATE, 401, ERROR("global/invalid-api-key", "no " SECRET),
		 PROVIDER_DENIED, "global/invalid-api-key: no ***"},
		{PROVIDER_CREATE, 400, ERROR("global/invalid-parameters", "Invalid request data."),
		 PROVIDER_INVALID, "global/invalid-parameters"},
		{PROVIDER_CREATE, 400,
		 ERROR("instance-operations/launch/file-system-in-wrong-region", ""),
		 PROVIDER_INVALID, "instance-operations/launch/file-system-in-wrong-region"},
		{PROVIDER_CREATE, 404, ERROR("global/object-does-not-exist", "Instance type"),
		 PROVIDER_INVALID, "global/object-does-not-exist: Instance type"},
		{PROVIDER_CREATE, 400, ERROR("global/object-does-not-exist", "SSH key"),
		 PROVIDER_INVALID, "global/object-does-not-exist: SSH key"},
		{PROVIDER_CREATE, 404, ERROR("global/not-found", ""), PROVIDER_INVALID, "global"},
		{PROVIDER_CREATE, 409, ERROR("global/conflict", ""), PROVIDER_CONFLICT, "global"},
		{PROVIDER_CREATE, 429, CLOUDFLARE, PROVIDER_RATE, "HTTP status 429"},
		/* It may have happened. */
		{PROVIDER_CREATE, 500, ERROR("global/internal-error", "An internal"),
		 PROVIDER_AMBIGUOUS, "global/internal-error"},
		{PROVIDER_CREATE, 400, ERROR("global/internal-error", ""), PROVIDER_AMBIGUOUS, ""},
		{PROVIDER_CREATE, 400, ERROR("provider/internal-unavailable", "Provider"),
		 PROVIDER_AMBIGUOUS, "provider/internal-unavailable: Provider"},
		{PROVIDER_CREATE, 403, ERROR("provider/exhausted", ""), PROVIDER_AMBIGUOUS, ""},
		{PROVIDER_CREATE, 502, "<html>bad gateway</html>", PROVIDER_AMBIGUOUS, "HTTP"},
		{PROVIDER_CREATE, 503, "", PROVIDER_AMBIGUOUS, "HTTP status 503"},
		{PROVIDER_CREATE, 524, CLOUDFLARE, PROVIDER_AMBIGUOUS, "HTTP status 524"},
		{PROVIDER_CREATE, 200, "", PROVIDER_AMBIGUOUS, "malformed reply: empty"},
		{PROVIDER_CREATE, 200, "<html>", PROVIDER_AMBIGUOUS, "malformed reply: no JSON"},
		{PROVIDER_CREATE, 200, "{\"data\":{\"instance_ids\":[]}}", PROVIDER_AMBIGUOUS,
		 "malformed reply: data.instance_ids[0]: want an id"},
		{PROVIDER_CREATE, 200, "{\"data\":{\"instance_ids\":[\"a\",\"b\"]}}",
		 PROVIDER_AMBIGUOUS,
		 "malformed reply: data.instance_ids: want a list of at most 1"},
		{PROVIDER_CREATE, 200, "{\"data\":{\"instance_ids\":\"a\"}}", PROVIDER_AMBIGUOUS,
		 "malformed reply: data.instance_ids: want"},
		{PROVIDER_CREATE, 200, "{\"data\":{\"instance_ids\":[\"a b\"]}}",
		 PROVIDER_AMBIGUOUS, "malformed reply: data.instance_ids[0]: want an id"},
		{PROVIDER_CREATE, 200, "{\"data\":null}", PROVIDER_AMBIGUOUS, "malformed"},
		/* Lists: the truth, or nothing. */
		{PROVIDER_LIST, 200, DATA(""), PROVIDER_OK, ""}, /* accepted, and not yet listed */
		{PROVIDER_LIST, 200, DATA(OURS("i-1", "active")), PROVIDER_OK, ""},
		{PROVIDER_LIST, 200, "{}", PROVIDER_TRANSIENT,
		 "malformed reply: data: want a list of at most 20000"},
		{PROVIDER_LIST, 200, "{\"data\":null}", PROVIDER_TRANSIENT,
		 "malformed reply: data"},
		{PROVIDER_LIST, 200, "", PROVIDER_TRANSIENT, "malformed reply: empty"},
		{PROVIDER_LIST, 200, "<html>", PROVIDER_TRANSIENT, "malformed reply: no JSON"},
		{PROVIDER_LIST, 200, DATA(OURS("i-1", "active")) "x", PROVIDER_TRANSIENT,
		 "malformed"},
		{PROVIDER_LIST, 200, "{\"data\":[],\"page_token\":\"c1\"}", PROVIDER_TRANSIENT,
		 "malformed reply: page_token: want all instances at once"},
		{PROVIDER_LIST, 200, "{\"data\":[],\"page_token\":null}", PROVIDER_OK, ""},
		{PROVIDER_LIST, 200, DATA(OURS("i-1", "active") "," OURS("", "active")),
		 PROVIDER_TRANSIENT, "malformed reply: data[1].id: want an id"},
		{PROVIDER_LIST, 200,
		 DATA("{\"id\":null," TAGS("h100-7", "12") "}," OURS("i-1", "active") ",7"),
		 PROVIDER_TRANSIENT, "malformed reply: data[0].id: want an id"},
		{PROVIDER_LIST, 200, DATA("{\"id\":null," TAGS("h100-7", "12") "}"),
		 PROVIDER_TRANSIENT, "malformed reply: data[0].id: want an id"},
		{PROVIDER_LIST, 200, DATA("{\"id\":\"i\",\"ip\":7," TAGS("h100-7", "12") "}"),
		 PROVIDER_TRANSIENT, "malformed reply: data[0].ip: want a string"},
		{PROVIDER_LIST, 401, ERROR("global/invalid-api-key", ""), PROVIDER_DENIED,
		 "global"},
		{PROVIDER_LIST, 403, ERROR("global/forbidden", "no"), PROVIDER_DENIED, "global"},
		{PROVIDER_LIST, 400, ERROR("provider/internal-unavailable", ""), PROVIDER_TRANSIENT,
		 "provider"},
		{PROVIDER_LIST, 429, CLOUDFLARE, PROVIDER_RATE, "HTTP status 429"},
		{PROVIDER_LIST, 500, ERROR("global/internal-error", ""), PROVIDER_TRANSIENT, ""},
		/* Prices. */
		{PROVIDER_QUOTES, 200, "{\"data\":{}}", PROVIDER_OK, ""},
		{PROVIDER_QUOTES, 200, "{\"data\":[]}", PROVIDER_TRANSIENT,
		 "malformed reply: data: want an object of at most 1000"},
		{PROVIDER_QUOTES, 200,
		 "{\"data\":{" TYPE("a", "1", "2") "," TYPE("b", "-1", "2") "}}",
		 PROVIDER_TRANSIENT,
		 "malformed reply: data[1].instance_type.price_cents_per_hour: want a price"},
		{PROVIDER_QUOTES, 200, "{\"data\":{" TYPE("a", "1", "null") "}}",
		 PROVIDER_TRANSIENT,
		 "malformed reply: data[0].instance_type.specs.vcpus: want a whole number"},
		{PROVIDER_QUOTES, 200, "{\"data\":{" TYPE_IN("a", "1", "2", "[{}]") "}}",
		 PROVIDER_TRANSIENT,
		 "malformed reply: data[0].regions_with_capacity_available[0].name: want a string"},
		{PROVIDER_QUOTES, 200, "{\"data\":{" TYPE_IN("a", "1", "2", "null") "}}",
		 PROVIDER_TRANSIENT,
		 "malformed reply: data[0].regions_with_capacity_available: want a list of"},
		{PROVIDER_QUOTES, 403, ERROR("global/account-inactive", ""), PROVIDER_DENIED, ""},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct provider_result r = parse(rows[i].kind, rows[i].status, rows[i].body);

		if (r.code != rows[i].code ||
		    strncmp(r.message, rows[i].message, strlen(rows[i].message)) != 0)
			fail_msg("row %zu: %s: %s", i, provider_code_str(r.code), r.message);
		provider_result_fini(&r);
	}
}

static void test_a_launch_is_answered_by_an_id_alone(void **state)
{
	struct provider_result r = parse(PROVIDER_CREATE, 200, MADE);
	const struct provider_instance *i = &r.items[0].instance;

	(void)state;
	assert_int_equal(r.nitems, 1);
	assert_int_equal(r.items[0].code, PROVIDER_OK);
	assert_string_equal(i->id, "0920582c7ff041399e34823a0be62549");
	assert_string_equal(i->cluster, CLUSTER);
	assert_string_equal(i->node, "h100-7");
	assert_int_equal(i->gen, 12);
	assert_int_equal(i->state, PROVIDER_PENDING);
	assert_string_equal(i->addr, "");
	provider_result_fini(&r);
}

/* The limit is that of the network before the API, whose Retry-After is a header. */
static void test_a_throttle_says_when_it_ends(void **state)
{
	struct provider_op op = op_of(PROVIDER_CREATE);
	struct provider_result r = {0};
	struct header v[2];
	struct provider_reply reply = {.status = 429,
				       .body = CLOUDFLARE,
				       .len = 16,
				       .headers = two_headers(v, "12", NULL)};

	(void)state;
	provider_lambda.parse(self, &op, &reply, &r);
	assert_int_equal(r.code, PROVIDER_RATE);
	assert_int_equal(r.retry_after_ms, 12000);
	provider_result_fini(&r);
}

static void test_states(void **state)
{
	static const struct {
		const char *word;
		enum provider_state state;
		bool taken;
	} rows[] = {
		{"booting", PROVIDER_PENDING, false},
		{"active", PROVIDER_RUNNING, false},
		/* It is there and bills, and may run a job. */
		{"unhealthy", PROVIDER_RUNNING, false},
		{"terminating", PROVIDER_STOPPING, false},
		{"terminated", PROVIDER_ENDED, false},
		/* Nothing says that its bill has ended. */
		{"preempted", PROVIDER_STOPPING, true},
		{"on fire", PROVIDER_UNKNOWN, false},
		{"", PROVIDER_UNKNOWN, false},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char body[400];
		struct provider_result r;

		(void)snprintf(body, sizeof(body),
			       DATA("{\"id\":\"i-1\",\"status\":\"%s\"," TAGS("n1", "1") "}"),
			       rows[i].word);
		r = parse(PROVIDER_LIST, 200, body);
		assert_int_equal(r.ninstances, 1);
		assert_int_equal(r.instances[0].state, rows[i].state);
		assert_true(r.instances[0].taken == rows[i].taken);
		provider_result_fini(&r);
	}
	{
		struct provider_result r =
			parse(PROVIDER_LIST, 200, DATA("{\"id\":\"i-1\"," TAGS("n1", "1") "}"));

		assert_int_equal(r.instances[0].state, PROVIDER_UNKNOWN);
		provider_result_fini(&r);
	}
}

static void test_an_instance_as_lambda_shows_it(void **state)
{
	struct provider_result r = parse(PROVIDER_LIST, 200, DATA(OURS("i-1", "active")));
	const struct provider_instance *i = &r.instances[0];

	(void)state;
	assert_int_equal(r.ninstances, 1);
	assert_string_equal(i->id, "i-1");
	assert_string_equal(i->cluster, CLUSTER);
	assert_string_equal(i->node, "h100-7");
	assert_int_equal(i->gen, 12);
	assert_int_equal(i->state, PROVIDER_RUNNING);
	assert_string_equal(i->addr, "198.51.100.2");
	assert_string_equal(r.cursor, "");
	provider_result_fini(&r);
}

static void test_the_address_is_the_one_that_is_wanted(void **state)
{
	static const char lan[] = "private", wan[] = "public";
	const struct lambda_options near = {.ssh_key = key, .address = lan};
	const struct lambda_options far = {.ssh_key = key, .address = wan};
	struct provider_result r;

	(void)state;
	assert_int_equal(open_with(&near, NULL, NULL), 0);
	r = parse(PROVIDER_LIST, 200, DATA(OURS("i-1", "active")));
	assert_string_equal(r.instances[0].addr, "10.0.2.100");
	provider_result_fini(&r);
	provider_lambda.close(self);
	assert_int_equal(open_with(&far, NULL, NULL), 0);
	r = parse(PROVIDER_LIST, 200, DATA(OURS("i-1", "active")));
	assert_string_equal(r.instances[0].addr, "198.51.100.2");
	provider_result_fini(&r);
	provider_lambda.close(self);
}

/* Whose instance is it, and which node's?  "-": not ours; "?": ours, but who? */
static void test_who_an_instance_is(void **state)
{
	static const struct {
		const char *members, *node;
		uint64_t gen;
	} rows[] = {
		{TAGS("h100-7", "12"), "h100-7", 12},
		/* Somebody has given it another name: the tags tell. */
		{"\"name\":\"my node\"," TAGS("h100-7", "12"), "h100-7", 12},
		{"\"name\":\"" PREFIX "-1-other\"," TAGS("h100-7", "12"), "h100-7", 12},
		/* Somebody has changed or removed the tags: the name tells. */
		{"\"name\":\"" PREFIX "-c-h100-7\"", "h100-7", 12},
		{"\"name\":\"" PREFIX "-c-h100-7\",\"tags\":[]", "h100-7", 12},
		{"\"name\":\"" PREFIX "-c-h100-7\",\"tags\":null", "h100-7", 12},
		{"\"name\":\"" PREFIX "-c-h100-7\",\"tags\":{}", "h100-7", 12},
		{"\"name\":\"" PREFIX "-c-h100-7\",\"tags\":[7,{\"key\":{}},{\"value\":1}]",
		 "h100-7", 12},
		{"\"name\":\"" PREFIX "-c-h100-7\"," TAGS("h100-7", "0"), "h100-7", 12},
		{"\"name\":\"" PREFIX "-c-h100-7\"," TAGS("h100-7", "007"), "h100-7", 12},
		{"\"name\":\"" PREFIX "-c-h100-7\"," TAGS("no name", "12"), "h100-7", 12},
		{"\"name\":\"" PREFIX "-c-GPU_1.a\"", "GPU_1.a", 12},
		/* One that is ours is never lost, whatever its tags are. */
		{"\"name\":\"x\"," TAGS("h100-7", "-3"), "?", 0},
		{"\"name\":\"x\"," TAGS("h100-7", "9223372036854775808"), "?", 0},
		{"\"name\":\"x\"," TAGS("h100-7", "12x"), "?", 0},
		{"\"name\":\"x\"," TAGS("", "12"), "?", 0},
		{"\"tags\":[" TAG("burstd-cluster", CLUSTER) "]", "?", 0},
		{"\"name\":\"" PREFIX "-oops\"", "?", 0},
		/* Others' may be as odd as they like. */
		{"\"name\":\"db\"", "-", 0},
		{"\"name\":7,\"tags\":7,\"ip\":7,\"status\":{}", "-", 0},
		{"\"tags\":[" TAG("burstd-cluster", "other") "]", "-", 0},
		/* Another cluster, whose uuid begins as ours does. */
		{"\"name\":\"" PREFIX "-c-h100-7\",\"tags\":[" TAG(
			 "burstd-cluster", "0b1c2d3e-4f50-4000-8000-000000000002") "]",
		 "-", 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char body[600];
		struct provider_result r;
		bool ours = strcmp(rows[i].node, "-") != 0;
		const char *node = strcmp(rows[i].node, "?") == 0 ? "" : rows[i].node;

		(void)snprintf(body, sizeof(body), DATA("{\"id\":\"i-1\",%s}"), rows[i].members);
		r = parse(PROVIDER_LIST, 200, body);
		if (r.code != PROVIDER_OK || r.ninstances != ours)
			fail_msg("row %zu: %s %zu", i, r.message, r.ninstances);
		if (ours &&
		    (strcmp(r.instances[0].node, node) != 0 || r.instances[0].gen != rows[i].gen ||
		     strcmp(r.instances[0].cluster, CLUSTER) != 0))
			fail_msg("row %zu: %s %llu", i, r.instances[0].node,
				 (unsigned long long)r.instances[0].gen);
		provider_result_fini(&r);
	}
}

static void test_odd_instances_of_others_spoil_no_list(void **state)
{
	struct provider_result r = parse(
		PROVIDER_LIST, 200,
		DATA("{\"id\":{},\"tags\":\"?\"},7,null,[]," OURS(
			"i-1", "active") ",{\"name\":7,\"tags\":[[]]}," OURS("i-2", "booting")));

	(void)state;
	assert_int_equal(r.code, PROVIDER_OK);
	assert_int_equal(r.ninstances, 2);
	assert_string_equal(r.instances[1].id, "i-2");
	provider_result_fini(&r);
}

/* I12: a list that is cut is no list, wherever it is cut. */
static void test_a_list_that_is_cut_short(void **state)
{
	static const char body[] = DATA(OURS("i-1", "active") "," OURS("i-2", "booting"));
	char text[sizeof(body)];

	(void)state;
	for (size_t n = 0; n < sizeof(body) - 1; n++) {
		struct provider_result r;

		memcpy(text, body, n);
		text[n] = '\0';
		r = parse(PROVIDER_LIST, 200, text);
		assert_int_equal(r.code, PROVIDER_TRANSIENT);
		assert_int_equal(r.ninstances, 0);
		provider_result_fini(&r);
	}
}

static void test_ten_mebibytes_and_a_thousand_brackets(void **state)
{
	enum { BIG = 10 << 20, DEEP = 1000 };
	char *text = mem_zalloc(BIG + 64);
	struct provider_result r;

	(void)state;
	memset(text, ' ', BIG);
	memcpy(text + BIG, DATA(""), sizeof(DATA("")));
	r = parse(PROVIDER_LIST, 200, text);
	assert_int_equal(r.code, PROVIDER_OK);
	provider_result_fini(&r);
	memset(text, 'x', BIG);
	r = parse(PROVIDER_CREATE, 200, text);
	assert_int_equal(r.code, PROVIDER_AMBIGUOUS);
	provider_result_fini(&r);
	r = parse(PROVIDER_CREATE, 500, text);
	assert_int_equal(r.code, PROVIDER_AMBIGUOUS);
	provider_result_fini(&r);
	memset(text, '[', DEEP);
	text[DEEP] = '\0';
	r = parse(PROVIDER_LIST, 200, text);
	assert_int_equal(r.code, PROVIDER_TRANSIENT);
	provider_result_fini(&r);
	free(text);
}

static void test_prices(void **state)
{
	struct provider_result r = parse(PROVIDER_QUOTES, 200,
					 "{\"data\":{" TYPE("gpu_8x_h100", "3592", "208") "," TYPE(
						 "gpu_1x_a10", "129", "30") "}}");

	(void)state;
	assert_int_equal(r.nquotes, 2);
	assert_string_equal(r.quotes[0].type, "gpu_8x_h100");
	assert_string_equal(r.quotes[0].region, ""); /* of all */
	assert_string_equal(r.quotes[0].zone, "");
	assert_int_equal(r.quotes[0].market, PROVIDER_ON_DEMAND);
	assert_int_equal(r.quotes[0].price_nano_h, 35920000000);
	assert_string_equal(r.quotes[0].currency, "USD");
	assert_int_equal(r.quotes[0].cpus, 208);
	assert_int_equal(r.quotes[0].gpus, 8);
	assert_int_equal(r.quotes[0].memory_mb, 1800 * 1024);
	assert_int_equal(r.quotes[1].price_nano_h, 1290000000);
	provider_result_fini(&r);
}

/* The price is that of all regions; where there are some free, a quote of the region says so. */
static void test_where_some_are_free(void **state)
{
	struct provider_result r =
		parse(PROVIDER_QUOTES, 200,
		      "{\"data\":{" TYPE_IN(
			      "gpu_1x_a10", "129", "30",
			      "[{\"name\":\"us-west-1\",\"description\":\"California, USA\"},"
			      "{\"name\":\"us-east-1\",\"description\":\"\"}]") "}}");

	(void)state;
	assert_int_equal(r.nquotes, 3);
	for (size_t i = 0; i < r.nquotes; i++) {
		assert_string_equal(r.quotes[i].type, "gpu_1x_a10");
		assert_int_equal(r.quotes[i].price_nano_h, 1290000000);
		assert_int_equal(r.quotes[i].terms.stock,
				 i == 0 ? PROVIDER_STOCK_NONE : PROVIDER_STOCK_SOME);
	}
	assert_string_equal(r.quotes[0].region, "");
	assert_string_equal(r.quotes[1].region, "us-west-1");
	assert_string_equal(r.quotes[2].region, "us-east-1");
	provider_result_fini(&r);
}

/* A type that no pool buys may be as odd as it likes. */
static void test_prices_of_what_pools_buy(void **state)
{
	static const char *const types[] = {"gpu_1x_a10"};
	struct provider_op op = op_of(PROVIDER_QUOTES);
	struct provider_result r;

	(void)state;
	op.u.quotes.types = types;
	op.u.quotes.ntypes = 1;
	r = parse_op(&op, 200,
		     "{\"data\":{" TYPE("gpu_8x_h100", "\"?\"",
					"{}") ",\"x\":7," TYPE("gpu_1x_a10", "129", "30") "}}");
	assert_int_equal(r.code, PROVIDER_OK);
	assert_int_equal(r.nquotes, 1);
	assert_string_equal(r.quotes[0].type, "gpu_1x_a10");
	provider_result_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_replies),
		T(test_a_launch_is_answered_by_an_id_alone),
		T(test_a_throttle_says_when_it_ends),
		T(test_states),
		T(test_an_instance_as_lambda_shows_it),
		cmocka_unit_test(test_the_address_is_the_one_that_is_wanted),
		T(test_who_an_instance_is),
		T(test_odd_instances_of_others_spoil_no_list),
		T(test_a_list_that_is_cut_short),
		T(test_ten_mebibytes_and_a_thousand_brackets),
		T(test_prices),
		T(test_where_some_are_free),
		T(test_prices_of_what_pools_buy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
