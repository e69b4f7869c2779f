/* test_ironic_theirs.c - somebody in the project has made what burstd was about to make. */
#include "ironic_lab.h"

/* Names are easily guessed: whoever has an allocation of ours before us gets no user-data. */
static void test_anothers_allocation_of_our_name_is_left_alone(void **state)
{
	static const struct {
		const char *class, *extra;
		enum provider_code code;
	} rows[] = {
		{"h100", "\"burstd-signature\":\"5b3975651c3cab92d044c096dc30a1c2\"",
		 PROVIDER_MORE},
		{"h100", "\"burstd-signature\":\"00000000000000000000000000000000\"",
		 PROVIDER_CONFLICT},
		{"h100", "", PROVIDER_CONFLICT},
		{"evil", "\"burstd-signature\":\"5b3975651c3cab92d044c096dc30a1c2\"",
		 PROVIDER_CONFLICT},
	};
	struct provider_op op = op_at(PROVIDER_CREATE, CHOSEN);

	(void)state;
	op.u.create.user_data = "own";
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct provider_result r;
		char body[400];

		print_message("# row %zu\n", i);
		(void)snprintf(body, sizeof(body),
			       "{\"uuid\":\"" ID "\",\"name\":\"" NAME "\",\"state\":\"active\","
			       "\"node_uuid\":\"" MACHINE "\",\"last_error\":null,"
			       "\"resource_class\":\"%s\",\"traits\":[],\"extra\":{%s}}",
			       rows[i].class, rows[i].extra);
		r = parse_op(&op, 200, body);
		assert_int_equal(r.code, rows[i].code);
		if (r.code == PROVIDER_CONFLICT)
			assert_string_equal(r.message,
					    "an allocation of this name is not burstd's");
		provider_result_fini(&r);
	}
}

/* ... nor is a machine deployed that has our name for its image, and another image. */
static void test_what_is_to_be_deployed_is_burstds(void **state)
{
	static const char image[] = "http://i/n.img";
	const struct ironic_options o = {.image = image};
	struct provider_result r;

	(void)state;
	provider_ironic.close(self);
	assert_int_equal(open_with(&o, NULL, NULL), 0);
	r = parse_at(PROVIDER_CREATE, AT("l"), 200,
		     NODE("\"" ID "\"", "available", "null",
			  "\"display_name\":\"" NAME "\",\"image_source\":\"http://evil\""));
	assert_int_equal(r.code, PROVIDER_MORE);
	assert_int_equal(r.cursor[0], 'n');
	provider_result_fini(&r);
	r = parse_at(PROVIDER_CREATE, AT("l"), 200,
		     NODE("\"" ID "\"", "available", "null",
			  "\"display_name\":\"" NAME "\",\"image_source\":\"http://i/n.img\""));
	assert_int_equal(r.cursor[0], 'd');
	provider_result_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_anothers_allocation_of_our_name_is_left_alone),
		T(test_what_is_to_be_deployed_is_burstds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
