/* test_order.c - the order of the table of parts is a rule, which the kernel insists on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "parts/parts.h"

static size_t row_of(const struct engine_parts *p, const struct engine_part *part)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->row[i].part == part)
			return i;
	fail_msg("the table has no part \"%s\"", part->name);
	return 0;
}

static void test_the_table_is_in_order(void **state)
{
	const struct engine_parts all = parts_all();

	(void)state;
	assert_null(engine_parts_late(&all));
}

static void test_each_part_has_one_row(void **state)
{
	const struct engine_parts all = parts_all();

	(void)state;
	for (size_t i = 0; i < all.n; i++)
		assert_int_equal(row_of(&all, all.row[i].part), i);
}

/* Two rows of which one says that it comes before the other change places. */
static void test_rows_that_change_places_are_refused(void **state)
{
	const struct engine_parts all = parts_all();
	struct part_row *rows = mem_zalloc(all.n * sizeof(*rows));
	const struct engine_parts swapped = {rows, all.n};
	size_t pairs = 0;

	(void)state;
	for (size_t i = 0; i < all.n; i++)
		for (size_t b = 0; b < PART_BEFORE_MAX && all.row[i].before[b] != NULL; b++) {
			size_t k = row_of(&all, all.row[i].before[b]);

			memcpy(rows, all.row, all.n * sizeof(*rows));
			rows[i] = all.row[k];
			rows[k] = all.row[i];
			assert_non_null(engine_parts_late(&swapped));
			pairs++;
		}
	assert_in_range(pairs, 25, 100);
	free(rows);
}

/* Memory that no part could do without at its first moment. */
static void test_the_memory_of_parts_is_made_before_all_others(void **state)
{
	const struct engine_parts all = parts_all();
	size_t i = 0;

	(void)state;
	while (all.row[i].part->at[PART_INIT] == NULL)
		i++;
	assert_true(all.row[i].part == &memory_part);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_table_is_in_order),
		cmocka_unit_test(test_each_part_has_one_row),
		cmocka_unit_test(test_rows_that_change_places_are_refused),
		cmocka_unit_test(test_the_memory_of_parts_is_made_before_all_others),
	};

	return cmocka_run_group_tests_name("parts/order", tests, NULL, NULL);
}
