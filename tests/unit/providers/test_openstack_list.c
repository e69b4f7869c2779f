/* test_openstack_list.c - the driver openstack: lists, and deletes. */
#include "tests/unit/providers/openstack_lab.h"

/* --- requests ----------------------------------------------------------------------------------
 */

static void asks(const struct provider_op *op, const char *method, const char *url)
{
	struct provider_request rq;

	build(&rq, op);
	assert_string_equal(rq.method, method);
	assert_string_equal(rq.url, url);
	assert_null(rq.body);
	assert_string_equal(header(&rq, "X-Auth-Token"), THE_TOKEN);
	assert_string_equal(header(&rq, "OpenStack-API-Version"), "compute 2.96");
	provider_request_fini(&rq);
}

static void test_requests(void **state)
{
	struct provider_op quotes = {.kind = PROVIDER_QUOTES}, op = list(""), del = delete_one();

	(void)state;
	/* With a filter Nova would leave out the servers of a cell that is away. */
	asks(&op, "GET", NOVA "/servers/detail");
	op.cursor = "id-7";
	asks(&op, "GET", NOVA "/servers/detail?marker=id-7");
	asks(&del, "DELETE", NOVA "/servers/88947f67-bc37-4ebc-ab16-075677006e6f");
	asks(&quotes, "GET", NOVA "/flavors/detail?limit=1000");
	quotes.cursor = "f-1";
	asks(&quotes, "GET", NOVA "/flavors/detail?limit=1000&marker=f-1");
}

static void test_requests_that_cannot_be(void **state)
{
	static const char *const odd[] = {"a b", "i-2"};
	struct provider_op op = list(""), del = delete_one();

	(void)state;
	op.u.list.cluster = "a,b";
	refuse(&op, "uuid");
	op.u.list.cluster = "0b1c2d3e-4f50-4000-8000-0000000000010000000000000";
	refuse(&op, "uuid");
	del.u.del.ids = odd;
	refuse(&del, "one id");
	del.u.del.ids = one_id;
	del.u.del.nids = 0;
	refuse(&del, "one id");
	refuse(&(struct provider_op){.kind = PROVIDER_NOTICES}, "no such request");
	refuse(&(struct provider_op){.kind = PROVIDER_FABRIC_MAKE}, "no such request");
}

static void test_capabilities(void **state)
{
	const struct provider_caps caps = provider_openstack.caps(self);

	(void)state;
	assert_int_equal(caps.flags,
			 PROVIDER_TAGS | PROVIDER_GANGS | PROVIDER_CONSOLES | PROVIDER_IMAGES);
	assert_int_equal(caps.create_max, 100);
	assert_int_equal(caps.delete_max, 1);
	/* Nova has no prices: an offer without one is never bought. */
	assert_false(provider_says_prices(&caps, PROVIDER_ON_DEMAND, "EUR"));
	assert_false(provider_says_prices(&caps, PROVIDER_SPOT, "EUR"));
}

/* --- lists -------------------------------------------------------------------------------------
 */

__attribute__((returns_nonnull)) static const struct provider_instance *
named(const struct provider_result *r, const char *node)
{
	for (size_t i = 0; i < r->ninstances; i++)
		if (strcmp(r->instances[i].node, node) == 0)
			return &r->instances[i];
	fail_msg("%s is not listed", node);
	return &r->instances[0];
}

static void test_servers_of_a_real_nova(void **state)
{
	const struct provider_instance *in;
	struct provider_op op = list("");
	struct provider_result r;

	(void)state;
	parse_fixture(&r, &op, 200, "list");
	assert_int_equal(r.code, PROVIDER_OK);
	assert_int_equal(r.ninstances, 5);
	in = named(&r, "gpu-07");
	assert_string_equal(in->id, "88947f67-bc37-4ebc-ab16-075677006e6f");
	assert_string_equal(in->cluster, UUID);
	assert_int_equal(in->gen, 12);
	assert_int_equal(in->state, PROVIDER_RUNNING);
	assert_string_equal(in->addr, "192.168.1.30");
	assert_int_equal(in->created_ms, INT64_C(1795877301000));
	for (size_t i = 1; i <= 3; i++) {
		char node[16];

		(void)snprintf(node, sizeof(node), "c%zu", i);
		assert_int_equal(named(&r, node)->gen, 4);
	}
	in = named(&r, "c9");
	assert_int_equal(in->state, PROVIDER_FAILED);
	assert_int_equal(r.nfailures, 1);
	assert_string_equal(r.failures[0].id, in->id);
	assert_int_equal(r.failures[0].code, PROVIDER_CAPACITY);
	assert_string_equal(r.failures[0].message, "No valid host was found.");
	provider_result_fini(&r);
	parse_fixture(&r, &op, 200, "list-page");
	assert_int_equal(r.code, PROVIDER_MORE);
	assert_int_equal(r.ninstances, 2);
	assert_string_equal(r.cursor, r.instances[1].id);
	provider_result_fini(&r);
}

#define TAGGED          "\"tags\":[\"x\",\"" TAG "\"]"
#define META(members)   "\"metadata\":{" members "}"
#define OURS            "\"burstd-cluster\":\"" UUID "\""
#define C1              META(OURS ",\"burstd-node\":\"c1\",\"burstd-generation\":\"4\"")
#define C1_C2           META(OURS ",\"burstd-node\":\"c[1-2]\",\"burstd-generation\":\"4,5\"")
#define SERVER(members) "{\"id\":\"i-1\"," members "}"
#define LIST(rows)      "{\"servers\":[" rows "]}"

struct who {
	const char *server, *node;
	uint64_t gen;
};

/* An instance that is not ours is not listed; one of ours always is (I2, I12). */
static void test_whose_a_server_is(void **state)
{
	static const struct who rows[] = {
		{SERVER("\"name\":\"c1\"," C1 "," TAGGED), "c1", 4},
		{SERVER("\"name\":\"renamed\"," C1 "," TAGGED), "c1", 4},
		{SERVER("\"name\":\"c1\"," C1), "c1", 4}, /* somebody took the tag */
		{SERVER("\"name\":\"b-2\"," C1_C2 "," TAGGED), "c2", 5},
		{SERVER("\"name\":\"b-3\"," C1_C2 "," TAGGED), "", 0},
		{SERVER("\"name\":\"b-0\"," C1_C2 "," TAGGED), "", 0},
		{SERVER("\"name\":\"renamed\"," C1_C2 "," TAGGED), "", 0},
		{SERVER("\"name\":7," C1_C2 "," TAGGED), "", 0},
		{SERVER("\"name\":\"c1\"," META("") "," TAGGED), "", 0},
		{SERVER("\"name\":\"c1\",\"metadata\":7," TAGGED), "", 0},
		{SERVER("\"name\":\"c1\"," TAGGED), "", 0},
		{SERVER("\"name\":\"c1\"," META(
			 OURS ",\"burstd-node\":\"c[1-\",\"burstd-generation\":\"4\"")),
		 "", 0},
		{SERVER("\"name\":\"c1\"," META(
			 "\"burstd-cluster\":\"other\"") ",\"tags\":[\"x\"]"),
		 NULL, 0},
		{SERVER("\"name\":\"c1\",\"tags\":7"), NULL, 0},
		{SERVER("\"name\":{},\"status\":[],\"created\":7"), NULL, 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct provider_op op = list("");
		struct provider_result r;
		char body[1024];

		(void)snprintf(body, sizeof(body), LIST("%s"), rows[i].server);
		parse(&r, &op, 200, body);
		assert_int_equal(r.code, PROVIDER_OK);
		if (r.ninstances != (rows[i].node != NULL))
			fail_msg("row %zu: %zu", i, r.ninstances);
		if (rows[i].node != NULL && (strcmp(r.instances[0].node, rows[i].node) != 0 ||
					     r.instances[0].gen != rows[i].gen ||
					     strcmp(r.instances[0].cluster, UUID) != 0))
			fail_msg("row %zu: %s", i, r.instances[0].node);
		provider_result_fini(&r);
	}
}

static void test_long_lists_of_nodes_are_put_together(void **state)
{
	struct provider_op op = list("");
	struct provider_result r;

	(void)state;
	parse(&r, &op, 200,
	      LIST(SERVER("\"name\":\"b-3\"," META(OURS
						   ",\"burstd-node\":\"c[1-\",\"burstd-node-2\":"
						   "\"2],d7\",\"burstd-generation\":\"4*\","
						   "\"burstd-generation-2\":\"3\"") "," TAGGED)));
	assert_string_equal(r.instances[0].node, "d7");
	assert_int_equal(r.instances[0].gen, 4);
	provider_result_fini(&r);
}

#define FAILED(fault) LIST(SERVER("\"status\":\"ERROR\"," C1 fault))
#define FAULT(text)   FAILED(",\"fault\":{\"code\":500,\"message\":\"" text "\"}")

/* A refusal of the place, or of the account, is one that comes late (ADR 7). */
static void test_why_a_server_failed(void **state)
{
	static const struct {
		const char *body;
		enum provider_code code;
		const char *message;
	} rows[] = {
		{FAULT("No valid host was found. There are not enough hosts available."),
		 PROVIDER_CAPACITY,
		 "No valid host was found. There are not enough hosts available."},
		{FAULT("Insufficient compute resources: Free memory 0.00 MB < requested 1024 MB."),
		 PROVIDER_CAPACITY, "Insufficient"},
		{FAULT("Quota exceeded for instances: Requested 1, but already used 10 of 10"),
		 PROVIDER_QUOTA, "Quota"},
		{FAULT("Maximum number of ports exceeded"), PROVIDER_QUOTA, "Maximum"},
		{FAULT("Build of instance 1 aborted: VolumeLimitExceeded: Maximum number of "
		       "volumes "
		       "allowed (10) exceeded for quota 'volumes'."),
		 PROVIDER_QUOTA, "Build of"},
		{FAULT("Exceeded maximum number of retries. Exhausted all hosts available for "
		       "retrying "
		       "build failures for instance 1."),
		 PROVIDER_TRANSIENT, "Exceeded maximum"},
		{FAULT("Build of instance 1 aborted: VolumeSizeExceedsAvailableQuota: Requested "
		       "volume or snapshot exceeds allowed gigabytes quota. Requested 100G, quota "
		       "is 1000G and 950G has been consumed."),
		 PROVIDER_QUOTA, "Build of"},
		{FAULT("no s3cret"), PROVIDER_TRANSIENT, "no ***"},
		{FAULT("   "), PROVIDER_TRANSIENT, ""},
		{FAILED(""), PROVIDER_TRANSIENT, ""},
		{FAILED(",\"fault\":7"), PROVIDER_TRANSIENT, ""},
		{FAILED(",\"fault\":{\"message\":{}}"), PROVIDER_TRANSIENT, ""},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct provider_op op = list("");
		struct provider_result r;

		parse(&r, &op, 200, rows[i].body);
		assert_int_equal(r.nfailures, 1);
		assert_string_equal(r.failures[0].id, "i-1");
		if (r.failures[0].code != rows[i].code ||
		    strncmp(r.failures[0].message, rows[i].message, strlen(rows[i].message)) != 0)
			fail_msg("row %zu: %s: %s", i, provider_code_str(r.failures[0].code),
				 r.failures[0].message);
		provider_result_fini(&r);
	}
}

static void test_many_failures_are_all_told(void **state)
{
	struct provider_op op = list("");
	struct provider_result r;
	struct str body;

	(void)state;
	str_init(&body, BODY_MAX);
	str_adds(&body, "{\"servers\":[");
	for (size_t i = 0; i < 100; i++)
		str_addf(&body, "%s{\"id\":\"i-%zu\",\"status\":\"ERROR\"," C1 "}",
			 i > 0 ? "," : "", i);
	str_adds(&body, "]}");
	parse(&r, &op, 200, body.p);
	assert_int_equal(r.ninstances, 100);
	assert_int_equal(r.nfailures, 100);
	assert_string_equal(r.failures[99].id, "i-99");
	provider_result_fini(&r);
	str_fini(&body);
}

/* --- addresses ---------------------------------------------------------------------------------
 */

#define ADDR(addr, version, type)                                                                  \
	"{\"addr\":\"" addr "\",\"version\":" version ",\"OS-EXT-IPS:type\":\"" type "\"}"
#define AT(addresses) LIST(SERVER("\"addresses\":" addresses "," C1))
#define TWO                                                                                        \
	AT("{\"storage\":[" ADDR("fd00::1", "6", "fixed") "," ADDR(                                \
		"10.0.0.1", "4", "fixed") "],"                                                     \
					  "\"ib\":[" ADDR("10.9.0.1", "4", "fixed") "]}")

static void has_address(const char *body, const char *address)
{
	struct provider_op op = list("");
	struct provider_result r;

	parse(&r, &op, 200, body);
	assert_int_equal(r.ninstances, 1);
	assert_string_equal(r.instances[0].addr, address);
	provider_result_fini(&r);
}

static void test_a_node_has_its_own_address(void **state)
{
	(void)state;
	has_address(TWO, "10.0.0.1");
	has_address(AT("{\"a\":[" ADDR("198.51.100.7", "4", "floating") "," ADDR("fd00::1", "6",
										 "fixed") "]}"),
		    "fd00::1");
	has_address(AT("{\"a\":[" ADDR("198.51.100.7", "4", "floating") "]}"), "198.51.100.7");
	has_address(AT("{}"), "");
	has_address(AT("{\"a\":[]}"), "");
	has_address(AT("7"), "");
	has_address(AT("{\"a\":7}"), "");
	has_address(AT("{\"a\":[{\"addr\":7,\"version\":4}]}"), "");
	has_address(AT("{\"a\":[" ADDR("not an address", "4", "fixed") "]}"), "");
	options.address_network = "ib";
	reset(USUAL_FLAVORS);
	has_address(TWO, "10.9.0.1");
	options.address_network = "other";
	reset(USUAL_FLAVORS);
	has_address(TWO, "");
}

/* --- pages, and damage -------------------------------------------------------------------------
 */

#define NEXT                                                                                       \
	"\"servers_links\":[{\"rel\":\"self\"},{\"rel\":\"next\",\"href\":\"http://elsewhere/\"}]"

static void test_pages(void **state)
{
	static const struct {
		const char *cursor, *body;
		enum provider_code code;
		const char *next;
	} rows[] = {
		{"", LIST(""), PROVIDER_OK, ""}, /* accepted, and not yet listed */
		{"i-0", "{\"servers\":[{\"id\":\"i-1\"}]," NEXT "}", PROVIDER_MORE, "i-1"},
		{"i-0", "{\"servers\":[{\"id\":\"i-1\"}],\"servers_links\":[]}", PROVIDER_OK, ""},
		{"i-0", "{\"servers\":[{\"id\":\"i-1\"}],\"servers_links\":[{\"rel\":\"self\"}]}",
		 PROVIDER_OK, ""},
		{"i-1", "{\"servers\":[{\"id\":\"i-1\"}]," NEXT "}", PROVIDER_TRANSIENT, ""},
		{"i-0", "{\"servers\":[]," NEXT "}", PROVIDER_TRANSIENT, ""},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct provider_op op = list(rows[i].cursor);
		struct provider_result r;

		parse(&r, &op, 200, rows[i].body);
		if (r.code != rows[i].code || strcmp(r.cursor, rows[i].next) != 0)
			fail_msg("row %zu: %s: %s", i, provider_code_str(r.code), r.cursor);
		provider_result_fini(&r);
	}
}

/* max_limit of Nova may be above its default of 1,000. */
static void test_a_page_longer_than_usual(void **state)
{
	enum { N = 1001 };
	struct provider_op op = list("");
	struct provider_result r;
	struct str body;

	(void)state;
	str_init(&body, N * 32);
	str_adds(&body, "{\"servers\":[");
	for (int i = 0; i < N; i++)
		str_addf(&body, "%s{\"id\":\"i-%d\"}", i > 0 ? "," : "", i);
	str_adds(&body, "," SERVER("\"status\":\"ACTIVE\"," C1) "]}");
	parse(&r, &op, 200, body.p);
	assert_int_equal(r.code, PROVIDER_OK);
	assert_int_equal(r.ninstances, 1); /* the last is ours */
	provider_result_fini(&r);
	str_fini(&body);
}

static void test_a_list_begins_again_when_its_last_server_is_gone(void **state)
{
	struct provider_op op = list("00000000-0000-4000-8000-0000000000ff");
	struct provider_result r;

	(void)state;
	parse_fixture(&r, &op, 400, "bad-marker");
	assert_int_equal(r.code, PROVIDER_TRANSIENT);
	provider_result_fini(&r);
}

static void fails(const char *body, size_t len, long status, enum provider_code code)
{
	struct provider_op op = list("");
	struct provider_reply reply = {.status = status, .body = body, .len = len};
	struct provider_result r = {0};

	provider_openstack.parse(self, &op, &reply, &r);
	if (r.code != code || r.ninstances + r.nfailures != 0)
		fail_msg("%.*s: %s", (int)(len < 80 ? len : 80), body, provider_code_str(r.code));
	provider_result_fini(&r);
}

/* Half a list would end machines that run (I12). */
static void test_a_damaged_list_is_none(void **state)
{
	static const struct {
		const char *body;
		long status;
		enum provider_code code;
	} rows[] = {
		{"", 200, PROVIDER_TRANSIENT},
		{"{}", 200, PROVIDER_TRANSIENT},
		{"<html>", 200, PROVIDER_TRANSIENT},
		{"", 204, PROVIDER_TRANSIENT},
		{"{\"servers\":7}", 200, PROVIDER_TRANSIENT},
		{LIST("7"), 200, PROVIDER_TRANSIENT},
		{LIST("{}"), 200, PROVIDER_TRANSIENT},
		{LIST("{\"id\":7," C1 "}"), 200, PROVIDER_TRANSIENT},
		{LIST("{\"id\":\"a b\"," C1 "}"), 200, PROVIDER_TRANSIENT},
		{LIST(SERVER(C1 ",\"created\":7")), 200, PROVIDER_TRANSIENT},
		{LIST(SERVER(C1 ",\"created\":\"yesterday\"")), 200, PROVIDER_TRANSIENT},
		{LIST(SERVER(C1) "," SERVER(C1 ",\"created\":\"\",\"created\":\"\"")), 200,
		 PROVIDER_TRANSIENT},
		{LIST(SERVER(C1)) "x", 200, PROVIDER_TRANSIENT},
		{"{\"error\":{\"message\":\"expired\"}}", 401, PROVIDER_DENIED},
		{"{\"itemNotFound\":{\"message\":\"\"}}", 404, PROVIDER_INVALID},
		{"", 429, PROVIDER_RATE},
		{"", 500, PROVIDER_TRANSIENT},
		{"", 503, PROVIDER_TRANSIENT},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		fails(rows[i].body, strlen(rows[i].body), rows[i].status, rows[i].code);
}

static void test_a_list_that_is_cut_anywhere_is_none(void **state)
{
	char *body = fixture("list-page");
	size_t len = strlen(body);

	(void)state;
	while (len > 0 && (body[len - 1] == '\n' || body[len - 1] == ' '))
		len--;
	for (size_t n = 0; n < len; n++) {
		char *part = mem_zalloc(n + 1); /* so that a read beyond it is seen */

		memcpy(part, body, n);
		fails(part, n, 200, PROVIDER_TRANSIENT);
		free(part);
	}
	free(body);
}

static void test_ten_mebibytes_are_no_list(void **state)
{
	const size_t len = 10 << 20;
	char *body = mem_zalloc(len + 1);

	(void)state;
	memset(body, '[', len);
	fails(body, len, 200, PROVIDER_TRANSIENT);
	memset(body, ' ', len);
	fails(body, len, 200, PROVIDER_TRANSIENT);
	free(body);
}

/* docs.openstack.org/api-guide/compute/down_cells.html: what a server of such a cell looks like. */
static void test_a_cell_that_is_away_makes_the_list_fail(void **state)
{
	struct provider_op op = list("");
	struct provider_result r;

	(void)state;
	parse(&r, &op, 200,
	      LIST(SERVER(
		      C1) ",{\"id\":\"i-2\",\"status\":\"UNKNOWN\",\"tenant_id\":\"t\",\"created\":"
			  "\"2018-12-03T21:06:18Z\",\"links\":[]}"));
	assert_int_equal(r.code, PROVIDER_TRANSIENT);
	assert_int_equal(r.ninstances, 0);
	assert_non_null(strstr(r.message, "a cell of Nova is away"));
	provider_result_fini(&r);
}

/* --- deletes -----------------------------------------------------------------------------------
 */

static void test_a_delete_says_what_became_of_it(void **state)
{
	static const struct {
		long status;
		const char *body;
		enum provider_code code, item;
	} rows[] = {
		{204, "", PROVIDER_OK, PROVIDER_OK},
		{404, "", PROVIDER_OK, PROVIDER_NOT_FOUND},
		{409, "{\"conflictingRequest\":{\"message\":\"Instance 1 is locked\"}}",
		 PROVIDER_OK, PROVIDER_NOT_YET},
		{401, "", PROVIDER_DENIED, PROVIDER_OK},
		{403, "", PROVIDER_DENIED, PROVIDER_OK},
		{429, "", PROVIDER_RATE, PROVIDER_OK},
		{500, "", PROVIDER_TRANSIENT, PROVIDER_OK},
		{400, "", PROVIDER_INVALID, PROVIDER_OK},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct provider_op op = delete_one();
		struct provider_result r;

		parse(&r, &op, rows[i].status, rows[i].body);
		if (r.code != rows[i].code || r.nitems != (r.code == PROVIDER_OK))
			fail_msg("row %zu: %s", i, provider_code_str(r.code));
		if (r.nitems > 0) {
			assert_int_equal(r.items[0].code, rows[i].item);
			assert_string_equal(r.items[0].instance.id, one_id[0]);
		}
		provider_result_fini(&r);
	}
}

static void test_a_server_that_nova_does_not_know(void **state)
{
	struct provider_op op = delete_one();
	struct provider_result r;

	(void)state;
	parse_fixture(&r, &op, 404, "delete-unknown");
	assert_int_equal(r.items[0].code, PROVIDER_NOT_FOUND);
	provider_result_fini(&r);
	parse(&r, &op, 204, "");
	assert_int_equal(r.items[0].instance.state,
			 PROVIDER_STOPPING); /* a list says when it is gone */
	provider_result_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_requests),
		T(test_requests_that_cannot_be),
		T(test_capabilities),
		T(test_servers_of_a_real_nova),
		T(test_whose_a_server_is),
		T(test_long_lists_of_nodes_are_put_together),
		T(test_why_a_server_failed),
		T(test_many_failures_are_all_told),
		T(test_a_node_has_its_own_address),
		T(test_pages),
		T(test_a_page_longer_than_usual),
		T(test_a_list_begins_again_when_its_last_server_is_gone),
		T(test_a_damaged_list_is_none),
		T(test_a_list_that_is_cut_anywhere_is_none),
		T(test_ten_mebibytes_are_no_list),
		T(test_a_cell_that_is_away_makes_the_list_fail),
		T(test_a_delete_says_what_became_of_it),
		T(test_a_server_that_nova_does_not_know),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
