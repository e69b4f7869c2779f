#include "ledger/status.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/date.h"
#include "base/fmt.h"
#include "base/jsonw.h"
#include "base/mem.h"
#include "store/ledger_attempts.h"
#include "store/ledger_periods.h"
#include "store/ledger_postings.h"

enum {
	BATCH = 10000,
	PATH_SIZE = 4096,
	MUST_LOOK = LEDGER_UNPRICED | LEDGER_BROKEN | LEDGER_QUARANTINED | LEDGER_UNENDED,
};

struct counting {
	struct status *s;
	struct ledger *ledger;
	int64_t last, n;
};

static void take_problem(struct status *s, const struct ledger_lifetime *t)
{
	struct status_problem *p;

	if (s->nproblems == STATUS_SHOWN)
		return;
	p = &s->problems[s->nproblems++];
	(void)snprintf(p->node, sizeof(p->node), "%s", t->node);
	(void)snprintf(p->instance, sizeof(p->instance), "%s", t->instance);
	(void)snprintf(p->why, sizeof(p->why), "%s", t->why);
	p->flags = t->flags;
}

static int count(void *ctx, const struct ledger_lifetime *t, struct err *e)
{
	struct counting *c = ctx;
	struct status *s = c->s;

	(void)e;
	c->last = t->id;
	c->n++;
	if (t->node[0] == '\0') /* an invoice */
		return 0;
	s->states[t->state]++;
	s->unpriced += (t->flags & LEDGER_UNPRICED) != 0;
	s->estimated += (t->flags & LEDGER_ESTIMATED) != 0;
	s->broken += (t->flags & LEDGER_BROKEN) != 0;
	s->unmeasured += (t->flags & LEDGER_UNMEASURED) != 0;
	s->skewed += (t->flags & (LEDGER_CLIPPED | LEDGER_NEGATIVE)) != 0;
	s->quarantined += (t->flags & LEDGER_QUARANTINED) != 0;
	s->unended += (t->flags & LEDGER_UNENDED) != 0;
	if ((t->flags & MUST_LOOK) != 0)
		take_problem(s, t);
	return 0;
}

static int64_t size_of(const char *path)
{
	static const char *const suffixes[] = {"", "-wal"};
	char file[PATH_SIZE];
	struct stat st;
	int64_t sum = 0;

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		(void)snprintf(file, sizeof(file), "%s%s", path, suffixes[i]);
		if (stat(file, &st) == 0)
			sum += st.st_size;
	}
	return sum;
}

static int read_notes(struct status *s, struct ledger *l, struct err *e)
{
	const struct {
		const char *name;
		char **text;
	} notes[] = {{LEDGER_SOURCE, &s->source},     {LEDGER_FACTS_WHY, &s->facts_why},
		     {LEDGER_JOBS_WHY, &s->jobs_why}, {LEDGER_CLUSTER, &s->cluster},
		     {LEDGER_ZONE, &s->zone},         {LEDGER_CURRENCY, &s->currency}};

	for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++)
		if (ledger_note(l, notes[i].name, notes[i].text, e) < 0)
			return -1;
	if (ledger_number(l, LEDGER_PASS_MS, &s->pass_ms, e) < 0 ||
	    ledger_number(l, LEDGER_FACTS_MS, &s->facts_ms, e) < 0)
		return -1;
	return ledger_number(l, LEDGER_JOBS_MS, &s->jobs_ms, e);
}

static int take_differing(void *ctx, const struct ledger_agreed *a, struct err *e)
{
	struct counting *c = ctx;
	struct status_differs *d = &c->s->differs[c->s->ndiffers++];

	*d = (struct status_differs){.day = a->day, .spent = a->spent, .bill = a->bill};
	if (ledger_text(c->ledger, a->provider, &d->provider, e) < 0 ||
	    ledger_text(c->ledger, a->market, &d->market, e) < 0)
		return -1;
	return ledger_text(c->ledger, a->pool, &d->pool, e);
}

static int take_spender(void *ctx, const struct ledger_dims *d, struct err *e)
{
	struct status_differs *to = ctx;

	(void)e;
	to->account = mem_strdup(d->account);
	to->user = mem_strdup(d->user);
	to->qos = mem_strdup(d->qos);
	to->partition = mem_strdup(d->partition);
	to->provider = mem_strdup(d->provider);
	to->market = mem_strdup(d->market);
	to->pool = mem_strdup(d->pool);
	return 0;
}

static int take_job_differing(void *ctx, const struct ledger_job_agreed *a, struct err *e)
{
	struct counting *c = ctx;
	struct status_differs *d = &c->s->jobs_differ[c->s->njobs_differ];

	*d = (struct status_differs){.day = a->day, .spent = a->spent, .bill = a->bill};
	if (ledger_dims(c->ledger, a->spender, take_spender, d, e) < 0)
		return -1;
	c->s->njobs_differ += d->account != NULL;
	return 0;
}

int status_read(struct status *s, struct ledger *l, const char *path, struct err *e)
{
	struct counting c = {.s = s, .ledger = l};

	*s = (struct status){.bytes = size_of(path)};
	if (read_notes(s, l, e) < 0 || ledger_count_attempts(l, &s->attempts, e) < 0 ||
	    ledger_open_day(l, &s->open_day, e) < 0 || ledger_count_agreed(l, s->agreed, e) < 0 ||
	    ledger_differing(l, STATUS_SHOWN, take_differing, &c, e) < 0 ||
	    ledger_count_job_agreed(l, s->jobs_agreed, e) < 0 ||
	    ledger_jobs_differing(l, STATUS_SHOWN, take_job_differing, &c, e) < 0)
		return -1;
	do {
		c.n = 0;
		if (ledger_lifetimes(l, c.last, BATCH, false, count, &c, e) < 0)
			return -1;
	} while (c.n == BATCH);
	return 0;
}

static void differs_fini(struct status_differs *d)
{
	free(d->provider);
	free(d->market);
	free(d->pool);
	free(d->account);
	free(d->user);
	free(d->qos);
	free(d->partition);
}

void status_fini(struct status *s)
{
	free(s->source);
	free(s->facts_why);
	free(s->jobs_why);
	free(s->cluster);
	free(s->zone);
	free(s->currency);
	for (size_t i = 0; i < s->ndiffers; i++)
		differs_fini(&s->differs[i]);
	for (size_t i = 0; i < s->njobs_differ; i++)
		differs_fini(&s->jobs_differ[i]);
	*s = (struct status){0};
}

/* The last month that is closed; "": none is. */
static const char *last_closed(char out[DATE_STR_SIZE], const struct status *s)
{
	return s->open_day > 0 ? date_month_str(out, date_month(s->open_day) - 1) : "";
}

static int64_t lifetimes(const struct status *s)
{
	return s->states[LEDGER_OPEN] + s->states[LEDGER_ENDED] + s->states[LEDGER_FINAL];
}

static int64_t bytes_each(const struct status *s)
{
	return lifetimes(s) > 0 ? s->bytes / lifetimes(s) : 0;
}

/* --- for people --------------------------------------------------------------------------------
 */

static void print_time(struct str *out, const char *what, int64_t ms, int64_t now_ms)
{
	char when[FMT_TIME_SIZE], ago[FMT_DUR_SIZE];

	if (ms == 0)
		str_addf(out, "%-12snever\n", what);
	else
		str_addf(out, "%-12s%s, %s ago\n", what, fmt_time(when, ms),
			 fmt_duration(ago, now_ms > ms ? now_ms - ms : 0));
}

static const char *what(const struct status_problem *p)
{
	if (p->why[0] != '\0')
		return p->why;
	return (p->flags & LEDGER_UNENDED) != 0 ? "unended" : "quarantined";
}

static void print_problems(const struct status *s, struct str *out)
{
	if (s->unpriced > 0)
		str_addf(out,
			 "unpriced    %" PRId64 " instances have no price: they are in no sum\n",
			 s->unpriced);
	if (s->broken > 0)
		str_addf(out, "broken      %" PRId64 " instances cannot be computed\n", s->broken);
	if (s->quarantined > 0)
		str_addf(out,
			 "quarantined %" PRId64 " instances: Slurm's times of a job there cannot be"
			 " right\n",
			 s->quarantined);
	if (s->unended > 0)
		str_addf(out,
			 "unended     %" PRId64
			 " instances bill on, and their nodes have others: is"
			 " a journal lost?\n",
			 s->unended);
	if (s->unmeasured > 0)
		str_addf(out,
			 "unmeasured  %" PRId64 " instances: what they have is not known, and"
			 " shares are by their jobs\n",
			 s->unmeasured);
	if (s->skewed > 0)
		str_addf(out,
			 "clipped     %" PRId64 " instances: Slurm has jobs there while they"
			 " were not ready\n",
			 s->skewed);
	if (s->estimated > 0)
		str_addf(out,
			 "estimated   %" PRId64 " instances: their end was only seen, not told\n",
			 s->estimated);
	for (size_t i = 0; i < s->nproblems; i++)
		str_addf(out, "  %s, instance %s: %s\n", s->problems[i].node,
			 s->problems[i].instance, what(&s->problems[i]));
	if (s->nproblems == STATUS_SHOWN)
		str_adds(out, "  ...\n");
}

static void print_differing(const struct status *s, const struct status_differs *v, size_t n,
			    struct str *out)
{
	for (size_t i = 0; i < n; i++) {
		const struct status_differs *d = &v[i];
		char day[DATE_STR_SIZE], spent[FMT_MONEY_SIZE], bill[FMT_MONEY_SIZE];

		str_addf(out, "  %s, ", date_str(day, d->day));
		if (d->account != NULL)
			str_addf(out, "account %s, user %s, QOS %s, partition %s, ", d->account,
				 d->user, d->qos, d->partition);
		str_addf(out, "%s %s, pool %s: budgets have %s %s, %s %s\n", d->provider, d->market,
			 d->pool, fmt_money(spent, d->spent), s->currency,
			 d->account != NULL ? "the ledger has" : "the bill is",
			 fmt_money(bill, d->bill));
	}
	if (n == STATUS_SHOWN)
		str_adds(out, "  ...\n");
}

/* Are there sums of machines? */
static bool print_agreement(const struct status *s, struct str *out)
{
	const int64_t *n = s->agreed;
	const int64_t all = n[LEDGER_AGREES] + n[LEDGER_EXPLAINED] + n[LEDGER_DIFFERS];

	if (all == 0)
		return false;
	str_addf(out, "budgets     %" PRId64 " of %" PRId64 " daily sums of machines are the same",
		 n[LEDGER_AGREES], all);
	if (n[LEDGER_EXPLAINED] > 0)
		str_addf(out, ", %" PRId64 " differ by later prices or times", n[LEDGER_EXPLAINED]);
	if (n[LEDGER_DIFFERS] > 0)
		str_addf(out, ", %" PRId64 " differ", n[LEDGER_DIFFERS]);
	str_adds(out, "\n");
	print_differing(s, s->differs, s->ndiffers, out);
	return true;
}

static void print_job_agreement(const struct status *s, bool machines, struct str *out)
{
	const int64_t *n = s->jobs_agreed;
	const int64_t all = n[LEDGER_JOBS_AGREE] + n[LEDGER_JOBS_EXPLAINED] +
			    n[LEDGER_JOBS_DIFFER] + n[LEDGER_JOBS_WAIT];

	if (all == 0)
		return;
	str_addf(out, "%-12s%" PRId64 " of %" PRId64 " daily sums of jobs are the same",
		 machines ? "" : "budgets", n[LEDGER_JOBS_AGREE], all);
	if (n[LEDGER_JOBS_EXPLAINED] > 0)
		str_addf(out, ", %" PRId64 " differ by how machines are divided, or by prices",
			 n[LEDGER_JOBS_EXPLAINED]);
	if (n[LEDGER_JOBS_WAIT] > 0)
		str_addf(out, ", %" PRId64 " wait for late records", n[LEDGER_JOBS_WAIT]);
	if (n[LEDGER_JOBS_DIFFER] > 0)
		str_addf(out, ", %" PRId64 " differ", n[LEDGER_JOBS_DIFFER]);
	str_adds(out, "\n");
	print_differing(s, s->jobs_differ, s->njobs_differ, out);
}

void status_print(const struct status *s, int64_t now_ms, struct str *out)
{
	char month[DATE_STR_SIZE];

	str_addf(out, "%-12s%s\n%-12s%s\n", "cluster", s->cluster, "zone", s->zone);
	if (s->open_day > 0)
		str_addf(out, "%-12suntil %s, included\n", "closed", last_closed(month, s));
	print_time(out, "last pass", s->pass_ms, now_ms);
	print_time(out, "facts", s->facts_ms, now_ms);
	if (s->facts_why[0] != '\0')
		str_addf(out, "            the journal cannot be read: %s\n", s->facts_why);
	print_time(out, "jobs", s->jobs_ms, now_ms);
	if (s->jobs_why[0] != '\0')
		str_addf(out, "            Slurm cannot be asked: %s\n", s->jobs_why);
	str_addf(out, "%-12s%s%s\n", "source", s->source[0] != '\0' ? s->source : "none yet",
		 strcmp(s->source, "squeue") == 0
			 ? ": Slurm keeps no accounting; jobs that ended unseen are not known"
			 : "");
	str_addf(out,
		 "%-12s%" PRId64 " running, %" PRId64 " ended, %" PRId64 " booked\n"
		 "%-12s%" PRId64 "\n%-12s%" PRId64 " bytes, %" PRId64 " for each instance\n",
		 "instances", s->states[LEDGER_OPEN], s->states[LEDGER_ENDED],
		 s->states[LEDGER_FINAL], "attempts", s->attempts, "file", s->bytes, bytes_each(s));
	print_problems(s, out);
	print_job_agreement(s, print_agreement(s, out), out);
}

/* --- for programs ------------------------------------------------------------------------------
 */

static void json_differs(struct jsonw *w, const char *name, const struct status_differs *v,
			 size_t n)
{
	jsonw_open(w, name, '[');
	for (size_t i = 0; i < n; i++) {
		const struct status_differs *d = &v[i];
		char day[DATE_STR_SIZE];

		jsonw_open(w, NULL, '{');
		jsonw_text(w, "day", date_str(day, d->day));
		if (d->account != NULL) {
			jsonw_text(w, "account", d->account);
			jsonw_text(w, "user", d->user);
			jsonw_text(w, "qos", d->qos);
			jsonw_text(w, "partition", d->partition);
		}
		jsonw_text(w, "provider", d->provider);
		jsonw_text(w, "market", d->market);
		jsonw_text(w, "pool", d->pool);
		jsonw_int(w, "spent_nano", d->spent);
		jsonw_int(w, "bill_nano", d->bill);
		jsonw_close(w, '}');
	}
	jsonw_close(w, ']');
}

void status_json(const struct status *s, int64_t now_ms, struct str *out)
{
	const struct {
		const char *name;
		int64_t v;
	} numbers[] = {{"now_ms", now_ms},
		       {"pass_ms", s->pass_ms},
		       {"facts_ms", s->facts_ms},
		       {"jobs_ms", s->jobs_ms},
		       {"running", s->states[LEDGER_OPEN]},
		       {"ended", s->states[LEDGER_ENDED]},
		       {"booked", s->states[LEDGER_FINAL]},
		       {"attempts", s->attempts},
		       {"bytes", s->bytes},
		       {"bytes_per_instance", bytes_each(s)},
		       {"unpriced", s->unpriced},
		       {"broken", s->broken},
		       {"unmeasured", s->unmeasured},
		       {"clipped", s->skewed},
		       {"quarantined", s->quarantined},
		       {"unended", s->unended},
		       {"estimated", s->estimated},
		       {"budgets_agree", s->agreed[LEDGER_AGREES]},
		       {"budgets_explained", s->agreed[LEDGER_EXPLAINED]},
		       {"budgets_differ", s->agreed[LEDGER_DIFFERS]},
		       {"budget_jobs_agree", s->jobs_agreed[LEDGER_JOBS_AGREE]},
		       {"budget_jobs_explained", s->jobs_agreed[LEDGER_JOBS_EXPLAINED]},
		       {"budget_jobs_wait", s->jobs_agreed[LEDGER_JOBS_WAIT]},
		       {"budget_jobs_differ", s->jobs_agreed[LEDGER_JOBS_DIFFER]}};
	struct jsonw w = {.out = out, .first = true};
	char month[DATE_STR_SIZE];

	jsonw_open(&w, NULL, '{');
	jsonw_text(&w, "closed_until", last_closed(month, s));
	jsonw_text(&w, "cluster", s->cluster);
	jsonw_text(&w, "zone", s->zone);
	jsonw_text(&w, "source", s->source);
	jsonw_text(&w, "facts_error", s->facts_why);
	jsonw_text(&w, "jobs_error", s->jobs_why);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		jsonw_int(&w, numbers[i].name, numbers[i].v);
	jsonw_open(&w, "problems", '[');
	for (size_t i = 0; i < s->nproblems; i++) {
		jsonw_open(&w, NULL, '{');
		jsonw_text(&w, "node", s->problems[i].node);
		jsonw_text(&w, "instance", s->problems[i].instance);
		jsonw_text(&w, "why", s->problems[i].why);
		jsonw_close(&w, '}');
	}
	jsonw_close(&w, ']');
	json_differs(&w, "differ", s->differs, s->ndiffers);
	json_differs(&w, "jobs_differ", s->jobs_differ, s->njobs_differ);
	jsonw_close(&w, '}');
	str_adds(out, "\n");
}
