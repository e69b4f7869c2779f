#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/base64.h"
#include "base/mem.h"
#include "cloud/cloud.h"
#include "core/node_said.h"
#include "jobs/jobs.h"
#include "keys/door.h"

/* Handles the requests of nodes with a certificate.  Root of a node can send anything: each text
 * has a limit and is made printable before anybody sees it, what is written down is counted, and a
 * node is only believed about itself. */

enum {
	RENEW_BEFORE_MS = 21600000, /* a quarter of a certificate's life */
	QUIET_S = 60,
};

#define TIME_MAX_S INT64_C(4102444800) /* 2100: a later time is invalid */

/* --- what it says -----------------------------------------------------------------------------
 */

/* Parse the body, and check that the node speaks for itself.  false: the request is answered. */
static bool listen_to(struct engine *e, struct claim_run *r, const struct http_request *rq,
		      struct node_said *s, struct http_answer *an)
{
	char what[HOSTLIST_NAME_MAX + 40];

	if (rq->len > DOOR_BODY_MAX) {
		door_say(an, 413, "more than 16 KiB");
		return false;
	}
	if (node_said_read(s, rq->body, rq->len) != 0 || s->node[0] == '\0') {
		door_say(an, 400, "malformed request");
		return false;
	}
	if (strcmp(s->node, r->c.node) == 0 &&
	    (s->generation == 0 || (uint64_t)s->generation == r->c.gen))
		return true;
	if (strcmp(s->node, r->c.node) == 0)
		(void)snprintf(what, sizeof(what), "it speaks for another generation");
	else
		(void)snprintf(what, sizeof(what), "it speaks for another node%s%s",
			       hostlist_is_name(s->node) ? ": " : "",
			       hostlist_is_name(s->node) ? s->node : "");
	door_misuse(e, r, what);
	door_say(an, 403, "this certificate is of another node");
	return false;
}

/* The version of the keys that nodes should have; while the store has not said, the one that this
 * node got. */
static int64_t current_version(const struct engine *e, const struct claim_run *r)
{
	int64_t v = door_key_version(secrets_version(e));

	return v != 0 ? v : r->c.version;
}

/* --- while it lives ---------------------------------------------------------------------------
 */

static enum engine_noticed notice(struct engine *e, const struct claim_run *r,
				  enum provider_notice_kind kind, int64_t at_ms, const char *why)
{
	const struct fleet_name *nm = fleet_find(&e->fleet, r->c.node);
	const struct fleet_node *fn = nm != NULL ? fleet_gen(nm, r->c.gen) : NULL;
	struct engine_notice_end end;
	struct engine_notice n = {
		.instance = r->c.node, .kind = kind, .reason = why, .by = "its agent"};

	if (fn == NULL)
		return ENGINE_NOTICE_LATE;
	n.at_ms = notice_when(cloud_of(e, &fn->n), kind, at_ms);
	notice_said(e, &n, &end);
	return end.so;
}

/* The interval of heartbeats: short in a new cluster, since the nodes of a job must find each
 * other. */
static int interval(const struct engine *e)
{
	const struct door_hosts *h = &e->keys->door->hosts;

	return h->len <= DOOR_SOON_BYTES && engine_now(e) < h->changed_ms + DOOR_SOON_MS
		       ? DOOR_SOON_S
		       : DOOR_HEARTBEAT_S;
}

static void handle_heartbeat(struct engine *e, struct claim_run *r, const struct node_said *s,
			     struct http_answer *an)
{
	int64_t version = door_key_version(s->key_version), now = engine_now(e);
	int64_t wall = engine_wall(e, now);
	struct str text;
	uint64_t hosts;
	bool renew;

	e->keys->door->count.heartbeats++;
	r->old_keys = version != 0 && version != current_version(e, r);
	/* Its first heartbeat, or it has fetched new keys: count the time of outdated keys anew. */
	if (version != 0 && (r->heartbeat_ms == 0 || (uint64_t)version != r->key_version)) {
		r->key_version = (uint64_t)version;
		r->keys_old_ms = 0;
	}
	r->heartbeat_ms = now;
	if (s->cert_until > 0 && s->cert_until < TIME_MAX_S)
		r->cert_until_ms = s->cert_until * 1000;
	if (s->faulty && !r->faulty)
		(void)notice(e, r, PROVIDER_NOTICE_FAULTY, 0, "its hardware fails a check");
	r->faulty = s->faulty;
	renew = r->cert_until_ms != 0 && r->cert_until_ms < wall + RENEW_BEFORE_MS;
	hosts = hosts_version(e);
	str_init(&text, 512);
	str_addf(&text,
		 "{\"ok\":true,\"generation\":%" PRIu64 ",\"now_ms\":%" PRId64
		 ",\"wall_ms\":%" PRId64 ",\"interval_s\":%d,\"renew\":%s,\"hosts\":\"%016" PRIx64
		 "\"",
		 r->c.gen, now, wall, interval(e), renew ? "true" : "false", hosts);
	rotate_tell(e, r, &text);
	str_adds(&text, "}\n");
	door_give(an, "application/json", NULL, text.len);
	an->body = str_take(&text);
}

static int kind_of(const char *type)
{
	static const struct {
		const char *type;
		enum provider_notice_kind kind;
	} kinds[] = {{"preempt", PROVIDER_NOTICE_RECLAIM},
		     {"rebalance", PROVIDER_NOTICE_REBALANCE},
		     {"maintenance", PROVIDER_NOTICE_MAINTENANCE},
		     {"faulty", PROVIDER_NOTICE_FAULTY}};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(type, kinds[i].type) == 0)
			return (int)kinds[i].kind;
	return -1;
}

/* Handle an event.  After the answer the agent does not send it again, so it must be durable by
 * then. */
static void handle_event(struct engine *e, struct claim_run *r, const struct node_said *s,
			 struct http_answer *an)
{
	int kind = kind_of(s->type);
	uint64_t id = door_hash(s->id);

	if ((kind < 0 && strcmp(s->type, "shutdown") != 0) || s->deadline > TIME_MAX_S) {
		door_say(an, 400, "unknown event");
		return;
	}
	if (s->id[0] != '\0' && id == r->events) {
		door_say(an, 200, "ok=1");
		return;
	}
	/* A node may live for months: the limit is per day. */
	if (engine_now(e) >= r->said_ms + DOOR_SAID_MS) {
		r->said_ms = engine_now(e);
		r->said = 0;
	}
	if (r->said >= DOOR_SAID_MAX) {
		door_say(an, 429, "too many events today");
		an->retry_after_s = QUIET_S;
		return;
	}
	r->said++;
	r->events = s->id[0] != '\0' ? id : 0;
	e->keys->door->count.events++;
	if (kind >= 0)
		(void)notice(e, r, (enum provider_notice_kind)kind, s->deadline * 1000, s->detail);
	else
		engine_event(e, r->c.node, r->c.gen, "node-shutdown", s->detail);
	door_say(an, 200, "ok=1");
}

static void put_pem(struct str *s, const char *pem)
{
	for (; *pem != '\0'; pem++)
		if (*pem == '\n')
			str_adds(s, "\\n");
		else
			str_add(s, pem, 1);
}

static void handle_renew(struct engine *e, struct claim_run *r, const struct node_said *s,
			 struct http_answer *an)
{
	char text[2 * NODE_CA_CSR_MAX], pem[NODE_CA_CSR_MAX + 1];
	unsigned char spki[NODE_CA_SPKI_SIZE];
	struct node_ca_cert cert;
	struct err err = {0};
	struct str out;
	size_t n = 0;

	if (jpull_text(&s->csr, text, sizeof(text)) != 1 ||
	    !base64_decode(BASE64_LINES, text, strlen(text), (unsigned char *)pem, sizeof(pem) - 1,
			   &n) ||
	    node_ca_read_csr(pem, n, spki, &err) != 0) {
		door_say(an, 400, "not a certificate request");
		return;
	}
	if (memcmp(spki, r->c.spki, sizeof(spki)) != 0) {
		door_misuse(e, r, "it wants a certificate for another key");
		door_say(an, 403, "not the key of this node");
		return;
	}
	if (node_ca_sign(e->d.door->ca, pem, n, r->c.node, r->c.gen, engine_wall(e, engine_now(e)),
			 &cert, &err) != 0) {
		log_write(e->d.log, LOG_ERROR, "a certificate cannot be renewed", "node", r->c.node,
			  "why", err.msg, NULL);
		door_say(an, 503, "try again later");
		an->retry_after_s = QUIET_S;
		return;
	}
	r->cert_until_ms = cert.until_ms;
	e->keys->door->count.renewed++;
	str_init(&out, 2 * NODE_CA_PEM_MAX);
	str_adds(&out, "{\"ok\":true,\"cert\":\"");
	put_pem(&out, cert.pem);
	str_adds(&out, "\"}\n");
	door_give(an, "application/json", NULL, out.len);
	an->body = str_take(&out);
}

/* --- what it may read -------------------------------------------------------------------------
 */

static void handle_time(struct engine *e, struct http_answer *an)
{
	struct str s;

	str_init(&s, 64);
	str_addf(&s, "{\"now_ms\":%" PRId64 "}\n", engine_wall(e, engine_now(e)));
	door_give(an, "application/json", NULL, s.len);
	an->body = str_take(&s);
}

static void handle_hosts(struct engine *e, struct http_answer *an)
{
	char *text = hosts_text(e, NULL);

	door_give(an, "text/plain", text, strlen(text));
}

static void say_none(const struct engine *e, struct http_answer *an)
{
	bool off = engine_init_off(e) != NULL;

	door_say(an, off ? 503 : 404,
		 off ? "node-init cannot be read now" : "node-init comes with the image");
}

static void handle_stage1(struct engine *e, struct http_answer *an)
{
	const struct door *d = e->keys->door;
	char *copy;

	if (d->stage1 == NULL) {
		say_none(e, an);
		return;
	}
	copy = mem_zalloc(d->stage1_len + 1);
	memcpy(copy, d->stage1, d->stage1_len);
	door_give(an, "application/octet-stream", copy, d->stage1_len);
}

/* For a node that was given another hash, before a reload or a restart. */
static void handle_stage1_hash(struct engine *e, struct http_answer *an)
{
	const char *sha256;

	if (door_stage1(e, &sha256))
		door_give(an, "text/plain", mem_strdup(sha256), strlen(sha256));
	else
		say_none(e, an);
}

/* --- which it is ------------------------------------------------------------------------------
 */

enum verb {
	CONFIRM,
	READY,
	FAILED,
	HEARTBEAT,
	EVENT,
	RENEW,
	TIME,
	HOSTS,
	STAGE1,
	STAGE1_HASH,
	KEYS,
	NVERBS
};

static const struct {
	const char *path; /* behind /v1/node/ */
	bool get;
	bool early; /* allowed before it has confirmed its keys */
} verbs[NVERBS] = {
	[CONFIRM] = {"confirm", false, true}, [READY] = {"ready", false, false},
	[FAILED] = {"failed", false, true},   [HEARTBEAT] = {"heartbeat", false, false},
	[EVENT] = {"event", false, false},    [RENEW] = {"renew", false, false},
	[TIME] = {"time", true, true},        [HOSTS] = {"hosts", true, true},
	[STAGE1] = {"stage1", true, true},    [STAGE1_HASH] = {"stage1.sha256", true, true},
	[KEYS] = {"keys", true, false},
};

static void post(struct engine *e, struct claim_run *r, enum verb v, const struct node_request *rq,
		 struct http_answer *an)
{
	struct node_said s;

	if (!listen_to(e, r, &rq->http, &s, an))
		return;
	switch (v) {
	case CONFIRM:
		door_confirm(e, r, rq, &s, an);
		break;
	case READY:
		door_boot_ready(e, r, &s, an);
		break;
	case FAILED:
		door_boot_failed(e, r, &s, an);
		break;
	case HEARTBEAT:
		handle_heartbeat(e, r, &s, an);
		break;
	case EVENT:
		handle_event(e, r, &s, an);
		break;
	default:
		handle_renew(e, r, &s, an);
		break;
	}
}

static bool is_dear(size_t v)
{
	return v == HOSTS || v == STAGE1 || v == RENEW;
}

void door_node(struct engine *e, struct claim_run *r, const struct node_request *rq,
	       struct http_answer *an)
{
	const char *path = rq->http.path + strlen("/v1/node/");
	size_t v = 0;

	while (v < NVERBS && strcmp(verbs[v].path, path) != 0)
		v++;
	if (v == NVERBS) {
		door_say(an, 404, "not found");
	} else if (strcmp(rq->http.method, verbs[v].get ? "GET" : "POST") != 0) {
		door_say(an, 405, "method not allowed");
	} else if (!verbs[v].early && r->c.state != CLAIM_CONFIRMED) {
		door_say(an, 409, "this node has not confirmed its keys");
	} else if (is_dear(v) && !bucket_take(&r->copies, engine_now(e))) {
		door_say(an, 429, "too many requests");
		an->retry_after_s = DOOR_AGAIN_S;
	} else if (v == TIME) {
		handle_time(e, an);
	} else if (v == HOSTS) {
		handle_hosts(e, an);
	} else if (v == STAGE1) {
		handle_stage1(e, an);
	} else if (v == STAGE1_HASH) {
		handle_stage1_hash(e, an);
	} else if (v == KEYS) {
		door_keys(e, r, rq, an);
	} else {
		post(e, r, (enum verb)v, rq, an);
	}
}
