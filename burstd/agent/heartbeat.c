/* heartbeat.c - sends heartbeats to one burstd of several, and renews the node's certificate. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "agent/agent.h"
#include "agent/hosts.h"
#include "agent/wire.h"
#include "base/clock.h"
#include "base/jpull.h"
#include "base/mem.h"

enum {
	HEARTBEAT_TIMEOUT_MS = 10000,
	HEARTBEAT_BODY_MAX = 16000, /* the listener takes 16 KiB */
	HEARTBEAT_ANSWER_MAX = 4096,
	HEARTBEAT_CERT_MAX = 32768, /* of the answer to a renewal */
	HEARTBEAT_BACKOFF_MS = 1000,
	HEARTBEAT_BACKOFF_MAX_MS = 30000,
	HEARTBEAT_INTERVAL_MIN = 5, /* seconds: what burstd may ask for */
	HEARTBEAT_INTERVAL_MAX = 300,
	HEARTBEAT_RENEW_AGAIN_MS = 60000, /* at first; 15 min at last */
	HEARTBEAT_RENEW_AGAIN_MAX_MS = 900000,
	HEARTBEAT_HOSTS_MS =
		2000, /* between two lists of hosts; and a second for each KiB of the last:
		    ten thousand nodes must not ask for all of each other at once */
	HEARTBEAT_HOSTS_AGAIN_MS = 60000, /* after it could not be fetched or written */
	HEARTBEAT_VERSION_MAX = 32,
};

struct heartbeat {
	struct agent *a;
	struct wire *wire;
	struct poller_item timer;
	size_t at;      /* index of the URL */
	size_t tried;   /* URLs, since a heartbeat was due */
	unsigned fails; /* rounds of all URLs */
	uint64_t sent;  /* heartbeats */
	int64_t interval;
	int64_t offset;      /* burstd's time, which nobody sets, less our clock */
	int64_t wall_offset; /* ... and its clock, by which certificates are dated */
	int64_t renew_next;
	unsigned renew_fails;
	bool clock_wrong, renew_now;
	char hosts[HEARTBEAT_VERSION_MAX + 1];      /* version of the list that is in hosts_file */
	char hosts_next[HEARTBEAT_VERSION_MAX + 1]; /* version that burstd has */
	int64_t hosts_at;                           /* do not fetch before */
	bool over, ok;                              /* for --once */
	struct err why;
};

static void on_timer(struct poller_item *it, short got, int64_t now);

/* How long before its end the certificate is renewed: burstd refuses an expired one, and may have
 * been away for as long as the agent lets a job run.  At least a third and at most three quarters
 * of the certificate's life. */
static int64_t reserve(const struct agent_conf *c, int64_t life)
{
	int64_t silence = c->deadman + c->deadman_job;

	if (silence < life / 3)
		return life / 3;
	return silence < life / 4 * 3 ? silence : life / 4 * 3;
}

static void set_renewal(struct heartbeat *h, int64_t now)
{
	int64_t from, until, life, left, keep;

	tls_dates(h->a->tls, &from, &until);
	life = until - from;
	keep = reserve(&h->a->conf, life);
	/* Use burstd's clock, if it is known: ours may be wrong. */
	left = until - (clock_wall_ms() + h->wall_offset);
	if (left > life)
		left = life;
	h->renew_next = now + (left > keep ? left - keep : 0);
}

struct heartbeat *heartbeat_new(struct agent *a)
{
	struct heartbeat *h = mem_zalloc(sizeof(*h));
	const int64_t now = clock_boot_ms();

	h->a = a;
	h->interval = a->conf.heartbeat;
	h->wire = wire_new(&a->poller, &a->conf.urls[0], a->tls);
	h->timer = (struct poller_item){.fd = -1, .deadline = now, .fn = on_timer, .ctx = h};
	poller_add(&a->poller, &h->timer);
	set_renewal(h, now);
	return h;
}

void heartbeat_free(struct heartbeat *h)
{
	if (h == NULL)
		return;
	wire_free(h->wire);
	poller_del(&h->a->poller, &h->timer);
	free(h);
}

bool heartbeat_tried(const struct heartbeat *h, bool *ok, const char **why)
{
	*ok = h->ok;
	*why = h->why.msg;
	return h->over;
}

/* A random number from 0 to n - 1: a thousand nodes must not come back in step. */
static int64_t dice(int64_t n)
{
	uint32_t r = 0;

	if (getrandom(&r, sizeof(r), GRND_NONBLOCK) != sizeof(r))
		r = (uint32_t)clock_boot_ms();
	return n > 0 ? (int64_t)(r % (uint64_t)n) : 0;
}

static void body(const struct heartbeat *h, struct str *out)
{
	const struct agent *a = h->a;
	int64_t from, until;

	tls_dates(a->tls, &from, &until);
	agent_json_begin(a, out);
	str_adds(out, ",");
	agent_json_text(out, "agent", BURSTD_VERSION);
	str_addf(out, ",\"seq\":%llu,", (unsigned long long)h->sent);
	agent_json_text(out, "key_version", a->key_version);
	if (a->gpus >= 0)
		str_addf(out, ",\"gpus\":%lld", (long long)a->gpus);
	str_addf(out, ",\"load_milli\":%lld,\"uptime_s\":%lld,\"cert_until\":%lld",
		 (long long)a->facts.load_milli, (long long)a->facts.uptime,
		 (long long)(until / 1000));
	str_addf(out, ",\"faulty\":%s,\"clock_wrong\":%s,\"now_ms\":%lld",
		 a->faulty ? "true" : "false", h->clock_wrong ? "true" : "false",
		 (long long)clock_wall_ms());
	str_addf(out, ",\"busy\":%s,\"jobs\":[", a->facts.job ? "true" : "false");
	for (size_t i = 0; i < a->facts.njobs; i++)
		str_addf(out, i > 0 ? ",%u" : "%u", a->facts.jobs[i]);
	str_adds(out, "]}");
}

static void send_renewal(struct heartbeat *h);

/* burstd's answer to a heartbeat. */
struct reply {
	bool ok, renew;
	int64_t interval, now_ms, wall_ms, generation;
	char hosts[HEARTBEAT_VERSION_MAX + 1];
	char keys[HEARTBEAT_VERSION_MAX + 1]; /* version of the keys that the node should have */
	int64_t switch_ms;
};

/* Read {"version":"8","switch_ms":1764000000000}; a malformed one counts as none.  Without a
 * switch_ms nothing is said about a switch. */
static void read_keys(const struct jpull_value *value, struct reply *r)
{
	struct jpull_value key, v;
	struct jpull j;
	bool good;

	if (value->type == JPULL_NONE || value->type == JPULL_NULL)
		return;
	jpull_init(&j, value->p, value->n);
	good = jpull_enter(&j, '{');
	while (good && jpull_key(&j, &key)) {
		v = jpull_take(&j);
		if (jpull_is(&key, "version"))
			good = jpull_text(&v, r->keys, sizeof(r->keys)) >= 0;
		else if (jpull_is(&key, "switch_ms"))
			good = jpull_int(&v, &r->switch_ms) > 0;
	}
	if (good && jpull_end(&j))
		return;
	r->keys[0] = '\0';
	r->switch_ms = KEYS_UNSAID;
}

static int read_reply(const struct answer *a, struct reply *r)
{
	struct jpull_value key, v;
	struct jpull j;
	int rc = 0;

	/* But for "ok" and "generation", which every burstd gives, no member makes the answer
	 * invalid: a newer burstd, for example with a longer version of its list, must not cost the
	 * node. */
	*r = (struct reply){.ok = false, .switch_ms = KEYS_UNSAID};
	jpull_init(&j, a->body.p, a->body.len);
	if (!jpull_enter(&j, '{'))
		return -1;
	while (jpull_key(&j, &key)) {
		v = jpull_take(&j);
		if (jpull_is(&key, "ok"))
			r->ok = v.type == JPULL_BOOL && v.p[0] == 't';
		else if (jpull_is(&key, "renew"))
			r->renew = v.type == JPULL_BOOL && v.p[0] == 't';
		else if (jpull_is(&key, "interval_s"))
			(void)jpull_int(&v, &r->interval);
		else if (jpull_is(&key, "now_ms"))
			(void)jpull_int(&v, &r->now_ms);
		else if (jpull_is(&key, "wall_ms"))
			(void)jpull_int(&v, &r->wall_ms);
		else if (jpull_is(&key, "generation"))
			rc |= jpull_int(&v, &r->generation);
		else if (jpull_is(&key, "hosts") && jpull_text(&v, r->hosts, sizeof(r->hosts)) != 1)
			r->hosts[0] = '\0';
		else if (jpull_is(&key, "keys"))
			read_keys(&v, r);
	}
	return jpull_end(&j) && rc >= 0 ? 0 : -1;
}

/* Does burstd confirm that this very generation of the node is alive? */
static int judge(const struct heartbeat *h, const struct answer *a, struct reply *r, struct err *e)
{
	const char *name = h->a->conf.urls[h->at].name;

	if (a->status != 200)
		return err_set(e, ERR_INVALID, "%s: status %d", name, a->status);
	if (read_reply(a, r) != 0 || !r->ok)
		return err_set(e, ERR_INVALID, "%s: not the answer to a heartbeat", name);
	if (r->generation != h->a->conf.generation)
		return err_set(e, ERR_INVALID, "%s: answers for another generation", name);
	return 0;
}

static void next_in(struct heartbeat *h, int64_t ms)
{
	h->timer.deadline = clock_boot_ms() + ms;
}

static void failed(struct heartbeat *h)
{
	struct agent *a = h->a;
	int64_t most;

	deadman_failed(&a->deadman);
	/* Close the connection: this URL is used again only after all others were tried. */
	wire_drop(h->wire);
	if (a->conf.nurls > 1) {
		h->at = (h->at + 1) % a->conf.nurls;
		wire_free(h->wire);
		h->wire = wire_new(&a->poller, &a->conf.urls[h->at], a->tls);
	}
	if (++h->tried < a->conf.nurls) {
		next_in(h, 0);
		return;
	}
	if (h->fails == 0)
		agent_complain(a, "no burstd answers heartbeats", h->why.msg);
	h->over = true;
	h->tried = 0;
	most = h->fails < 5 ? (int64_t)HEARTBEAT_BACKOFF_MS << h->fails : HEARTBEAT_BACKOFF_MAX_MS;
	if (most > h->interval)
		most = h->interval;
	h->fails++;
	next_in(h, most / 2 + dice(most / 2 + 1));
}

static void set_clock(struct heartbeat *h, const struct reply *r)
{
	const bool wrong = wire_clock_wrong(h->wire);

	if (r->now_ms > 0)
		h->offset = r->now_ms - clock_wall_ms();
	if (r->wall_ms > 0 || r->now_ms > 0) /* an older burstd sends only now_ms */
		h->wall_offset = (r->wall_ms > 0 ? r->wall_ms : r->now_ms) - clock_wall_ms();
	if (wrong && !h->clock_wrong)
		agent_complain(h->a, "burstd's certificate is out of date by our clock",
			       "one of the two clocks is wrong");
	h->clock_wrong = wrong;
}

/* --- the other nodes' addresses --- */

static bool hosts_due(const struct heartbeat *h, int64_t now)
{
	return h->a->conf.hosts_file[0] != '\0' && h->hosts_next[0] != '\0' &&
	       strcmp(h->hosts, h->hosts_next) != 0 && now >= h->hosts_at;
}

static void on_hosts(void *ctx, const struct answer *a, const struct err *e)
{
	struct heartbeat *h = ctx;
	const int64_t now = clock_boot_ms();
	struct err why = {0};

	if (e != NULL)
		why = *e;
	else if (a->status != 200 || strlen(a->body.p) != a->body.len)
		(void)err_set(&why, ERR_INVALID, "status %d, or not text", a->status);
	else if (hosts_check(a->body.p, &why) == 0)
		(void)hosts_write(h->a->conf.hosts_file, a->body.p, &why);
	if (why.code != ERR_NONE) {
		agent_complain(h->a, "list of hosts not updated", why.msg);
		h->hosts_at = now + HEARTBEAT_HOSTS_AGAIN_MS;
		return;
	}
	memcpy(h->hosts, h->hosts_next, sizeof(h->hosts));
	h->hosts_at = now + HEARTBEAT_HOSTS_MS + (int64_t)(a->body.len / 1024) * 1000;
}

static void send_hosts(struct heartbeat *h)
{
	const struct wire_call call = {.method = "GET",
				       .path = "/v1/node/hosts",
				       .answer_max = HOSTS_MAX,
				       .timeout_ms = HEARTBEAT_TIMEOUT_MS};

	wire_send(h->wire, &call, on_hosts, h);
}

static void on_heartbeat(void *ctx, const struct answer *a, const struct err *e)
{
	struct heartbeat *h = ctx;
	const int64_t now = clock_boot_ms();
	struct reply r = {.ok = false, .switch_ms = KEYS_UNSAID};

	if (e != NULL)
		h->why = *e;
	if (a == NULL || judge(h, a, &r, &h->why) != 0) {
		if (a != NULL &&
		    a->status == 410) /* released: the machine is about to be deleted */
			unmount_told(h->a->unmount);
		failed(h);
		return;
	}
	if (h->fails > 0)
		log_write(h->a->log, LOG_INFO, "burstd answers again", "url",
			  h->a->conf.urls[h->at].name, NULL);
	deadman_heard(&h->a->deadman, now);
	h->over = h->ok = true;
	h->tried = 0;
	h->fails = 0;
	set_clock(h, &r);
	if (r.interval >= HEARTBEAT_INTERVAL_MIN && r.interval <= HEARTBEAT_INTERVAL_MAX)
		h->interval = r.interval * 1000;
	next_in(h, h->interval - h->interval / 10 + dice(h->interval / 5));
	h->renew_now = h->renew_now || r.renew;
	if (h->renew_fails == 0)
		set_renewal(h, now);
	if (h->a->keys != NULL)
		keys_told(h->a->keys, r.keys, r.switch_ms, h->offset);
	memcpy(h->hosts_next, r.hosts, sizeof(h->hosts_next));
	if (now >= h->renew_next || (h->renew_now && h->renew_fails == 0))
		send_renewal(h);
	else if (hosts_due(h, now))
		send_hosts(h);
}

static void send_heartbeat(struct heartbeat *h)
{
	struct wire_call call = {.method = "POST",
				 .path = "/v1/node/heartbeat",
				 .answer_max = HEARTBEAT_ANSWER_MAX,
				 .timeout_ms = HEARTBEAT_TIMEOUT_MS};
	struct str text;

	agent_look(h->a);
	h->sent++;
	str_init(&text, HEARTBEAT_BODY_MAX);
	body(h, &text);
	call.body = text.p;
	wire_send(h->wire, &call, on_heartbeat, h);
	str_fini(&text);
}

/* The certificate of {"cert":"..."}; the caller's, NULL: there is none. */
static char *cert_of(const struct answer *a)
{
	char *text = mem_zalloc(HEARTBEAT_CERT_MAX);
	struct jpull_value key, v;
	struct jpull j;
	bool there = false;

	jpull_init(&j, a->body.p, a->body.len);
	if (jpull_enter(&j, '{'))
		while (jpull_key(&j, &key)) {
			v = jpull_take(&j);
			if (jpull_is(&key, "cert"))
				there = jpull_text(&v, text, HEARTBEAT_CERT_MAX) == 1;
		}
	if (jpull_end(&j) && there)
		return text;
	free(text);
	return NULL;
}

static void on_renewal(void *ctx, const struct answer *a, const struct err *e)
{
	struct heartbeat *h = ctx;
	char *pem = a != NULL && a->status == 200 ? cert_of(a) : NULL;
	struct err why = {0};
	int64_t pause;

	if (pem != NULL && tls_renew(h->a->tls, pem, h->a->conf.cert, &why) == 0) {
		free(pem);
		log_write(h->a->log, LOG_INFO, "certificate renewed", NULL);
		h->renew_fails = 0;
		h->renew_now = false;
		set_renewal(h, clock_boot_ms());
		wire_drop(h->wire); /* the next connection uses the new certificate */
		return;
	}
	free(pem);
	if (e != NULL)
		why = *e;
	else if (a != NULL && why.code == ERR_NONE)
		(void)err_set(&why, ERR_INVALID, "status %d, or no certificate in it", a->status);
	agent_complain(h->a, "certificate not renewed", why.msg);
	pause = (int64_t)HEARTBEAT_RENEW_AGAIN_MS << (h->renew_fails < 4 ? h->renew_fails : 4);
	if (pause > HEARTBEAT_RENEW_AGAIN_MAX_MS)
		pause = HEARTBEAT_RENEW_AGAIN_MAX_MS;
	h->renew_fails++;
	h->renew_next = clock_boot_ms() + pause / 2 + dice(pause / 2);
}

static void send_renewal(struct heartbeat *h)
{
	struct wire_call call = {.method = "POST",
				 .path = "/v1/node/renew",
				 .answer_max = HEARTBEAT_CERT_MAX,
				 .timeout_ms = HEARTBEAT_TIMEOUT_MS};
	struct str text, csr;
	struct err e = {0};

	str_init(&text, HEARTBEAT_BODY_MAX);
	str_init(&csr, HEARTBEAT_BODY_MAX / 2);
	if (tls_request(h->a->tls, h->a->conf.node, &csr, &e) != 0) {
		agent_complain(h->a, "certificate not renewed", e.msg);
	} else {
		agent_json_begin(h->a, &text);
		str_addf(&text, ",\"csr\":\"%s\"}", csr.p);
		call.body = text.p;
		wire_send(h->wire, &call, on_renewal, h);
	}
	str_fini(&text);
	str_fini(&csr);
}

static void on_timer(struct poller_item *it, short got, int64_t now)
{
	struct heartbeat *h = it->ctx;

	(void)got;
	(void)now;
	if (wire_busy(h->wire))
		next_in(h, 1000); /* a renewal is under way: send the heartbeat after it */
	else
		send_heartbeat(h);
}
