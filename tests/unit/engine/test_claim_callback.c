/* test_claim_callback.c - which machine is it that claims, where nobody signs for it: who answers
 * at a port of its address that root alone can have. */
#include "bare_claims.h"

static int callback(void **state)
{
	(void)state;
	(void)setup_with(CONF_ATTEST_CALLBACK, CONF_BROKER);
	restart();
	return 0;
}

static void test_call_back(void **state)
{
	size_t at;
	uint64_t t;

	(void)state;
	one();
	at = F.nwire;
	t = says((struct says){.create = 1, .port = 861});
	assert_int_equal(F.nwire, at + 1);
	assert_string_equal(F.wire[at].url, "https://10.0.0.1:861/");
	assert_true(F.wire[at].pinned);
	assert_memory_equal(F.wire[at].pin, F.keys[0].spki, 32);
	assert_int_equal(claim(1)->c.state, CLAIM_ATTESTING);
	assert_null(F.keys_fn);
	wire_says(at, 0, "");
	turn();
	is_served(t, "");
	assert_false(claim(1)->c.weak);
}

static void test_another_key_answers(void **state)
{
	uint64_t t;
	size_t at;

	(void)state;
	one();
	at = F.nwire;
	t = says((struct says){.create = 1, .port = 861});
	wire_says(at, ERR_AUTH, "it has another key");
	turn();
	assert_int_equal(status(t), 403);
	assert_true(goes(1, NODE_BECAUSE_BREACH));
	assert_int_equal(events("claim-refused"), 1);
	assert_int_equal(events("breach"), 1);
	assert_int_equal(F.released, 0);
}

static void test_nobody_answers_yet(void **state)
{
	uint64_t t;
	size_t at;

	(void)state;
	one();
	at = F.nwire;
	t = says((struct says){.create = 1, .port = 861});
	wire_says(at, ERR_NOTSENT, "refused");
	turn();
	assert_int_equal(status(t), 202);
	assert_non_null(strstr(body(t), "retry_after=1\n"));
	assert_int_equal(claim(1)->c.state, CLAIM_ATTESTING);
	t = says((struct says){.create = 1, .port = 861});
	assert_int_equal(F.nwire, at + 2);
	/* Another key meanwhile is a theft. */
	assert_int_equal(status(says((struct says){.create = 1, .key = 1, .port = 861})), 409);
	assert_int_equal(status(t), 409);
	wire_says(at + 1, 0, ""); /* too late */
	turn();
	assert_null(F.keys_fn);
	assert_true(goes(1, NODE_BECAUSE_BREACH));
}

static void test_port_that_anybody_can_have(void **state)
{
	(void)state;
	one();
	assert_int_equal(status(says((struct says){.create = 1, .port = 8610})), 403);
	assert_int_equal(F.released, 0);
}

/* Nor may it be named later, by who began well. */
static void test_port_that_anybody_can_have_the_second_time(void **state)
{
	size_t at;

	(void)state;
	one();
	at = F.nwire;
	(void)says((struct says){.create = 1, .port = 861});
	wire_says(at, ERR_NOTSENT, "refused");
	turn();
	assert_int_equal(status(says((struct says){.create = 1, .port = 8610})), 403);
	assert_int_equal(F.nwire, at + 1);
}

enum { MACHINES = CLAIM_CALLS_CLOUD + 2 };

/* From the machine of this node, with a key of its own, which it keeps. */
static uint64_t asks(int i)
{
	static struct {
		char *csr;
		unsigned char spki[NODE_CA_SPKI_SIZE];
	} keys[MACHINES + 1];
	static char addr[24]; /* as long as F */
	char *csr = F.keys[1].csr;
	uint64_t t;

	if (keys[i].csr == NULL)
		keys[i].csr = make_csr(keys[i].spki);
	(void)snprintf(addr, sizeof(addr), "10.0.0.%d", i);
	F.address = addr;
	F.keys[1].csr = keys[i].csr;
	t = says((struct says){.create = 1, .key = 1, .port = 861});
	F.keys[1].csr = csr;
	return t;
}

/* Machines behind a filter take no more than their share: who comes after them is called soon. */
static void test_call_backs_that_nobody_answers(void **state)
{
	const int n = CLAIM_CALLS_CLOUD;
	uint64_t t = 0;
	size_t at;

	(void)state;
	buy(1, MACHINES);
	for (int i = 1; i <= MACHINES; i++)
		boots(i, true);
	at = F.nwire;
	for (int i = 1; i <= n; i++)
		t = asks(i);
	assert_int_equal(F.nwire, at + CLAIM_CALLS_CLOUD);
	(void)asks(n + 1);
	assert_int_equal(F.nwire, at + CLAIM_CALLS_CLOUD); /* it waits, but not for long */
	for (struct claim_call *c = F.e->claims->calls; c != NULL; c = c->next)
		c->since_ms -= CLAIM_CALL_MS;
	for (int i = 0; i < n; i++) {
		wire_says(at + (size_t)i, ERR_NET, "timed out");
		turn();
	}
	assert_int_equal(F.nwire, at + CLAIM_CALLS_CLOUD + 1);
	assert_string_equal(F.wire[F.nwire - 1].url, "https://10.0.0.33:861/");
	assert_int_equal(status(t), 202);
	assert_non_null(strstr(body(t), "retry_after=5\n"));
	/* They come again: a few at a time, and there is room for others. */
	at = F.nwire;
	for (int i = 1; i <= CLAIM_CALLS_SILENT + 1; i++)
		(void)asks(i);
	assert_int_equal(F.nwire, at + CLAIM_CALLS_SILENT);
	(void)asks(n + 2);
	assert_int_equal(F.nwire, at + CLAIM_CALLS_SILENT + 1);
}

/* No callback may find an engine that is gone. */
static void test_end_while_it_calls(void **state)
{
	(void)state;
	one();
	(void)says((struct says){.create = 1, .port = 861});
	restart();
	assert_int_equal(claim(1)->c.state, CLAIM_ATTESTING);
	(void)says((struct says){.create = 1, .port = 861});
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, callback, teardown)
	const struct CMUnitTest tests[] = {
		T(test_call_back),
		T(test_another_key_answers),
		T(test_nobody_answers_yet),
		T(test_port_that_anybody_can_have),
		T(test_port_that_anybody_can_have_the_second_time),
		T(test_call_backs_that_nobody_answers),
		T(test_end_while_it_calls),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
