/* test_options.c - the table of each driver's own options fits what reads it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "core/conf.h"
#include "core/conf_option.h"
#include "providers/options.h"
#include "providers/registry.h"

/* burstctl explains the options of just those drivers that burstd has. */
static void test_each_driver_has_its_table(void **state)
{
	size_t n = 0;

	(void)state;
	for (; provider_options[n] != NULL; n++) {
		const struct conf_driver *d = provider_options[n];
		const struct provider_ops *ops = provider_find(d->name);

		assert_non_null(ops);
		assert_ptr_equal(ops, provider_drivers[n]); /* both by name */
		if (ops->options != NULL || d->noptions > 0)
			assert_ptr_equal(ops->options, d);
	}
	assert_null(provider_drivers[n]);
}

/* An option of one name would hide the other, and libconfuse needs one shape for each name. */
static void test_a_name_means_one_thing(void **state)
{
	(void)state;
	for (size_t i = 0; provider_options[i] != NULL; i++)
		for (size_t k = 0; k < provider_options[i]->noptions; k++) {
			const struct conf_option *o = &provider_options[i]->options[k];

			assert_string_equal(o->section, "provider");
			assert_null(conf_option_find("provider", o->name));
			assert_ptr_equal(conf_option_of(provider_options[i], o->name), o);
			for (size_t j = 0; provider_options[j] != NULL; j++) {
				const struct conf_option *same =
					conf_option_of(provider_options[j], o->name);

				if (same != NULL)
					assert_int_equal(conf_option_is_list(same),
							 conf_option_is_list(o));
			}
		}
}

/* Each default is a value that the option takes, in a field of the struct that no other has. */
static void test_defaults_are_good(void **state)
{
	(void)state;
	for (size_t i = 0; provider_options[i] != NULL; i++) {
		const struct conf_driver *d = provider_options[i];
		void *own = mem_zalloc(d->size + 1);

		for (size_t k = 0; k < d->noptions; k++) {
			const struct conf_option *o = &d->options[k];

			print_message("# %s %s\n", d->name, o->name);
			assert_true(o->offset < d->size);
			assert_true(strlen(o->help) > 10);
			for (size_t j = 0; j < k; j++)
				assert_true(d->options[j].offset != o->offset);
			if (o->initial != NULL && !conf_option_is_list(o))
				assert_int_equal(conf_option_set(o, own, o->initial, NULL), 0);
			conf_option_fini(o, own);
		}
		free(own);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_driver_has_its_table),
		cmocka_unit_test(test_a_name_means_one_thing),
		cmocka_unit_test(test_defaults_are_good),
	};

	return cmocka_run_group_tests_name("options of drivers", tests, NULL, NULL);
}
