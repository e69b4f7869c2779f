#include "cloud/request_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/secret.h"

/* Goes on with operations of several requests (PROVIDER_MORE): an operation that is asked about
 * until it has ended, a create of several steps, a login.  Pages of lists are elsewhere (pages.h).
 *
 * What the requests before have done must not be taken for nothing.  So from the second request on
 * a failure is no result: the request is sent again, which is safe (provider.h). */

enum {
	STEPS_MS = 1800000,    /* the longest operation: a bare-metal machine is deployed */
	STEPS_QUICK = 16,      /* so many requests may follow each other at once; then ... */
	STEPS_PAUSE_MS = 1000, /* ... this is the shortest pause */
};

static bool has_steps(enum provider_op_kind kind)
{
	switch (kind) {
	case PROVIDER_CREATE:
	case PROVIDER_DELETE:
	case PROVIDER_LOGIN:
	case PROVIDER_REPORT:
	case PROVIDER_FABRIC_MAKE:
	case PROVIDER_FABRIC_DROP:
		return true;
	default:
		return false;
	}
}

static bool has_begun(const struct request *rq)
{
	return rq->op.cursor[0] != '\0' && rq->op.kind != PROVIDER_LOGIN && has_steps(rq->op.kind);
}

enum provider_op_kind steps_counted(const struct request *rq)
{
	return has_begun(rq) ? PROVIDER_STEP : rq->op.kind;
}

/* A denied step is repeated, since the session may have ended: unless the driver says that nothing
 * of the create is left, or nothing has begun. */
static bool is_denied(const struct request *rq, const struct provider_result *r)
{
	bool elsewhere = (rq->cloud->caps.flags & PROVIDER_ELSEWHERE) != 0;

	return rq->op.kind == PROVIDER_CREATE && r->code == PROVIDER_DENIED &&
	       (r->denied_for_good || elsewhere);
}

/* Is it no result of an operation that has begun? */
static bool is_repeated(const struct request *rq, const struct provider_result *r)
{
	return has_begun(rq) && !is_denied(rq, r) &&
	       (r->code == PROVIDER_RATE || r->code == PROVIDER_TRANSIENT ||
		r->code == PROVIDER_AMBIGUOUS || r->code == PROVIDER_DENIED);
}

static void rest(struct request *rq, int64_t pause_ms)
{
	if (rq->steps++ >= STEPS_QUICK && pause_ms < STEPS_PAUSE_MS)
		pause_ms = STEPS_PAUSE_MS;
	rq->rests = true;
	rq->unsent = (struct err){0}; /* it has been answered with that */
	rq->next_ms = engine_now(rq->cloud->e) + pause_ms;
}

static bool is_late(const struct request *rq)
{
	return engine_now(rq->cloud->e) - rq->began_ms >= STEPS_MS;
}

enum steps steps_take(struct request *rq, const struct provider_result *r)
{
	if (!has_steps(rq->op.kind))
		return STEPS_OVER;
	if (r->code == PROVIDER_MORE) {
		if (r->cursor[0] == '\0' || is_late(rq))
			return STEPS_ENDLESS;
		secret_wipe(&rq->cursor); /* a login's may be one */
		rq->op.cursor = rq->cursor = mem_strdup(r->cursor);
		rq->pause_ms = 0;
		rest(rq, r->retry_after_ms);
		return STEPS_ON;
	}
	if (!is_repeated(rq, r))
		return STEPS_OVER;
	if (is_late(rq))
		return STEPS_ENDLESS;
	rq->pause_ms = engine_longer(rq->pause_ms);
	rest(rq, r->retry_after_ms > rq->pause_ms ? r->retry_after_ms : rq->pause_ms);
	return STEPS_ON;
}

void steps_run(struct cloud *c)
{
	struct request *next;

	for (struct request *rq = c->e->cloud->requests; rq != NULL && !c->e->dead; rq = next) {
		next = rq->next;
		if (rq->cloud != c || !rq->rests || rq->next_ms > engine_now(c->e) ||
		    !cloud_ready(c, steps_counted(rq)))
			continue;
		rq->rests = false;
		rq->counted = steps_counted(rq);
		limit_take(&c->limit, rq->counted, 0, engine_now(c->e));
		cloud_send_reserved(rq);
	}
}

size_t steps_queue(const struct cloud *c, int64_t *oldest_ms)
{
	size_t n = 0;

	for (const struct request *rq = c->e->cloud->requests; rq != NULL; rq = rq->next)
		if (rq->cloud == c && rq->rests && rq->next_ms <= engine_now(c->e) &&
		    steps_counted(rq) == PROVIDER_STEP) {
			n++;
			*oldest_ms = sooner(*oldest_ms, rq->next_ms);
		}
	return n;
}

int64_t steps_next_ms(const struct cloud *c)
{
	int64_t next = INT64_MAX;

	for (const struct request *rq = c->e->cloud->requests; rq != NULL; rq = rq->next) {
		/* What the session holds back is woken by the login. */
		bool in_line = !session_serves(c, steps_counted(rq)) ||
			       (rq->next_ms <= engine_now(c->e) &&
				limit_waits(&c->limit, steps_counted(rq)));

		if (rq->cloud == c && rq->rests && !in_line && rq->next_ms < next)
			next = rq->next_ms;
	}
	return next;
}
