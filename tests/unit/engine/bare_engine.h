/* bare_engine.h - the surroundings of one file of the engine that a test calls on a bare struct
 * engine: a clock that stands until the test moves it, a journal without transactions, and the
 * questions to squeue about jobs.  The test defines whatever else that file calls. */
#ifndef TESTS_BARE_ENGINE_H
#define TESTS_BARE_ENGINE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "engine/kernel.h"

#define BEGAN INT64_C(1800000000000) /* 2027-01-15T08:00:00Z */

static struct world {
	int64_t now, settled_ms;
	enum slurm_question question; /* the only question allowed */
	char asked[200];              /* jobs of the last question: as many as fit */
	unsigned nasked;              /* jobs asked about in all */
	char words[200];              /* jobs whose wishes (SLURM_SOME_JOBS) were asked for last */
} W;

int64_t engine_now(const struct engine *e)
{
	(void)e;
	return W.now;
}

struct journal_tx *engine_tx(struct engine *e)
{
	(void)e;
	return NULL;
}

int64_t slurm_settled_ms(const struct slurm *s)
{
	(void)s;
	return W.settled_ms;
}

static inline void add(char *to, size_t size, const char *a, const char *b, const char *c)
{
	size_t n = strlen(to);

	(void)snprintf(to + n, size - n, "%s%s%s", a, b, c);
}

bool slurm_ask_jobs(struct slurm *s, enum slurm_question q, const char *const *ids, size_t n)
{
	(void)s;
	if (q == SLURM_SOME_JOBS && W.question == SLURM_DETAILS) {
		W.words[0] = '\0';
		for (size_t i = 0; i < n; i++)
			add(W.words, sizeof(W.words), i > 0 ? " " : "", ids[i], "");
		return true;
	}
	assert_int_equal(q, W.question);
	W.nasked += (unsigned)n;
	W.asked[0] = '\0';
	for (size_t i = 0; i < n; i++)
		add(W.asked, sizeof(W.asked), i > 0 ? " " : "", ids[i], "");
	return true;
}

/* A line that squeue prints of a job (SLURM_DETAIL_ARGS). */
static inline const char *detail(const char *number, const char *state, const char *priority,
				 const char *start, const char *comment)
{
	static char line[300];

	(void)snprintf(line, sizeof(line), "%-24s%-24s%-24s%-24s%-40s\n", number, state, priority,
		       start, comment);
	return line;
}

#endif
