#include "keys/vouchers.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fnv.h"
#include "base/log.h"
#include "base/mem.h"
#include "keys/claims.h"
#include "store/journal_vouchers.h"

/* Keeps the table of vouchers, machines with a token in their user-data (core/voucher.h), and acts
 * on what becomes of each token. */

/* --- the table ---------------------------------------------------------------------------------
 */

bool vouchers_wanted(const struct engine *e, uint32_t cloud)
{
	return e->keys->vouchers != NULL && e->conf->providers[cloud].vouchers;
}

static const char *vouchers_keyless(const struct engine *e, uint32_t provider)
{
	return vouchers_wanted(e, provider) ? engine_init_off(e) : NULL;
}

struct voucher_run *vouchers_find(const struct engine *e, const char *node, uint64_t gen)
{
	char key[sizeof(((struct voucher_run *)NULL)->key)];

	if (e->keys->vouchers == NULL)
		return NULL;
	fleet_key(key, sizeof(key), node, gen);
	return map_get(&e->keys->vouchers->runs, key);
}

const struct voucher *vouchers_of(const struct engine *e, const char *node, uint64_t gen)
{
	const struct voucher_run *r = vouchers_find(e, node, gen);

	return r != NULL && !r->asked ? &r->v : NULL;
}

const char *engine_token_wait(const struct engine *e, const struct node *n)
{
	const struct voucher_run *r;

	if (e->keys->vouchers == NULL || n->state != NODE_WANTED || !vouchers_wanted(e, n->cloud))
		return NULL;
	r = vouchers_find(e, n->name, n->gen);
	if (r != NULL && !r->asked && r->v.state == VOUCHER_HELD && secrets_serves(e))
		return NULL;
	if (engine_now(e) < e->keys->vouchers->again_ms)
		return e->keys->vouchers->why;
	if (r != NULL && e->keys->secrets != NULL && e->keys->secrets->error[0] != '\0')
		return e->keys->secrets->error;
	if (r != NULL && !r->asked && r->v.state == VOUCHER_HELD)
		return "the secret store gives out no keys now";
	return r != NULL ? "the secret store is making a token for it" : NULL;
}

bool vouchers_keys(const struct engine *e, const struct node *n, int64_t *version, bool **drained)
{
	struct voucher_run *r = vouchers_find(e, n->name, n->gen);

	if (r == NULL || r->asked || r->v.state != VOUCHER_SPENT)
		return false;
	*version = r->v.version;
	*drained = &r->drained;
	return true;
}

struct voucher_run *vouchers_put(struct engine *e, const char *node, uint64_t gen)
{
	struct vouchers *vs = e->keys->vouchers;
	struct voucher_run *r = mem_zalloc(sizeof(*r));

	r->e = e;
	(void)snprintf(r->v.node, sizeof(r->v.node), "%s", node);
	r->v.gen = gen;
	fleet_key(r->key, sizeof(r->key), node, gen);
	map_put(&vs->runs, r->key, r);
	r->next = vs->all;
	if (r->next != NULL)
		r->next->prev = r;
	vs->all = r;
	return r;
}

static void drop_open(struct vouchers *vs, const struct voucher_run *r)
{
	struct voucher_run **at = &vs->open;

	while (*at != NULL && *at != r)
		at = &(*at)->next_open;
	if (*at != NULL)
		*at = r->next_open;
}

void vouchers_forget(struct engine *e, struct voucher_run *r)
{
	struct vouchers *vs = e->keys->vouchers;

	assert(!r->looking);
	if (r->asked) {
		secrets_cancel(e, r->handle);
		vs->nasked--;
	}
	drop_open(vs, r);
	map_del(&vs->runs, r->key);
	if (r->next != NULL)
		r->next->prev = r->prev;
	*(r->prev != NULL ? &r->prev->next : &vs->all) = r->next;
	voucher_fini(&r->v);
	free(r);
}

/* --- what becomes of one -----------------------------------------------------------------------
 */

static bool is_open(const struct voucher_run *r)
{
	return r->v.state != VOUCHER_HELD && r->v.state != VOUCHER_SPENT;
}

static void begin_open(struct engine *e, struct voucher_run *r)
{
	r->next_open = e->keys->vouchers->open;
	e->keys->vouchers->open = r;
}

/* Raise an alarm, in events, audit and log. */
static void sound(struct engine *e, const struct voucher *v)
{
	static const char why[] =
		"the token in its user-data was used, and no node registered: somebody else may "
		"have the cluster's keys";
	const struct breach b = {
		.node = v->node, .gen = v->gen, .of = "vouchers", .why = why, .left = true};
	char g[FMT_U64_SIZE];

	breach_sound(e, &b);
	log_write(e->d.log, LOG_ERROR, "the token of a node was used, but no node registered",
		  "node", v->node, "generation", fmt_u64(g, v->gen), "accessor", v->accessor,
		  "next", "look into Vault's audit log who unwrapped it", "else",
		  engine_rotate_command(e), NULL);
}

static void tell_unknown(struct engine *e, const struct voucher *v, const char *why)
{
	engine_event(e, v->node, v->gen, "token-unknown", why);
	log_write(e->d.log, LOG_WARN, "cannot tell whether the token of a node was used", "node",
		  v->node, "accessor", v->accessor, "why", why, NULL);
}

void vouchers_step(struct engine *e, struct voucher_run *r, enum voucher_event_type type,
		   const struct node *is)
{
	const struct voucher_event ev = {.type = type, .now_ms = engine_now(e), .is = is};
	bool was_open = is_open(r), changed;
	enum voucher_verdict verdict = voucher_step(&r->v, &ev, &changed);

	if (changed) {
		journal_put_voucher(engine_tx(e), &r->v);
		r->look_ms = engine_now(e);
	}
	if (is_open(r) && !was_open)
		begin_open(e, r);
	if (verdict == VOUCHER_KEEP)
		return;
	if (verdict == VOUCHER_ALARM)
		sound(e, &r->v);
	else if (verdict != VOUCHER_DROP && type == VOUCHER_EV_USED && r->v.undated)
		tell_unknown(e, &r->v,
			     "its token is gone: it was used, is of another secret store, or "
			     "expired, since the clock was set back");
	else if (verdict == VOUCHER_LATE)
		tell_unknown(e, &r->v,
			     "the secret store did not say in time whether its token was used");
	else if (verdict == VOUCHER_UNSURE)
		tell_unknown(e, &r->v,
			     "its token was gone before it was revoked: used by the node as it was "
			     "released, or by somebody else");
	else if (type == VOUCHER_EV_TIMER)
		log_write(e->d.log, LOG_INFO, "the token of a node expired before it was revoked",
			  "node", r->v.node, "accessor", r->v.accessor, NULL);
	journal_del_voucher(engine_tx(e), r->v.node, r->v.gen);
	vouchers_forget(e, r);
}

/* row_in_tx(): a row that is up or ends needs its token no more. */
static void vouchers_row(struct engine *e, const struct node *is)
{
	struct voucher_run *r = vouchers_find(e, is->name, is->gen);

	if (r == NULL)
		return;
	if (!r->asked)
		vouchers_step(e, r, VOUCHER_EV_ROW, is);
	else if (!node_lives(is)) /* the token is not made yet */
		vouchers_forget(e, r);
}

/* posted(): note that the node came up, or that burstd let it go.  A node that comes up need not
 * become READY: one that is to end may register, and has used its token then.  A DRAINING node that
 * slurmctld suspends was not released by burstd, but by the end of its machine. */
static void vouchers_posted(struct engine *e, const struct node *was, const struct node_event *ev)
{
	bool goes = was->state == NODE_DRAINING;
	bool up = ev->type == NODE_EV_REGISTERED && (goes || was->state == NODE_BOOTING);
	bool let_go = ev->type == NODE_EV_RELEASE && node_lives(was) &&
		      !(goes && ev->reason == NODE_BECAUSE_SUSPENDED);
	struct voucher_run *r = up || let_go ? vouchers_find(e, was->name, was->gen) : NULL;

	if (r != NULL && !r->asked)
		vouchers_step(e, r, up ? VOUCHER_EV_UP : VOUCHER_EV_LET_GO, NULL);
}

void vouchers_up(struct engine *e, const struct node *n)
{
	struct voucher_run *r = vouchers_find(e, n->name, n->gen);

	assert(r != NULL); /* vouchers_is_held() */
	vouchers_step(e, r, VOUCHER_EV_UP, NULL);
}

bool vouchers_is_held(const struct engine *e, const struct node *n)
{
	const struct voucher *v = vouchers_of(e, n->name, n->gen);

	return v != NULL && v->state == VOUCHER_HELD;
}

/* --- what the store has to say or to do --------------------------------------------------------
 */

static void on_look(void *ctx, enum secret_code what)
{
	struct voucher_run *r = ctx;
	struct engine *e = r->e;

	r->looking = false;
	e->keys->vouchers->flying--;
	r->look_ms = engine_now(e) + VOUCHER_LOOK_MS;
	if (what == SECRET_OK)
		vouchers_step(e, r,
			      r->v.state == VOUCHER_DOUBTED ? VOUCHER_EV_THERE : VOUCHER_EV_REVOKED,
			      NULL);
	else if (what == SECRET_SPENT)
		vouchers_step(e, r, VOUCHER_EV_USED, NULL);
}

static void send(struct engine *e, struct voucher_run *r)
{
	enum secret_op_kind what = r->v.state == VOUCHER_DOUBTED ? SECRET_LOOK : SECRET_REVOKE;

	if (e->staging.due)
		engine_commit(e); /* otherwise a token that burstd revoked would be an alarm after a
				     crash */
	if (e->dead)
		return;
	r->look = (struct secrets_look){on_look, r};
	r->looking = secrets_look(e, what, r->v.accessor, &r->look);
	if (r->looking)
		e->keys->vouchers->flying++;
	else
		r->look_ms = engine_now(e) + VOUCHER_LOOK_MS;
}

static void look_for_node_init(struct engine *e);

static void vouchers_run(struct engine *e)
{
	struct vouchers *vs = e->keys->vouchers;
	int64_t now = engine_now(e);
	struct voucher_run *r;

	if (vs != NULL && e->keys->door == NULL && node_init_due(e))
		look_for_node_init(e);
	if (vs == NULL || vs->open == NULL)
		return;
	r = vs->open;
	while (r != NULL) {
		struct voucher_run *next = r->next_open;

		if (!r->looking && now >= r->v.ends_ms)
			vouchers_step(e, r, VOUCHER_EV_TIMER, NULL);
		else if (!r->looking && now >= r->look_ms && vs->flying < VOUCHERS_FLYING_MAX)
			send(e, r);
		r = next;
	}
}

static int64_t vouchers_next_ms(const struct engine *e)
{
	const struct vouchers *vs = e->keys->vouchers;
	int64_t next = INT64_MAX;

	if (vs == NULL)
		return next;
	if (vs->again_ms > engine_now(e))
		next = vs->again_ms;
	for (const struct voucher_run *r = vs->open; r != NULL; r = r->next_open) {
		bool full = vs->flying >= VOUCHERS_FLYING_MAX; /* an answer begins a turn */
		int64_t at = r->look_ms < r->v.ends_ms && !full ? r->look_ms : r->v.ends_ms;

		if (!r->looking && at < next)
			next = at;
	}
	return next;
}

/* --- start and end -----------------------------------------------------------------------------
 */

static int hash_node_init(struct engine *e, const struct conf *c, struct err *err)
{
	char *text = NULL;
	size_t len;

	if (door_read_stage1(c->nodes.node_init, &text, &len, e->keys->vouchers->sha256, err) != 0)
		return -1;
	free(text);
	node_init_off(e, NULL);
	return 0;
}

static void look_for_node_init(struct engine *e)
{
	struct err err;

	if (hash_node_init(e, e->conf, &err) != 0)
		node_init_off(e, &err);
}

static bool gives_tokens(const struct conf_secrets *c)
{
	return c->release == CONF_USER_DATA && c->driver != NULL && c->driver[0] != '\0';
}

static int64_t hash_store(const struct conf_secrets *c)
{
	uint64_t h = fnv_text(FNV_BEGIN, c->address != NULL ? c->address : "");

	h = fnv_text(h, " ");
	h = fnv_text(h, c->namespace != NULL ? c->namespace : "");
	return (int64_t)(h >> 1) + 1;
}

/* Note whether another store made the journal's tokens.  Stores are told apart by their addresses:
 * the same store at new ones only makes tokens uncertain. */
static int know_store(struct engine *e, struct err *err)
{
	int64_t was, is = hash_store(&e->conf->secrets);

	if (journal_get_number(e->d.journal, "voucher_store", &was, err) != 0 ||
	    journal_get_number(e->d.journal, "voucher_store_ms", &e->keys->vouchers->store_ms,
			       err) != 0)
		return -1;
	if (was == is)
		return 0;
	if (was != 0)
		e->keys->vouchers->store_ms = engine_now(e);
	journal_put_number(engine_tx(e), "voucher_store", is);
	journal_put_number(engine_tx(e), "voucher_store_ms", e->keys->vouchers->store_ms);
	return 0;
}

static int make_table(struct engine *e, struct err *err)
{
	e->keys->vouchers = mem_zalloc(sizeof(*e->keys->vouchers));
	map_init(&e->keys->vouchers->runs);
	return know_store(e, err);
}

/* Make the table, with release = "user-data".  Otherwise no machine gets a token, and the table
 * only has those of the journal. */
static int vouchers_open(struct engine *e, struct err *err)
{
	if (!gives_tokens(&e->conf->secrets))
		return 0;
	if (make_table(e, err) != 0)
		return -1;
	look_for_node_init(e);
	return 0;
}

/* Read the node_init of the configuration `next`, for machines bought from now on.  -1: it cannot
 * be read, and nothing has changed. */
static int vouchers_reload(struct engine *e, const struct conf *next, struct err *err)
{
	struct err why;

	if (e->keys->vouchers == NULL || !gives_tokens(&next->secrets) ||
	    hash_node_init(e, next, &why) == 0)
		return 0;
	if (engine_init_off(e) == NULL)
		return err_set(err, (enum err_code)why.code, "%s", why.msg);
	node_init_off(e, &why); /* the rest of the new configuration must not wait for this file */
	return 0;
}

/* Keep the journal's vouchers even if the configuration gives no tokens any more, if there is a
 * store to ask: their tokens are still valid. */
static bool look_after(struct engine *e, const struct voucher *v)
{
	if (e->keys->vouchers != NULL)
		return true;
	if (secrets_wraps(e)) {
		(void)make_table(e, NULL); /* a journal that cannot be read fails the load anyway */
		return true;
	}
	if (v->state != VOUCHER_SPENT)
		log_write(e->d.log, LOG_WARN,
			  "the token of a node cannot be revoked: its secret store is not "
			  "configured any more",
			  "node", v->node, "accessor", v->accessor, NULL);
	journal_del_voucher(engine_tx(e), v->node, v->gen);
	return false;
}

void vouchers_load(struct engine *e, struct voucher *v)
{
	const struct fleet_name *nm = fleet_find(&e->fleet, v->node);
	const struct fleet_node *fn = nm != NULL ? fleet_gen(nm, v->gen) : NULL;
	struct voucher_run *r;

	if (!look_after(e, v))
		return;
	r = vouchers_put(e, v->node, v->gen);
	r->v = *v;
	v->token = NULL;
	/* A row that is still to end was released by burstd; one that failed by itself has ended at
	 * once. */
	r->v.let_go = fn != NULL && fn->n.release;
	r->v.in_doubt = fn != NULL && fn->n.state == NODE_INDOUBT;
	r->v.undated = v->made_ms > engine_now(e) || /* the clock was set back */
		       v->made_ms < e->keys->vouchers->store_ms;
	if (is_open(r))
		begin_open(e, r);
	else if (fn == NULL || fn->n.state == NODE_GONE)
		vouchers_step(e, r, VOUCHER_EV_ROW, fn != NULL ? &fn->n : NULL);
	else if (fn->n.state == NODE_WANTED && !vouchers_wanted(e, fn->n.cloud))
		vouchers_step(e, r, VOUCHER_EV_VOID,
			      NULL); /* the machine will get its keys in another way */
}

static void vouchers_free(struct engine *e)
{
	struct vouchers *vs = e->keys->vouchers;

	if (vs == NULL)
		return;
	while (vs->all != NULL) {
		struct voucher_run *r = vs->all;

		vs->all = r->next;
		voucher_fini(&r->v);
		free(r);
	}
	map_fini(&vs->runs);
	free(vs);
	e->keys->vouchers = NULL;
}

const struct engine_part vouchers_part = {
	.name = "vouchers",
	.open = vouchers_open,
	.keyless = vouchers_keyless,
	.may_reload = vouchers_reload,
	.posted = vouchers_posted,
	.row_in_tx = vouchers_row,
};

const struct engine_part vouchers_turn_part = {
	.name = "vouchers: their turn",
	.at = {[PART_RUN] = vouchers_run, [PART_FREE] = vouchers_free},
	.next_ms = vouchers_next_ms,
};
