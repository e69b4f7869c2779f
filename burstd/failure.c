/* Says why burstd cannot start or go on, and what to do about it.  The exit status tells systemd
 * whether to start it again. */
#include <stdlib.h>

#include "base/log.h"
#include "burstd.h"

/* Hints for admins, the safest step first (docs/operations.md, Backup and restore). */
const char failure_hint_uuid[] =
	"1. put uuid back from a backup; 2. else write the value of the burstd tag of one of your "
	"instances, as the provider shows it, into it (of your own machines it is the fourth word "
	"of a file in static/); 3. only if no provider shows an instance with a burstd tag: move "
	"all files in state_dir away";
const char failure_hint_journal[] =
	"1. copy state_dir to a safe place; 2. move journal.db, journal.db-wal and journal.db-shm "
	"away, then put the last backup of journal.db in their place: an old one is safe; 3. "
	"without a backup they are only moved away, but never uuid: instances are found again by "
	"their tags";
const char failure_hint_newer[] =
	"a newer burstd wrote it: install that version again; do not move the journal away";
static const char hint_user[] =
	"1. start it by systemctl start burstd, not by hand; 2. by hand as the user who owns "
	"state_dir; 3. after a restore: chown -R slurm: state_dir; chmod -R u=rwX,go= state_dir; "
	"4. no link in its place, and none in it";

/* EXIT_CONF tells systemd not to try again what only a person can mend. */
int failure_end_with(struct burstd *b, const char *what, const char *hint, const struct err *e)
{
	bool mendable = e->code == ERR_INVALID || e->code == ERR_DAMAGED || e->code == ERR_AUTH;

	log_write(b->log, LOG_ERROR, what, "error", e->msg, hint != NULL ? "hint" : NULL, hint,
		  NULL);
	return mendable ? EXIT_CONF : EXIT_FAILURE;
}

/* The hint for a failure in state_dir; invalid: the hint if the code is ERR_INVALID. */
const char *failure_hint_of(const struct err *e, const char *invalid)
{
	return e->code == ERR_AUTH      ? hint_user
	       : e->code == ERR_DAMAGED ? failure_hint_journal
	       : e->code == ERR_INVALID ? invalid
					: NULL;
}

/* End at once: the journal cannot be trusted any more.  systemd starts us again, unless the journal
 * is damaged and would be so the next time too (F55). */
void failure_on_fatal(void *ctx, const struct err *e)
{
	_Exit(failure_end_with(ctx, "the journal failed", failure_hint_of(e, NULL), e));
}
