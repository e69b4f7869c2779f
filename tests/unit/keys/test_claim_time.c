/* test_claim_time.c - documents of another time, and machines that started at another time than
 * their provider says: a clock is wrong, and nobody is a thief for it (F39). */
#include "claims_proved.h"
#include "claims_store.h"
#include "keys_engine.h"

enum { QUARTER = 900000 };

/* It ends as one that did not come up, and nobody is called a thief. */
static void is_untimely(const char *why)
{
	uint64_t t = shows("i-1 a r");

	assert_int_equal(status(t), 403);
	turn();
	assert_true(goes(1, NODE_BECAUSE_INIT));
	assert_int_equal(events("breach"), 0);
	assert_int_equal(audits("breach"), 0);
	assert_int_equal(F.e->count.claims_breached, 0);
	assert_int_equal(events("claim-refused"), 1);
	assert_int_equal(events("boot-failed"), 1);
	assert_non_null(strstr(fleet_why(row(1), &row(1)->n), why));
	assert_int_equal(F.released, 0);
	assert_int_equal(claim(1)->c.state, CLAIM_REVOKED);
	assert_int_equal(status(shows("i-1 a r")), 410);
}

static void test_document_of_another_time_is_no_theft(void **state)
{
	(void)state;
	one();
	V.at_ms = engine_now(F.e) - QUARTER;
	is_untimely("claim: it has expired; is the clock here right?");
}

static void test_document_of_another_time_than_the_providers(void **state)
{
	(void)state;
	one();
	V.at_ms = engine_now(F.e) - QUARTER;
	F.e->cloud->all[0].dated = true;
	F.e->cloud->all[0].ahead_ms = -2 * QUARTER;
	is_untimely("claim: it has expired; the clock here is 30m00s behind the provider's");
}

static void test_document_is_judged_by_the_clock_of_who_signs_it(void **state)
{
	(void)state;
	one();
	V.at_ms = engine_now(F.e) - QUARTER;
	F.e->cloud->all[0].dated = true;
	F.e->cloud->all[0].ahead_ms = QUARTER;
	is_served(shows("i-1 a r"), "");
}

/* A time is no excuse for anything else. */
static void test_document_of_another_time_and_another_instance(void **state)
{
	(void)state;
	one();
	V.at_ms = 1;
	refused("i-9 a r", true);
}

static void test_document_of_another_time_from_another_address(void **state)
{
	(void)state;
	one();
	V.at_ms = 1;
	F.address = "10.0.0.2";
	refused("i-1 a r", true);
}

static void test_document_of_another_time_with_a_second_key(void **state)
{
	(void)state;
	one();
	assert_int_equal(status(shows("i-1 a r")), 0); /* the secret store is asked */
	V.at_ms = 1;
	assert_int_equal(
		status(says((struct says){
			.create = 1, .key = 1, .attest = "aws-rsa2048", .doc = "i-1 a r"})),
		409);
	turn();
	assert_true(goes(1, NODE_BECAUSE_BREACH));
	assert_int_equal(events("breach"), 1);
}

static void test_machine_started_when_its_provider_says(void **state)
{
	(void)state;
	one();
	/* Long ago by our clock, which is wrong and does not matter. */
	row(1)->said_ms = engine_now(F.e) - QUARTER;
	V.created_ms = row(1)->said_ms - NODE_SKEW_MS;
	is_served(shows("i-1 a r"), "");
}

static void test_machine_started_before_its_provider_says(void **state)
{
	(void)state;
	one();
	row(1)->said_ms = engine_now(F.e);
	V.created_ms = row(1)->said_ms - NODE_SKEW_MS - 1;
	is_untimely("another start");
}

static void test_machine_started_after_its_provider_says(void **state)
{
	(void)state;
	one();
	row(1)->said_ms = engine_now(F.e);
	V.created_ms = row(1)->said_ms + NODE_SKEW_MS + 1;
	is_untimely("another start");
}

static void test_machine_started_long_before_it_was_asked_for(void **state)
{
	(void)state;
	one();
	V.created_ms = claim(1)->c.issued_ms - NODE_SKEW_MS - 1;
	assert_int_equal(status(shows("i-1 a r")), 202); /* the next list may say when it was */
	assert_int_equal(claim(1)->c.state, CLAIM_ISSUED);
	row(1)->seen_ms = engine_now(F.e); /* it does not */
	is_untimely("a start time before its request");
}

static void test_machine_asked_for_by_a_clock_that_was_ahead(void **state)
{
	(void)state;
	one();
	row(1)->seen_ms = engine_now(F.e);
	V.created_ms = claim(1)->c.issued_ms - NODE_SKEW_MS - QUARTER;
	F.e->cloud->all[0].dated = true;
	F.e->cloud->all[0].ahead_ms = QUARTER;
	is_served(shows("i-1 a r"), "");
}

static void test_document_of_another_time_before_its_address_is_known(void **state)
{
	(void)state;
	buy(1, 1);
	boots(1, false);
	V.at_ms = 1;
	assert_int_equal(status(shows("i-1 a r")), 202);
	assert_int_equal(claim(1)->c.state, CLAIM_ISSUED);
	shows_address(1);
	is_untimely("expired");
}

int main(void)
{
#define T(how, f) cmocka_unit_test_setup_teardown(f, how, teardown)
	const struct CMUnitTest tests[] = {
		T(aws, test_document_of_another_time_is_no_theft),
		T(aws, test_document_of_another_time_than_the_providers),
		T(aws, test_document_is_judged_by_the_clock_of_who_signs_it),
		T(aws, test_document_of_another_time_and_another_instance),
		T(aws, test_document_of_another_time_from_another_address),
		T(aws, test_document_of_another_time_with_a_second_key),
		T(aws, test_machine_started_when_its_provider_says),
		T(aws, test_machine_started_before_its_provider_says),
		T(aws, test_machine_started_after_its_provider_says),
		T(aws, test_machine_started_long_before_it_was_asked_for),
		T(aws, test_machine_asked_for_by_a_clock_that_was_ahead),
		T(aws, test_document_of_another_time_before_its_address_is_known),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
