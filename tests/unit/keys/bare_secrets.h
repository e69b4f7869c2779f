/* bare_secrets.h - the session with the secret store on a bare struct engine, with the real
 * secrets*.c and enroll.c; the wire, the clock and the driver are the test's.  The driver sends
 * requests to https://aN/OP and understands one-word replies such as "sealed". */
#ifndef TESTS_BARE_SECRETS_H
#define TESTS_BARE_SECRETS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "io/http_client.h"
#include "io/loop.h"
#include "keys/keys.h"
#include "keys/secrets.h"
#include "tests/unit/engine/bare_state.h"
#include "tests/unit/two_headers.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define BUNDLE   "{\"munge_key\":\"kZ3qVh0v8mJ5rT2yB7nC4xW1sD6fG9hL0pQoIuYtReE=\"}"

enum { WIRE_MAX = 512, MINUTE = 60000, LEASE = 3600000, NODES = 40 };

static struct fix {
	struct engine e;
	struct conf conf;
	char path[64];
	int64_t now;
	/* the driver */
	uint32_t wrap_s; /* life of the last token asked for */
	unsigned flags;
	uint32_t naddresses;
	int64_t until;
	bool renewable, as_file;
	char credential[64];
	char opened[64];    /* the credential of the last open() */
	bool away;          /* the configured files are missing */
	const char *stored; /* the version that a read finds; NULL: the known one */
	/* the wire */
	struct wire {
		char url[64], location[64];
		uint32_t timeout_ms;
		http_done_fn done; /* NULL: answered */
		void *ctx;
	} wire[WIRE_MAX];
	size_t n;
	/* events */
	char events[4096];
	unsigned nevents;
	/* nodes */
	struct got {
		bool told;
		int code; /* 0: keys */
		char text[128], first[64];
		int64_t sent_ms;
	} got[NODES];
	bool inside; /* inside a call that must not call back */
	bool deaf;   /* no request can be sent */
} F;

/* --- the rest of the engine and the world ----------------------------------------------------- */

int64_t engine_now(const struct engine *e)
{
	(void)e;
	return F.now;
}

void engine_turn(struct engine *e)
{
	secrets_turn_part.at[PART_RUN](e);
}

void engine_event(struct engine *e, const char *node, uint64_t gen, const char *type,
		  const char *detail)
{
	size_t n = strlen(F.events);

	(void)e;
	(void)gen;
	assert_string_equal(node, "");
	F.nevents++;
	(void)snprintf(F.events + n, sizeof(F.events) - n, "%s: %s\n", type, detail);
}

void timer_at(struct timer *t, int64_t when_ms)
{
	(void)t;
	(void)when_ms;
}

int http_client_send(struct http_client *c, const struct http_call *call, http_done_fn done,
		     void *ctx, uint64_t *handle, struct err *e)
{
	struct wire *w = &F.wire[F.n];

	(void)c;
	assert_true(F.n < WIRE_MAX);
	assert_true(call->secret);
	if (F.deaf || strstr(call->url, "unsendable") != NULL)
		return err_set(e, ERR_NOTSENT, "no way there");
	*w = (struct wire){.done = done, .ctx = ctx, .timeout_ms = call->timeout_ms};
	(void)snprintf(w->url, sizeof(w->url), "%s", call->url);
	F.n++;
	if (handle != NULL)
		*handle = F.n;
	return 0;
}

void http_client_cancel(struct http_client *c, uint64_t handle)
{
	static const struct err gone = {.code = ERR_CANCELLED, .msg = "cancelled"};
	struct wire *w = &F.wire[handle - 1];

	(void)c;
	w->done(w->ctx, NULL, &gone);
	w->done = NULL;
}

/* --- a driver --------------------------------------------------------------------------------- */

static inline int open_it(void **self, const struct secret_store_conf *conf, struct err *e)
{
	(void)e;
	(void)snprintf(F.opened, sizeof(F.opened), "%s",
		       conf->credential != NULL ? conf->credential : "");
	*self = &F;
	return 0;
}

static inline void close_it(void *self)
{
	(void)self;
}

static inline unsigned flags(const void *self)
{
	(void)self;
	return F.flags;
}

static inline const char *address(const void *self, uint32_t i)
{
	static const char *const all[] = {"https://a0", "https://a1", "https://a2"};

	(void)self;
	return i < F.naddresses ? all[i] : NULL;
}

static inline int build(const void *self, const struct secret_op *op, struct secret_request *out,
			struct err *e)
{
	char url[64];

	(void)self;
	if (op->kind == SECRET_LOGIN && F.credential[0] == '\0')
		return err_set(e, ERR_AUTH, "there is no secret_id yet");
	(void)snprintf(url, sizeof(url), "a%u/%s%s%s", (unsigned)op->address,
		       secret_op_str(op->kind), op->version[0] != '\0' ? "/" : "", op->version);
	if (op->kind == SECRET_WRAP)
		F.wrap_s = op->wrap_s;
	out->kind = F.as_file ? SECRET_FILE : SECRET_HTTP;
	out->method = "GET";
	out->url = mem_strdup(F.as_file ? F.conf.secrets.credential_file : url);
	if (op->kind == SECRET_WRITE) {
		out->body = mem_strdup(op->bundle);
		out->body_len = strlen(op->bundle);
	}
	return 0;
}

static inline void parse(const void *self, const struct secret_op *op,
			 const struct secret_reply *reply, struct secret_result *r)
{
	const char *location;
	static const struct {
		const char *word;
		enum secret_code code;
	} words[] = {{"sealed", SECRET_AWAY},     {"standby", SECRET_ELSEWHERE},
		     {"denied", SECRET_DENIED},   {"missing", SECRET_MISSING},
		     {"spent", SECRET_SPENT},     {"behind", SECRET_BEHIND},
		     {"rate", SECRET_RATE},       {"broken", SECRET_TRANSIENT},
		     {"nonsense", SECRET_INVALID}};

	(void)self;
	for (size_t i = 0; i < COUNT(words); i++)
		if (strcmp(reply->body, words[i].word) == 0) {
			r->code = words[i].code;
			(void)snprintf(r->message, sizeof(r->message), "it is %s", words[i].word);
		}
	if (reply->status != 200) {
		r->code = reply->status == 404 ? SECRET_MISSING : SECRET_INVALID;
		(void)snprintf(r->message, sizeof(r->message), "%ld %.100s", reply->status,
			       reply->body);
	}
	location = headers_get(&reply->headers, "Location");
	if (location != NULL)
		(void)snprintf(r->location, sizeof(r->location), "%s", location);
	r->retry_after_ms = headers_retry_after_ms(&reply->headers, INT64_MAX / 10);
	if (r->code != SECRET_OK)
		return;
	r->lease_ms = op->kind == SECRET_RENEW && reply->body[0] != '\0'
			      ? strtoll(reply->body, NULL, 10)
			      : LEASE;
	r->renewable = F.renewable;
	r->rights =
		strcmp(reply->body, "root") == 0   ? SECRET_MAY_ALL | SECRET_MAY_READ
		: strcmp(reply->body, "poor") == 0 ? SECRET_MAY_POLL
		: strcmp(reply->body, "looks") == 0
			? SECRET_MAY_READ | SECRET_MAY_POLL | SECRET_MAY_LOOK
		: strcmp(reply->body, "both") == 0
			? SECRET_MAY_READ | SECRET_MAY_POLL | SECRET_MAY_LOOK | SECRET_MAY_REVOKE
			: SECRET_MAY_READ | SECRET_MAY_POLL | SECRET_MAY_REVOKE;
	if (op->kind == SECRET_VERSION)
		(void)snprintf(r->version, sizeof(r->version), "%s",
			       reply->body[0] != '\0' ? reply->body : "7");
	if (op->kind == SECRET_READ) {
		(void)snprintf(r->version, sizeof(r->version), "%s",
			       F.stored != NULL ? F.stored : op->version);
		r->value = reply->body[0] != '\0' ? secret_new(reply->body, reply->len)
						  : secret_new(BUNDLE, strlen(BUNDLE));
	}
	if (reply->version != NULL)
		(void)snprintf(r->version, sizeof(r->version), "%s", reply->version);
	if (op->kind == SECRET_WRAP || op->kind == SECRET_LOGIN || op->kind == SECRET_UNWRAP)
		r->value = secret_new("token", 5);
	(void)snprintf(r->accessor, sizeof(r->accessor), "acc");
	(void)snprintf(r->path, sizeof(r->path), "%s",
		       op->kind == SECRET_PEEK && reply->body[0] != '\0' ? reply->body : "right");
	r->ttl_ms = 60000;
}

static inline int64_t good_until(const void *self)
{
	(void)self;
	return F.until;
}

static inline int take(void *self, const struct secret_result *r, int64_t now_ms, struct err *e)
{
	(void)self;
	(void)e;
	F.until = r != NULL ? now_ms + r->lease_ms : 0;
	return 0;
}

static inline int credential(void *self, const char *text, struct err *e)
{
	(void)self;
	(void)e;
	(void)snprintf(F.credential, sizeof(F.credential), "%s", text);
	return 0;
}

static inline const char *path(const void *self, enum secret_op_kind kind)
{
	(void)self;
	(void)kind;
	return "right";
}

static const struct secret_store_ops fake = {.name = "fake",
					     .open = open_it,
					     .close = close_it,
					     .flags = flags,
					     .address = address,
					     .build = build,
					     .parse = parse,
					     .good_until = good_until,
					     .take = take,
					     .credential = credential,
					     .path = path};

static inline const struct secret_store_ops *find(const char *name)
{
	return strcmp(name, "fake") == 0 ? &fake : NULL;
}

/* --- steps ------------------------------------------------------------------------------------ */

static inline size_t waiting(void)
{
	size_t n = 0;

	for (size_t i = 0; i < F.n; i++)
		n += F.wire[i].done != NULL;
	return n;
}

static inline void reply(const char *url, const char *body, const char *retry, const char *location)
{
	for (size_t i = 0; i < F.n; i++) {
		struct wire *w = &F.wire[i];
		http_done_fn done = w->done;
		struct header v[2];
		const struct http_reply r = {.status = 200,
					     .body = body,
					     .len = strlen(body),
					     .headers = two_headers(v, retry, location)};

		if (done == NULL || strcmp(w->url, url) != 0)
			continue;
		w->done = NULL;
		done(w->ctx, &r, NULL);
		return;
	}
	for (size_t i = 0; i < F.n; i++)
		if (F.wire[i].done != NULL)
			print_message("on the wire: %s\n", F.wire[i].url);
	fail_msg("%s was not asked", url);
}

static inline void say(const char *url, const char *body)
{
	reply(url, body, NULL, NULL);
}

static inline void lose(const char *url, enum err_code code)
{
	struct err e;

	(void)err_set(&e, code, "connection lost");
	for (size_t i = 0; i < F.n; i++) {
		http_done_fn done = F.wire[i].done;

		if (done == NULL || strcmp(F.wire[i].url, url) != 0)
			continue;
		F.wire[i].done = NULL;
		done(F.wire[i].ctx, NULL, &e);
		return;
	}
	fail_msg("%s was not asked", url);
}

/* Let time pass for so many ms, from one due time to the next. */
static inline void pass(int64_t ms)
{
	int64_t end = F.now + ms;

	for (;;) {
		int64_t next = secrets_turn_part.next_ms(&F.e);

		if (next > end)
			break;
		F.now = next > F.now ? next : F.now;
		if (next <= F.now && waiting() > 0 && next == F.now)
			F.now++; /* a request is on the wire: burstd must not spin */
		engine_turn(&F.e);
		if (F.n > WIRE_MAX - 32)
			fail_msg("%zu requests", F.n);
	}
	F.now = end;
	engine_turn(&F.e);
}

static inline struct secrets *S(void)
{
	return F.e.keys->secrets;
}

static inline void start(void)
{
	assert_int_equal(secrets_part.open(&F.e, NULL), 0);
	engine_turn(&F.e);
}

static inline void get_ready(void)
{
	start();
	say("a0/health", "");
	say("a0/login", "");
	say("a0/rights", "");
	say("a0/version", "");
	assert_true(secrets_ready(&F.e));
	assert_int_equal(waiting(), 0);
}

static inline void on_keys(void *ctx, const struct secrets_released *r, const struct err *err)
{
	struct got *g = ctx;

	assert_false(g->told);
	assert_false(F.inside);
	g->told = true;
	if (r == NULL) {
		assert_true(err->code != 0);
		g->code = err->code;
		(void)snprintf(g->text, sizeof(g->text), "%.120s", err->msg);
		return;
	}
	assert_null(err);
	(void)snprintf(g->text, sizeof(g->text), "%s %s",
		       r->mode != CONF_BROKER ? secret_text(r->token) : "bundle", r->version);
	g->sent_ms = r->sent_ms;
	if (r->mode != CONF_BROKER)
		(void)snprintf(g->first, sizeof(g->first), "%s", r->addresses[0]);
	else
		assert_string_equal(secret_text(r->bundle), BUNDLE);
}

static inline uint64_t ask(size_t node, enum conf_release mode)
{
	uint64_t handle;

	F.inside = true;
	assert_int_equal(secrets_release(&F.e, mode, on_keys, &F.got[node], &handle, NULL), 0);
	F.inside = false;
	engine_turn(&F.e);
	return handle;
}

static inline int setup(void **state)
{
	(void)state;
	F = (struct fix){.now = INT64_C(1800000000000),
			 .flags = SECRET_WRAPS | SECRET_RENEWS | SECRET_PROBES | SECRET_ENROLS,
			 .naddresses = 2,
			 .renewable = true,
			 .credential = "id"};
	bare_state(&F.e);
	F.e.conf = &F.conf;
	F.e.d.store = find;
	F.e.d.uuid = "u-u-i-d";
	F.conf.path = F.path;
	F.conf.secrets = (struct conf_secrets){.driver = (char *)(uintptr_t) "fake",
					       .wrap_ms = 60000,
					       .poll_ms = 60000,
					       .timeout_ms = 30000};
	return 0;
}

static inline int teardown(void **state)
{
	(void)state;
	secrets_free(&F.e);
	assert_int_equal(waiting(), 0); /* each request was cancelled, and called nobody */
	return 0;
}

#endif
