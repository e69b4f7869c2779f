/* test_lyceum_reply.c - the driver lyceum: what it makes of Lyceum's replies.  Bodies are those
 * recorded by skypilot-lyceum (see lyceum.c), with our names, or are marked as invented. */
#include "lyceum_lab.h"

#include <jansson.h>

#define FIXTURES "../shared/specs/lyceum_fixtures/"

#define DETAIL(text) "{\"detail\":\"" text "\"}"
#define FULL                                                                                       \
	DETAIL("The instance could not be provisioned right now. Please try again in a moment.")
#define INVALID                                                                                    \
	DETAIL("The instance request was invalid. Please check your parameters and try again.")
#define WRONG(loc, msg)                                                                            \
	"{\"detail\":[{\"type\":\"missing\",\"loc\":[" loc "],\"msg\":\"" msg "\"},"               \
	"{\"type\":\"x\",\"loc\":[\"body\",\"y\"],\"msg\":\"second\"}]}"
#define MADE_ID "9918b72c1dce41a6875abaf5d5ab64e9"
#define MADE(name)                                                                                 \
	"{\"vm_id\":\"" MADE_ID "\",\"status\":\"pending\","                                       \
	"\"ip_address\":null,\"created_at\":\"2026-07-31T12:14:40.153832\","                       \
	"\"instance_specs\":{\"gpu_type\":\"h100\",\"gpu_count\":8},\"hardware_profile\":null,"    \
	"\"gpu_count\":null,\"instance_type\":\"on-demand\","                                      \
	"\"name\":\"hyd-production-vm-d9m93a707u65dhihp6i0\",\"display_name\":" name ","           \
	"\"billed\":null,\"croesus_billed\":null}"
#define GONE                                                                                       \
	"{\"vm_id\":\"i-1\",\"status\":\"terminated\",\"message\":\"VM i-1 has been terminated\"}"
#define PRICES(rows) "{\"prices\":[" rows "]}"
#define PRICE_IN(member, what, unit, price)                                                        \
	"{\"meter_slug\":\"vm_running\",\"resource\":\"vm\",\"" member                             \
	"\":{\"hardware_profile\":\"" what "\"},\"unit\":\"" unit "\",\"unit_price\":" price       \
	",\"unit_price_per_hour\":\"9\"}"
#define PRICE(what, price) PRICE_IN("applies_to", what, "second", price)

static void test_replies(void **state)
{
	static const struct {
		enum provider_op_kind kind;
		long status;
		const char *body;
		enum provider_code code;
		const char *message; /* its beginning */
	} rows[] = {
		{PROVIDER_CREATE, 200, MADE("\"" NAME "\""), PROVIDER_OK, ""},
		{PROVIDER_CREATE, 201, MADE("\"" NAME "\""), PROVIDER_OK, ""},
		/* Nothing happened. */
		{PROVIDER_CREATE, 500, FULL, PROVIDER_CAPACITY, "The instance could not be"},
		{PROVIDER_CREATE, 400, INVALID, PROVIDER_INVALID, "The instance request was"},
		{PROVIDER_CREATE, 400, DETAIL("Unknown hardware_profile 'x'. Valid options: a100"),
		 PROVIDER_INVALID, "Unknown hardware_profile 'x'. Valid options: a100"},
		{PROVIDER_CREATE, 401, DETAIL("Could not validate credentials"), PROVIDER_DENIED,
		 "Could not"},
		{PROVIDER_CREATE, 401, DETAIL("no " SECRET), PROVIDER_DENIED, "no ***"},
		{PROVIDER_CREATE, 402, DETAIL("Insufficient credits"), PROVIDER_DENIED,
		 "Insufficient credits"},
		{PROVIDER_CREATE, 403, DETAIL("Not a member"), PROVIDER_DENIED, "Not a member"},
		{PROVIDER_CREATE, 404, DETAIL("Not Found"), PROVIDER_INVALID, "Not Found"},
		{PROVIDER_CREATE, 422, WRONG("\"body\",\"user_public_key\"", "Field required"),
		 PROVIDER_INVALID, "user_public_key: Field required"},
		{PROVIDER_CREATE, 422, WRONG("\"body\",\"instance_specs\",\"gpu_count\"", "No int"),
		 PROVIDER_INVALID, "instance_specs.gpu_count: No int"},
		{PROVIDER_CREATE, 422, WRONG("\"body\"", "no " SECRET), PROVIDER_INVALID, "no ***"},
		{PROVIDER_CREATE, 422, "{\"detail\":[{\"msg\":7}]}", PROVIDER_INVALID,
		 "HTTP status 422"},
		{PROVIDER_CREATE, 422, "{\"detail\":[]}", PROVIDER_INVALID, "HTTP status 422"},
		{PROVIDER_CREATE, 422, DETAIL("as a text"), PROVIDER_INVALID, "as a text"},
		{PROVIDER_CREATE, 422, "<html>", PROVIDER_INVALID, "HTTP status 422"},
		{PROVIDER_CREATE, 429, DETAIL("Too many requests"), PROVIDER_RATE, "Too many"},
		/* It may have happened: a 500 is no capacity only if it says so. */
		{PROVIDER_CREATE, 500, DETAIL("Internal Server Error"), PROVIDER_AMBIGUOUS,
		 "Internal Server Error"},
		{PROVIDER_CREATE, 500, "Internal Server Error", PROVIDER_AMBIGUOUS, "HTTP"},
		{PROVIDER_CREATE, 504, FULL, PROVIDER_AMBIGUOUS, "The instance could"},
		{PROVIDER_CREATE, 502, "<html>bad gateway</html>", PROVIDER_AMBIGUOUS, "HTTP"},
		{PROVIDER_CREATE, 503, "", PROVIDER_AMBIGUOUS, "HTTP status 503"},
		{PROVIDER_CREATE, 200, "", PROVIDER_AMBIGUOUS, "malformed reply: empty"},
		{PROVIDER_CREATE, 204, "", PROVIDER_AMBIGUOUS, "malformed reply: empty"},
		{PROVIDER_CREATE, 200, "<html>", PROVIDER_AMBIGUOUS, "malformed reply: no JSON"},
		{PROVIDER_CREATE, 200, "{}", PROVIDER_AMBIGUOUS, "malformed reply: vm_id"},
		{PROVIDER_CREATE, 200, "{\"display_name\":\"" NAME "\"}", PROVIDER_AMBIGUOUS,
		 "malformed reply: vm_id: want an id"},
		/* Under another name no list would show it as ours: it is not taken for made.  But
		 * if it is, then people must find it. */
		{PROVIDER_CREATE, 200, MADE("null"), PROVIDER_AMBIGUOUS,
		 "malformed reply about instance " MADE_ID ": display"},
		{PROVIDER_CREATE, 200, MADE("\"" PREFIX "-c-h100-8\""), PROVIDER_AMBIGUOUS,
		 "malformed reply about instance " MADE_ID
		 ": display_name: want the name that was asked for"},
		/* Lists: the truth, or nothing. */
		{PROVIDER_LIST, 200, VMS("", "0"), PROVIDER_OK, ""}, /* accepted, not yet listed */
		{PROVIDER_LIST, 200, VMS(OURS("i-1", "ready"), "1"), PROVIDER_OK, ""},
		{PROVIDER_LIST, 200, "{\"vms\":[]}", PROVIDER_TRANSIENT,
		 "malformed reply: total: want a whole number"},
		{PROVIDER_LIST, 200, "{\"total\":0}", PROVIDER_TRANSIENT, "malformed reply: vms"},
		{PROVIDER_LIST, 200, VMS("", "\"?\""), PROVIDER_TRANSIENT,
		 "malformed reply: total"},
		{PROVIDER_LIST, 200, "[]", PROVIDER_TRANSIENT, "malformed reply: vms"},
		{PROVIDER_LIST, 200, "", PROVIDER_TRANSIENT, "malformed reply: empty"},
		{PROVIDER_LIST, 200, "<html>", PROVIDER_TRANSIENT, "malformed reply: no JSON"},
		{PROVIDER_LIST, 200, VMS(OURS("i-1", "ready"), "1") "x", PROVIDER_TRANSIENT, "mal"},
		{PROVIDER_LIST, 200, VMS(OURS("i-1", "ready") "," OURS("", "ready"), "2"),
		 PROVIDER_TRANSIENT, "malformed reply: vms[1].vm_id: want an id"},
		{PROVIDER_LIST, 200, VMS(VM("null", "ready", "null", NAME), "1"),
		 PROVIDER_TRANSIENT, "malformed reply: vms[0].vm_id: want an id"},
		{PROVIDER_LIST, 401, DETAIL("Could not validate credentials"), PROVIDER_DENIED, ""},
		{PROVIDER_LIST, 429, DETAIL("Too many requests"), PROVIDER_RATE, "Too many"},
		{PROVIDER_LIST, 500, DETAIL("Internal Server Error"), PROVIDER_TRANSIENT, "Int"},
		{PROVIDER_LIST, 500, FULL, PROVIDER_TRANSIENT, "The instance could"},
		/* Deletes: one that goes on billing must be asked for again. */
		{PROVIDER_DELETE, 200, GONE, PROVIDER_OK, ""},
		{PROVIDER_DELETE, 204, "", PROVIDER_OK, ""},
		{PROVIDER_DELETE, 500, FULL, PROVIDER_TRANSIENT, "The instance could"},
		{PROVIDER_DELETE, 500, DETAIL("Internal Server Error"), PROVIDER_TRANSIENT, "Int"},
		{PROVIDER_DELETE, 200, "<html>", PROVIDER_TRANSIENT, "malformed reply: no JSON"},
		{PROVIDER_DELETE, 200, "{\"vm_id\":\"i-2\",\"status\":\"terminated\"}",
		 PROVIDER_TRANSIENT, "malformed reply: vm_id: want the VM"},
		{PROVIDER_DELETE, 401, DETAIL("Not authenticated"), PROVIDER_DENIED, "Not"},
		{PROVIDER_DELETE, 429, "", PROVIDER_RATE, "HTTP status 429"},
		/* Prices. */
		{PROVIDER_QUOTES, 200, PRICES(""), PROVIDER_OK, ""},
		{PROVIDER_QUOTES, 200, "{}", PROVIDER_TRANSIENT, "malformed reply: prices"},
		{PROVIDER_QUOTES, 200, PRICES(PRICE("spot.h100.8x", "null")), PROVIDER_TRANSIENT,
		 "malformed reply: prices[0].unit_price: want a price"},
		{PROVIDER_QUOTES, 200, PRICES(PRICE("spot.h100.8x", "\"-1\"")), PROVIDER_TRANSIENT,
		 "malformed reply: prices[0].unit_price: want a price"},
		{PROVIDER_QUOTES, 200, PRICES(PRICE("spot.h100.8x", "\"90000000\"")),
		 PROVIDER_TRANSIENT, "malformed reply: prices[0].unit_price: want a price that"},
		{PROVIDER_QUOTES, 200,
		 PRICES(PRICE_IN("applies_to", "spot.h100.8x", "month", "\"1\"")),
		 PROVIDER_TRANSIENT, "malformed reply: prices[0].unit: want second"},
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

/* --- as recorded ------------------------------------------------------------------------------ */

static struct provider_result parse_file(const struct provider_op *op, long status,
					 const char *file)
{
	char path[256];
	struct provider_result r;
	json_t *body;
	char *text;

	(void)snprintf(path, sizeof(path), FIXTURES "%s", file);
	body = json_load_file(path, 0, NULL);
	if (body == NULL) {
		print_message("# skipped: there is no %s\n", path);
		skip();
	}
	text = json_dumps(body, 0);
	r = parse_later(op, status, text, NULL);
	free(text);
	json_decref(body);
	return r;
}

static void test_recorded_refusals(void **state)
{
	static const struct {
		enum provider_op_kind kind;
		long status;
		const char *file;
		enum provider_code code;
	} rows[] = {
		{PROVIDER_CREATE, 500, "error_500_capacity.json", PROVIDER_CAPACITY},
		{PROVIDER_DELETE, 500, "error_500_capacity.json", PROVIDER_TRANSIENT},
		{PROVIDER_CREATE, 400, "error_400_invalid_request.json", PROVIDER_INVALID},
		{PROVIDER_CREATE, 400, "error_400_unknown_profile.json", PROVIDER_INVALID},
		/* Made, but with another's name. */
		{PROVIDER_CREATE, 200, "vm_create_pending.json", PROVIDER_AMBIGUOUS},
		{PROVIDER_LIST, 200, "vm_list_empty.json", PROVIDER_OK},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct provider_op op = op_of(rows[i].kind);
		struct provider_result r = parse_file(&op, rows[i].status, rows[i].file);

		if (r.code != rows[i].code)
			fail_msg("%s: %s: %s", rows[i].file, provider_code_str(r.code), r.message);
		provider_result_fini(&r);
	}
}

static void test_a_recorded_404_is_the_answer_of_a_delete(void **state)
{
	struct provider_op op = op_of(PROVIDER_DELETE);
	struct provider_result r = parse_file(&op, 404, "error_404_vm_not_found.json");

	(void)state;
	assert_int_equal(r.code, PROVIDER_OK);
	assert_int_equal(r.items[0].code, PROVIDER_NOT_FOUND);
	provider_result_fini(&r);
}

static void test_a_recorded_delete(void **state)
{
	static const char *const one[] = {"9918b72c1dce41a6875abaf5d5ab64e9"};
	struct provider_op op = op_of(PROVIDER_DELETE);
	struct provider_result r;

	(void)state;
	op.u.del.ids = one;
	r = parse_file(&op, 200, "vm_terminate_ok.json");
	assert_int_equal(r.code, PROVIDER_OK);
	assert_int_equal(r.items[0].code, PROVIDER_OK);
	assert_int_equal(r.items[0].instance.state, PROVIDER_STOPPING);
	assert_string_equal(r.items[0].instance.id, one[0]);
	provider_result_fini(&r);
}

/* Three VMs of somebody else, one of them dead: whole, and none is ours. */
static void test_a_recorded_list(void **state)
{
	struct provider_op op = op_of(PROVIDER_LIST);
	struct provider_result r = parse_file(&op, 200, "vm_list_mixed.json");

	(void)state;
	assert_int_equal(r.code, PROVIDER_OK);
	assert_int_equal(r.ninstances, 0);
	provider_result_fini(&r);
}

static void test_the_recorded_prices(void **state)
{
	static const char *const types[] = {"h100.1x", "a100.1x", "b300.8x"};
	struct provider_op op = op_of(PROVIDER_QUOTES);
	struct provider_result r;
	int64_t h100 = 0, a100 = 0, b300 = 0, spot = 0;

	(void)state;
	op.u.quotes.types = types;
	op.u.quotes.ntypes = COUNT(types);
	r = parse_file(&op, 200, "pricing_vm_running.json");
	assert_int_equal(r.code, PROVIDER_OK);
	for (size_t i = 0; i < r.nquotes; i++) {
		const struct provider_quote *q = &r.quotes[i];
		int64_t *of = q->market == PROVIDER_SPOT ? &spot
			      : q->type[0] == 'h'        ? &h100
			      : q->type[0] == 'a'        ? &a100
							 : &b300;

		*of = q->price_nano_h;
		assert_string_equal(q->currency, "USD");
	}
	/* unit_price_per_hour says "2.790000", "1.59001200" and "63.92001600". */
	assert_int_equal(h100, 2790000000);
	assert_int_equal(a100, 1590012000);
	assert_int_equal(b300, 63920016000);
	provider_result_fini(&r);
}

/* --- creates and throttles -------------------------------------------------------------------- */

static void test_a_create_is_pending(void **state)
{
	struct provider_result r = parse(PROVIDER_CREATE, 200, MADE("\"" NAME "\""));
	const struct provider_instance *i = &r.items[0].instance;

	(void)state;
	assert_int_equal(r.nitems, 1);
	assert_int_equal(r.items[0].code, PROVIDER_OK);
	assert_string_equal(i->id, "9918b72c1dce41a6875abaf5d5ab64e9");
	assert_string_equal(i->cluster, CLUSTER);
	assert_string_equal(i->node, "h100-7");
	assert_int_equal(i->gen, 12);
	assert_int_equal(i->state, PROVIDER_PENDING);
	assert_string_equal(i->addr, "");
	provider_result_fini(&r);
}

static void test_a_throttle_says_when_it_ends(void **state)
{
	struct provider_op op = op_of(PROVIDER_CREATE);
	struct provider_result r = parse_later(&op, 429, DETAIL("Too many requests"), "12");

	(void)state;
	assert_int_equal(r.code, PROVIDER_RATE);
	assert_int_equal(r.retry_after_ms, 12000);
	provider_result_fini(&r);
}

static void test_ten_mebibytes_and_a_thousand_brackets(void **state)
{
	enum { BIG = 10 << 20, DEEP = 1000 };
	static const enum provider_code big[] = {PROVIDER_OK, PROVIDER_AMBIGUOUS,
						 PROVIDER_AMBIGUOUS, PROVIDER_INVALID};
	char *text = mem_zalloc(BIG + 64);
	struct provider_result r;

	(void)state;
	memset(text, ' ', BIG);
	memcpy(text + BIG, VMS("", "0"), sizeof(VMS("", "0")));
	r = parse(PROVIDER_LIST, 200, text);
	assert_int_equal(r.code, big[0]);
	provider_result_fini(&r);
	memset(text, 'x', BIG);
	for (size_t i = 1; i < COUNT(big); i++) {
		static const long statuses[] = {0, 200, 500, 422};

		r = parse(PROVIDER_CREATE, statuses[i], text);
		assert_int_equal(r.code, big[i]);
		provider_result_fini(&r);
	}
	memset(text, '[', DEEP);
	text[DEEP] = '\0';
	r = parse(PROVIDER_LIST, 200, text);
	assert_int_equal(r.code, PROVIDER_TRANSIENT);
	provider_result_fini(&r);
	free(text);
}

/* --- prices ----------------------------------------------------------------------------------- */

static void test_prices(void **state)
{
	struct provider_result r = parse(
		PROVIDER_QUOTES, 200,
		PRICES(PRICE("on-demand.a100.8x", "\"0.00353333\"") "," PRICE(
			"spot.h100.8x",
			"\"0.00244444\"") "," PRICE_IN("group_by", "spot.a100.1x", "hour",
						       "\"0.8\"") "," PRICE_IN("applies_to",
									       "spot.b300.1x",
									       "minute", "0.05")));

	(void)state;
	assert_int_equal(r.nquotes, 4);
	assert_string_equal(r.quotes[0].type, "a100.8x");
	assert_string_equal(r.quotes[0].region, ""); /* there are none */
	assert_string_equal(r.quotes[0].zone, "");
	assert_int_equal(r.quotes[0].market, PROVIDER_ON_DEMAND);
	assert_int_equal(r.quotes[0].price_nano_h, 12719988000);
	assert_string_equal(r.quotes[0].currency, "USD");
	assert_string_equal(r.quotes[1].type, "h100.8x");
	assert_int_equal(r.quotes[1].market, PROVIDER_SPOT);
	assert_int_equal(r.quotes[1].price_nano_h, 8799984000);
	/* Where the vendor's own client looks for it. */
	assert_string_equal(r.quotes[2].type, "a100.1x");
	assert_int_equal(r.quotes[2].price_nano_h, 800000000);
	assert_int_equal(r.quotes[3].price_nano_h, 3000000000);
	provider_result_fini(&r);
}

/* If both are there, applies_to is what was recorded. */
static void test_what_a_price_applies_to_is_before_group_by(void **state)
{
	struct provider_result r =
		parse(PROVIDER_QUOTES, 200,
		      PRICES("{\"meter_slug\":\"vm_running\",\"group_by\":{\"hardware_profile\":"
			     "\"spot.h100.1x\"},\"applies_to\":{\"hardware_profile\":"
			     "\"on-demand.h100.1x\"},\"unit\":\"second\",\"unit_price\":\"1\"}"));

	(void)state;
	assert_int_equal(r.nquotes, 1);
	assert_int_equal(r.quotes[0].market, PROVIDER_ON_DEMAND);
	provider_result_fini(&r);
}

/* What is no VM, or no VM that pools buy, may be as odd as it likes. */
static void test_prices_of_what_pools_buy(void **state)
{
	static const char *const types[] = {"h100.8x"};
	struct provider_op op = op_of(PROVIDER_QUOTES);
	struct provider_result r;

	(void)state;
	op.u.quotes.types = types;
	op.u.quotes.ntypes = 1;
	r = parse_later(
		&op, 200,
		PRICES("7,{\"meter_slug\":\"storage_gb\",\"applies_to\":{\"hardware_profile\":"
		       "\"spot.h100.8x\"},\"unit\":\"month\"},{\"meter_slug\":\"vm_running\"}"
		       "," PRICE("spot.h200.8x", "\"?\"") "," PRICE(
			       "reserved.h100.8x",
			       "\"?\"") "," PRICE("spoth100.8x",
						  "\"?\"") "," PRICE("h100.8x",
								     "\"?\"") "," PRICE("spot.h100."
											"8x",
											"\"1\"")),
		NULL);
	assert_int_equal(r.code, PROVIDER_OK);
	assert_int_equal(r.nquotes, 1);
	assert_string_equal(r.quotes[0].type, "h100.8x");
	assert_int_equal(r.quotes[0].price_nano_h, 3600000000000);
	provider_result_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_replies),
		T(test_recorded_refusals),
		T(test_a_recorded_404_is_the_answer_of_a_delete),
		T(test_a_recorded_delete),
		T(test_a_recorded_list),
		T(test_the_recorded_prices),
		T(test_a_create_is_pending),
		T(test_a_throttle_says_when_it_ends),
		T(test_ten_mebibytes_and_a_thousand_brackets),
		T(test_prices),
		T(test_what_a_price_applies_to_is_before_group_by),
		T(test_prices_of_what_pools_buy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
