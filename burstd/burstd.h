/* burstd.h - what main.c shares with the files beside it: reload.c reads the configuration anew,
 * house.c tidies up, failure.c says why burstd ends. */
#ifndef BURSTD_BURSTD_H
#define BURSTD_BURSTD_H

#include <stdbool.h>
#include <stdint.h>

#include "api/api.h"
#include "base/err.h"
#include "core/conf.h"
#include "core/submit.h"
#include "io/sd_listen.h"
#include "store/state_dir.h"

enum {
	EXIT_CONF = 78, /* sysexits.h's EX_CONFIG, or state that only a person can mend: systemd
			 * is told not to try again */
};

struct burstd { /* everything there is, in the order it is made */
	const char *conf_path;
	struct log *log;
	struct sd_listen sockets; /* that systemd kept for us, and nobody has taken */
	struct zone *report_zone; /* of days and months in budgets */
	struct loop *loop;
	struct state_dir state;
	bool locked;
	struct journal *journal;
	struct secret *secrets[CONF_PROVIDERS_MAX];
	char *store_ca;              /* PEM; NULL: machines are not told it */
	struct secret *store_secret; /* of the secret store; NULL: none */
	struct http_client *http;
	struct proc *proc;
	struct spool *spool;
	struct listener *nodes; /* for machines that boot; NULL: without a section nodes */
	struct engine *engine;
	struct user_names *names; /* of callers on the control socket */
	struct api api;
	struct scrape *scrape; /* NULL: without listen */
	struct ctl_server *ctl;
	struct timer *house_timer, *watchdog_timer;
	int64_t turned_ms;               /* the engine's last turn */
	int64_t told_seq, told_ms;       /* of the audit log, and when */
	struct submit_written submitted; /* the table for job_submit.lua */
	bool submit_failed;              /* it could not be written, and that was logged */
	int status;                      /* to exit with */
};

/* --- reload.c --- */
/* Fits struct api; ctx is struct burstd. */
int reload_conf(void *ctx, const struct api_reload *to, struct err *e);
void reload_on_hup(void *ctx); /* SIGHUP */

/* --- house.c --- */
void house_on_timer(void *ctx);
/* Leave the mark by which burst-prolog knows budgets_away, or take it away. */
void house_mark_away(struct burstd *b);
/* Write the table of what slurmctld may refuse jobs for, if it has changed or is getting old. */
void house_write_submit(struct burstd *b);
/* Write the head of the audit log into our log, if it has grown: now, or when it is time. */
void house_tell_head(struct burstd *b, bool now);

/* --- failure.c --- */
extern const char failure_hint_uuid[], failure_hint_journal[], failure_hint_newer[];
/* For what is in state_dir; invalid: what to do where that is the code.  NULL: there is no hint. */
const char *failure_hint_of(const struct err *e, const char *invalid);
/* Log it; returns the status to exit with. */
int failure_end_with(struct burstd *b, const char *what, const char *hint, const struct err *e);
void failure_on_fatal(void *ctx, const struct err *e); /* does not return */

#endif
