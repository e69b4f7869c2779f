#include "api/pages.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "api/job_table.h"
#include "api/targets.h"
#include "base/mem.h"

static void say(struct http_answer *an, unsigned status, const char *text)
{
	an->status = status;
	an->body = mem_strdup(text);
	an->len = strlen(text);
}

/* A page of a stranger's, in the browser of somebody who is logged in here, may reach this port by
 * a name of its own that leads to 127.0.0.1, and read the answer: then Host is that name.  We are
 * asked by address, or as localhost. */
static bool is_for_us(const struct http_request *rq)
{
	const char *host = http_header(rq, "Host");
	size_t n = host != NULL ? strcspn(host, ":") : 0;

	if (host == NULL || host[0] == '[')
		return true;
	return (n == 9 && strncasecmp(host, "localhost", n) == 0) ||
	       (n > 0 && strspn(host, "0123456789.") == n);
}

static bool is_fresh(const struct pages *p, int64_t now)
{
	return p->targets.p != NULL && now >= p->targets_ms &&
	       now - p->targets_ms < METRICS_FRESH_MS;
}

static void targets_page(struct pages *p, struct http_answer *an)
{
	int64_t now = engine_now(p->metrics.api->engine);

	if (!is_fresh(p, now)) {
		str_fini(&p->targets);
		str_init(&p->targets, TARGETS_MAX);
		targets_write(p->metrics.api, &p->targets);
		p->targets_ms = now;
	}
	if (p->targets.full)
		return; /* 500: Prometheus keeps what it has */
	say(an, 200, p->targets.p);
	an->type = "application/json";
}

void pages_handle(void *ctx, const struct http_request *rq, struct http_answer *an)
{
	struct pages *p = ctx;
	const bool targets = strcmp(rq->path, "/targets") == 0,
		   jobs = strcmp(rq->path, "/jobs") == 0;

	if (!targets && !jobs) {
		metrics_handle(&p->metrics, rq, an);
		return;
	}
	if (strcmp(rq->method, "GET") != 0 && strcmp(rq->method, "HEAD") != 0)
		say(an, 405, "only GET and HEAD\n");
	else if (!is_for_us(rq))
		say(an, 403, "ask by address, or as localhost\n");
	else if (targets)
		targets_page(p, an);
	else
		job_table_answer(p->metrics.api, rq, an);
}

void pages_fini(struct pages *p)
{
	metrics_fini(&p->metrics);
	str_fini(&p->targets);
}
