/* store/journal.h in memory.  A transaction is copied in at commit, whole, or dropped. */
#include "sim_journal.h"
#include "sim_opinions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim_cloud.h"
#include "sim_rotate.h"
#include "sim_slurm.h"
#include "sim_tx.h"
#include "store/journal_events.h"

enum {
	ROWS_MAX = 4096,
	BATCHES_MAX = 4096,
	NUMBERS_MAX = 24,
};

struct number {
	char key[32];
	int64_t value;
};

struct table { /* rows, batches or bills, copied */
	void *v;
	size_t n;
};

struct backup { /* an older copy of what a restart reads */
	struct table rows, batches, bills, claims, vouchers, holds, days;
	struct number numbers[NUMBERS_MAX];
	size_t nnumbers;
	struct sim_book book;
};

struct journal {
	struct world *w;
	struct sim_row *rows;
	size_t nrows, rows_cap;
	struct journal_batch *batches;
	size_t nbatches, batches_cap;
	struct number numbers[NUMBERS_MAX];
	size_t nnumbers;
	struct sim_bills bills;
	struct sim_claims claims;
	struct sim_vouchers vouchers;
	struct backup backup;
	struct sim_opinions opinions; /* the same in a restored journal, whatever their age */
	struct sim_book book;
	struct sim_audit audit;
	struct sim_facts facts;
	struct sim_money money;
	struct sim_alerts *alerts;
	int64_t last_event;
	struct sim_txs txs;
};

struct journal *sim_journal_new(struct world *w)
{
	struct journal *j = mem_zalloc(sizeof(*j));

	j->w = w;
	j->alerts = mem_zalloc(sizeof(*j->alerts));
	return j;
}

static void backup_free(struct journal *j)
{
	free(j->backup.rows.v);
	free(j->backup.batches.v);
	free(j->backup.bills.v);
	free(j->backup.claims.v);
	free(j->backup.vouchers.v);
	free(j->backup.holds.v);
	free(j->backup.days.v);
	j->backup = (struct backup){0};
}

static struct table copy_table(const void *p, size_t n, size_t size)
{
	struct table t = {mem_zalloc((n + 1) * size), n};

	if (n > 0)
		memcpy(t.v, p, n * size);
	return t;
}

static void backup(struct journal *j)
{
	backup_free(j);
	j->backup.rows = copy_table(j->rows, j->nrows, sizeof(*j->rows));
	j->backup.batches = copy_table(j->batches, j->nbatches, sizeof(*j->batches));
	j->backup.bills = copy_table(j->bills.v, j->bills.n, sizeof(*j->bills.v));
	j->backup.claims = copy_table(j->claims.v, j->claims.n, sizeof(*j->claims.v));
	j->backup.vouchers = copy_table(j->vouchers.v, j->vouchers.n, sizeof(*j->vouchers.v));
	j->backup.holds = copy_table(j->money.holds, j->money.nholds, sizeof(*j->money.holds));
	j->backup.days = copy_table(j->money.days, j->money.ndays, sizeof(*j->money.days));
	memcpy(j->backup.numbers, j->numbers, sizeof(j->numbers));
	j->backup.nnumbers = j->nnumbers;
	j->backup.book = j->book;
}

/* There is room: tables do not shrink. */
static size_t put_back(void *to, const struct table *t, size_t size)
{
	if (t->n > 0)
		memcpy(to, t->v, t->n * size);
	return t->n;
}

static void put_number(struct journal *j, const char *key, int64_t value)
{
	for (size_t i = 0; i < j->nnumbers; i++)
		if (strcmp(j->numbers[i].key, key) == 0) {
			j->numbers[i].value = value;
			return;
		}
	if (j->nnumbers == NUMBERS_MAX) {
		world_fail(j->w, "I25: too many numbers in meta");
		return;
	}
	(void)snprintf(j->numbers[j->nnumbers].key, sizeof(j->numbers[0].key), "%.31s", key);
	j->numbers[j->nnumbers++].value = value;
}

void sim_journal_restore(struct journal *j)
{
	struct backup *b = &j->backup;

	if (b->rows.v == NULL || !world_fault(j->w, SIM_RESTORED))
		return;
	SIM_TRACE(j->w, "*** an older journal is put back");
	j->nrows = put_back(j->rows, &b->rows, sizeof(*j->rows));
	j->nbatches = put_back(j->batches, &b->batches, sizeof(*j->batches));
	j->bills.n = put_back(j->bills.v, &b->bills, sizeof(*j->bills.v));
	if (j->w->set.bootstrap)
		j->claims.n = put_back(j->claims.v, &b->claims, sizeof(*j->claims.v));
	j->vouchers.n = put_back(j->vouchers.v, &b->vouchers, sizeof(*j->vouchers.v));
	j->money.nholds = put_back(j->money.holds, &b->holds, sizeof(*j->money.holds));
	j->money.ndays = put_back(j->money.days, &b->days, sizeof(*j->money.days));
	memcpy(j->numbers, b->numbers, sizeof(j->numbers));
	j->nnumbers = b->nnumbers;
	j->book = b->book;
	put_number(j, JOURNAL_DOUBTFUL, j->w->now); /* main.c sees that by the file last-batch */
	sim_journal_met_all(j, SIM_RESTORED);
	sim_cloud_restored(j->w->cloud);
	sim_image_forget(j->w);
}

void sim_journal_free(struct journal *j)
{
	sim_txs_free(j->w, &j->txs);
	backup_free(j);
	free(j->rows);
	free(j->bills.v);
	free(j->facts.v);
	sim_money_free(&j->money);
	free(j->alerts);
	free(j->batches);
	free(j->claims.v);
	free(j->vouchers.v);
	free(j);
}

void *sim_journal_grow(struct journal *j, void *p, size_t n, size_t *cap, size_t max_size[2])
{
	if (n < *cap)
		return p;
	if (n >= max_size[0])
		world_fail(j->w, "I25: a table of the journal grows without end");
	*cap = *cap == 0 ? 16 : 2 * *cap;
	return mem_realloc(p, *cap * max_size[1]);
}

/* --- looking ---------------------------------------------------------------------------------- */

static struct sim_row *find(const struct journal *j, const char *node, uint64_t gen)
{
	struct sim_row *best = NULL;

	for (size_t i = 0; i < j->nrows; i++) {
		struct sim_row *r = &j->rows[i];

		if (strcmp(r->n.name, node) != 0 || (gen != 0 && r->n.gen != gen))
			continue;
		if (best == NULL || r->n.gen > best->n.gen)
			best = r;
	}
	return best;
}

const struct sim_row *sim_journal_row(const struct journal *j, const char *node, uint64_t gen)
{
	return find(j, node, gen);
}

size_t sim_journal_rows(const struct journal *j, const struct sim_row **rows)
{
	*rows = j->rows;
	return j->nrows;
}

static struct journal_batch *find_batch(const struct journal *j, uint64_t id)
{
	for (size_t i = 0; i < j->nbatches; i++)
		if (j->batches[i].id == id)
			return &j->batches[i];
	return NULL;
}

const struct journal_batch *sim_journal_batch(const struct journal *j, uint64_t id)
{
	return find_batch(j, id);
}

void sim_journal_met_all(struct journal *j, enum sim_fault f)
{
	for (size_t i = 0; i < j->nrows; i++)
		j->w->totals->met[f][j->rows[i].n.state]++;
}

const struct sim_bills *sim_journal_bills(const struct journal *j)
{
	return &j->bills;
}

bool sim_journal_billed_twice(const struct journal *j)
{
	return j->facts.twice;
}

const struct sim_opinions *sim_journal_opinions(const struct journal *j)
{
	return &j->opinions;
}

struct sim_alerts *sim_journal_alerts(const struct journal *j)
{
	return j->alerts;
}

const struct sim_money *sim_journal_money(const struct journal *j)
{
	return &j->money;
}

const struct claim *sim_journal_claim(const struct journal *j, const char *node, uint64_t gen)
{
	const struct sim_claim *x = sim_claims_get(&j->claims, node, gen);

	return x != NULL ? &x->c : NULL;
}

struct sim_claims *sim_journal_claims(struct journal *j)
{
	return &j->claims;
}

struct sim_vouchers *sim_journal_vouchers(struct journal *j)
{
	return &j->vouchers;
}

struct sim_audit *sim_journal_audit(struct journal *j)
{
	return &j->audit;
}

struct sim_txs *sim_journal_txs(struct journal *j)
{
	return &j->txs;
}

struct world *sim_journal_world(struct journal *j)
{
	return j->w;
}

/* --- committing ------------------------------------------------------------------------------- */

static void put_node(struct journal *j, const struct effect *f)
{
	struct sim_row *r = find(j, f->u.node.name, f->u.node.gen);

	sim_row_change(j->w, r, &f->u.node);
	sim_voucher_row(j->w, r, &f->u.node);
	if (r != NULL) {
		check_release(j->w, &r->n, &f->u.node, r->born);
		sim_pool_row(j->w, &r->n, &f->u.node, r->born);
	} else if (f->u.node.release) {
		sim_ctld_given_up(j->w->ctld, f->u.node.name);
	}
	if (r == NULL) {
		j->rows = sim_journal_grow(j, j->rows, j->nrows, &j->rows_cap,
					   (size_t[2]){ROWS_MAX, sizeof(*j->rows)});
		r = &j->rows[j->nrows++];
		*r = (struct sim_row){.born = j->w->now};
	}
	r->n = f->u.node;
	sim_row_alone(j->w, r);
	if (r->n.state == NODE_GONE)
		sim_money_gone(j->w, &j->money, r->n.name, r->n.gen);
	r->updates++;
	(void)snprintf(r->pool, sizeof(r->pool), "%.15s", f->name);
}

static void del_node(struct journal *j, const struct effect *f)
{
	struct sim_row *r = find(j, f->name, f->id);

	if (r == NULL)
		return;
	if (r->n.state != NODE_GONE)
		world_fail(j->w, "I9: the row of %s/%llu was forgotten while %s", f->name,
			   (unsigned long long)f->id, node_state_str(r->n.state));
	*r = j->rows[--j->nrows];
}

static void put_batch(struct journal *j, const struct journal_batch *b)
{
	struct journal_batch *old = find_batch(j, b->id);

	if (old != NULL && strcmp(old->token, b->token) != 0)
		world_fail(j->w, "I4: batch %llu changed its token", (unsigned long long)b->id);
	if (old == NULL) {
		j->batches = sim_journal_grow(j, j->batches, j->nbatches, &j->batches_cap,
					      (size_t[2]){BATCHES_MAX, sizeof(*j->batches)});
		old = &j->batches[j->nbatches++];
	}
	*old = *b;
}

static void apply(struct journal *j, const struct effect *f)
{
	switch (f->kind) {
	case PUT_NODE:
		put_node(j, f);
		break;
	case DEL_NODE:
		del_node(j, f);
		break;
	case PUT_BATCH:
		put_batch(j, &f->u.batch);
		break;
	case DEL_BATCH: {
		struct journal_batch *b = find_batch(j, f->id);

		if (b != NULL)
			*b = j->batches[--j->nbatches];
		break;
	}
	case PUT_EVENT:
		j->last_event++;
		if (f->value != 0)
			sim_voucher_told(j->w, f->name, f->id, f->value == 1);
		break;
	case PUT_FACT:
		sim_facts_put(j->w, &j->facts, &f->u.fact.is,
			      f->value != 0 ? &f->u.fact.step : NULL);
		break;
	case PUT_HOLD:
		sim_money_hold(j->w, &j->money, &f->u.hold);
		break;
	case DEL_HOLD:
		sim_money_drop(j->w, &j->money, &f->u.hold);
		break;
	case PUT_DAY:
		sim_money_day(j->w, &j->money, &f->u.day);
		break;
	case PUT_BUDGET:
		sim_money_came(j->w, &j->money, &f->u.came);
		break;
	case PUT_STEPS:
		sim_money_steps(&j->money, &f->u.came);
		break;
	case PUT_OVERRIDE:
		sim_money_override(j->w, &j->money, &f->u.override);
		break;
	case PUT_USAGE:
		sim_facts_bill(j->w, &j->facts, &f->u.bill);
		sim_bills_put(j->w, &j->bills, &f->u.bill);
		break;
	case PUT_NUMBER:
		put_number(j, f->name, f->value);
		if (strcmp(f->name, "rotation_phase") == 0)
			sim_rotate_phase(j->w, f->value);
		break;
	case PUT_REFUSAL:
	case DEL_REFUSAL:
		sim_opinions_refusal(j->w, &j->opinions, f->id,
				     f->kind == PUT_REFUSAL ? &f->u.refusal : NULL);
		break;
	case PUT_POOL:
		sim_opinions_pool(j->w, &j->opinions, f->name, &f->u.pool);
		break;
	case PUT_ROLL:
		sim_opinions_roll(j->w, &j->opinions, f->u.roll.pool, f->u.roll.offer,
				  &f->u.roll.r);
		break;
	case PUT_RESCUE:
	case DEL_RESCUE:
		sim_opinions_rescue(j->w, &j->opinions, f->id,
				    f->kind == PUT_RESCUE ? &f->u.rescue : NULL);
		break;
	case PUT_DRAINED:
	case DEL_DRAINED:
		sim_opinions_drained(j->w, &j->opinions, f->name, f->id, f->kind == PUT_DRAINED);
		break;
	case PUT_ENDING:
	case DEL_ENDING:
		sim_opinions_ending(j->w, &j->opinions, f->id,
				    f->kind == PUT_ENDING ? &f->u.ending : NULL);
		break;
	case PUT_CLAIM:
		sim_claims_put(&j->claims, &f->u.claim, j->w->now);
		break;
	case DEL_CLAIM:
		sim_claims_del(&j->claims, f->name, f->id);
		break;
	case PUT_VOUCHER:
		sim_voucher_put(j->w, &f->u.voucher);
		break;
	case DEL_VOUCHER:
		sim_voucher_del(j->w, f->name, f->id);
		break;
	case PUT_ALERT:
		sim_alert_put(j->w, j->alerts, &f->u.alert);
		break;
	case DEL_ALERT:
		sim_alert_del(j->alerts, (int64_t)f->id);
		break;
	case PUT_MESSAGE:
		sim_message_put(j->w, j->alerts, f->u.message);
		break;
	case DEL_MESSAGE:
		sim_message_del(j->alerts, (int64_t)f->id);
		break;
	case PUT_PRICE:
		sim_book_put(j->w, &j->book, &f->u.quote);
		break;
	case PUT_AUDIT:
		if (f->value == 2)
			sim_audit_unsent(j->w, &j->audit, f->id);
		else
			sim_audit_put(j->w, &j->audit, f->id, f->value != 0);
		break;
	}
}

int journal_commit(struct journal_tx *tx, struct err *e)
{
	struct journal *j = tx->j;
	bool fails = !j->w->crashed && world_fault(j->w, SIM_COMMIT_FAILS);

	if (tx->n > 0)
		sim_slow_wait(j->w);
	/* After a failure nobody knows whether it is on the disk. */
	if (world_alive(j->w) && (!fails || world_one_in(j->w, 2))) {
		for (size_t i = 0; i < tx->n; i++)
			apply(j, &tx->effects[i]);
		j->w->commits++;
		if (tx->n > 0 && !j->facts.twice)
			sim_money_billed(j->w, &j->money, &j->bills);
	}
	j->w->totals->commits++;
	journal_abandon(tx);
	if (j->w->set.chance[SIM_RESTORED] != 0 && world_one_in(j->w, 30))
		backup(j);
	(void)world_alive(j->w);
	if (fails) {
		SIM_TRACE(j->w, "  fault: the commit fails");
		j->w->totals->met[SIM_COMMIT_FAILS][NODE_NSTATES]++;
		return err_set(e, ERR_IO, "journal: Input/output error");
	}
	return 0;
}

/* --- loading ---------------------------------------------------------------------------------- */

static int load_claims(const struct journal *j, const struct journal_visitor *v, struct err *e)
{
	for (size_t i = 0; v->claim != NULL && i < j->claims.n; i++)
		if (v->claim(v->ctx, &j->claims.v[i].c, e) != 0)
			return -1;
	return 0;
}

static int load_vouchers(const struct journal *j, const struct journal_visitor *v, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && v->voucher != NULL && i < j->vouchers.n; i++) {
		struct voucher one = sim_vouchers_read(&j->vouchers.v[i]);

		rc = v->voucher(v->ctx, &one, e);
		voucher_fini(&one);
	}
	return rc;
}

/* A claim ends in the commit in which its row does. */
static void check_claims(struct journal *j)
{
	for (size_t i = 0; i < j->claims.n && j->w->set.chance[SIM_RESTORED] == 0; i++) {
		const struct claim *c = &j->claims.v[i].c;
		const struct sim_row *r = find(j, c->node, c->gen);

		if (r == NULL || r->n.state == NODE_GONE)
			world_fail(j->w, "I35: a claim of %s without its machine", c->node);
	}
}

int journal_load(struct journal *j, const struct journal_visitor *v, struct err *e)
{
	check_claims(j);
	for (size_t p = 0; v->spent != NULL && p < j->w->set.npools; p++)
		if (v->spent(v->ctx, j->w->set.pools[p].name,
			     sim_bills_of_pool(&j->bills, (uint32_t)p), e) != 0)
			return -1;
	for (size_t i = 0; v->batch != NULL && i < j->nbatches; i++)
		if (v->batch(v->ctx, &j->batches[i], e) != 0)
			return -1;
	for (size_t i = 0; v->node != NULL && i < j->nrows; i++)
		if (v->node(v->ctx, &j->rows[i].n, j->rows[i].pool, e) != 0)
			return -1;
	if (sim_opinions_load(j->w, &j->opinions, v, e) != 0 ||
	    sim_money_load(&j->money, v, e) != 0 || sim_alerts_load(j->alerts, v, e) != 0)
		return -1;
	if (load_claims(j, v, e) != 0 || load_vouchers(j, v, e) != 0)
		return -1;
	return sim_book_load(&j->book, v, e);
}

int journal_get_number(struct journal *j, const char *key, int64_t *out, struct err *e)
{
	(void)e;
	*out = 0;
	for (size_t i = 0; i < j->nnumbers; i++)
		if (strcmp(j->numbers[i].key, key) == 0)
			*out = j->numbers[i].value;
	return 0;
}

int journal_usage_of(struct journal *j, const struct journal_usage_key *k, journal_usage_fn fn,
		     void *ctx, struct err *e)
{
	(void)e;
	return sim_bills_visit(j->w, &j->bills, k, fn, ctx);
}

int journal_events(struct journal *j, int64_t after, const char *node, unsigned limit,
		   journal_event_fn fn, void *ctx, struct err *e)
{
	(void)j;
	(void)after;
	(void)node;
	(void)limit;
	(void)fn;
	(void)ctx;
	return err_set(e, ERR_INVALID, "the simulated journal keeps no events");
}

struct journal_room journal_look(struct journal *j)
{
	j->w->told_full = j->w->now < j->w->disk_until;
	return (struct journal_room){.free_bytes = INT64_C(1) << (j->w->told_full ? 20 : 40),
				     .low = j->w->told_full};
}

int64_t journal_last_event(struct journal *j)
{
	return j->last_event;
}
