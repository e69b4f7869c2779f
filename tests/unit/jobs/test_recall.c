/* test_recall.c - of a heterogeneous job of which one component waits for its nodes the others give
 * theirs back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "jobs/jobs.h"

static char requeued[100], beside[100];
static uint64_t waits;  /* the job that we make wait ... */
static uint64_t untold; /* ... or that slurmctld is to be told so of */
static int64_t left_ms;

bool slurm_requeue(struct slurm *s, const char *job, const char *why)
{
	size_t n = strlen(requeued);

	(void)s;
	assert_string_equal(why, "one of its components waits for its nodes");
	(void)snprintf(requeued + n, sizeof(requeued) - n, "%s ", job);
	return true;
}

int64_t postpone_left_ms(const struct engine *e, uint64_t number)
{
	(void)e;
	return number == waits ? left_ms : 0;
}

bool postpone_is_untold(const struct engine *e, uint64_t number)
{
	(void)e;
	return number == untold;
}

void engine_job_beside(struct engine *e, uint64_t job, uint64_t other)
{
	size_t n = strlen(beside);

	(void)e;
	(void)snprintf(beside + n, sizeof(beside) - n, "%u+%u ", (unsigned)job, (unsigned)other);
}

struct row {
	const char *number, *state, *het;
};

/* squeue's answer. */
static void details(const struct row *rows)
{
	char text[2000] = "";
	struct engine e = {0};

	for (const struct row *r = rows; r < rows + 3; r++) {
		size_t n = strlen(text);

		if (r->number != NULL)
			(void)snprintf(text + n, sizeof(text) - n,
				       "%-24s%-24s%-24s%-24s%-300s%-72s%-24s\n", r->number,
				       r->state, "42", "1795264920", "", "", r->het);
	}
	requeued[0] = beside[0] = '\0';
	recall_details(&e, text, strlen(text), NULL);
}

static void test_who_waits_for_nothing_gives_its_nodes_back(void **state)
{
	static const struct {
		struct row rows[3];
		uint64_t waits;
		int64_t left_ms;
		const char *requeued;
	} cases[] = {
		{{{"7", "PENDING", "7"}, {"8", "CONFIGURING", "7"}}, 7, 30000, "7 "},
		{{{"7", "PENDING", "7"}, {"8", "RUNNING", "7"}}, 7, 30000, "7 "},
		/* Those before it, too, should slurmctld leave them there. */
		{{{"7", "RUNNING", "7"}, {"8", "PENDING", "7"}}, 8, 30000, "7 "},
		{{{"7", "PENDING", "7"}, {"8", "PENDING", "7"}}, 7, 30000, ""},
		/* It may begin before the order is there, and all work by then. */
		{{{"7", "PENDING", "7"}, {"8", "RUNNING", "7"}}, 7, 19000, ""},
		/* It waits for somebody else: it may begin at any time. */
		{{{"7", "PENDING", "7"}, {"8", "RUNNING", "7"}}, 0, 0, ""},
		{{{"7", "RUNNING", "7"}, {"8", "RUNNING", "7"}}, 7, 30000, ""},
		/* Other jobs. */
		{{{"7", "PENDING", "N/A"}, {"8", "RUNNING", "N/A"}}, 7, 30000, ""},
		{{{"7", "PENDING", ""}, {"8", "RUNNING", "8"}, {"9", "RUNNING", "8"}},
		 7,
		 30000,
		 ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		print_message("# %zu\n", i);
		waits = cases[i].waits;
		left_ms = cases[i].left_ms;
		details(cases[i].rows);
		assert_string_equal(requeued, cases[i].requeued);
	}
}

/* What lacks money is told which other components there are, wherever these are. */
static void test_who_is_refused_has_others_beside_it(void **state)
{
	static const struct {
		struct row rows[3];
		uint64_t waits, untold;
		const char *beside;
	} cases[] = {
		{{{"7", "PENDING", "7"}, {"8", "RUNNING", "7"}, {"9", "PENDING", "7"}},
		 7,
		 0,
		 "7+8 7+9 "},
		{{{"7", "PENDING", "7"}, {"8", "PENDING", "7"}}, 0, 8, "8+7 "},
		{{{"7", "PENDING", "7"}, {"8", "PENDING", "7"}}, 7, 8, "7+8 8+7 "},
		{{{"7", "PENDING", "7"}, {"8", "PENDING", "8"}, {"9", "PENDING", "N/A"}}, 7, 9, ""},
		{{{"7", "CONFIGURING", "7"}, {"8", "PENDING", "7"}}, 0, 7, ""},
		{{{"7", "PENDING", "7"}, {"7", "PENDING", "7"}}, 7, 0, ""}, /* shown twice */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		print_message("# %zu\n", i);
		waits = cases[i].waits;
		untold = cases[i].untold;
		left_ms = 1;
		details(cases[i].rows);
		assert_string_equal(beside, cases[i].beside);
	}
	untold = 0;
}

static void test_no_answer_says_nothing(void **state)
{
	static const struct err away = {.code = ERR_NET, .msg = "away"};
	struct engine e = {0};

	(void)state;
	requeued[0] = '\0';
	recall_details(&e, NULL, 0, &away);
	assert_string_equal(requeued, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_who_waits_for_nothing_gives_its_nodes_back),
		cmocka_unit_test(test_who_is_refused_has_others_beside_it),
		cmocka_unit_test(test_no_answer_says_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
