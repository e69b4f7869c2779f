/* postponed_anew.h - jobs that are postponed and decided anew. */
#ifndef TESTS_POSTPONED_ANEW_H
#define TESTS_POSTPONED_ANEW_H

#include "bare_postpone.h"
#include "jobs/jobs.h"

static inline void refuse_for_good(void)
{
	F.bad.hint.lasting = true;
	F.started[0] = '\0';
	refuse("this job needs 12 nodes, the pool allows 8");
	details("PENDING", 7, 6, "");
	W.now += 10000; /* slurmctld's own time is over */
}

static inline void words(unsigned count, const char *constraint)
{
	char line[1200];

	(void)snprintf(line, sizeof(line), "107|7_2|PENDING|p|None||1000|%u|||(null)|%s %-1025s\n",
		       count, constraint, "(null)");
	W.words[0] = '\0';
	W.now += 60000;
	postpone_part.at[PART_RUN](&F.e);
	assert_string_equal(W.words, "107");
	postpone_words(&F.e, line, strlen(line));
}

static inline void prices_change_nothing(void)
{
	postpone_quotes(&F.e, true);
	W.asked[0] = '\0';
	postpone_part.at[PART_RUN](&F.e);
	assert_string_equal(W.asked, "");
}

#endif
