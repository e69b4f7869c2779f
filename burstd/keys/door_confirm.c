#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/node_said.h"
#include "io/munge_check.h"
#include "keys/door.h"

/* Checks that a node has the cluster's keys: the node shows a credential made with them, which the
 * munged here decodes. */

struct confirming { /* while munged decodes the credential */
	struct engine *e;
	uint64_t ticket, gen;
	char node[HOSTLIST_NAME_MAX + 1];
	unsigned char spki[CLAIM_SPKI_SIZE];
	int64_t key_version;
};

static void confirm(struct engine *e, struct claim_run *r, const struct confirming *c,
		    const char *cred, struct http_answer *an)
{
	const struct claim_event ev = {
		.type = CLAIM_EV_CONFIRMED, .now_ms = engine_now(e), .spki = c->spki};
	struct claim_result res = claims_step(e, r, &ev);
	struct str s;

	if (res.answer != CLAIM_OK) {
		door_say(an, res.answer == CLAIM_DENIED ? 403 : 409,
			 "this node cannot be confirmed");
		return;
	}
	if (res.changed)
		e->keys->door->count.confirmed++;
	r->key_version = (uint64_t)c->key_version;
	str_init(&s, MUNGE_CHECK_CRED_MAX + 64);
	str_addf(&s, cred != NULL ? "cred=%s\n" : "ok=1\n", cred);
	door_give(an, "text/plain", NULL, s.len);
	an->body = str_take(&s);
}

/* Refuse the credential; tell the node the time, since it may have to set its clock. */
static void refuse(struct engine *e, const struct munge_end *end, struct http_answer *an)
{
	struct str s;

	e->keys->door->count.munge_refused++;
	str_init(&s, 512);
	if (end->word == MUNGE_AWAY) {
		str_addf(&s, "error=munged does not answer\nretry_after=%d\n", DOOR_AGAIN_S);
		an->retry_after_s = DOOR_AGAIN_S;
	} else {
		str_addf(&s, "error=%s\nnow_ms=%" PRId64 "\n", munge_word_str(end->word),
			 engine_wall(e, engine_now(e)));
	}
	an->status = end->word == MUNGE_AWAY ? 503 : 401;
	an->type = "text/plain";
	an->len = s.len;
	an->body = str_take(&s);
}

static void on_munge(void *ctx, const struct munge_end *end)
{
	const struct confirming *c = ctx;
	struct engine *e = c->e;
	struct claim_run *r = claims_of(e, c->node, c->gen);
	struct http_answer an = {.status = 500};

	log_hold(e->d.log);
	if (r != NULL)
		r->confirm_ms = 0;
	if (end->word != MUNGE_GOOD) {
		if (r != NULL && r->refused++ < DOOR_MISUSES_MAX)
			log_write(e->d.log, LOG_WARN, "a node's credential is refused", "node",
				  c->node, "word", munge_word_str(end->word), "why", end->why,
				  NULL);
		refuse(e, end, &an);
	} else if (r == NULL) {
		door_say(&an, 410, "this node was released");
	} else {
		confirm(e, r, c, end->cred, &an);
	}
	door_answer(e, c->ticket, &an);
	engine_turn(e);
	log_release(e->d.log);
}

/* The names of this host in the URLs for nodes; the caller frees the list and each name. */
static char **our_hosts(const struct conf_nodes *conf)
{
	size_t n = 0;
	char **v;

	while (conf->urls != NULL && conf->urls[n] != NULL)
		n++;
	v = mem_zalloc((n + 1) * sizeof(*v));
	for (size_t i = 0; i < n; i++) {
		const char *host = strstr(conf->urls[i], "://");
		size_t len;

		host = host != NULL ? host + 3 : conf->urls[i];
		host += host[0] == '[';
		len = strcspn(host, host > conf->urls[i] && host[-1] == '[' ? "]" : ":/");
		v[i] = mem_check(strndup(host, len));
	}
	return v;
}

static void begin_munge(struct engine *e, struct claim_run *r, const struct confirming *c,
			const struct node_request *rq, struct http_answer *an)
{
	static const char scheme[] = "MUNGE ";
	const char *authorization = rq->http.authorization;
	struct confirming *copy = mem_zalloc(sizeof(*copy));
	char **hosts = our_hosts(&e->conf->nodes);
	struct munge_ask ask = {.hosts = (const char *const *)hosts,
				.method = rq->http.method,
				.path = rq->http.path,
				.body = rq->http.body,
				.len = rq->http.len,
				.node = c->node};
	struct err err = {0};

	*copy = *c;
	if (authorization == NULL || strncmp(authorization, scheme, sizeof(scheme) - 1) != 0) {
		door_say(an, 401, "want a munge credential");
		free(copy);
	} else {
		ask.credential = authorization + sizeof(scheme) - 1;
		if (munge_check_begin(e->keys->door->munge, &ask, on_munge, copy, &err) == 0) {
			an->later = true;
			r->confirm_ms = engine_now(e);
		} else {
			door_say(an, err.code == ERR_LIMIT ? 503 : 401, err.msg);
			an->retry_after_s = err.code == ERR_LIMIT ? DOOR_AGAIN_S : 0;
			free(copy);
		}
	}
	for (size_t i = 0; hosts[i] != NULL; i++)
		free(hosts[i]);
	free(hosts);
}

void door_confirm(struct engine *e, struct claim_run *r, const struct node_request *rq,
		  const struct node_said *s, struct http_answer *an)
{
	struct confirming c = {.e = e,
			       .ticket = rq->http.ticket,
			       .gen = r->c.gen,
			       .key_version = door_key_version(s->key_version)};

	(void)snprintf(c.node, sizeof(c.node), "%s", r->c.node);
	memcpy(c.spki, rq->peer.spki, sizeof(c.spki));
	if (c.key_version == 0) {
		door_say(an, 400, "key_version is missing");
	} else if (!rotate_takes(e, c.key_version, r->c.version)) {
		/* The keys were replaced while it booted: slurmctld would refuse the node. */
		door_say(an, 409, "this node has old keys");
		claims_fail(e, r, "confirm", "it has old keys", false);
	} else if (e->keys->door->munge != NULL && r->confirm_ms != 0 &&
		   engine_now(e) < r->confirm_ms + DOOR_CONFIRM_MS) {
		/* One node must not use up munged's queue. */
		door_say(an, 503, "munged is checking another credential of this node");
		an->retry_after_s = DOOR_AGAIN_S;
	} else if (e->keys->door->munge != NULL) {
		begin_munge(e, r, &c, rq, an);
	} else {
		confirm(e, r, &c, NULL, an);
	}
}
