/* test_spheron_words.c - the driver spheron: errors that are a title and a message. */
#include "spheron_lab.h"

#define WHY(title, text) "{\"error\":\"" title "\",\"message\":\"" text "\"}"

/* Some errors are a title, and a message that says more: it is shown, and where the title is not
 * known it may tell what the error means.  *Invented*, all of them. */
static void test_errors_with_a_title_and_a_message(void **state)
{
	static const struct {
		enum provider_op_kind kind;
		long status;
		const char *body;
		enum provider_code code;
		const char *message;
	} rows[] = {
		{PROVIDER_CREATE, 400, WHY("Deployment failed", "Insufficient balance: add 3 USD"),
		 PROVIDER_DENIED, "Deployment failed: Insufficient balance: add 3 USD"},
		{PROVIDER_CREATE, 400, WHY("No", "You have insufficient credits."), PROVIDER_DENIED,
		 "No: You have insufficient credits."},
		{PROVIDER_CREATE, 400, WHY("No", "Insufficient funds"), PROVIDER_DENIED,
		 "No: Insufficient funds"},
		{PROVIDER_CREATE, 400, WHY("No", "Not enough balance"), PROVIDER_DENIED,
		 "No: Not enough balance"},
		{PROVIDER_CREATE, 400, WHY("No", "You do not have enough credits"), PROVIDER_DENIED,
		 "No: You do not have enough credits"},
		{PROVIDER_CREATE, 400, WHY("No", "We have not enough funds"), PROVIDER_DENIED,
		 "No: We have not enough funds"},
		{PROVIDER_CREATE, 400, WHY("Bad Request", "Offer not found"), PROVIDER_CAPACITY,
		 "Bad Request: Offer not found"},
		{PROVIDER_CREATE, 400, "{\"message\":\"Offer not found\"}", PROVIDER_CAPACITY,
		 "Offer not found"},
		/* The title first. */
		{PROVIDER_CREATE, 400, WHY("Insufficient balance", "Offer not found"),
		 PROVIDER_DENIED, "Insufficient balance: Offer not found"},
		{PROVIDER_CREATE, 409,
		 "{\"error\":\"x\",\"code\":\"OFFER_UNAVAILABLE\","
		 "\"message\":\"Insufficient balance\"}",
		 PROVIDER_CAPACITY, "OFFER_UNAVAILABLE: x: Insufficient balance"},
		/* What speaks of these things otherwise says nothing. */
		{PROVIDER_CREATE, 400, WHY("No", "The load balancer is closed"), PROVIDER_INVALID,
		 "No: The load balancer is closed"},
		{PROVIDER_CREATE, 400, WHY("No", "No such key. Your balance was not charged."),
		 PROVIDER_INVALID, "No: No such key. Your balance was not charged."},
		{PROVIDER_CREATE, 400, WHY("No", "We credit what was not used"), PROVIDER_INVALID,
		 "No: We credit what was not used"},
		{PROVIDER_CREATE, 400, WHY("No", "Not enough GPUs"), PROVIDER_INVALID,
		 "No: Not enough GPUs"},
		{PROVIDER_CREATE, 400, WHY("No", ""), PROVIDER_INVALID, "No"},
		{PROVIDER_CREATE, 400, "{\"error\":\"No\",\"message\":[]}", PROVIDER_INVALID, "No"},
		{PROVIDER_CREATE, 400, WHY("No", "see " SECRET), PROVIDER_INVALID, "No: see ***"},
		/* Nor does one that may have happened, or that was no create. */
		{PROVIDER_CREATE, 500, WHY("No", "Insufficient balance"), PROVIDER_AMBIGUOUS,
		 "No: Insufficient balance"},
		{PROVIDER_CREATE, 404, WHY("Not found", "Offer not found"), PROVIDER_INVALID,
		 "Not found: Offer not found"},
		{PROVIDER_CREATE, 429, WHY("Slow down", "Insufficient balance"), PROVIDER_RATE,
		 "Slow down: Insufficient balance"},
		{PROVIDER_DELETE, 400, WHY("No", "Insufficient balance"), PROVIDER_INVALID,
		 "No: Insufficient balance"},
		{PROVIDER_LIST, 400, WHY("No", "Offer not found"), PROVIDER_INVALID,
		 "No: Offer not found"},
		{PROVIDER_CREATE, 200, "{\"message\":\"Insufficient balance\"}", PROVIDER_AMBIGUOUS,
		 "malformed reply: id: want an id of at most 95 bytes"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct provider_result r = parse(rows[i].kind, rows[i].status, rows[i].body);

		if (r.code != rows[i].code || strcmp(r.message, rows[i].message) != 0)
			fail_msg("row %zu: %s: %s", i, provider_code_str(r.code), r.message);
		provider_result_fini(&r);
	}
}

/* What is said of an instance is said of that alone. */
static void test_a_delete_of_none_has_no_message(void **state)
{
	struct provider_result r = parse(PROVIDER_DELETE, 404, WHY("Not found", "No such machine"));

	(void)state;
	assert_int_equal(r.code, PROVIDER_OK);
	assert_int_equal(r.items[0].code, PROVIDER_NOT_FOUND);
	assert_string_equal(r.message, "");
	provider_result_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_errors_with_a_title_and_a_message),
		T(test_a_delete_of_none_has_no_message),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
