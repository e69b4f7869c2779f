#include "ledger/explain.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "ledger/explain_json.h"

enum {
	ATTEMPTS_MAX = 10000, /* of one job: requeued for years */
	CURRENCY_SIZE = EXPLAIN_CURRENCY_SIZE,
};

struct attempts {
	const char *user;         /* whose; NULL: all */
	struct ledger_attempt *v; /* texts are their own */
	size_t n, cap;
};

struct on { /* the postings of one attempt */
	int64_t *lifetimes;
	int64_t *nano;
	size_t n, cap;
	int64_t sum;
};

struct explaining {
	const struct book *book; /* the caller's */
	const struct ledger_attempt *a;
	struct str *out;
	struct jsonw *json; /* NULL: text to out */
	struct explain_totals totals;
	bool arithmetic;
	char currency[CURRENCY_SIZE];    /* of the instances so far */
	bool several;                    /* currencies */
	bool alone;                      /* the job has one attempt */
	struct ledger_lifetime lifetime; /* texts are its own */
	bool found;
};

/* --- reading -----------------------------------------------------------------------------------
 */

static int take_attempt(void *ctx, const struct ledger_attempt *a, struct err *e)
{
	struct attempts *all = ctx;
	struct ledger_attempt *own;

	/* A number may have been another user's job, before slurmctld lost its state. */
	if (all->user != NULL && strcmp(all->user, a->user) != 0)
		return 0;
	if (all->n == ATTEMPTS_MAX)
		return err_set(e, ERR_LIMIT, "the job has more than %d attempts", ATTEMPTS_MAX);
	if (all->n == all->cap) {
		all->cap = all->cap == 0 ? 4 : 2 * all->cap;
		all->v = mem_realloc(all->v, all->cap * sizeof(*all->v));
	}
	own = &all->v[all->n++];
	*own = *a;
	own->job_id = mem_strdup(a->job_id);
	own->state = mem_strdup(a->state);
	own->account = mem_strdup(a->account);
	own->user = mem_strdup(a->user);
	own->partition = mem_strdup(a->partition);
	own->source = mem_strdup(a->source);
	own->name = own->qos = own->wckey = NULL;
	return 0;
}

static void let_go(const char *text)
{
	free((char *)(uintptr_t)text);
}

static void drop(struct attempts *all)
{
	for (size_t i = 0; i < all->n; i++) {
		let_go(all->v[i].job_id);
		let_go(all->v[i].state);
		let_go(all->v[i].account);
		let_go(all->v[i].user);
		let_go(all->v[i].partition);
		let_go(all->v[i].source);
	}
	free(all->v);
}

static int take_posting(void *ctx, const struct ledger_posting *p, struct err *e)
{
	struct on *on = ctx;

	(void)e;
	on->sum += p->nano;
	if (on->n == 0 || on->lifetimes[on->n - 1] != p->lifetime) {
		if (on->n == on->cap) {
			on->cap = on->cap == 0 ? 8 : 2 * on->cap;
			on->lifetimes = mem_realloc(on->lifetimes, on->cap * sizeof(int64_t));
			on->nano = mem_realloc(on->nano, on->cap * sizeof(int64_t));
		}
		on->lifetimes[on->n] = p->lifetime;
		on->nano[on->n++] = 0;
	}
	on->nano[on->n - 1] += p->nano;
	return 0;
}

static int take_lifetime(void *ctx, const struct ledger_lifetime *t, struct err *e)
{
	struct explaining *x = ctx;

	(void)e;
	x->found = true;
	x->lifetime = *t;
	x->lifetime.node = mem_strdup(t->node);
	x->lifetime.instance = mem_strdup(t->instance);
	x->lifetime.why = "";
	return 0;
}

/* --- printing ----------------------------------------------------------------------------------
 */

static const char *when(char out[FMT_TIME_SIZE], int64_t t_s)
{
	(void)fmt_time(out, t_s * 1000);
	out[19] = 'Z'; /* no fractions of a second */
	out[20] = '\0';
	return out;
}

/* (after - before) x weight / whole, exactly: whole nano-units and what is left of one. */
static void print_share(const struct allocate_detail *d, struct str *out)
{
	__extension__ typedef __int128 wide;
	const wide product = (wide)(d->after - d->before) * (wide)d->weight;
	const wide exact = d->whole > 0 ? product / (wide)d->whole : 0;
	const wide rest = d->whole > 0 ? product % (wide)d->whole : 0;
	const int64_t more = d->row->nano - (int64_t)exact;

	str_addf(out, "      share %" PRIu64 " of %" PRIu64 ": %" PRId64, d->weight, d->whole,
		 (int64_t)exact);
	if (rest != 0)
		str_addf(out, " and %" PRIu64 "/%" PRIu64 ", %s", (uint64_t)rest, d->whole,
			 more != 0 ? "rounded up" : "rounded down");
	str_addf(out, " = %" PRId64 "\n", d->row->nano);
}

static void print_piece(void *ctx, const struct input *in, const struct allocate_detail *d)
{
	struct explaining *x = ctx;
	char from[FMT_TIME_SIZE], to[FMT_TIME_SIZE], money[FMT_MONEY_SIZE];

	if (d->row->owner != ALLOCATE_JOB || d->row->job != x->a->job ||
	    d->row->attempt != (uint64_t)x->a->start_s)
		return;
	if (!x->arithmetic)
		return;
	if (x->json != NULL) {
		explain_json_piece(x->json, d, prices_at(&in->prices, d->from_s));
		return;
	}
	str_addf(x->out, "    %s to %s, %" PRId64 " s at %s an hour: %s\n", when(from, d->from_s),
		 when(to, d->to_s), d->to_s - d->from_s,
		 fmt_money(money, prices_at(&in->prices, d->from_s)),
		 allocate_class_str(d->row->class));
	str_addf(x->out,
		 "      the machine until then: %" PRId64 " - %" PRId64 " = %" PRId64
		 " nano-units\n",
		 d->after, d->before, d->after - d->before);
	print_share(d, x->out);
}

static void print_estimate(const struct explain_rest *r, struct str *out)
{
	char shown[FMT_TIME_SIZE], gone[FMT_TIME_SIZE];

	str_adds(out, "    its end was only seen, not told by the provider");
	if (r->shown_ms != FACTS_NEVER)
		str_addf(out, ": between %s and %s", when(shown, r->shown_ms / 1000),
			 when(gone, r->gone_ms / 1000));
	str_adds(out, "\n");
}

/* What the pieces above do not have: what is given back and what the invoice changes; and whether
 * all of it is what the ledger has. */
static struct explain_rest rest_of(const struct explaining *x, const struct book_result *r)
{
	struct explain_rest rest = {.estimated = (r->lifetime.flags & LEDGER_ESTIMATED) != 0,
				    .shown_ms = r->shown_ms,
				    .gone_ms = r->lifetime.end_s * 1000};

	for (size_t i = 0; i < r->n; i++) {
		if (r->v[i].attempt != x->a->id)
			continue;
		rest.anew += r->v[i].nano;
		rest.back += (r->v[i].kind & LEDGER_CREDIT) != 0 ? r->v[i].nano : 0;
		rest.adjusted += (r->v[i].kind & LEDGER_ADJUST) != 0 ? r->v[i].nano : 0;
	}
	return rest;
}

static void print_rest(const struct explain_rest *r, int64_t nano, struct str *out)
{
	char money[FMT_MONEY_SIZE];

	if (r->estimated)
		print_estimate(r, out);
	if (r->back != 0)
		str_addf(out, "    given back by the provider, who took it: %s\n",
			 fmt_money(money, r->back));
	if (r->adjusted != 0)
		str_addf(out, "    the job's part of the difference to the invoice: %s\n",
			 fmt_money(money, r->adjusted));
	if (r->anew != nano)
		str_addf(out, "    computed anew it is %s\n", fmt_money(money, r->anew));
}

static int take_currency(void *ctx, const struct fact_machine *m, struct err *e)
{
	(void)e;
	if (m->currency[0] != '\0')
		(void)snprintf(ctx, CURRENCY_SIZE, "%s", m->currency);
	return 0;
}

static int find_currency(struct explaining *x, char out[CURRENCY_SIZE], struct err *e)
{
	(void)snprintf(out, CURRENCY_SIZE, "%s", x->book->currency);
	if (ledger_machine(x->book->ledger, x->lifetime.node, x->lifetime.gen, take_currency, out,
			   e) < 0)
		return -1;
	x->several = x->several || (x->currency[0] != '\0' && strcmp(x->currency, out) != 0);
	(void)snprintf(x->currency, CURRENCY_SIZE, "%s", out);
	return 0;
}

/* One instance: its pieces, and whether they are what the ledger has. */
static int explain_instance(struct explaining *x, int64_t lifetime, int64_t nano, struct err *e)
{
	struct book book = *x->book;
	struct book_result r = {0};
	char money[FMT_MONEY_SIZE], currency[CURRENCY_SIZE];
	int rc = -1;

	book.detail = print_piece;
	book.ctx = x;
	x->found = false;
	if (ledger_lifetime(x->book->ledger, lifetime, take_lifetime, x, e) < 0)
		return -1;
	if (!x->found)
		return err_set(e, ERR_DAMAGED, "the ledger has no lifetime %" PRId64, lifetime);
	if (find_currency(x, currency, e) < 0 || explain_total(&x->totals, currency, nano, e) < 0)
		goto out;
	if (x->json != NULL)
		explain_json_instance(x->json, &x->lifetime, currency, nano);
	else
		str_addf(x->out, "  on %s, instance %s: %s %s\n", x->lifetime.node,
			 x->lifetime.instance, fmt_money(money, nano), currency);
	if (book_compute(&book, &x->lifetime, x->lifetime.end_s, &r, e) == 0) {
		const struct explain_rest rest = rest_of(x, &r);

		if (x->json != NULL)
			explain_json_instance_end(x->json, &rest);
		else
			print_rest(&rest, nano, x->out);
		rc = 0;
	}
	book_result_fini(&r);
out:
	let_go(x->lifetime.node);
	let_go(x->lifetime.instance);
	return rc;
}

static void print_attempt(const struct explaining *x, size_t number, int64_t nano)
{
	const struct ledger_attempt *a = x->a;
	char from[FMT_TIME_SIZE], to[FMT_TIME_SIZE], money[FMT_MONEY_SIZE];

	if (x->json != NULL) {
		explain_json_attempt(x->json, a, number, nano);
		return;
	}
	if (number == 0)
		str_adds(x->out, "before it ran");
	else
		str_addf(x->out, "attempt %zu, %s, %s to %s", number, a->state,
			 when(from, a->start_s), a->running ? "now" : when(to, a->end_s));
	str_addf(x->out, ", account %s, user %s, partition %s: %s\n",
		 a->account[0] != '\0' ? a->account : "-", a->user[0] != '\0' ? a->user : "-",
		 a->partition[0] != '\0' ? a->partition : "-", fmt_money(money, nano));
}

static int explain_attempt(struct explaining *x, size_t number, int64_t *sum, struct err *e)
{
	const struct ledger_attempt *a = x->a;
	const bool said = strcmp(a->source, LEDGER_SAID) == 0;
	struct on on = {0};
	int rc = ledger_postings_for(x->book->ledger, a->id, take_posting, &on, e);

	if (rc == 0 && said && on.n == 0 && !x->alone)
		return 0; /* all that it cost came when it ran */
	print_attempt(x, said ? 0 : number, on.sum);
	for (size_t i = 0; i < on.n && rc == 0; i++)
		rc = explain_instance(x, on.lifetimes[i], on.nano[i], e);
	if (x->json != NULL)
		explain_json_attempt_end(x->json);
	*sum += on.sum;
	free(on.lifetimes);
	free(on.nano);
	return rc;
}

static int find(const struct book *b, const char *id, struct attempts *all, struct err *e)
{
	char *end;
	unsigned long long job = strtoull(id, &end, 10);

	if (id[0] < '0' || id[0] > '9')
		return err_set(e, ERR_INVALID, "want the id of a job, not \"%.40s\"", id);
	if (*end == '\0' && ledger_attempts_of(b->ledger, job, take_attempt, all, e) < 0)
		return -1;
	if (all->n == 0 && ledger_attempts_named(b->ledger, id, take_attempt, all, e) < 0)
		return -1;
	if (all->n == 0)
		return err_set(
			e, ERR_INVALID, "the ledger knows no job %.40s%s%.60s on bought nodes", id,
			all->user != NULL ? " of user " : "", all->user != NULL ? all->user : "");
	return 0;
}

int explain_job(const struct book *b, const struct explain_want *want, struct str *out,
		struct err *e)
{
	struct explaining x = {
		.book = b, .out = out, .json = want->json, .arithmetic = want->arithmetic};
	struct attempts all = {.user = want->user};
	char money[FMT_MONEY_SIZE];
	size_t number = 0;
	int64_t sum = 0;
	int rc = find(b, want->id, &all, e);

	assert(rc != 0 || all.n > 0);
	x.alone = all.n == 1;
	if (rc == 0 && x.json != NULL)
		explain_json_begin(x.json, all.v[0].job_id);
	for (size_t i = 0; i < all.n && rc == 0; i++) {
		x.a = &all.v[i];
		number += strcmp(x.a->source, LEDGER_SAID) != 0;
		rc = explain_attempt(&x, number, &sum, e);
	}
	if (rc == 0 && x.json != NULL)
		explain_json_end(x.json, &x.totals);
	else if (rc == 0 && x.several)
		str_addf(out, "job %s: in several currencies\n", all.v[0].job_id);
	else if (rc == 0)
		str_addf(out, "job %s: %s %s\n", all.v[0].job_id, fmt_money(money, sum),
			 x.currency);
	drop(&all);
	return rc;
}
