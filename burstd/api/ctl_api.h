/* ctl_api.h - the daemon's side of the control protocol: what each request is answered.
 *
 * A request is one JSON object {"v":1,"op":"..."}; unknown keys are ignored, so that a newer
 * burstctl can talk to us.  An answer is {"ok":true,...}, or {"ok":false,"code":"...","error":"one
 * sentence"} with code invalid, denied, not-found or failed.  Long answers come in pages of at most
 * CTL_REPLY_MAX bytes. docs/protocol.md has the whole of it. */
#ifndef BURSTD_CTL_API_H
#define BURSTD_CTL_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/api.h"
#include "io/ctl_server.h"
#include "jobs/jobs_api.h"

enum {
	CTL_API_VERSION = 1,
	CTL_API_NODES_MAX = 2000,      /* of one page; what fits CTL_REPLY_MAX may be less */
	CTL_API_VIEWER_NODES = 250,    /* ... for who may only look: a hook may wait behind it */
	CTL_API_POOLS_MAX = 64,        /* likewise */
	CTL_API_BUDGETS_MAX = 500,     /* likewise */
	CTL_API_ALERTS_MAX = 200,      /* likewise */
	CTL_API_PLANS_MAX = 16,        /* pools of a partition that one plan is made for */
	CTL_API_MACHINES_MAX = 1000,   /* that one notice is about: one commit */
	CTL_API_EVENTS_MAX = 1000,     /* likewise */
	CTL_API_GENERATIONS_MAX = 100, /* of one node that are shown: the newest */
	CTL_API_NODE_EVENTS = 10,      /* that "node" shows */
};

/* Fits struct ctl_handler; ctx is a struct api.  The answer is the caller's (free());
 * NULL: the request is held (api/held.h), which needs c. */
char *ctl_api_request(void *ctx, struct ctl_conn *c, const struct ctl_caller *who, const char *json,
		      size_t len);

/* The answer to a request that was held, as it is now; *nothing: it could be held again. */
char *ctl_api_again(struct api *a, const struct ctl_caller *who, const char *json, size_t len,
		    bool *nothing);

/* The answer to a request about a job, now that slurmctld has said what that is, or (NULL) why it
 * has not. */
char *ctl_api_job(struct api *a, const struct ctl_caller *who, const char *json, size_t len,
		  const struct engine_job *job, const struct err *why);

/* The answer to a request that depends on the caller's name, now that it is known, or why it is
 * not. */
char *ctl_api_named(struct api *a, const struct ctl_caller *who, const char *json, size_t len,
		    const struct err *why);

#endif
