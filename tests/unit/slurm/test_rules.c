/* The rules for slurm.conf are the table of docs/slurm.md, row by row.  Run from the top of the
 * repository. */
#include <string.h>

#include "slurm/require.h"
#include "slurp.h"

/* The row of docs/slurm.md for this rule. */
static void row(const struct slurm_rule *r, char *out, size_t size)
{
	(void)snprintf(out, size, "\n| `%s` | %s | %s | %s | %s |\n", r->setting, r->wanted,
		       slurm_trait_releases(r->trait), slurm_severity_name(r->severity), r->why);
}

static void test_manual(void **state)
{
	char *all = slurp("docs/slurm.md"), *text, *end, line[1000];
	size_t missing = 0, rows = 0;

	(void)state;
	text = strstr(all, "## What slurm.conf must say\n");
	assert_non_null(text);
	end = strstr(text, "\n## "); /* the next section's tables are its own */
	if (end != NULL)
		*end = '\0';
	for (size_t i = 0; i < slurm_nrules; i++) {
		row(&slurm_rules[i], line, sizeof(line));
		if (strstr(text, line) == NULL) {
			missing++;
			print_message("docs/slurm.md lacks:%s", line);
		}
	}
	for (const char *p = text; (p = strstr(p, "\n| `")) != NULL; p++)
		rows++;
	assert_int_equal(missing, 0);
	assert_int_equal(rows, slurm_nrules); /* and has nothing that no rule checks */
	free(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_manual)};

	return cmocka_run_group_tests_name("slurm rules", tests, NULL, NULL);
}
