/* alerts_world.h - alerts*.c on a bare struct engine: budgets, the clock, the journal and the wire
 * are the test's.  What is written and sent is one log, in order. */
#ifndef TESTS_ALERTS_WORLD_H
#define TESTS_ALERTS_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "io/http_client.h"
#include "io/mail.h"
#include "money/alerts.h"
#include "tests/unit/two_headers.h"

#define EUR      FMT_NANO
#define KEY      "0123456789abcdef"
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define BEGAN    INT64_C(1800000000000)
#define DAY      INT64_C(86400000)
#define PERIOD   (BEGAN + 20 * DAY) /* ends */

enum { LINES = 1600, WIRE_MAX = 64, LOG_SIZE = 1 << 16 };

static struct fix {
	struct engine e;
	struct conf conf;
	struct money_state money;
	struct conf_alert alerts[CONF_ALERTS_MAX];
	struct conf_budget budget[3];
	struct engine_budget lines[LINES];
	char values[LINES][16];
	size_t nlines;
	int64_t now;
	char log[LOG_SIZE];
	bool inside; /* http_client_send() must not call back */
	struct wire {
		http_done_fn http;
		mail_fn mail;
		void *ctx;
		char url[128], ca[64], body[1 << 14], headers[512], user[32], password[32];
		bool tls, open;
	} wire[WIRE_MAX];
	size_t n;
	char key[64], url[64], password[64];
} F;

static void note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void note(const char *fmt, ...)
{
	size_t n = strlen(F.log);
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(F.log + n, sizeof(F.log) - n, fmt, ap);
	va_end(ap);
	assert_true(strlen(F.log) < sizeof(F.log) - 1);
}

/* What has happened since the last call. */
static inline void happened(const char *want)
{
	assert_string_equal(F.log, want);
	F.log[0] = '\0';
}

/* --- the rest of the engine ----------------------------------------------------------------------
 */

int64_t engine_now(const struct engine *e)
{
	(void)e;
	return F.now;
}

int64_t engine_wall(const struct engine *e, int64_t ms)
{
	(void)e;
	return ms - 1000;
}

struct journal_tx *engine_tx(struct engine *e)
{
	(void)e;
	return NULL;
}

void engine_event(struct engine *e, const char *node, uint64_t gen, const char *type,
		  const char *detail)
{
	(void)e;
	(void)node;
	(void)gen;
	note("event %s: %s\n", type, detail);
}

void engine_turn(struct engine *e)
{
	alerts_part.at[PART_RUN](e);
	alerts_part.at[PART_SEND](e);
}

struct budgets *holds_budgets(const struct engine *e)
{
	(void)e;
	return F.nlines > 0 ? (struct budgets *)(void *)&F : NULL;
}

void engine_budgets(const struct engine *e, const char *user, struct engine_budgets *out)
{
	(void)e;
	assert_null(user);
	*out = (struct engine_budgets){F.lines, F.nlines};
}

void engine_budgets_fini(struct engine_budgets *all)
{
	assert_ptr_equal(all->v, F.lines);
}

void journal_put_alert(struct journal_tx *tx, const struct alert *a)
{
	(void)tx;
	if (a->seq <= 20)
		note("alert %d %s/%s %s %u\n", (int)a->seq, a->budget, a->value,
		     alert_kind_str(a->kind), (unsigned)a->percent);
}

void journal_del_alert(struct journal_tx *tx, int64_t seq)
{
	(void)tx;
	note("forget alert %d\n", (int)seq);
}

void journal_put_alert_message(struct journal_tx *tx, const struct alert_message *m)
{
	(void)tx;
	note("message %d to %s of %zu: %s %u\n", (int)m->seq, m->to, m->n,
	     alert_state_str(m->state), (unsigned)m->attempts);
}

void journal_del_alert_message(struct journal_tx *tx, int64_t seq)
{
	(void)tx;
	note("forget message %d\n", (int)seq);
}

/* --- the wire ------------------------------------------------------------------------------------
 */

int http_client_send(struct http_client *c, const struct http_call *call, http_done_fn done,
		     void *ctx, uint64_t *handle, struct err *e)
{
	struct wire *w = &F.wire[F.n];

	(void)c;
	if (strstr(call->url, "unsendable") != NULL)
		return err_set(e, ERR_NOTSENT, "1024 requests are under way");
	assert_true(F.n < WIRE_MAX);
	assert_string_equal(call->method, "POST");
	*w = (struct wire){.http = done, .ctx = ctx, .open = true};
	(void)snprintf(w->url, sizeof(w->url), "%s", call->url);
	(void)snprintf(w->ca, sizeof(w->ca), "%s", call->ca_file != NULL ? call->ca_file : "");
	(void)snprintf(w->body, sizeof(w->body), "%.*s", (int)call->body_len,
		       (const char *)call->body);
	for (size_t i = 0; call->headers[i] != NULL; i++)
		(void)snprintf(w->headers + strlen(w->headers),
			       sizeof(w->headers) - strlen(w->headers), "%s\n", call->headers[i]);
	*handle = ++F.n;
	note("post %s\n", call->url);
	return 0;
}

void http_client_cancel(struct http_client *c, uint64_t handle)
{
	static const struct err gone = {.code = ERR_CANCELLED, .msg = "cancelled"};
	struct wire *w = &F.wire[handle - 1];

	(void)c;
	assert_true(w->open);
	w->open = false;
	note("cancel %s\n", w->url);
	w->http(w->ctx, NULL, &gone);
}

struct mail *mail_send(struct loop *l, const struct mail_call *call, mail_fn fn, void *ctx,
		       struct err *e)
{
	struct wire *w = &F.wire[F.n];

	(void)l;
	(void)e;
	assert_true(F.n++ < WIRE_MAX);
	*w = (struct wire){.mail = fn, .ctx = ctx, .open = true, .tls = call->tls};
	(void)snprintf(w->url, sizeof(w->url), "%s", call->url);
	(void)snprintf(w->ca, sizeof(w->ca), "%s", call->ca_file != NULL ? call->ca_file : "");
	(void)snprintf(w->body, sizeof(w->body), "%.*s", (int)call->len, call->text);
	(void)snprintf(w->user, sizeof(w->user), "%s", call->user != NULL ? call->user : "");
	(void)snprintf(w->password, sizeof(w->password), "%s",
		       call->password != NULL ? call->password : "");
	assert_string_equal(call->from, "b@example.org");
	assert_string_equal(call->to[0], "o@example.org");
	assert_null(call->to[1]);
	note("mail %s\n", call->url);
	return (struct mail *)(void *)w;
}

void mail_cancel(struct mail *m)
{
	struct wire *w = (struct wire *)(void *)m;

	assert_true(w->open);
	w->open = false;
	note("cancel %s\n", w->url);
}

static inline struct wire *last(void)
{
	assert_true(F.n > 0);
	return &F.wire[F.n - 1];
}

/* Answer the last request. */
static inline void answer_with(long status, const char *body, const char *retry)
{
	struct wire *w = last();
	struct header v[2];
	const struct http_reply r = {.status = status,
				     .body = body,
				     .len = strlen(body),
				     .headers = two_headers(v, retry, NULL)};

	assert_true(w->open);
	w->open = false;
	w->http(w->ctx, &r, NULL);
}

static inline void answer(long status)
{
	answer_with(status, "", NULL);
}

static inline void lose(void)
{
	static const struct err lost = {.code = ERR_NET, .msg = "connection refused"};
	struct wire *w = last();

	assert_true(w->open);
	w->open = false;
	if (w->mail != NULL)
		w->mail(w->ctx, &lost);
	else
		w->http(w->ctx, NULL, &lost);
}

/* --- the world -----------------------------------------------------------------------------------
 */

/* Time passes, from one due time to the next. */
static inline void pass(int64_t ms)
{
	int64_t end = F.now + ms;

	for (int turns = 0; turns < 10000; turns++) {
		int64_t next = alerts_part.next_ms(&F.e);

		if (next > end) {
			F.now = end;
			return;
		}
		F.now = next > F.now ? next : F.now;
		engine_turn(&F.e);
	}
	fail_msg("burstd spins");
}

/* One more line, of which so many percent are spent. */
static inline struct engine_budget *line(size_t budget, const char *value, int64_t percent)
{
	struct engine_budget *b = &F.lines[F.nlines];

	(void)snprintf(F.values[F.nlines], sizeof(F.values[0]), "%s", value);
	*b = (struct engine_budget){
		.line = {.budget = &F.budget[budget],
			 .value = F.values[F.nlines],
			 .period = {.begin_ms = 0, .end_ms = PERIOD, .name = "2027-01"},
			 .when = PERIOD_NOW,
			 .spent = percent * EUR,
			 .limited = true,
			 .amount = 100 * EUR,
			 .left = (100 - percent) * EUR}};
	F.nlines++;
	return b;
}

static inline char *text(const char *t)
{
	return (char *)(uintptr_t)t;
}

static inline void file(char path[64], const char *content)
{
	int fd;

	(void)snprintf(path, 64, "/tmp/alerts-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, content, strlen(content)), (ssize_t)strlen(content));
	close(fd);
}

static inline struct conf_alert *hook(const char *name)
{
	struct conf_alert *a = &F.alerts[F.conf.nalerts++];

	*a = (struct conf_alert){.name = text(name),
				 .kind = CONF_ALERT_WEBHOOK,
				 .url = text("https://h/hook"),
				 .secret_file = F.key};
	return a;
}

static inline struct conf_alert *mail_to(const char *name, const char *url)
{
	static char *to[] = {NULL, NULL};
	struct conf_alert *a = &F.alerts[F.conf.nalerts++];

	to[0] = text("o@example.org");
	*a = (struct conf_alert){.name = text(name),
				 .kind = CONF_ALERT_SMTP,
				 .url = text(url),
				 .from = text("b@example.org"),
				 .to = to};
	return a;
}

static inline int setup(void **state)
{
	static const char *const names[] = {"physics", "chem", "bio"};

	(void)state;
	memset(&F, 0, sizeof(F));
	F.now = BEGAN;
	F.conf.cluster = text("hpc");
	memcpy(F.conf.currency, "EUR", 4);
	F.conf.alerts = F.alerts;
	F.conf.budgets = F.budget;
	F.conf.nbudgets = 3;
	for (size_t i = 0; i < 3; i++)
		F.budget[i] = (struct conf_budget){.name = text(names[i]),
						   .amount_nano = 100 * EUR,
						   .notify_at = {{50, 80}, 2}};
	F.e.conf = &F.conf;
	F.e.d.uuid = "u-u-i-d";
	F.e.money = &F.money;
	file(F.key, KEY "\n");
	file(F.url, "https://hooks.slack/T0/secret\n");
	file(F.password, "sesame\n");
	alerts_part.at[PART_INIT](&F.e);
	return 0;
}

static inline void begin(void)
{
	alerts_part.at[PART_START](&F.e);
	engine_turn(&F.e);
}

static inline void stop(void)
{
	alerts_part.at[PART_STOP](&F.e);
	for (size_t i = 0; i < F.n; i++)
		assert_false(F.wire[i].open);
	alerts_part.at[PART_FREE](&F.e);
}

static inline int teardown(void **state)
{
	(void)state;
	stop();
	unlink(F.key);
	unlink(F.url);
	unlink(F.password);
	return 0;
}

#endif
