#include <assert.h>
#include <inttypes.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/redact.h"
#include "base/secret.h"
#include "core/userdata.h"
#include "jobs/jobs.h"
#include "keys/claim_set.h"
#include "store/journal_claims.h"

/* Path of node-init in the image; if another one is to run, the answer to the claim says so. */
#define CLAIM_NODE_INIT "/usr/libexec/burstd/node-init"

/* Let requests with this claim's secret pass to the loop from now on. */
static void list(struct engine *e, const char *id)
{
	char secret[CLAIM_SECRET_SIZE];
	unsigned char hash[EVP_MAX_MD_SIZE];

	claims_secret(e, id, secret);
	(void)EVP_Digest(secret, strlen(secret), hash, NULL, EVP_sha256(), NULL);
	(void)node_claims_put(e->d.door->table, id, hash);
	OPENSSL_cleanse(secret, sizeof(secret));
}

/* --- entries -----------------------------------------------------------------------------------
 */

/* An operator finds the mark of an id in the audit log by sha256sum. */
static void make_mark(struct claim_set *set)
{
	unsigned char hash[EVP_MAX_MD_SIZE];

	(void)EVP_Digest(set->id, strlen(set->id), hash, NULL, EVP_sha256(), NULL);
	(void)fmt_hex(set->mark, hash, (CLAIM_MARK_SIZE - 1) / 2);
}

static struct claim_set *get_set(struct engine *e, const char *id, uint32_t cloud)
{
	struct claims *cs = e->keys->claims;
	struct claim_set *set = map_get(&cs->sets, id);

	if (set != NULL)
		return set;
	set = mem_zalloc(sizeof(*set));
	(void)snprintf(set->id, sizeof(set->id), "%s", id);
	make_mark(set);
	set->cloud = cloud;
	if (cs->nall == cs->cap) {
		cs->cap = cs->cap == 0 ? 64 : 2 * cs->cap;
		cs->all = mem_realloc(cs->all, cs->cap * sizeof(struct claim_set *));
	}
	set->at = cs->nall;
	cs->all[cs->nall++] = set;
	map_put(&cs->sets, set->id, set);
	list(e, id);
	return set;
}

static void drop_set(struct engine *e, struct claim_set *set)
{
	struct claims *cs = e->keys->claims;

	cs->all[set->at] = cs->all[--cs->nall];
	cs->all[set->at]->at = set->at;
	map_del(&cs->sets, set->id);
	node_claims_del(e->d.door->table, set->id);
	free(set->lacks);
	free(set);
}

static void put(struct engine *e, const struct claim *c, uint32_t cloud)
{
	struct claim_entry *x = mem_zalloc(sizeof(*x));
	int64_t wake = claim_wake_ms(c);

	x->r.c = *c;
	x->e = e;
	fleet_key(x->key, sizeof(x->key), c->node, c->gen);
	x->set = get_set(e, c->id, cloud);
	x->r.next_of_id = x->set->first;
	x->set->first = &x->r;
	x->set->n++;
	x->set->shared = x->set->shared || c->shared;
	map_put(&e->keys->claims->runs, x->key, &x->r);
	if (wake < e->keys->claims->wake_ms)
		e->keys->claims->wake_ms = wake;
}

static void forget(struct engine *e, struct claim_run *r)
{
	struct claim_entry *x = claim_entry(r);
	struct claim_run **at = &x->set->first;

	if (r->ask != NULL)
		claim_ask_end(r->ask, CLAIM_OVER, 0);
	claim_store_cancel(x);
	while (*at != r)
		at = &(*at)->next_of_id;
	*at = r->next_of_id;
	map_del(&e->keys->claims->runs, x->key);
	if (--x->set->n == 0)
		drop_set(e, x->set);
	free(x);
}

/* --- steps -------------------------------------------------------------------------------------
 */

/* Revoke the token that the machine was given; its certificate is void by the claim's state.  The
 * journal keeps the accessor until the machine is gone: the revoke may be lost, or there may be no
 * session now. */
static void shut_out(struct engine *e, struct claim_run *r)
{
	if (r->c.accessor[0] != '\0' && secrets_revoke(e, r->c.accessor))
		r->c.accessor[0] = '\0';
}

void claims_given(struct engine *e, struct claim_run *r, const struct secrets_released *rel)
{
	const char *accessor = rel->mode == CONF_WRAP ? rel->accessor : "";

	shut_out(e, r);
	if (strcmp(r->c.accessor, accessor) == 0)
		return;
	(void)snprintf(r->c.accessor, sizeof(r->c.accessor), "%s", accessor);
	journal_put_claim(engine_tx(e), &r->c);
}

/* Raise an alarm, in events, audit and log. */
static void sound(struct engine *e, struct claim_run *r, const char *why)
{
	const struct breach b = {.node = r->c.node,
				 .gen = r->c.gen,
				 .of = "claims",
				 .why = why,
				 .left = r->c.released_ms != 0};
	char g[FMT_U64_SIZE];

	breach_sound(e, &b);
	log_write(e->d.log, LOG_ERROR, "the claim of a node was misused: it is terminated", "node",
		  r->c.node, "generation", fmt_u64(g, r->c.gen), "why", why, "from", r->c.addr,
		  "next", b.left ? engine_rotate_command(e) : "none: it had been given nothing",
		  NULL);
	shut_out(e, r);
}

static const char *proof_of(const struct engine *e, const struct claim *c, uint32_t cloud)
{
	if (c->weak)
		return "by its address alone";
	return e->conf->providers[cloud].attest == CONF_ATTEST_CALLBACK
		       ? "by its address, and a port that only root can use"
		       : "by its identity document";
}

static void tell(struct engine *e, struct claim_run *r)
{
	const struct claim *c = &r->c;
	char text[PROVIDER_ADDR_MAX + PROVIDER_ID_MAX + 80];

	if (c->state != CLAIM_CLAIMED)
		return;
	(void)snprintf(text, sizeof(text), "from %s%s%s, %s", c->addr,
		       c->instance[0] != '\0' ? ", instance " : "", c->instance,
		       proof_of(e, c, claim_entry(r)->set->cloud));
	engine_event(e, c->node, c->gen, "claimed", text);
}

/* Answer a request that waits for a claim that has ended meanwhile. */
static void dismiss(struct claim_run *r)
{
	enum claim_answer answer = r->c.state == CLAIM_BREACHED ? CLAIM_CONFLICT : CLAIM_OVER;

	if (r->c.state == CLAIM_ATTESTING || r->c.state == CLAIM_CLAIMED)
		return;
	claim_store_cancel(claim_entry(r));
	if (r->ask != NULL)
		claim_ask_end(r->ask, answer, 0);
}

struct claim_result claims_step(struct engine *e, struct claim_run *r, const struct claim_event *ev)
{
	struct claim_entry *x = claim_entry(r);
	enum claim_state was = r->c.state;
	struct claim_result res = claim_step(&r->c, ev);

	if (!res.changed)
		return res;
	journal_put_claim(engine_tx(e), &r->c);
	if (r->c.state == was)
		return res;
	tell(e, r);
	if (r->c.state == CLAIM_BREACHED || r->c.state == CLAIM_EXPIRED)
		(void)snprintf(x->why, sizeof(x->why), "%s", claim_reason_text(r->c.reason));
	if (r->c.state == CLAIM_BREACHED)
		sound(e, r, x->why);
	if (r->c.state == CLAIM_REVOKED || r->c.state == CLAIM_EXPIRED)
		shut_out(e, r);
	if (claim_want(&r->c) == CLAIM_WANT_END)
		e->keys->claims->wake_ms = 0;
	if (claim_wake_ms(&r->c) < e->keys->claims->wake_ms)
		e->keys->claims->wake_ms = claim_wake_ms(&r->c);
	dismiss(r);
	return res;
}

/* --- the end of one ----------------------------------------------------------------------------
 */

static const struct node *as_staged(const struct fleet_node *fn)
{
	return fn->next != NULL ? fn->next : &fn->n;
}

/* Release the machine's row, once its instance is known: while the create is on the wire a release
 * would not be explained.  event NULL: there is one already.  false: not yet. */
static bool let_go(struct engine *e, struct claim_run *r, enum node_reason reason,
		   const char *event)
{
	struct fleet_node *fn = claims_node(e, r);
	const struct node *n = fn != NULL ? as_staged(fn) : NULL;
	struct node_event ev = {.type = NODE_EV_RELEASE, .reason = reason, .now_ms = engine_now(e)};

	if (n != NULL && (node_lives(n) || n->reason == reason))
		fleet_because(fn, reason, claim_entry(r)->why);
	if (n == NULL || !node_lives(n))
		return true;
	if (n->state != NODE_BOOTING && n->state != NODE_READY && n->state != NODE_DRAINING)
		return false;
	if (n->state != NODE_BOOTING && fn == fn->name->newest) {
		char why[200];

		(void)snprintf(why, sizeof(why), "burstd: %s", claim_entry(r)->why);
		rescue_power_down(e, fn->name, true, why); /* its jobs are requeued */
	}
	if (event != NULL)
		engine_event(e, r->c.node, r->c.gen, event, claim_entry(r)->why);
	engine_post(e, fn, &ev);
	return true;
}

void claims_fail(struct engine *e, struct claim_run *r, const char *step, const char *why,
		 bool alarm)
{
	struct claim_entry *x = claim_entry(r);
	const struct claim_event ev = {
		.type = CLAIM_EV_ALARM, .proved = true, .now_ms = engine_now(e)};
	char *clean;

	if (alarm && r->c.state != CLAIM_BREACHED) /* a breach has had its alarm */
		(void)claims_step(e, r, &ev);
	if (x->ended)
		return;
	clean = redact(why); /* slurmctld shows it to every user */
	(void)snprintf(x->why, sizeof(x->why), "%.40s: %.110s", step, clean != NULL ? clean : why);
	free(clean);
	x->ended = let_go(e, r, alarm ? NODE_BECAUSE_BREACH : NODE_BECAUSE_INIT, NULL);
	if (!x->ended && e->keys->claims->wake_ms > engine_now(e) + CLAIM_LATE_MS)
		e->keys->claims->wake_ms = engine_now(e) + CLAIM_LATE_MS;
}

/* Release the machine of an ended claim.  This follows from the state alone, so a restart does it,
 * too. */
static void end_one(struct engine *e, struct claim_run *r)
{
	struct claim_entry *x = claim_entry(r);
	bool late = r->c.state == CLAIM_EXPIRED;

	if (x->ended)
		return;
	(void)snprintf(x->why, sizeof(x->why), "claim: %s", claim_reason_text(r->c.reason));
	x->ended = let_go(e, r, late ? NODE_BECAUSE_INIT : NODE_BECAUSE_BREACH,
			  late ? "boot-failed" : NULL);
}

/* Does the provider take the machine before it has its keys?  It will not become a node, and a
 * later request may come from whoever has its disk. */
static bool is_too_late(const struct node *is, const struct claim *c)
{
	return is->state == NODE_DRAINING &&
	       (c->state == CLAIM_ISSUED || c->state == CLAIM_ATTESTING);
}

/* row_in_tx(): revoke the claim of a row that ends, or whose machine the provider takes before it
 * has its keys, in the same commit. */
static void claims_row(struct engine *e, const struct node *is)
{
	struct claim_run *r = claims_of(e, is->name, is->gen);
	const struct claim_event ev = {.type = CLAIM_EV_REVOKE, .now_ms = engine_now(e)};

	if (r == NULL)
		return;
	if (is->state == NODE_GONE) {
		journal_del_claim(engine_tx(e), is->name, is->gen);
		shut_out(e, r);
		forget(e, r);
	} else if (!node_lives(is) || is_too_late(is, &r->c)) {
		(void)claims_step(e, r, &ev);
	}
}

/* --- what is told of it ------------------------------------------------------------------------
 */

/* Every user may read events and the log; the audit log is for operators, and has the whole id. */
static void put_on_record(struct engine *e, const struct claim_set *set, const char *event,
			  const char *from, const char *why)
{
	const struct claim *only = set->n == 1 ? &set->first->c : NULL;
	char text[240];

	(void)snprintf(text, sizeof(text), "claim %s from %.45s: %.120s", set->mark, from, why);
	engine_event(e, only != NULL ? only->node : "", only != NULL ? only->gen : 0, event, text);
	audit_thing(e, "claim-refuse", "claims", set->id, text);
	log_write(e->d.log, LOG_WARN, "a claim was refused", "claim", set->mark, "from", from,
		  "why", why, NULL);
}

/* Write one event for each create whose secret is guessed at.  Nothing else follows: its machines
 * have done nothing, and can claim as before. */
static void tell_guesses(struct engine *e)
{
	char id[NODE_CLAIM_ID_MAX + 1], from[NODE_ADDR_SIZE];

	while (node_claims_guessed(e->d.door->table, id, from)) {
		const struct claim_set *set = claims_named(e, id);

		if (set != NULL)
			put_on_record(e, set, "claim-guessed", from,
				      "wrong secrets; its machines can still claim");
	}
}

/* --- what is due -------------------------------------------------------------------------------
 */

static int64_t look_at(struct engine *e, struct claim_run *r)
{
	const struct claim_event ev = {.type = CLAIM_EV_TIMER, .now_ms = engine_now(e)};

	if (claim_wake_ms(&r->c) <= engine_now(e))
		(void)claims_step(e, r, &ev);
	if (claim_want(&r->c) == CLAIM_WANT_END) {
		end_one(e, r);
		shut_out(e, r);
		if (!claim_entry(r)->ended || r->c.accessor[0] != '\0')
			return engine_now(e) + CLAIM_LATE_MS;
	}
	return claim_wake_ms(&r->c);
}

static void wake(struct engine *e)
{
	struct claims *cs = e->keys->claims;
	int64_t next = INT64_MAX;

	if (engine_now(e) < cs->wake_ms)
		return;
	for (size_t i = 0; i < cs->nall; i++)
		for (struct claim_run *r = cs->all[i]->first; r != NULL; r = r->next_of_id) {
			int64_t at = look_at(e, r);

			next = at < next ? at : next;
		}
	cs->wake_ms = next;
}

static void claims_run(struct engine *e)
{
	if (e->keys->claims == NULL)
		return;
	tell_guesses(e);
	wake(e);
	if (e->keys->claims->asks == NULL)
		return;
	engine_commit(e); /* the claim must be bound durably before anything is asked for it */
	if (!e->dead)
		claim_asks_run(e);
}

static int64_t claims_next_ms(const struct engine *e)
{
	int64_t next;

	if (e->keys->claims == NULL)
		return INT64_MAX;
	next = claim_asks_next_ms(e);
	return e->keys->claims->wake_ms < next ? e->keys->claims->wake_ms : next;
}

/* --- issue -------------------------------------------------------------------------------------
 */

bool claims_wanted(const struct engine *e, uint32_t cloud)
{
	return e->keys->claims != NULL && e->conf->providers[cloud].attest != CONF_ATTEST_OFF;
}

static const char *claims_keyless(const struct engine *e, uint32_t provider)
{
	if (!claims_wanted(e, provider))
		return NULL;
	return engine_door_off(e) != NULL ? engine_door_off(e) : engine_init_off(e);
}

static int64_t time_to_claim(const struct engine *e, const struct keys_for *k)
{
	return e->conf->nodes.claim_ms > 0 ? e->conf->nodes.claim_ms
					   : e->conf->pools[k->pool].boot_ms;
}

static char *join(char *const *words, const char *between)
{
	struct str s;

	str_init(&s, USERDATA_TEXT_MAX);
	for (size_t i = 0; words != NULL && words[i] != NULL; i++)
		str_addf(&s, "%s%s", i > 0 ? between : "", words[i]);
	return str_take(&s);
}

char *claims_user_data(const struct engine *e, const struct keys_for *k, struct err *err)
{
	static const char *const identities[] = {
		[CONF_ATTEST_OFF] = "none",      [CONF_ATTEST_AWS] = "aws",
		[CONF_ATTEST_GCP] = "gcp",       [CONF_ATTEST_AZURE] = "azure",
		[CONF_ATTEST_CALLBACK] = "none", [CONF_ATTEST_ADDRESS] = "none"};
	const struct conf_provider *p = &e->conf->providers[k->cloud];
	char id[CLAIM_ID_MAX + 1], secret[CLAIM_SECRET_SIZE];
	char *urls = join(e->conf->nodes.urls, " "), *out = NULL;
	struct userdata u = {.urls = urls,
			     .claim_id = id,
			     .claim_secret = secret,
			     .identity = identities[p->attest],
			     .node = k->n == 1 ? k->members[0].name->name : "",
			     .ca_pem = node_ca_trust(e->d.door->ca),
			     .node_init = CLAIM_NODE_INIT,
			     .roots_port = p->attest == CONF_ATTEST_CALLBACK};
	int64_t s = time_to_claim(e, k) / 1000;

	u.timeout_s = s < 1 ? 1 : s > USERDATA_TIMEOUT_MAX ? USERDATA_TIMEOUT_MAX : (uint32_t)s;
	claims_make_id(e, k->token, id);
	claims_secret(e, id, secret);
	(void)userdata_fill(&out, &u, USERDATA_LIMIT, err);
	OPENSSL_cleanse(secret, sizeof(secret));
	free(urls);
	return out;
}

void claims_issue(struct engine *e, const struct keys_for *k)
{
	int64_t now = engine_now(e);
	char id[CLAIM_ID_MAX + 1];

	if (!claims_wanted(e, k->cloud))
		return;
	claims_make_id(e, k->token, id);
	for (size_t i = 0; i < k->n; i++) {
		const struct member *m = &k->members[i];
		struct claim_run *old = claims_of(e, m->name->name, m->gen);
		struct claim c;

		if (old != NULL) /* from a create that failed */
			forget(e, old);
		claim_init(&c, id, m->name->name, m->gen);
		claim_issue(&c, now, now + time_to_claim(e, k));
		c.shared = k->n > 1;
		journal_put_claim(engine_tx(e), &c);
		put(e, &c, k->cloud);
	}
}

struct claim_run *claims_adopt(struct engine *e, const struct fleet_node *fn,
			       const unsigned char spki[CLAIM_SPKI_SIZE])
{
	struct claim_run *old = claims_of(e, fn->n.name, fn->n.gen);
	char id[CLAIM_ID_MAX + 1], gen[FMT_U64_SIZE];
	struct claim c;

	if (old != NULL)
		forget(e, old);
	/* No create has this id, and nobody knows its secret. */
	(void)snprintf(id, sizeof(id), "lost-%.63s-%s", fn->n.name, fmt_u64(gen, fn->n.gen));
	claim_init(&c, id, fn->n.name, fn->n.gen);
	claim_adopt(&c, engine_now(e), spki);
	journal_put_claim(engine_tx(e), &c);
	put(e, &c, fn->n.cloud);
	engine_event(e, c.node, c.gen, "claim-adopted",
		     "the journal had lost its claim; its certificate is good");
	return claims_of(e, c.node, c.gen);
}

/* --- start and end -----------------------------------------------------------------------------
 */

/* Make the table of claims, if nodes.listen is set and main gives a listener; otherwise no function
 * of claims does anything. */
static int claims_open(struct engine *e, struct err *err)
{
	const struct engine_door *door = e->d.door;

	if (e->conf->nodes.listen == NULL || e->conf->nodes.listen[0] == '\0' || door == NULL)
		return 0;
	e->keys->claims = mem_zalloc(sizeof(*e->keys->claims));
	e->keys->claims->asks_last = &e->keys->claims->asks;
	map_init(&e->keys->claims->sets);
	map_init(&e->keys->claims->runs);
	return claim_proof_open(e, err);
}

int claims_load(struct engine *e, const struct claim *c)
{
	const struct fleet_name *nm = fleet_find(&e->fleet, c->node);
	const struct fleet_node *fn = nm != NULL ? fleet_gen(nm, c->gen) : NULL;
	const int64_t least = engine_now(e) + CLAIM_GRACE_MS;
	struct claim copy = *c;

	if (e->keys->claims == NULL)
		return 0;
	if (fn == NULL || fn->n.state == NODE_GONE) {
		journal_del_claim(engine_tx(e), c->node, c->gen);
		return 0;
	}
	if (copy.issued_ms > engine_now(e)) { /* the clock was set back (F57) */
		copy.expires_ms -= copy.issued_ms - engine_now(e);
		copy.issued_ms = engine_now(e);
		journal_put_claim(engine_tx(e), &copy);
	}
	if (copy.expires_ms < least) /* no machine could claim meanwhile */
		copy.expires_ms = least;
	/* Nor could it confirm its keys, or ask again for an answer that was lost at the restart,
	 * whatever the clock was then. */
	if (copy.state == CLAIM_CLAIMED) {
		copy.released_ms = engine_now(e);
		journal_put_claim(engine_tx(e), &copy);
	}
	put(e, &copy, fn->n.cloud);
	if (claim_want(c) == CLAIM_WANT_END)
		e->keys->claims->wake_ms = 0;
	return 0;
}

static void claims_free(struct engine *e)
{
	struct claims *cs = e->keys->claims;

	if (cs == NULL)
		return;
	claim_asks_free(e);
	claim_proof_free(e);
	for (size_t i = 0; i < cs->nall; i++) {
		while (cs->all[i]->first != NULL) {
			struct claim_run *r = cs->all[i]->first;

			cs->all[i]->first = r->next_of_id;
			claim_store_cancel(claim_entry(r));
			free(claim_entry(r));
		}
		free(cs->all[i]->lacks);
		free(cs->all[i]);
	}
	free(cs->all);
	map_fini(&cs->sets);
	map_fini(&cs->runs);
	OPENSSL_cleanse(cs->nonce_key, sizeof(cs->nonce_key));
	free(cs->nonces);
	free(cs);
	e->keys->claims = NULL;
}

void claims_refused(struct engine *e, struct claim_set *set, const char *from, const char *why)
{
	if (set->told++ < CLAIM_TOLD_MAX)
		put_on_record(e, set, "claim-refused", from, why);
}

const struct engine_part claims_part = {
	.name = "claims",
	.at = {[PART_FREE] = claims_free},
	.open = claims_open,
	.may_use = claims_may_use,
	.keyless = claims_keyless,
	.row_in_tx = claims_row,
};

const struct engine_part claims_turn_part = {
	.name = "claims: their turn",
	.at = {[PART_RUN] = claims_run},
	.next_ms = claims_next_ms,
};
