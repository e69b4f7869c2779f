/* ctl_reply.h - a request while it is answered: its arguments, and the answer being written.
 *
 * A handler reads its arguments first, then writes.  If it fails, what it wrote is dropped. */
#ifndef BURSTD_CTL_REPLY_H
#define BURSTD_CTL_REPLY_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "api/api.h"
#include "base/err.h"
#include "base/jsonw.h"
#include "base/str.h"
#include "io/ctl_server.h"
#include "jobs/jobs_api.h"
#include "slurm/job.h"

/* Who, besides admins and our own, is answered more than everybody else. */
enum ctl_sight {
	CTL_SEES_BUDGETS = CTL_FINANCE,             /* all, and whose jobs each counts */
	CTL_SEES_SUMS = CTL_FINANCE | CTL_OPERATOR, /* in the reasons of refusals */
	CTL_SEES_JOBS = CTL_OPERATOR,               /* what is planned for the jobs of others */
	CTL_SEES_CONSOLES = CTL_OPERATOR,           /* a script may have printed secrets */
	CTL_SEES_LONG_PAGES = CTL_OPERATOR,         /* for which a hook may have to wait */
};

struct ctl_reply {
	struct api *api;
	struct ctl_conn *conn; /* NULL: the request cannot be held */
	const struct ctl_caller *who;
	const json_t *args; /* the request */
	struct str text;    /* begins {"ok":true */
	struct jsonw w;     /* writes into text */
	const char *code;   /* of a failure */
	struct err err;     /* of a failure: the sentence */
	bool held;          /* the request is held: drop this answer */
	bool nothing;       /* it asks for new events, and there are none yet */
	char about[SLURM_JOB_ID_MAX +
		   1];                /* hold the request until slurmctld has described this job */
	const struct engine_job *job; /* the job, or why there is none; both NULL: not known yet */
	const struct err *no_job;
	bool wants_name;           /* hold the request until the caller's name is known ... */
	const struct err *no_name; /* ... which it is not; NULL: it is, or was not asked for */
};

/* Set code and sentence of a failure; return -1. */
int ctl_reply_refuse(struct ctl_reply *r, const char *code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Who gives an order, for records and events: "root", "uid 1000, operator".  To find a name may
 * take a network, and the loop must not wait for that. */
enum { CTL_BY_SIZE = 32 };
const char *ctl_reply_by(char out[CTL_BY_SIZE], const struct ctl_caller *who);

/* Read an argument; initial if it is absent.  -1: it is wrong, and r is refused. */
int ctl_reply_int(struct ctl_reply *r, const char *key, int64_t max, int64_t initial, int64_t *out);
int ctl_reply_text(struct ctl_reply *r, const char *key, const char *initial, const char **out);

/* Numbered records, in the order in which they were written. */
struct ctl_record {
	int64_t seq, at_ms;
};
struct ctl_records {
	int64_t last; /* number of the last record; 0: there is none */
	/* The first record after number `after`; *out is unchanged if there is none.  -1: r->err.
	 */
	int (*next)(struct ctl_reply *r, int64_t after, struct ctl_record *out);
};
/* Set *since to the number of the last record before the time in the argument "since_ms", if that
 * is given.  If the clock was set back the number may be lower. */
int ctl_reply_since(struct ctl_reply *r, const struct ctl_records *of, int64_t *since);

/* A time of the engine's, for people: by the wall clock. */
void ctl_reply_time(struct ctl_reply *r, const char *key, int64_t ms);

/* The terms of an offer; what nobody says is left out, or "". */
void ctl_reply_terms(struct ctl_reply *r, const struct provider_terms *t);

/* Rows of a page: call ctl_reply_row(), write a row, call ctl_reply_fits().  false: the row did not
 * fit and was removed; there is always room to close the answer. */
struct ctl_row {
	size_t len;
	bool first;
};
struct ctl_row ctl_reply_row(const struct ctl_reply *r);
bool ctl_reply_fits(struct ctl_reply *r, struct ctl_row row);

#endif
