/* Sends messages about budgets: builds each for its kind of receiver, and writes what became of it.
 *
 * Keys, passwords and URLs in files are read for each message, so that a file that is replaced
 * counts at once.  They are in no error, event or log. */
#include <inttypes.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fnv.h"
#include "base/mem.h"
#include "base/redact.h"
#include "base/secret.h"
#include "io/http_client.h"
#include "io/mail.h"
#include "money/alerts.h"
#include "store/journal_alerts.h"

enum { MAC_SIZE = 32, STATUS_GONE = 410, LINE_SIZE = 256 };

struct alert_wire { /* one attempt */
	struct engine *e;
	struct alert_receiver *r; /* NULL: nobody waits for it any more */
	int64_t message;          /* its number; 0: a test */
	uint64_t handle;          /* of the HTTP client ... */
	struct mail *mail;        /* ... or a mail */
};

/* --- the end of an attempt -----------------------------------------------------------------------
 */

/* The same for the same attempt: jitter needs no secret. */
static uint64_t dice(const struct alert_receiver *r, int64_t message)
{
	uint64_t h = fnv_text(FNV_BEGIN, r->name);

	h = fnv_bytes(h, &message, sizeof(message));
	h = fnv_bytes(h, &r->failures, sizeof(r->failures));
	return h >> 16;
}

static void end_message(struct engine *e, const struct alert_receiver *r, int64_t seq,
			const struct alert_outcome *o)
{
	struct alerts *a = e->money->alerts;
	struct alert_message *m = alerts_message(a, seq);

	if (m == NULL)
		return;
	alert_message_tried(m, o, engine_now(e), dice(r, seq));
	journal_put_alert_message(engine_tx(e), m);
	a->unsaved = true;
	if (m->state != ALERT_PENDING)
		a->ended[m->state]++;
	if (m->state == ALERT_FAILED) {
		char text[LINE_SIZE + ALERT_ERROR_MAX];

		(void)snprintf(text, sizeof(text),
			       "message %" PRId64 " to alert %s was given up after %" PRIu32
			       " attempts: %s",
			       m->seq, m->to, m->attempts, m->error);
		engine_event(e, "", 0, "alert-failed", text);
	}
}

/* o->error may be a server's words. */
static void ended(struct engine *e, struct alert_receiver *r, int64_t seq, struct alert_outcome o)
{
	const int64_t now = engine_now(e);
	char *clean = o.error != NULL ? redact(o.error) : NULL;

	if (clean != NULL)
		o.error = clean;
	if (seq == 0) {
		r->test = o.taken ? ALERT_TEST_TAKEN : ALERT_TEST_FAILED;
		r->test_ms = now;
		(void)snprintf(r->test_error, sizeof(r->test_error), "%s", o.taken ? "" : o.error);
	} else {
		end_message(e, r, seq, &o);
	}
	(void)snprintf(r->error, sizeof(r->error), "%s", o.taken ? "" : o.error);
	if (o.taken) {
		r->ok_ms = now;
		r->failures = 0;
		r->next_ms = now + ALERTS_PACE_MS;
	} else {
		int64_t wait = alert_retry_ms(++r->failures, dice(r, seq));

		r->failed_ms = now;
		r->next_ms = now + (o.later_ms > wait ? o.later_ms : wait);
	}
	free(clean);
	alerts_reckon(e, r);
}

/* The attempt of w is over; w is freed. */
static void finish(struct alert_wire *w, const struct alert_outcome *o)
{
	struct engine *e = w->e;
	struct alert_receiver *r = w->r;
	int64_t seq = w->message;

	free(w);
	if (r == NULL)
		return;
	r->wire = NULL;
	log_hold(e->d.log);
	ended(e, r, seq, *o);
	engine_turn(e);
	log_release(e->d.log);
}

/* Slack says why in one word, such as "channel_is_archived"; other bodies may quote anything. */
static const char *word_of(const struct http_reply *reply)
{
	size_t n = strspn(reply->body, "abcdefghijklmnopqrstuvwxyz_");

	return n == reply->len && n > 0 && n < 64 ? reply->body : "";
}

static void on_http(void *ctx, const struct http_reply *reply, const struct err *e)
{
	struct alert_wire *w = ctx;
	struct alert_outcome o = {.taken = false};
	char text[LINE_SIZE];

	if (e != NULL) {
		o.error = e->msg;
	} else {
		const char *word = word_of(reply);

		(void)snprintf(text, sizeof(text), "the server answered %ld%s%s%s", reply->status,
			       reply->status / 100 == 3 ? ", and redirects are not followed" : "",
			       word[0] != '\0' ? ": " : "", word);
		o = (struct alert_outcome){
			.taken = reply->status / 100 == 2,
			.final = reply->status == STATUS_GONE,
			.later_ms = headers_retry_after_ms(&reply->headers, ALERT_RETRY_MAX_MS),
			.error = text};
	}
	finish(w, &o);
}

static void on_mail(void *ctx, const struct err *e)
{
	const struct alert_outcome o = {.taken = e == NULL, .error = e != NULL ? e->msg : NULL};

	finish(ctx, &o);
}

void alerts_cancel(struct alert_receiver *r)
{
	struct alert_wire *w = r->wire;

	r->wire = NULL;
	if (w == NULL)
		return;
	w->r = NULL;
	if (w->mail == NULL) {
		http_client_cancel(w->e->d.http, w->handle); /* calls on_http(), which frees it */
		return;
	}
	mail_cancel(w->mail);
	free(w);
}

/* --- requests ------------------------------------------------------------------------------------
 */

/* "t.body" signed: sha256=HEX of HMAC-SHA256. */
static void sign(const struct secret *key, const char *time, const struct str *body, char *out,
		 size_t size)
{
	unsigned char mac[MAC_SIZE];
	char hex[2 * MAC_SIZE + 1];
	unsigned n = sizeof(mac);
	struct str all;

	str_init(&all, ALERT_TEXT_MAX + LINE_SIZE);
	str_addf(&all, "%s.", time);
	str_add(&all, body->p, body->len);
	(void)mem_check(HMAC(EVP_sha256(), secret_text(key), (int)secret_len(key),
			     (const unsigned char *)all.p, all.len, mac, &n));
	str_fini(&all);
	(void)snprintf(out, size, "X-Burstd-Signature: sha256=%s", fmt_hex(hex, mac, n));
}

/* The URL: *file is the caller's, and url may be in it. */
static int load_url(const struct conf_alert *c, struct secret **file, const char **url,
		    struct err *err)
{
	*url = c->url;
	if (c->url_file == NULL)
		return 0;
	if (secret_load(file, c->url_file, err) != 0)
		return err_wrap(err, "url_file");
	*url = secret_text(*file);
	if (conf_alert_check_url((enum conf_alert_kind)c->kind, *url, err) != 0)
		return err_wrap(err, "the URL in url_file");
	return 0;
}

static int load_key(const struct conf_alert *c, struct secret **key, struct err *err)
{
	if (secret_load(key, c->secret_file, err) != 0)
		return err_wrap(err, "secret_file");
	if (secret_len(*key) < CONF_ALERT_KEY_MIN)
		return err_set(err, ERR_INVALID, "secret_file: a key of less than %d bytes",
			       CONF_ALERT_KEY_MIN);
	return 0;
}

static int post(struct alert_wire *w, const struct conf_alert *c, const char *url,
		const struct alert_mailing *m, struct err *err)
{
	char id[LINE_SIZE], at[LINE_SIZE], mac[LINE_SIZE], seconds[FMT_U64_SIZE];
	const char *headers[] = {"Content-Type: application/json", id, at, mac, NULL};
	struct http_call call = {.method = "POST",
				 .url = url,
				 .headers = headers,
				 .ca_file = c->ca_file,
				 .timeout_ms = ALERTS_HTTP_MS,
				 .max_reply = ALERTS_REPLY_MAX};
	struct secret *key = NULL;
	struct str body;
	int rc = 0;

	str_init(&body, ALERT_TEXT_MAX);
	(void)snprintf(id, sizeof(id), "X-Burstd-Id: %s", m->id);
	if (c->kind == CONF_ALERT_SLACK) {
		alert_slack(m, &body);
		headers[1] = NULL; /* it has no use for an id, and no key */
	} else {
		alert_webhook(m, &body);
		(void)fmt_i64(seconds, engine_wall(w->e, engine_now(w->e)) / 1000);
		(void)snprintf(at, sizeof(at), "X-Burstd-Timestamp: %s", seconds);
		rc = load_key(c, &key, err);
		if (rc == 0)
			sign(key, seconds, &body, mac, sizeof(mac));
	}
	call.body = body.p;
	call.body_len = body.len;
	if (rc == 0)
		rc = http_client_send(w->e->d.http, &call, on_http, w, &w->handle, err);
	secret_free(key);
	str_fini(&body);
	return rc;
}

static int mail(struct alert_wire *w, const struct conf_alert *c, const struct alert_mailing *m,
		struct err *err)
{
	struct mail_call call = {.url = c->url,
				 .from = c->from,
				 .to = (const char *const *)c->to,
				 .ca_file = c->ca_file,
				 /* On this host only who says whom to trust has TLS. */
				 .tls = !conf_alert_is_near(c->url) || c->ca_file != NULL,
				 .timeout_ms = MAIL_TIMEOUT_MS};
	struct secret *password = NULL;
	struct str text;

	if (c->password_file != NULL) {
		if (secret_load(&password, c->password_file, err) != 0)
			return err_wrap(err, "password_file");
		call.user = c->user;
		call.password = secret_text(password);
	}
	str_init(&text, ALERT_TEXT_MAX);
	alert_mail(m, c, &text);
	call.text = text.p;
	call.len = text.len;
	w->mail = mail_send(w->e->d.loop, &call, on_mail, w, err);
	str_fini(&text);
	secret_free(password);
	return w->mail != NULL ? 0 : -1;
}

static int64_t wall(void *ctx, int64_t ms)
{
	return engine_wall(ctx, ms);
}

/* m NULL: a test. */
static int begin(struct alert_wire *w, const struct conf_alert *c, const struct alert_message *m,
		 struct err *err)
{
	const struct engine *e = w->e;
	const int64_t made = m != NULL ? m->made_ms : engine_now(e);
	const struct alert **v = mem_zalloc((m != NULL ? m->n : 1) * sizeof(struct alert *));
	char id[ALERT_ID_SIZE];
	struct alert_mailing x = {.id = id,
				  .cluster = e->conf->cluster,
				  .uuid = e->d.uuid,
				  .currency = e->conf->currency,
				  .wall_ms = engine_wall(e, made),
				  .test = m == NULL,
				  .alerts = v,
				  .conf = e->conf,
				  .wall = wall,
				  .ctx = w->e};
	struct secret *file = NULL;
	const char *url;
	int rc;

	alert_id(id, e->d.uuid, made, m != NULL ? m->seq : 0);
	for (size_t i = 0; m != NULL && i < m->n; i++) {
		v[x.n] = alert_book_find(&e->money->alerts->book, m->alerts[i]);
		x.n += v[x.n] != NULL;
	}
	rc = load_url(c, &file, &url, err);
	if (rc == 0)
		rc = c->kind == CONF_ALERT_SMTP ? mail(w, c, &x, err) : post(w, c, url, &x, err);
	secret_free(file);
	free(v);
	return rc;
}

/* The one that was tried longest ago, so that none keeps the others back. */
static struct alert_message *pick(const struct engine *e, const struct alert_receiver *r)
{
	const struct alerts *a = e->money->alerts;
	struct alert_message *first = NULL;

	for (size_t i = 0; i < a->nmessages; i++) {
		struct alert_message *m = a->messages[i];

		if (m->state == ALERT_PENDING && strcmp(m->to, r->name) == 0 &&
		    m->next_ms <= engine_now(e) && (first == NULL || m->tried_ms < first->tried_ms))
			first = m;
	}
	return first;
}

static void send_to(struct engine *e, struct alert_receiver *r)
{
	const struct conf_alert *c = conf_alert_named(e->conf, r->name);
	bool test = r->test == ALERT_TEST_WAITS;
	struct alert_message *m = test ? NULL : pick(e, r);
	struct alert_wire *w;
	struct err err;

	if (c != NULL && (test || m != NULL)) {
		w = mem_zalloc(sizeof(*w));
		*w = (struct alert_wire){.e = e, .r = r, .message = test ? 0 : m->seq};
		if (test)
			r->test = ALERT_TEST_SENT;
		r->wire = w;
		if (begin(w, c, m, &err) != 0) {
			r->wire = NULL;
			free(w);
			ended(e, r, test ? 0 : m->seq, (struct alert_outcome){.error = err.msg});
		}
	}
	alerts_reckon(e, r);
}

void alerts_send(struct engine *e)
{
	const struct alerts *a = e->money->alerts;

	for (size_t i = 0; i < a->nreceivers; i++)
		if (a->receivers[i]->due_ms <= engine_now(e))
			send_to(e, a->receivers[i]);
}
