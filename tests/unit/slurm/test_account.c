/* account.c: the tree of accounts, from lines that scontrol printed (22.05.8), and from others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "slurm/account.h"

static void on_account(void *ctx, struct slurm_text account, struct slurm_text parent)
{
	char *to = ctx;
	size_t at = strlen(to);

	(void)snprintf(to + at, 400 - at, "%.*s<%.*s ", (int)account.n, account.p, (int)parent.n,
		       parent.p);
}

static void test_a_tree(void **state)
{
	static const char text[] = "Current Association Manager state\n"
				   "Association Records\n"
				   "ClusterName=lab Account=root UserName= Partition= Priority=0 "
				   "ID=1 ParentAccount= Lft=1\n"
				   "ClusterName=lab Account=root UserName=root(0) Partition= ID=2 "
				   "ParentAccount= Lft=8\n"
				   "ClusterName=lab Account=phys UserName= Partition= ID=3 "
				   "ParentAccount=root(1) Lft=2\n"
				   "ClusterName=lab Account=hep UserName= Partition= ID=4 "
				   "ParentAccount=phys(3) Lft=3\n"
				   "ClusterName=lab Account=hep UserName=ann(20001) Partition= "
				   "ID=5 ParentAccount= Lft=4\n";
	char out[400] = "";

	(void)state;
	assert_int_equal(slurm_account_parse(text, sizeof(text) - 1, on_account, out), 5);
	assert_string_equal(out, "phys<root hep<phys ");
}

/* A line that is cut, of another form, or of a user whose account has one, is none. */
static void test_other_lines(void **state)
{
	static const char *const texts[] = {
		"",
		"\n\n",
		"Account=a",
		"Account=a UserName=",
		"Account= UserName= ParentAccount=b(1)",
		"Account=a UserName=u(1) ParentAccount=b(1)",
		"Account=a ParentAccount=b(1)",
		"Account=a UserName= ParentAccount=(1)",
		"No associations currently cached in Slurm.\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		char out[400] = "";

		print_message("# %s\n", texts[i]);
		slurm_account_parse(texts[i], strlen(texts[i]), on_account, out);
		assert_string_equal(out, "");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_tree),
		cmocka_unit_test(test_other_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
