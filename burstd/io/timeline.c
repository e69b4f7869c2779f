#include "io/timeline.h"

#include "base/clock.h"
#include "io/loop.h"
#include "store/journal.h"
#include "store/journal_events.h"

/* The end of the year 9999, in thousands of seconds, since seconds do not fit in an int.  A later
 * time is not valid. */
enum { YEAR_9999_KS = 253402300 };

static int read_last(void *ctx, const struct journal_event *ev)
{
	int64_t *last = ctx;

	if (ev->at_ms > *last && ev->at_ms / 1000000 < YEAR_9999_KS)
		*last = ev->at_ms;
	return 0;
}

int timeline_resume(struct loop *l, struct journal *j, struct err *e)
{
	struct clock_line was = {0}, is;
	struct journal_tx *tx;

	if (journal_get_number(j, "clock_boot_id", &was.boot_id, e) != 0 ||
	    journal_get_number(j, "clock_offset", &was.offset_ms, e) != 0 ||
	    journal_get_number(j, JOURNAL_AHEAD, &was.ahead_ms, e) != 0 ||
	    journal_events(j, journal_last_event(j) - 1, NULL, 1, read_last, &was.last_ms, e) != 0)
		return -1;
	loop_resume(l, &was);
	loop_line(l, &is);
	tx = journal_begin(j);
	journal_put_number(tx, "clock_boot_id", is.boot_id);
	journal_put_number(tx, "clock_offset", is.offset_ms);
	journal_put_number(tx, JOURNAL_AHEAD, is.ahead_ms);
	return journal_commit(tx, e) < 0 ? -1 : 0;
}
