#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/loop.h"
#include "keys/door.h"
#include "store/journal_audit.h"

/* Takes the requests of nodes from the listener's thread, one by one, and finds out who asks, and
 * for what. */

enum { RETRY_S = 5 };

/* --- who it is --------------------------------------------------------------------------------
 */

void door_misuse(struct engine *e, struct claim_run *r, const char *what)
{
	struct journal_audit a = {.at_ms = engine_now(e),
				  .actor = r->c.node,
				  .verb = "claim-misuse",
				  .target = "burstd",
				  .object = r->c.node,
				  .reason = what,
				  .request = ""};

	e->keys->door->count.misuses++;
	if (r->misuses >= DOOR_MISUSES_MAX)
		return;
	r->misuses++;
	log_write(e->d.log, LOG_ERROR, "a node misuses its certificate", "node", r->c.node, "what",
		  what, NULL);
	engine_event(e, r->c.node, r->c.gen, "claim-misuse", what);
	journal_put_audit(engine_tx(e), &a);
}

/* Read urn:burst:node:<name>:<generation>; the common name must be that name. */
static int read_peer(const struct node_peer *p, char node[HOSTLIST_NAME_MAX + 1], uint64_t *gen)
{
	static const char begin[] = "urn:burst:node:";
	const char *name = p->urn + sizeof(begin) - 1, *colon, *digits;
	size_t n;

	if (!p->known || strncmp(p->urn, begin, sizeof(begin) - 1) != 0)
		return -1;
	colon = strchr(name, ':');
	if (colon == NULL || colon == name || (size_t)(colon - name) > HOSTLIST_NAME_MAX)
		return -1;
	memcpy(node, name, (size_t)(colon - name));
	node[colon - name] = '\0';
	digits = colon + 1;
	n = strspn(digits, "0123456789");
	if (n == 0 || n > 18 || digits[n] != '\0' || strcmp(node, p->cn) != 0)
		return -1;
	*gen = strtoull(digits, NULL, 10);
	return 0;
}

static bool lives(const struct fleet_node *fn)
{
	return node_lives(fn->next != NULL ? fn->next : &fn->n);
}

/* Was the claim made after the journal's copy was written?  An older journal was put back, and the
 * certificate is newer. */
static bool was_made_since(const struct claim *c, const struct node_peer *p,
			   const struct fleet_node *fn)
{
	bool same = memcmp(c->spki, p->spki, sizeof(c->spki)) == 0;

	/* A node that has registered must have confirmed: node-init starts slurmd last. */
	return c->state == CLAIM_ISSUED || (c->state == CLAIM_ATTESTING && same) ||
	       (c->state == CLAIM_CLAIMED && same && fn->n.state == NODE_READY);
}

/* The node's claim, if it is the present generation of its name and its claim is valid; NULL: *an
 * says why not.  410: it is over, and its dead-man's switch must go on. */
static struct claim_run *admit(struct engine *e, const struct node_request *rq,
			       struct http_answer *an)
{
	char node[HOSTLIST_NAME_MAX + 1];
	uint64_t gen = 0;
	const struct fleet_name *nm;
	const struct fleet_node *fn;
	struct claim_run *r;

	if (read_peer(&rq->peer, node, &gen) != 0 || (nm = fleet_find(&e->fleet, node)) == NULL ||
	    gen > nm->last_gen) {
		door_say(an, 401, "unknown node");
		return NULL;
	}
	fn = fleet_gen(nm, gen);
	r = claims_of(e, node, gen);
	if (fn == NULL || fn != fleet_live(nm) || !lives(fn)) {
		door_say(an, 410, "this node was released");
		return NULL;
	}
	/* Nodes must not power off because burstd's journal was lost. */
	if (r == NULL || was_made_since(&r->c, &rq->peer, fn))
		r = claims_adopt(e, fn, rq->peer.spki);
	if (r->c.state != CLAIM_CLAIMED && r->c.state != CLAIM_CONFIRMED) {
		door_say(an, 401, "this node has no valid claim");
		return NULL;
	}
	/* Every certificate of the node is for the key of its claim. */
	if (!r->c.bound || memcmp(rq->peer.spki, r->c.spki, sizeof(r->c.spki)) != 0) {
		door_misuse(e, r, "a certificate in its name is for another key");
		door_say(an, 401, "not the key of this node");
		return NULL;
	}
	return r;
}

/* Limit the requests of a node with a certificate: otherwise its root could occupy the loop until
 * the dead-man's switches of all others act.  r NULL: a node that is gone; all of these share one
 * limit. */
static bool too_often(struct engine *e, struct claim_run *r, struct http_answer *an)
{
	struct bucket *asks = r != NULL ? &r->asks : &e->keys->door->asks;

	if (asks->gains == 0) {
		bucket_init(asks, DOOR_ASKS_S, engine_now(e));
		if (r != NULL)
			bucket_init(&r->copies, DOOR_COPIES_S, engine_now(e));
	}
	if (bucket_take(asks, engine_now(e)))
		return false;
	door_say(an, 429, "too many requests");
	an->retry_after_s = RETRY_S;
	return true;
}

/* Likewise for known peers; the listener limits clients without a certificate, by address. */
static bool known_too_often(struct engine *e, const struct node_peer *p, struct http_answer *an)
{
	char node[HOSTLIST_NAME_MAX + 1];
	uint64_t gen = 0;
	bool named = read_peer(p, node, &gen) == 0;

	return p->known && too_often(e, named ? claims_of(e, node, gen) : NULL, an);
}

/* --- the request ------------------------------------------------------------------------------
 */

static void route(struct engine *e, const struct node_request *rq, struct http_answer *an)
{
	static const char claim[] = "/v1/claim/", node[] = "/v1/node/";
	const char *path = rq->http.path;
	struct claim_run *r;

	if (strncmp(path, node, sizeof(node) - 1) == 0) {
		r = admit(e, rq, an);
		if (r != NULL && !too_often(e, r, an))
			door_node(e, r, rq, an);
	} else if (known_too_often(e, &rq->peer, an)) {
		return;
	} else if (strcmp(path, "/v1/claim") == 0) {
		claim_ask(e, rq, an);
	} else if (strncmp(path, claim, sizeof(claim) - 1) == 0) {
		claim_nonce(e, rq, an);
	} else if (strcmp(path, "/v1/alarm") == 0) {
		claim_alarm(e, rq, an);
	} else {
		door_say(an, 404, "not found");
	}
}

/* Must the answer wait for a commit, since it tells of something that is not durable yet? */
static bool must_wait(const struct engine *e, const struct http_answer *an)
{
	return !an->later && (e->staging.due || e->staging.n > 0);
}

void engine_node_request(struct engine *e, const struct node_request *rq, struct http_answer *an)
{
	if (e->keys->door == NULL || e->dead || !e->started) {
		an->status = 503;
		an->retry_after_s = RETRY_S;
		return;
	}
	log_hold(e->d.log);
	e->keys->door->count.requests++;
	route(e, rq, an);
	if (must_wait(e, an)) {
		door_answer(e, rq->http.ticket, an);
		*an = (struct http_answer){.status = 500, .later = true};
	} else if (an->later) {
		timer_at(e->timer, engine_now(e)); /* what was begun goes on */
	} else {
		door_count(e->keys->door, an->status);
	}
	log_release(e->d.log);
}
