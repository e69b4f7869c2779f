/* test_conf_print.c - what is printed of a configuration has every option, and loads again as the
 * same. */
#include "conf_equal.h"
#include "conf_whole.h"

#include "core/conf_option.h"

static void print(const struct conf *c, struct str *s)
{
	str_init(s, CONF_PRINT_MAX);
	conf_print(c, s);
	assert_false(s->full);
}

static void test_print_loads_again(void **state)
{
	const char *texts[] = {whole, HEAD, HEAD SIM POOL};

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		struct conf *a = parsed(texts[i]), *b;
		struct str s, again;

		print(a, &s);
		b = parsed(s.p);
		assert_conf_equal(a, b);
		for (size_t k = 0; k < conf_noptions; k++) /* every option is written out */
			if (a->npools > 0 &&
			    (a->nbudgets > 0 || (strcmp(conf_options[k].section, "budget") != 0 &&
						 strcmp(conf_options[k].section, "alert") != 0)))
				assert_non_null(strstr(s.p, conf_options[k].name));
		print(b, &again);
		assert_string_equal(s.p, again.p);
		str_fini(&s);
		str_fini(&again);
		conf_free(a);
		conf_free(b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_print_loads_again),
	};

	return cmocka_run_group_tests_name("printed configurations", tests, NULL, NULL);
}
