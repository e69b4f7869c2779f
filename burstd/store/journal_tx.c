/* A transaction: effects are collected in memory; journal_commit() writes all of them or none. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "core/reclaim.h"
#include "store/private.h"

/* An effect is a statement and its values; texts are copied behind each other into one block. */
struct value {
	bool is_text;
	int64_t number; /* a text's length */
	size_t at;      /* a text's place in the block */
};

struct effect {
	enum statement what;
	size_t first, n; /* its values */
};

struct journal_tx {
	struct journal *j;
	struct effect *effects;
	size_t neffects, effects_cap;
	struct value *values;
	size_t nvalues, values_cap;
	char *text;
	size_t ntext, text_cap;
};

/* --- collecting --------------------------------------------------------------------------------
 */

struct journal_tx *journal_begin(struct journal *j)
{
	struct journal_tx *tx = mem_zalloc(sizeof(*tx));

	tx->j = j;
	return tx;
}

/* The text may contain a token. */
static void wipe_text(struct journal_tx *tx)
{
	if (tx->text != NULL)
		explicit_bzero(tx->text, tx->ntext);
	free(tx->text);
}

static void grow_text(struct journal_tx *tx, size_t need)
{
	size_t cap = 2 * need;
	char *text = mem_zalloc(cap);

	if (tx->text != NULL)
		memcpy(text, tx->text, tx->ntext);
	wipe_text(tx);
	tx->text = text;
	tx->text_cap = cap;
}

void journal_abandon(struct journal_tx *tx)
{
	if (tx == NULL)
		return;
	free(tx->effects);
	free(tx->values);
	wipe_text(tx);
	free(tx);
}

static void *grown(void *p, size_t *cap, size_t need, size_t size)
{
	if (need <= *cap)
		return p;
	*cap = 2 * need;
	return mem_realloc(p, *cap * size);
}

static void effect(struct journal_tx *tx, enum statement what)
{
	tx->effects = grown(tx->effects, &tx->effects_cap, tx->neffects + 1, sizeof(*tx->effects));
	tx->effects[tx->neffects++] = (struct effect){.what = what, .first = tx->nvalues};
}

static void add_value(struct journal_tx *tx, struct value v)
{
	tx->values = grown(tx->values, &tx->values_cap, tx->nvalues + 1, sizeof(*tx->values));
	tx->values[tx->nvalues++] = v;
	tx->effects[tx->neffects - 1].n++;
}

static void add_int(struct journal_tx *tx, int64_t v)
{
	add_value(tx, (struct value){.number = v});
}

/* Store the same 64 bits: SQL has no unsigned numbers. */
static void add_bits(struct journal_tx *tx, uint64_t v)
{
	add_int(tx, (int64_t)v);
}

static void add_text(struct journal_tx *tx, const char *text)
{
	size_t len = strlen(text);

	if (tx->ntext + len + 1 > tx->text_cap)
		grow_text(tx, tx->ntext + len + 1);
	memcpy(tx->text + tx->ntext, text, len + 1);
	add_value(tx, (struct value){.is_text = true, .number = (int64_t)len, .at = tx->ntext});
	tx->ntext += len + 1;
}

void journal_put_node(struct journal_tx *tx, const struct node *n, const char *pool)
{
	effect(tx, PUT_NODE); /* in the order of NODE_COLUMNS */
	add_text(tx, n->name);
	add_bits(tx, n->gen);
	add_int(tx, JOURNAL_EPOCH);
	add_text(tx, pool);
	add_text(tx, node_state_str(n->state));
	add_text(tx, node_reason_str(n->reason));
	add_int(tx, n->release);
	add_int(tx, n->accepted);
	add_int(tx, n->misses);
	add_int(tx, n->attempts);
	add_bits(tx, n->batch);
	add_int(tx, n->group);
	add_int(tx, n->slot);
	add_text(tx, n->instance);
	add_text(tx, n->addr);
	add_int(tx, n->rate_nano_h);
	add_int(tx, n->wanted_ms);
	add_int(tx, n->since_ms);
	add_int(tx, n->sent_ms);
	add_int(tx, n->missed_ms);
	add_int(tx, n->wake_ms);
	add_int(tx, n->start_ms);
	add_int(tx, n->end_ms);
	add_bits(tx, n->job);
	add_text(tx, n->offer);
	add_text(tx, n->provider);
	add_text(tx, provider_market_str(n->market));
	add_text(tx, reclaim_kind_str(n->notice));
	add_int(tx, n->noticed_ms);
	add_int(tx, n->deadline_ms);
	add_int(tx, n->signal_ms);
	add_text(tx, n->stale_addr);
}

void journal_del_node(struct journal_tx *tx, const char *name, uint64_t gen)
{
	effect(tx, DEL_NODE);
	add_text(tx, name);
	add_bits(tx, gen);
}

void journal_put_batch(struct journal_tx *tx, const struct journal_batch *b)
{
	effect(tx, PUT_BATCH);
	add_bits(tx, b->id);
	add_int(tx, JOURNAL_EPOCH);
	add_text(tx, b->token);
	add_text(tx, b->pool);
	add_bits(tx, b->body_hash);
	add_int(tx, b->at_ms);
	add_text(tx, b->offer);
	add_text(tx, b->provider);
}

void journal_del_batch(struct journal_tx *tx, uint64_t id)
{
	effect(tx, DEL_BATCH);
	add_bits(tx, id);
}

void journal_put_event(struct journal_tx *tx, int64_t at_ms, const char *node, uint64_t gen,
		       const char *type, const char *detail)
{
	effect(tx, PUT_EVENT);
	add_int(tx, at_ms);
	add_text(tx, node);
	add_bits(tx, gen);
	add_text(tx, type);
	add_text(tx, detail);
}

void journal_put_audit(struct journal_tx *tx, const struct journal_audit *a)
{
	effect(tx, PUT_AUDIT); /* in the order of write_audit() */
	add_int(tx, a->at_ms);
	add_text(tx, a->actor);
	add_text(tx, a->verb);
	add_text(tx, a->target);
	add_text(tx, a->object);
	add_text(tx, a->reason);
	add_text(tx, a->request);
}

void journal_put_usage(struct journal_tx *tx, const struct journal_usage *u)
{
	effect(tx, PUT_USAGE);
	add_text(tx, u->node);
	add_bits(tx, u->gen);
	add_text(tx, u->instance);
	add_text(tx, u->pool);
	add_int(tx, u->start_ms);
	add_int(tx, u->end_ms);
	add_int(tx, u->rate_nano_h);
	add_int(tx, u->cost_nano);
}

void journal_put_number(struct journal_tx *tx, const char *key, int64_t value)
{
	effect(tx, PUT_NUMBER);
	add_text(tx, key);
	add_int(tx, value);
}

void journal_put_refusal(struct journal_tx *tx, const struct journal_refusal *r)
{
	effect(tx, PUT_REFUSAL);
	add_bits(tx, r->job);
	add_int(tx, r->r.count);
	add_int(tx, r->r.last_ms);
	add_int(tx, r->r.first_ms);
	add_int(tx, r->r.wait_ms);
	add_int(tx, r->r.told_wall_ms);
	add_int(tx, r->r.had_wall_ms);
}

void journal_del_refusal(struct journal_tx *tx, uint64_t job)
{
	effect(tx, DEL_REFUSAL);
	add_bits(tx, job);
}

void journal_put_rescue(struct journal_tx *tx, const struct journal_rescue *r)
{
	effect(tx, PUT_RESCUE);
	add_bits(tx, r->job);
	add_text(tx, r->id);
	add_text(tx, r->node);
	add_bits(tx, r->gen);
	add_int(tx, r->at_ms);
	add_text(tx, r->why);
	add_text(tx, r->nodes);
	add_int(tx, r->signal);
	add_int(tx, r->hold_ms);
}

void journal_del_rescue(struct journal_tx *tx, uint64_t job)
{
	effect(tx, DEL_RESCUE);
	add_bits(tx, job);
}

void journal_put_pool(struct journal_tx *tx, const struct journal_pool *p)
{
	effect(tx, PUT_POOL);
	add_text(tx, p->name);
	add_int(tx, p->paused);
	add_int(tx, p->breaker.waves);
	add_int(tx, p->breaker.last_ms);
	add_int(tx, p->breaker.until_ms);
	add_text(tx, p->by);
	add_int(tx, p->paused_ms);
}

static void add_hex(struct journal_tx *tx, const unsigned char *bytes, size_t n)
{
	char text[2 * CLAIM_SPKI_SIZE + 1];

	assert(2 * n < sizeof(text));
	add_text(tx, fmt_hex(text, bytes, n));
}

void journal_put_claim(struct journal_tx *tx, const struct claim *c)
{
	effect(tx, PUT_CLAIM); /* in the order of CLAIM_COLUMNS */
	add_text(tx, c->node);
	add_bits(tx, c->gen);
	add_int(tx, JOURNAL_EPOCH);
	add_text(tx, c->id);
	add_text(tx, claim_state_str(c->state));
	add_text(tx, claim_reason_str(c->reason));
	add_int(tx, c->alarms);
	add_int(tx, c->attested);
	add_int(tx, c->weak);
	add_hex(tx, c->spki, c->bound ? sizeof(c->spki) : 0);
	add_text(tx, c->addr);
	add_text(tx, c->instance);
	add_text(tx, c->serial);
	add_int(tx, c->version);
	add_int(tx, c->issued_ms);
	add_int(tx, c->expires_ms);
	add_int(tx, c->since_ms);
	add_int(tx, c->released_ms);
	add_text(tx, c->accessor);
	add_int(tx, c->shared);
}

void journal_del_claim(struct journal_tx *tx, const char *node, uint64_t gen)
{
	effect(tx, DEL_CLAIM);
	add_text(tx, node);
	add_bits(tx, gen);
}

void journal_put_voucher(struct journal_tx *tx, const struct voucher *v)
{
	effect(tx, PUT_VOUCHER); /* in the order of VOUCHER_COLUMNS */
	add_text(tx, v->node);
	add_bits(tx, v->gen);
	add_int(tx, JOURNAL_EPOCH);
	add_text(tx, voucher_state_str(v->state));
	add_text(tx, v->token != NULL ? secret_text(v->token) : "");
	add_text(tx, v->accessor);
	add_int(tx, v->version);
	add_int(tx, v->gpus);
	add_text(tx, v->gpu_type);
	add_int(tx, v->made_ms);
	add_int(tx, v->ends_ms);
	add_int(tx, v->since_ms);
}

void journal_del_voucher(struct journal_tx *tx, const char *node, uint64_t gen)
{
	effect(tx, DEL_VOUCHER);
	add_text(tx, node);
	add_bits(tx, gen);
}

/* --- writing -----------------------------------------------------------------------------------
 */

static int write_audit(const struct journal_tx *tx, const struct effect *f, struct err *e)
{
	const struct value *v = &tx->values[f->first];
	const struct journal_audit a = {.at_ms = v[0].number,
					.actor = tx->text + v[1].at,
					.verb = tx->text + v[2].at,
					.target = tx->text + v[3].at,
					.object = tx->text + v[4].at,
					.reason = tx->text + v[5].at,
					.request = tx->text + v[6].at};

	return chain_put(tx->j, &a, e);
}

static int write_effect(const struct journal_tx *tx, const struct effect *f, struct err *e)
{
	struct db_cursor c = {.st = NULL};

	if (f->what == PUT_AUDIT)
		return write_audit(tx, f, e);
	c.st = db_stmt(tx->j->db, f->what, e);
	if (c.st == NULL)
		return -1;
	for (size_t i = f->first; i < f->first + f->n; i++) {
		const struct value *v = &tx->values[i];

		if (v->is_text)
			db_put_text(&c, tx->text + v->at, (size_t)v->number);
		else
			db_put_int(&c, v->number);
	}
	return db_step(tx->j->db, c.st, e);
}

static int write_all(const struct journal_tx *tx, struct err *e)
{
	struct journal *j = tx->j;
	int rc = 0;

	j->next_head = j->head; /* a second try starts from there, too */
	if (db_begin(j->db, e) < 0)
		return -1;
	for (size_t i = 0; i < tx->neffects && rc == 0; i++)
		rc = write_effect(tx, &tx->effects[i], e);
	if (rc == 0)
		rc = chain_put_head(j, e);
	if (rc < 0) {
		db_rollback(j->db);
		return -1;
	}
	if (db_commit(j->db, e) < 0)
		return -1;
	j->head = j->next_head;
	return 0;
}

int journal_commit(struct journal_tx *tx, struct err *e)
{
	struct journal *j = tx->j;
	int rc = journal_check_usable(j, e);

	if (rc == 0 && tx->neffects > 0) {
		do
			rc = write_all(tx, e);
		while (rc < 0 && journal_may_retry(j));
		j->broken = rc < 0;
	}
	journal_abandon(tx);
	return rc;
}
