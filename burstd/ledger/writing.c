#include "ledger/writing.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "ledger/complain.h"
#include "ledger/reading.h"

enum {
	OUT_MAX = 1 << 26,
	TRIES = 40, /* each waits a quarter of a second for another writer: a pass is shorter */
};

/* Whoever became the service's user by sudo is still who they are. */
static const char *who_runs(void)
{
	const char *sudo = getenv("SUDO_USER");
	const struct passwd *pw = getpwuid(getuid());

	if (sudo != NULL && sudo[0] != '\0')
		return sudo;
	return pw != NULL ? pw->pw_name : "unknown";
}

static int check_owner(const char *path, struct err *e)
{
	const struct passwd *pw;
	struct stat st;

	if (reading_check_file(path, e) < 0)
		return -1;
	if (stat(path, &st) < 0)
		return err_set(e, err_of_errno(errno), "%s: %s", path, strerror(errno));
	if (st.st_uid == geteuid())
		return 0;
	pw = getpwuid(st.st_uid);
	return err_set(e, ERR_AUTH, "%s belongs to %s: run this as that user", path,
		       pw != NULL ? pw->pw_name : "another");
}

static int begin(struct writing *w, struct err *e)
{
	int rc = -1;

	for (int i = 0; i < TRIES && rc < 0; i++) {
		rc = ledger_begin(w->ledger, e);
		if (rc < 0 && e->code != ERR_IO)
			return -1;
	}
	return rc;
}

int writing_begin(struct writing *w, const struct settings *s, struct err *e)
{
	char *zone = NULL;
	int rc;

	*w = (struct writing){.who = who_runs()};
	str_init(&w->out, OUT_MAX);
	if (site_init(&w->site, s, false, e) < 0 || check_owner(w->site.ledger, e) < 0 ||
	    ledger_open(&w->ledger, w->site.ledger, e) < 0 || begin(w, e) < 0 ||
	    ledger_note(w->ledger, LEDGER_CURRENCY, &w->currency, e) < 0 ||
	    ledger_note(w->ledger, LEDGER_ZONE, &zone, e) < 0)
		return -1;
	rc = calendar_init(&w->calendar, zone[0] != '\0' ? zone : "UTC", e);
	free(zone);
	return rc;
}

int writing_commit(struct writing *w, struct err *e)
{
	if (ledger_commit(w->ledger, e) < 0)
		return -1;
	w->committed = true;
	(void)ledger_tidy(w->ledger, NULL); /* housekeeping: what was asked for is done */
	return 0;
}

int writing_end(struct writing *w, int rc, const struct err *e)
{
	if (w->ledger != NULL && !w->committed)
		ledger_rollback(w->ledger);
	(void)fwrite(w->out.p, 1, w->out.len, stdout);
	if (rc < 0) {
		rc = complain(e);
	} else if (fflush(stdout) != 0 || ferror(stdout) || w->out.full) {
		(void)fputs("burst-ledger: not all could be written\n", stderr);
		rc = 1;
	}
	ledger_close(w->ledger);
	calendar_fini(&w->calendar);
	site_fini(&w->site);
	str_fini(&w->out);
	free(w->currency);
	return rc;
}

struct book writing_book(struct writing *w, int64_t jobs_ms)
{
	return (struct book){.ledger = w->ledger,
			     .calendar = &w->calendar,
			     .now_ms = clock_wall_ms(),
			     .jobs_ms = jobs_ms,
			     .currency = w->currency};
}
