/* job_table.h - the jobs that burstd has to do with, as JSON over HTTP: docs/monitoring.md has its
 * form.
 *
 *   GET /jobs?limit=100&state=waits
 *
 * It tells nobody's name, account or money, and nothing at all where slurmctld would not show these
 * jobs to everybody: the listener knows not who asks.  It has at most JOB_TABLE_MAX rows, says
 * whether there are more, and asks nobody. */
#ifndef BURSTD_JOB_TABLE_H
#define BURSTD_JOB_TABLE_H

#include "api/api.h"
#include "io/http_server.h"

enum {
	JOB_TABLE_ROWS = 100, /* unless `limit` says otherwise */
	JOB_TABLE_MAX = 1000,
};

/* Answer a GET. */
void job_table_answer(const struct api *a, const struct http_request *rq, struct http_answer *an);

#endif
