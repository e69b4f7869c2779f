/* test_spheron_reply.c - the driver spheron: what it makes of Spheron's replies.  Files of
 * tests/fixtures/spheron say where they are from; what is marked *invented* here and there proves
 * that the driver reads it, and nothing about Spheron. */
#include "spheron_lab.h"

#define ERROR(code, text) "{\"error\":\"" text "\",\"code\":\"" code "\",\"details\":{}}"
#define D(id, name, status)                                                                        \
	"{\"id\":\"" id "\",\"name\":\"" name "\",\"status\":\"" status                            \
	"\",\"ipAddress\":\"198.51.100.7\",\"createdAt\":\"2026-05-15T11:43:31.000Z\","            \
	"\"stoppedAt\":null}"
#define OURS(id, status) D(id, NAME, status)
#define PAGE(in, pages)  "{\"deployments\":[" in "],\"totalPages\":" pages "}"
#define OFFER(id, count)                                                                           \
	"{\"provider\":\"p\",\"offerId\":\"" id "\",\"gpuCount\":" count ",\"price\":2.5,"         \
	"\"clusters\":[\"r\"],\"instanceType\":\"DEDICATED\",\"supportsCloudInit\":true}"
#define OFFERS(in) "{\"data\":[{\"gpuType\":\"H100\",\"offers\":[" in "]}],\"totalPages\":1}"

static void test_replies(void **state)
{
	static const struct {
		enum provider_op_kind kind;
		long status;
		const char *body;
		enum provider_code code;
		const char *message; /* begins so */
	} rows[] = {
		{PROVIDER_CREATE, 200, OURS("6a01", "deploying"), PROVIDER_OK, ""},
		{PROVIDER_CREATE, 201, "{\"id\":\"6a01\",\"status\":\"deploying\"}", PROVIDER_OK,
		 ""},
		/* *Invented*: forms of no capacity. */
		{PROVIDER_CREATE, 409, ERROR("OFFER_UNAVAILABLE", "gone"), PROVIDER_CAPACITY,
		 "OFFER_UNAVAILABLE: gone"},
		{PROVIDER_CREATE, 400, ERROR("VALIDATION_ERROR", "Offer not found"),
		 PROVIDER_CAPACITY, "VALIDATION_ERROR"},
		{PROVIDER_CREATE, 400, ERROR("INSUFFICIENT_BALANCE", "Insufficient balance"),
		 PROVIDER_DENIED, "INSUFFICIENT_BALANCE"},
		{PROVIDER_CREATE, 400, ERROR("X", "Not enough credits"), PROVIDER_DENIED, "X"},
		{PROVIDER_CREATE, 402, "", PROVIDER_DENIED, "HTTP status 402"},
		{PROVIDER_CREATE, 400,
		 ERROR("VALIDATION_ERROR", "Team ID is required for authenticated deployments"),
		 PROVIDER_INVALID, "VALIDATION_ERROR: Team ID"},
		{PROVIDER_CREATE, 400, "", PROVIDER_INVALID, "HTTP status 400"},
		{PROVIDER_CREATE, 404, ERROR("NOT_FOUND", "no"), PROVIDER_INVALID, "NOT_FOUND"},
		{PROVIDER_CREATE, 401, ERROR("UNAUTHORIZED", "Invalid " SECRET), PROVIDER_DENIED,
		 "UNAUTHORIZED: Invalid ***"},
		{PROVIDER_CREATE, 403, "<html>Forbidden</html>", PROVIDER_DENIED,
		 "HTTP status 403"},
		{PROVIDER_CREATE, 409, ERROR("CONFLICT", "name"), PROVIDER_CONFLICT, "CONFLICT"},
		{PROVIDER_CREATE, 429, "slow down", PROVIDER_RATE, "HTTP status 429"},
		/* It may have happened. */
		{PROVIDER_CREATE, 500, ERROR("INTERNAL_ERROR", "x"), PROVIDER_AMBIGUOUS,
		 "INTERNAL"},
		{PROVIDER_CREATE, 500, ERROR("X", "Insufficient balance"), PROVIDER_AMBIGUOUS, "X"},
		{PROVIDER_CREATE, 502, "<html>", PROVIDER_AMBIGUOUS, "HTTP status 502"},
		{PROVIDER_CREATE, 503, "", PROVIDER_AMBIGUOUS, "HTTP status 503"},
		{PROVIDER_CREATE, 504, "", PROVIDER_AMBIGUOUS, "HTTP status 504"},
		{PROVIDER_CREATE, 200, "", PROVIDER_AMBIGUOUS, "malformed reply: empty"},
		{PROVIDER_CREATE, 200, "<html>", PROVIDER_AMBIGUOUS, "malformed reply: no JSON"},
		{PROVIDER_CREATE, 200, "[]", PROVIDER_AMBIGUOUS, "malformed reply: id"},
		{PROVIDER_CREATE, 200, "{\"status\":\"deploying\"}", PROVIDER_AMBIGUOUS,
		 "malformed reply: id: want an id"},
		{PROVIDER_CREATE, 200, D("a b", NAME, "deploying"), PROVIDER_AMBIGUOUS,
		 "malformed reply: id: want an id"},
		/* It may be another's; but if it is ours, then people must find it. */
		{PROVIDER_CREATE, 200, D("6a01", PREFIX "-c-h100-8", "deploying"),
		 PROVIDER_AMBIGUOUS,
		 "malformed reply about instance 6a01: name: want the name that was asked for"},
		{PROVIDER_CREATE, 200, D("6a01", PREFIX "-d-h100-7", "deploying"),
		 PROVIDER_AMBIGUOUS, "malformed reply about instance 6a01: name"},
		{PROVIDER_CREATE, 200, D("6a01", "db", "deploying"), PROVIDER_AMBIGUOUS,
		 "malformed reply about instance 6a01: name"},
		{PROVIDER_CREATE, 200, D(SECRET, "db", "deploying"), PROVIDER_AMBIGUOUS,
		 "malformed reply about instance ***: name"},
		/* A machine is known, and a list whole, whatever its times look like (F16). */
		{PROVIDER_CREATE, 200, "{\"id\":\"6a01\",\"createdAt\":\"soon\"}", PROVIDER_OK, ""},
		{PROVIDER_LIST, 200,
		 "[{\"id\":\"a\",\"name\":\"" NAME "\",\"createdAt\":1747309411000}]", PROVIDER_OK,
		 ""},
		/* All rows are told by a count of them, too, and pages may be shorter than asked
		   for. */
		{PROVIDER_LIST, 200, "{\"data\":[" OURS("a", "running") "],\"total\":2}",
		 PROVIDER_MORE, ""},
		{PROVIDER_LIST, 200, "{\"data\":[" OURS("a", "running") "],\"total\":1}",
		 PROVIDER_OK, ""},
		{PROVIDER_LIST, 200, "{\"data\":[],\"total\":1}", PROVIDER_OK, ""},
		/* Lists: the truth, or nothing. */
		{PROVIDER_LIST, 200, "[]", PROVIDER_OK, ""}, /* accepted, and not yet listed */
		{PROVIDER_LIST, 200, PAGE("", "0"), PROVIDER_OK, ""},
		{PROVIDER_LIST, 200, "{\"data\":[]}", PROVIDER_OK, ""},
		{PROVIDER_LIST, 200, PAGE(OURS("a", "running"), "2"), PROVIDER_MORE, ""},
		{PROVIDER_LIST, 200, PAGE(OURS("a", "running"), "\"x\""), PROVIDER_TRANSIENT,
		 "malformed reply: totalPages"},
		{PROVIDER_LIST, 200, "{}", PROVIDER_TRANSIENT,
		 "malformed reply: data: want a list"},
		{PROVIDER_LIST, 200, "{\"deployments\":null}", PROVIDER_TRANSIENT, "malformed"},
		{PROVIDER_LIST, 200, "{\"deployments\":{}}", PROVIDER_TRANSIENT, "malformed"},
		{PROVIDER_LIST, 200, "", PROVIDER_TRANSIENT, "malformed reply: empty"},
		{PROVIDER_LIST, 200, "<html>", PROVIDER_TRANSIENT, "malformed reply: no JSON"},
		{PROVIDER_LIST, 200, "[" OURS("a", "running") "," OURS("", "running") "]",
		 PROVIDER_TRANSIENT, "malformed reply: [1].id: want an id"},
		{PROVIDER_LIST, 401, ERROR("UNAUTHORIZED", "x"), PROVIDER_DENIED, "UNAUTHORIZED"},
		{PROVIDER_LIST, 403, ERROR("FORBIDDEN", "x"), PROVIDER_DENIED, "FORBIDDEN"},
		{PROVIDER_LIST, 429, "", PROVIDER_RATE, "HTTP status 429"},
		{PROVIDER_LIST, 500, "", PROVIDER_TRANSIENT, "HTTP status 500"},
		/* Deletes; what is of one instance is said of it. */
		{PROVIDER_DELETE, 200, "{\"message\":\"Instance terminated successfully\"}",
		 PROVIDER_OK, ""},
		{PROVIDER_DELETE, 200, "", PROVIDER_OK, ""},
		{PROVIDER_DELETE, 204, "", PROVIDER_OK, ""},
		{PROVIDER_DELETE, 200, "<html>", PROVIDER_TRANSIENT, "malformed reply: no JSON"},
		{PROVIDER_DELETE, 400, ERROR("VALIDATION_ERROR", "bad id"), PROVIDER_INVALID,
		 "VALIDATION_ERROR"},
		{PROVIDER_DELETE, 400, "{\"canTerminate\":true}", PROVIDER_INVALID, "HTTP"},
		{PROVIDER_DELETE, 403, "", PROVIDER_DENIED, "HTTP status 403"},
		{PROVIDER_DELETE, 429, "", PROVIDER_RATE, "HTTP status 429"},
		{PROVIDER_DELETE, 500, "", PROVIDER_TRANSIENT, "HTTP status 500"},
		/* Prices. */
		{PROVIDER_QUOTES, 200, "{\"data\":[],\"totalPages\":0}", PROVIDER_OK, ""},
		{PROVIDER_QUOTES, 200, "{\"data\":[],\"totalPages\":2}", PROVIDER_MORE, ""},
		{PROVIDER_QUOTES, 200, "{\"data\":{}}", PROVIDER_TRANSIENT,
		 "malformed reply: data"},
		{PROVIDER_QUOTES, 200, "{\"data\":[{}]}", PROVIDER_TRANSIENT,
		 "malformed reply: data[0].offers: want a list"},
		{PROVIDER_QUOTES, 200, OFFERS(OFFER("o", "null")), PROVIDER_TRANSIENT,
		 "malformed reply: data[0].offers[0].gpuCount"},
		{PROVIDER_QUOTES, 403, "", PROVIDER_DENIED, "HTTP status 403"},
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

/* The time is in the body. */
static void test_a_throttle_says_when_it_ends(void **state)
{
	char *body = fixture("error-rate.json");
	struct provider_result r = parse(PROVIDER_CREATE, 429, body);

	(void)state;
	assert_int_equal(r.code, PROVIDER_RATE);
	assert_int_equal(r.retry_after_ms, 60000);
	provider_result_fini(&r);
	free(body);
}

static void test_deletes_that_are_refused(void **state)
{
	static const struct {
		const char *body;
		enum provider_code code;
		int64_t ms;
	} rows[] = {
		{"{\"canTerminate\":false,\"timeRemaining\":19}", PROVIDER_NOT_YET, 1140000},
		{"{\"canTerminate\":false,\"timeRemaining\":0.5}", PROVIDER_NOT_YET, 30000},
		{"{\"canTerminate\":false,\"timeRemaining\":0}", PROVIDER_NOT_YET, 15000},
		{"{\"canTerminate\":false,\"timeRemaining\":-1}", PROVIDER_NOT_YET, 15000},
		{"{\"canTerminate\":false,\"timeRemaining\":\"?\"}", PROVIDER_NOT_YET, 15000},
		{"{\"canTerminate\":false,\"timeRemaining\":999999}", PROVIDER_NOT_YET, 86400000},
		{"{\"canTerminate\":false}", PROVIDER_NOT_YET, 15000},
		{"{\"canTerminate\":false,\"currentStatus\":\"terminated\"}", PROVIDER_OK, 0},
		{"{\"canTerminate\":false,\"currentStatus\":\"terminated-provider\"}", PROVIDER_OK,
		 0},
		{"{\"canTerminate\":false,\"currentStatus\":\"failed\"}", PROVIDER_OK, 0},
		/* Not proof of an end: it is asked for again. */
		{"{\"canTerminate\":false,\"currentStatus\":\"deploying\"}", PROVIDER_NOT_YET,
		 15000},
		{"{\"canTerminate\":false,\"currentStatus\":\"on fire\"}", PROVIDER_NOT_YET, 15000},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct provider_result r = parse(PROVIDER_DELETE, 400, rows[i].body);

		assert_int_equal(r.code, PROVIDER_OK);
		assert_int_equal(r.nitems, 1);
		assert_string_equal(r.items[0].instance.id, "6a01");
		assert_int_equal(r.retry_after_ms, rows[i].ms);
		if (r.items[0].code != rows[i].code)
			fail_msg("row %zu: %s", i, provider_code_str(r.items[0].code));
		provider_result_fini(&r);
	}
}

static void test_deletes_as_clients_saw_them(void **state)
{
	static const struct {
		const char *file;
		enum provider_code code;
		int64_t ms;
	} rows[] = {{"error-not-yet.json", PROVIDER_NOT_YET, 1140000},
		    {"error-already.json", PROVIDER_OK, 0}};
	struct provider_result r;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char *body = fixture(rows[i].file);

		r = parse(PROVIDER_DELETE, 400, body);
		assert_int_equal(r.items[0].code, rows[i].code);
		assert_int_equal(r.retry_after_ms, rows[i].ms);
		provider_result_fini(&r);
		free(body);
	}
	r = parse(PROVIDER_DELETE, 404, ERROR("NOT_FOUND", "Deployment not found"));
	assert_int_equal(r.code, PROVIDER_OK);
	assert_int_equal(r.items[0].code, PROVIDER_NOT_FOUND);
	provider_result_fini(&r);
}

static void test_states(void **state)
{
	static const struct {
		const char *members;
		enum provider_state state;
		bool taken;
	} rows[] = {
		{"\"status\":\"deploying\"", PROVIDER_PENDING, false},
		{"\"status\":\"running\"", PROVIDER_RUNNING, false},
		{"\"status\":\"stopped\"", PROVIDER_STOPPING, false}, /* bills, until deleted */
		{"\"status\":\"failed\"", PROVIDER_FAILED, false},
		{"\"status\":\"failed\",\"stoppedAt\":null", PROVIDER_FAILED, false},
		{"\"status\":\"failed\",\"stoppedAt\":\"\"", PROVIDER_FAILED, false},
		{"\"status\":\"failed\",\"stoppedAt\":\"0001-01-01T00:00:00Z\"", PROVIDER_FAILED,
		 false},
		{"\"status\":\"failed\",\"stoppedAt\":\"2026-05-15T11:43:31.000Z\"", PROVIDER_ENDED,
		 false},
		{"\"status\":\"failed\",\"stoppedAt\":1747309411000", PROVIDER_ENDED, false},
		{"\"status\":\"failed\",\"stoppedAt\":\"yesterday\"", PROVIDER_ENDED, false},
		{"\"status\":\"terminated\"", PROVIDER_ENDED, false},
		{"\"status\":\"terminated-provider\"", PROVIDER_ENDED, true},
		{"\"status\":\"paused\"", PROVIDER_UNKNOWN, false},
		{"\"status\":7", PROVIDER_UNKNOWN, false},
		{"\"user\":null", PROVIDER_UNKNOWN, false},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char body[256];
		struct provider_result r;

		(void)snprintf(body, sizeof(body), "[{\"id\":\"a\",\"name\":\"" NAME "\",%s}]",
			       rows[i].members);
		r = parse(PROVIDER_LIST, 200, body);
		assert_int_equal(r.ninstances, 1);
		if (r.instances[0].state != rows[i].state || r.instances[0].taken != rows[i].taken)
			fail_msg("row %zu: %d", i, (int)r.instances[0].state);
		assert_int_equal(r.nfailures, rows[i].state == PROVIDER_FAILED);
		if (r.nfailures > 0)
			assert_string_equal(r.failures[0].message,
					    "Spheron says that it failed, and not why");
		provider_result_fini(&r);
	}
}

/* Give the deployments of a fixture our name, and read them. */
static struct provider_result listed(const char *file)
{
	char *body = fixture(file);
	json_t *o = json_loads(body, 0, NULL);
	json_t *list = json_is_array(o) ? o : json_object_get(o, "deployments");
	struct provider_result r;

	for (size_t i = 0; i < json_array_size(list); i++)
		(void)json_object_set_new(json_array_get(list, i), "name", json_string(NAME));
	free(body);
	body = json_dumps(o, 0);
	r = parse(PROVIDER_LIST, 200, body);
	json_decref(o);
	free(body);
	return r;
}

static void test_lists_as_clients_saw_them(void **state)
{
	static const char *const files[] = {"deployments.json", "deployments-page.json"};

	(void)state;
	for (size_t i = 0; i < COUNT(files); i++) {
		struct provider_result r = listed(files[i]);
		const struct provider_instance *in = r.instances;

		assert_int_equal(r.code, PROVIDER_OK);
		assert_int_equal(r.ninstances, 2);
		assert_string_equal(in[1].id, "6a01");
		assert_string_equal(in[1].cluster, CLUSTER);
		assert_string_equal(in[1].node, "h100-7");
		assert_int_equal(in[1].gen, 12);
		assert_string_equal(in[1].addr, "198.51.100.7");
		assert_int_equal(in[1].created_ms, 1778845411000);
		assert_int_equal(in[0].state, PROVIDER_PENDING); /* though it has an address */
		assert_int_equal(in[1].state, PROVIDER_RUNNING);
		provider_result_fini(&r);
	}
}

static void test_others_spoil_no_list(void **state)
{
	struct provider_result r = parse(
		PROVIDER_LIST, 200,
		"[{\"id\":{},\"name\":\"db\"},7,null,[],{\"name\":7,\"createdAt\":7}," D(
			"b", "b0000000000000-c-h100-7",
			"running") "," OURS("a", "running") ",{\"id\":\"c\",\"name\":\"" PREFIX
							    "-?\"}]");

	(void)state;
	assert_int_equal(r.code, PROVIDER_OK);
	assert_int_equal(r.ninstances, 2);
	assert_string_equal(r.instances[0].id, "a");
	assert_string_equal(r.instances[1].id, "c"); /* ours, but who? */
	assert_string_equal(r.instances[1].node, "");
	provider_result_fini(&r);
}

/* A list of n deployments between head and tail, as page `page`. */
static struct provider_result list_of(size_t n, const char *head, const char *tail,
				      const char *page)
{
	struct provider_op op = op_of(PROVIDER_LIST);
	char *body = mem_zalloc(n * 200 + 100);
	struct provider_result r;

	(void)strcat(body, head);
	for (size_t i = 0; i < n; i++)
		(void)strcat(strcat(body, i > 0 ? "," : ""), OURS("a", "running"));
	(void)strcat(body, tail);
	op.cursor = page;
	r = parse_op(&op, 200, body);
	free(body);
	return r;
}

static void test_a_full_page_without_a_count_is_not_the_last(void **state)
{
	static const struct {
		size_t n;
		const char *page;
		enum provider_code code;
		const char *cursor;
	} rows[] = {
		{99, "2 b", PROVIDER_OK, ""},  {100, "2 b", PROVIDER_MORE, "3 a"},
		{101, "2 b", PROVIDER_OK, ""}, {100, "", PROVIDER_MORE, "2 a"},
		{100, "2 a", PROVIDER_OK, ""}, /* the same again: it does not know pages (F16) */
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct provider_result r = list_of(rows[i].n, "[", "]", rows[i].page);

		assert_int_equal(r.code, rows[i].code);
		assert_int_equal(r.ninstances, rows[i].n);
		assert_string_equal(r.cursor, rows[i].cursor);
		provider_result_fini(&r);
	}
}

/* The server need not care how many rows were asked for. */
static void test_a_page_longer_than_asked_for(void **state)
{
	struct provider_result r = list_of(150, "{\"deployments\":[", "],\"totalPages\":1}", "");

	(void)state;
	assert_int_equal(r.code, PROVIDER_OK);
	assert_int_equal(r.ninstances, 150);
	provider_result_fini(&r);
}

/* I12: a list that is cut is no list, wherever it is cut. */
static void test_a_list_that_is_cut_short(void **state)
{
	static const char body[] = PAGE(OURS("a", "running") "," OURS("b", "deploying"), "1");
	char text[sizeof(body)];

	(void)state;
	for (size_t n = 0; n < sizeof(body) - 1; n++) {
		struct provider_result r;

		memcpy(text, body, n);
		text[n] = '\0';
		r = parse(PROVIDER_LIST, 200, text);
		assert_int_equal(r.code, PROVIDER_TRANSIENT);
		provider_result_fini(&r);
	}
}

static void test_ten_mebibytes_and_a_thousand_brackets(void **state)
{
	enum { BIG = 10 << 20, DEEP = 1000 };
	char *text = mem_zalloc(BIG + 8);
	struct provider_result r;

	(void)state;
	memset(text, ' ', BIG);
	memcpy(text + BIG, "[]", 3);
	r = parse(PROVIDER_LIST, 200, text);
	assert_int_equal(r.code, PROVIDER_OK);
	provider_result_fini(&r);
	memset(text, 'x', BIG);
	r = parse(PROVIDER_CREATE, 200, text);
	assert_int_equal(r.code, PROVIDER_AMBIGUOUS);
	provider_result_fini(&r);
	r = parse(PROVIDER_DELETE, 400, text);
	assert_int_equal(r.code, PROVIDER_INVALID);
	provider_result_fini(&r);
	memset(text, '[', DEEP);
	text[DEEP] = '\0';
	r = parse(PROVIDER_LIST, 200, text);
	assert_int_equal(r.code, PROVIDER_TRANSIENT);
	provider_result_fini(&r);
	free(text);
}

/* Each is quoted for the zone by which a create can have it; these have no cloud-init. */
static void test_offers_as_clients_saw_them(void **state)
{
	static const struct {
		const char *zone;
		enum provider_market market;
		int64_t price;
	} rows[] = {
		{"massed-compute:8xH100:no-cloud-init", PROVIDER_ON_DEMAND, 29520000000},
		{"massed-compute:8xH100:no-cloud-init", PROVIDER_SPOT, 11800000000},
		{"massed-compute:8xH100:CLUSTER:no-cloud-init", PROVIDER_ON_DEMAND, 29520000000},
	};
	char *body = fixture("offers.json");
	struct provider_result r = parse(PROVIDER_QUOTES, 200, body);

	(void)state;
	assert_int_equal(r.nquotes, COUNT(rows));
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct provider_quote *q = &r.quotes[i];

		assert_string_equal(q->zone, rows[i].zone);
		assert_int_equal(q->market, rows[i].market);
		assert_int_equal(q->price_nano_h, rows[i].price);
		assert_string_equal(q->region, "eu-north-1");
		assert_string_equal(q->currency, "USD");
		assert_int_equal(q->cpus, 128);
		assert_int_equal(q->gpus, 8);
		assert_int_equal(q->memory_mb, 1024 * 1024);
	}
	assert_string_equal(r.quotes[1].type, "x::spot");
	provider_result_fini(&r);
	free(body);
}

/* Whatever is odd in an offer that no pool buys, or can buy, is none of our business. */
static void test_offers_that_nobody_can_buy(void **state)
{
	static const char *const types[] = {"o"};
	struct provider_op op = op_of(PROVIDER_QUOTES);
	struct provider_result r;

	(void)state;
	op.u.quotes.types = types;
	op.u.quotes.ntypes = 1;
	r = parse_op(&op, 200, OFFERS("7,{\"offerId\":\"x\",\"price\":{}}," OFFER("o", "8")));
	assert_int_equal(r.nquotes, 1);
	assert_string_equal(r.quotes[0].zone, "p:8xH100");
	assert_int_equal(r.quotes[0].cpus, 0);
	provider_result_fini(&r);
	r = parse(PROVIDER_QUOTES, 200,
		  "{\"data\":[{\"gpuType\":\"RTX 5090\",\"offers\":[" OFFER(
			  "o", "8") "]},"
				    "{\"gpuType\":\"A:B\",\"offers\":[" OFFER("o", "8") "]}]}");
	assert_int_equal(r.code, PROVIDER_OK);
	assert_int_equal(r.nquotes, 0);
	provider_result_fini(&r);
}

/* One price for each of its regions. */
static void test_an_offer_of_two_regions(void **state)
{
	struct provider_result r = parse(
		PROVIDER_QUOTES, 200,
		OFFERS("{\"provider\":\"p\",\"offerId\":\"o\",\"gpuCount\":0,\"price\":\"0.12\","
		       "\"vcpus\":2.5,\"memory\":7.5,\"clusters\":[\"r1\",\"r2\"],"
		       "\"instanceType\":\"DEDICATED\",\"supportsCloudInit\":true}"));

	(void)state;
	assert_int_equal(r.nquotes, 2);
	assert_string_equal(r.quotes[0].region, "r1");
	assert_string_equal(r.quotes[1].region, "r2");
	assert_int_equal(r.quotes[1].price_nano_h, 120000000);
	assert_int_equal(r.quotes[1].cpus, 2);
	assert_int_equal(r.quotes[1].gpus, 0);
	provider_result_fini(&r);
}

/* Some sellers show both; only a spot machine may be counted with the lower. */
static void test_a_spot_price_is_that_of_spot_machines(void **state)
{
	struct provider_result r = parse(
		PROVIDER_QUOTES, 200,
		OFFERS("{\"provider\":\"p\",\"offerId\":\"o\",\"gpuCount\":8,\"price\":29.52,"
		       "\"spot_price\":11.8,\"clusters\":[\"r\"],\"instanceType\":\"DEDICATED\"}"));

	(void)state;
	assert_int_equal(r.nquotes, 1);
	assert_int_equal(r.quotes[0].price_nano_h, 29520000000);
	assert_string_equal(r.quotes[0].zone, "p:8xH100:no-cloud-init"); /* it does not say */
	provider_result_fini(&r);
}

/* A word that is no network says nothing of one. */
static void test_terms_of_an_offer(void **state)
{
	struct provider_result r = parse(
		PROVIDER_QUOTES, 200,
		OFFERS("{\"provider\":\"p\",\"offerId\":\"o\",\"gpuCount\":8,\"price\":1,"
		       "\"clusters\":[\"r\"],\"instanceType\":\"CLUSTER\",\"available\":true,"
		       "\"minimumRuntimeMinutes\":60,\"interconnectType\":\"InfiniBand\"},"
		       "{\"provider\":\"p\",\"offerId\":\"q\",\"gpuCount\":8,\"price\":1,"
		       "\"clusters\":[\"r\"],\"instanceType\":\"DEDICATED\",\"available\":false,"
		       "\"interconnectType\":\"SXM5\"}"));

	(void)state;
	assert_int_equal(r.nquotes, 2);
	assert_int_equal(r.quotes[0].terms.stock, PROVIDER_STOCK_SOME);
	assert_int_equal(r.quotes[0].terms.minimum_ms, 3600000);
	assert_string_equal(r.quotes[0].terms.interconnect, "ib");
	assert_int_equal(r.quotes[1].terms.stock, PROVIDER_STOCK_NONE);
	assert_int_equal(r.quotes[1].terms.minimum_ms, 0);
	assert_string_equal(r.quotes[1].terms.interconnect, "");
	provider_result_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_replies),
		T(test_terms_of_an_offer),
		T(test_a_throttle_says_when_it_ends),
		T(test_deletes_that_are_refused),
		T(test_deletes_as_clients_saw_them),
		T(test_states),
		T(test_lists_as_clients_saw_them),
		T(test_others_spoil_no_list),
		T(test_a_full_page_without_a_count_is_not_the_last),
		T(test_a_page_longer_than_asked_for),
		T(test_a_list_that_is_cut_short),
		T(test_ten_mebibytes_and_a_thousand_brackets),
		T(test_offers_as_clients_saw_them),
		T(test_offers_that_nobody_can_buy),
		T(test_an_offer_of_two_regions),
		T(test_a_spot_price_is_that_of_spot_machines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
