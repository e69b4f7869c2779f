/* watch.c - asks the metadata service, a file and a command whether this machine will be taken
 * away.
 *
 * What fails is logged once, until it answers again; of the metadata service's questions the first
 * that fails. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/child.h"
#include "agent/wire.h"
#include "base/clock.h"
#include "base/mem.h"

enum {
	WATCH_BODY_MAX = 16384,
	WATCH_TIMEOUT_MS = 2000,
	WATCH_TOKEN_MAX = 128,
	WATCH_TOKEN_S = 21600,
	WATCH_RARE = 12,   /* polls between checks for maintenance, which is planned long before */
	WATCH_HANG_S = 60, /* how long GCP holds a request */
	WATCH_FIRST_MS = 130000, /* Azure starts the service at the first request */
	WATCH_ACKS_MAX = 8,
	WATCH_FILE_MAX = 256,
	WATCH_PATH_MAX = 256,
};

/* What is asked.  Each has a state of its own, or the answer of one would have the failure of
 * another logged at every poll. */
enum watch_ask {
	WATCH_QUESTION,                   /* Amazon's and Google's first; then the others */
	WATCH_TOKEN = WATCH_QUESTION + 3, /* Amazon's */
	WATCH_NAME,                       /* Azure's */
	WATCH_EVENTS,
	WATCH_ACK,
	WATCH_FILE, /* those before are the metadata service's */
	WATCH_COMMAND,
};

struct watch;
typedef int (*watch_parse_fn)(struct watch *w, const struct answer *a, struct notice *out);

struct gcp_ask { /* one value whose change is waited for */
	struct watch *w;
	struct wire *wire;
	struct poller_item timer;
	const char *path;
	char etag[ANSWER_ETAG_MAX];
	watch_parse_fn parse;
};

struct watch {
	struct agent *a;
	struct wire *wire;
	struct poller_item timer;
	unsigned polls, step;
	unsigned failing; /* bits of enum watch_ask: it failed when it was asked last */
	char token[WATCH_TOKEN_MAX];
	int64_t token_until;
	char name[WATCH_FILE_MAX]; /* Azure's name of this machine */
	bool named, first;
	struct notice seen[META_NOTICES_MAX]; /* Azure's, of the last answer */
	int nseen;
	char acks[WATCH_ACKS_MAX][META_ID_MAX];
	unsigned nacks;
	struct gcp_ask gcp[2];
	struct child *child;
};

static void complain(struct watch *w, unsigned ask, const char *why)
{
	const unsigned metadata = (1u << WATCH_FILE) - 1;
	const bool known = (w->failing & (ask < WATCH_FILE ? metadata : 1u << ask)) != 0;

	w->failing |= 1u << ask;
	if (known)
		return;
	agent_complain(w->a,
		       ask == WATCH_FILE      ? "notice_file cannot be read"
		       : ask == WATCH_COMMAND ? "notice_command does not work"
					      : "the metadata service does not answer as it should",
		       why);
}

static void answered(struct watch *w, unsigned ask)
{
	w->failing &= ~(1u << ask);
}

static void tell(struct watch *w, const struct notice *n, int count)
{
	for (int i = 0; i < count; i++)
		notices_tell(w->a->notices, &n[i]);
}

/* --- Amazon: a token, then up to three questions ----------------------------------------- */

static int parse_action(struct watch *w, const struct answer *a, struct notice *out)
{
	(void)w;
	return meta_aws_action(a->body.p, a->body.len, out);
}

static int parse_rebalance(struct watch *w, const struct answer *a, struct notice *out)
{
	(void)w;
	return meta_aws_rebalance(a->body.p, a->body.len, out);
}

static int parse_maintenance(struct watch *w, const struct answer *a, struct notice *out)
{
	(void)w;
	return meta_aws_maintenance(a->body.p, a->body.len, out);
}

static const struct {
	const char *path;
	watch_parse_fn parse;
	bool rare;
} aws_asks[] = {
	{"/latest/meta-data/spot/instance-action", parse_action, false},
	{"/latest/meta-data/events/recommendations/rebalance", parse_rebalance, false},
	{"/latest/meta-data/events/maintenance/scheduled", parse_maintenance, true},
};

enum { AWS_ASKS = sizeof(aws_asks) / sizeof(aws_asks[0]) };
static_assert(AWS_ASKS <= WATCH_TOKEN - WATCH_QUESTION, "each has a bit of its own");

static void aws_next(struct watch *w);

static void aws_answer(struct watch *w, const struct answer *a)
{
	struct notice n[META_NOTICES_MAX];
	int count;

	if (a->status == 401 || a->status == 403) {
		w->token_until = 0;
		w->step = AWS_ASKS; /* again at the next poll, with a new token */
		return;
	}
	if (a->status == 404) {
		answered(w, WATCH_QUESTION + w->step);
		return;
	}
	count = a->status == 200 ? aws_asks[w->step].parse(w, a, n) : -1;
	if (count < 0) {
		complain(w, WATCH_QUESTION + w->step, aws_asks[w->step].path);
		return;
	}
	answered(w, WATCH_QUESTION + w->step);
	tell(w, n, count);
}

static void on_aws(void *ctx, const struct answer *a, const struct err *e)
{
	struct watch *w = ctx;

	if (e != NULL) {
		complain(w, WATCH_QUESTION + w->step, e->msg);
		return;
	}
	aws_answer(w, a);
	w->step++;
	aws_next(w);
}

static bool is_token(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] <= ' ' || p[i] > '~')
			return false;
	return n > 0 && n < WATCH_TOKEN_MAX;
}

static void on_token(void *ctx, const struct answer *a, const struct err *e)
{
	struct watch *w = ctx;

	if (a == NULL || a->status != 200 || !is_token(a->body.p, a->body.len)) {
		complain(w, WATCH_TOKEN, e != NULL ? e->msg : "no token");
		return;
	}
	answered(w, WATCH_TOKEN);
	memcpy(w->token, a->body.p, a->body.len + 1);
	w->token_until = clock_boot_ms() + (int64_t)WATCH_TOKEN_S * 1000 / 2;
	aws_next(w);
}

static void aws_next(struct watch *w)
{
	char headers[WATCH_TOKEN_MAX + 64];
	struct wire_call call = {.method = "GET",
				 .headers = headers,
				 .answer_max = WATCH_BODY_MAX,
				 .timeout_ms = WATCH_TIMEOUT_MS};

	if (clock_boot_ms() >= w->token_until) {
		if (w->step >= AWS_ASKS)
			return;
		(void)snprintf(headers, sizeof(headers),
			       "X-aws-ec2-metadata-token-ttl-seconds: %d\r\n", WATCH_TOKEN_S);
		call.method = "PUT";
		call.path = "/latest/api/token";
		wire_send(w->wire, &call, on_token, w);
		return;
	}
	while (w->step < AWS_ASKS && aws_asks[w->step].rare && w->polls % WATCH_RARE != 1)
		w->step++;
	if (w->step >= AWS_ASKS)
		return;
	(void)snprintf(headers, sizeof(headers), "X-aws-ec2-metadata-token: %s\r\n", w->token);
	call.path = aws_asks[w->step].path;
	wire_send(w->wire, &call, on_aws, w);
	explicit_bzero(headers, sizeof(headers));
}

/* --- Google: two questions that are held until the answer changes --------------------------- */

static int parse_preempted(struct watch *w, const struct answer *a, struct notice *out)
{
	(void)w;
	return meta_gcp_preempted(a->body.p, a->body.len, clock_wall_ms(), out);
}

static int parse_host(struct watch *w, const struct answer *a, struct notice *out)
{
	(void)w;
	return meta_gcp_maintenance(a->body.p, a->body.len, out);
}

static void on_gcp(void *ctx, const struct answer *a, const struct err *e)
{
	struct gcp_ask *g = ctx;
	struct watch *w = g->w;
	struct notice n[META_NOTICES_MAX];
	int count = a != NULL && a->status == 200 && a->google ? g->parse(w, a, n) : -1;

	g->timer.deadline = clock_boot_ms() + w->a->conf.poll;
	if (count < 0) {
		complain(w, WATCH_QUESTION + (unsigned)(g - w->gcp), e != NULL ? e->msg : g->path);
		g->etag[0] = '\0';
		return;
	}
	answered(w, WATCH_QUESTION + (unsigned)(g - w->gcp));
	tell(w, n, count);
	if (count == 0 && strstr(g->path, "maintenance") != NULL)
		for (int i = 0; i < 2; i++)
			notices_forget(w->a->notices, NOTICE_MAINTENANCE,
				       i == 0 ? "maintenance:MIGRATE_ON_HOST_MAINTENANCE:"
					      : "maintenance:TERMINATE_ON_HOST_MAINTENANCE:");
	if (a->etag[0] != '\0' && a->etag[strspn(a->etag, "0123456789abcdefABCDEF")] == '\0') {
		/* Pause a second, for a service that does not hold requests. */
		g->timer.deadline = clock_boot_ms() + 1000;
		memcpy(g->etag, a->etag, sizeof(g->etag));
	}
}

static void on_gcp_timer(struct poller_item *t, short got, int64_t now)
{
	struct gcp_ask *g = t->ctx;
	char path[WATCH_PATH_MAX];
	struct wire_call call = {.method = "GET",
				 .path = path,
				 .headers = "Metadata-Flavor: Google\r\n",
				 .answer_max = WATCH_BODY_MAX,
				 .timeout_ms = WATCH_TIMEOUT_MS};

	(void)got;
	(void)now;
	(void)snprintf(path, sizeof(path), "%s", g->path);
	if (g->etag[0] != '\0') {
		(void)snprintf(path, sizeof(path),
			       "%s?wait_for_change=true&timeout_sec=%d&last_etag=%s", g->path,
			       WATCH_HANG_S, g->etag);
		call.timeout_ms = (WATCH_HANG_S + 15) * 1000;
	}
	wire_send(g->wire, &call, on_gcp, g);
}

static void gcp_start(struct watch *w)
{
	static const struct {
		const char *path;
		watch_parse_fn parse;
	} asks[] = {{"/computeMetadata/v1/instance/preempted", parse_preempted},
		    {"/computeMetadata/v1/instance/maintenance-event", parse_host}};

	for (size_t i = 0; i < 2; i++) {
		struct gcp_ask *g = &w->gcp[i];

		g->w = w;
		g->path = asks[i].path;
		g->parse = asks[i].parse;
		g->wire = wire_new(&w->a->poller, &w->a->conf.metadata, NULL);
		g->timer = (struct poller_item){
			.fd = -1, .deadline = clock_boot_ms(), .fn = on_gcp_timer, .ctx = g};
		poller_add(&w->a->poller, &g->timer);
	}
}

/* --- Azure: its name, then the scheduled events, some of which we let begin ---------------------
 */

static void azure_ask(struct watch *w, const struct wire_call *more, wire_done_fn done)
{
	struct wire_call call = *more;

	call.headers = "Metadata: true\r\n";
	call.answer_max = WATCH_BODY_MAX;
	wire_send(w->wire, &call, done, w);
}

static bool acked(const struct watch *w, const char *id)
{
	for (unsigned i = 0; i < WATCH_ACKS_MAX; i++)
		if (strcmp(w->acks[i], id) == 0)
			return true;
	return false;
}

static void on_ack(void *ctx, const struct answer *a, const struct err *e)
{
	struct watch *w = ctx;

	if (a == NULL || a->status != 200) {
		complain(w, WATCH_ACK, e != NULL ? e->msg : "an event was not acknowledged");
		w->acks[w->nacks % WATCH_ACKS_MAX][0] = '\0'; /* again, at the next poll */
		return;
	}
	answered(w, WATCH_ACK);
	w->nacks++;
}

/* Let an event begin before its time, so that it is over sooner, if burstd knows of it and no job
 * is here. */
static void azure_ack(struct watch *w)
{
	char body[META_ID_MAX + 64];

	for (int i = 0; i < w->nseen; i++) {
		const struct notice *n = &w->seen[i];
		char *slot = w->acks[w->nacks % WATCH_ACKS_MAX];

		if (acked(w, n->id) || !notices_taken(w->a->notices, n->type, n->id))
			continue;
		agent_look(w->a);
		if (w->a->facts.job)
			return;
		memcpy(slot, n->id, META_ID_MAX);
		(void)snprintf(body, sizeof(body), "{\"StartRequests\":[{\"EventId\":\"%s\"}]}",
			       n->id);
		azure_ask(w,
			  &(struct wire_call){
				  .method = "POST",
				  .path = "/metadata/scheduledevents?api-version=2020-07-01",
				  .body = body,
				  .timeout_ms = WATCH_TIMEOUT_MS},
			  on_ack);
		return;
	}
	answered(w, WATCH_ACK); /* there is nothing to acknowledge */
}

static void on_azure(void *ctx, const struct answer *a, const struct err *e)
{
	struct watch *w = ctx;

	w->nseen = 0;
	if (a != NULL && a->status == 200)
		w->nseen = meta_azure(a->body.p, a->body.len, w->name, w->seen);
	if (a == NULL || a->status != 200 || w->nseen < 0) {
		w->nseen = 0;
		complain(w, WATCH_EVENTS, e != NULL ? e->msg : "no valid list of scheduled events");
		return;
	}
	w->first = false;
	answered(w, WATCH_EVENTS);
	tell(w, w->seen, w->nseen);
	azure_ack(w);
}

static void azure_events(struct watch *w)
{
	azure_ask(
		w,
		&(struct wire_call){.method = "GET",
				    .path = "/metadata/scheduledevents?api-version=2020-07-01",
				    .timeout_ms = w->first ? WATCH_FIRST_MS : 5 * WATCH_TIMEOUT_MS},
		on_azure);
}

static void on_name(void *ctx, const struct answer *a, const struct err *e)
{
	struct watch *w = ctx;

	if (a == NULL || a->status != 200 || a->body.len == 0 || a->body.len >= sizeof(w->name)) {
		complain(w, WATCH_NAME, e != NULL ? e->msg : "no name of this machine");
		return;
	}
	answered(w, WATCH_NAME);
	memcpy(w->name, a->body.p, a->body.len + 1);
	w->named = true;
	azure_events(w);
}

static void azure_poll(struct watch *w)
{
	static const struct wire_call call = {
		.method = "GET",
		.path = "/metadata/instance/compute/name?api-version=2021-02-01&format=text",
		.timeout_ms = WATCH_TIMEOUT_MS};

	if (w->named)
		azure_events(w);
	else
		azure_ask(w, &call, on_name);
}

/* --- a file, a command ------------------------------------------------------------------------ */

static void look_at_file(struct watch *w)
{
	const char *path = w->a->conf.notice_file;
	char text[WATCH_FILE_MAX];
	struct err e = {0};
	struct notice n;
	ssize_t len = -1;
	int fd;

	if (path[0] == '\0')
		return;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0)
		len = read(fd, text, sizeof(text));
	if (len < 0 && (fd >= 0 || errno != ENOENT)) {
		(void)err_set(&e, ERR_IO, "%.200s: %s", path, strerror(errno));
		complain(w, WATCH_FILE, e.msg);
	} else {
		answered(w, WATCH_FILE);
	}
	if (fd >= 0)
		(void)close(fd);
	if (len >= 0 && meta_line(text, (size_t)len, true, &n) > 0)
		tell(w, &n, 1);
}

static void on_command(void *ctx, const struct child_end *end)
{
	struct watch *w = ctx;
	struct notice n;

	if (end->status != 0) {
		complain(w, WATCH_COMMAND,
			 end->status < 0 ? end->e.msg : w->a->conf.notice_command);
		return;
	}
	answered(w, WATCH_COMMAND);
	if (meta_line(end->out, end->len, false, &n) > 0)
		tell(w, &n, 1);
}

static void run_command(struct watch *w)
{
	const struct child_call call = {.command = w->a->conf.notice_command,
					.vars = {.node = w->a->conf.node},
					.timeout_ms = w->a->conf.command_timeout,
					.done = on_command,
					.ctx = w};
	struct err e = {0};

	if (call.command[0] == '\0' || w->child != NULL)
		return;
	if (child_start(&w->child, &w->a->poller, &call, &e) != 0)
		complain(w, WATCH_COMMAND, e.msg);
}

static void on_timer(struct poller_item *t, short got, int64_t now)
{
	struct watch *w = t->ctx;

	(void)got;
	t->deadline = now + w->a->conf.poll;
	w->polls++;
	look_at_file(w);
	run_command(w);
	if (w->wire == NULL || wire_busy(w->wire))
		return;
	if (w->a->conf.cloud == AGENT_AWS) {
		w->step = 0;
		aws_next(w);
	} else if (w->a->conf.cloud == AGENT_AZURE) {
		azure_poll(w);
	}
}

struct watch *watch_new(struct agent *a)
{
	struct watch *w = mem_zalloc(sizeof(*w));

	w->a = a;
	w->first = true;
	w->timer = (struct poller_item){
		.fd = -1, .deadline = clock_boot_ms(), .fn = on_timer, .ctx = w};
	poller_add(&a->poller, &w->timer);
	if (a->conf.cloud == AGENT_GCP)
		gcp_start(w);
	else if (a->conf.cloud == AGENT_AWS || a->conf.cloud == AGENT_AZURE)
		w->wire = wire_new(&a->poller, &a->conf.metadata, NULL);
	return w;
}

void watch_free(struct watch *w)
{
	if (w == NULL)
		return;
	for (size_t i = 0; i < 2; i++) {
		wire_free(w->gcp[i].wire);
		poller_del(&w->a->poller, &w->gcp[i].timer);
	}
	wire_free(w->wire);
	child_kill(w->child);
	poller_del(&w->a->poller, &w->timer);
	explicit_bzero(w->token, sizeof(w->token));
	free(w);
}
