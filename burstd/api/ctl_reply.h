/* ctl_reply.h - one request while it is answered: its arguments, and the answer that grows.
 *
 * A handler reads its arguments first, then writes; what it wrote is thrown away if it fails. */
#ifndef BURSTD_CTL_REPLY_H
#define BURSTD_CTL_REPLY_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "api/api.h"
#include "api/jsonw.h"
#include "base/err.h"
#include "base/str.h"
#include "io/ctl_server.h"
#include "slurm/job.h"

struct ctl_reply {
	struct api *api;
	struct ctl_conn *conn; /* it came on; NULL: it cannot be answered later */
	const struct ctl_caller *who;
	const json_t *args;               /* the request */
	struct str text;                  /* begins {"ok":true */
	struct jsonw w;                   /* writes into text */
	const char *code;                 /* of a failure */
	struct err err;                   /* likewise */
	bool held;                        /* the answer comes later: forget this one */
	bool nothing;                     /* it asked for something new, and there is nothing yet */
	char about[SLURM_JOB_ID_MAX + 1]; /* slurmctld must first say what this job is */
	const struct engine_job *job;     /* it has: this, or why not; both NULL: not yet */
	const struct err *no_job;
};

/* Set code and sentence of a failure; return -1. */
int ctl_reply_refuse(struct ctl_reply *r, const char *code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* An argument, or initial when it is absent.  -1: it is there and no good, and r says so. */
int ctl_reply_int(struct ctl_reply *r, const char *key, int64_t max, int64_t initial, int64_t *out);
int ctl_reply_text(struct ctl_reply *r, const char *key, const char *initial, const char **out);

/* Numbered records, in the order in which they were written. */
struct ctl_record {
	int64_t seq, at_ms;
};
struct ctl_records {
	int64_t last; /* number; 0: there are none */
	/* The first one behind `after`; *out stays when there is none.  -1: r->err. */
	int (*next)(struct ctl_reply *r, int64_t after, struct ctl_record *out);
};
/* *since becomes the number of the last record before the time in the argument "since_ms"; without
 * that it stays.  A clock that was set back makes it an earlier one. */
int ctl_reply_since(struct ctl_reply *r, const struct ctl_records *of, int64_t *since);

/* A time of the engine's, for people: by the wall clock. */
void ctl_reply_time(struct ctl_reply *r, const char *key, int64_t ms);

/* Rows of a page: begin, write one, end.  end returns false when the row did not fit and was taken
 * back; there is always room to close the answer after it. */
struct ctl_row {
	size_t len;
	bool first;
};
struct ctl_row ctl_reply_row(const struct ctl_reply *r);
bool ctl_reply_fits(struct ctl_reply *r, struct ctl_row row);

#endif
