#include "ledger/case.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/date.h"
#include "base/mem.h"
#include "base/zone.h"
#include "ledger/case_private.h"

static const char header[] = "period,instance,category,owner,attempt,nano";

/* --- fields ------------------------------------------------------------------------------------
 */

int case_bad(const struct case_line *l, const char *why, struct err *e)
{
	return err_set(e, ERR_INVALID, "%s:%u: %s: %s", l->name, l->number, l->fields[0], why);
}

void case_grow(void *v, size_t n, size_t *cap, size_t size)
{
	void **p = v;

	if (n < *cap)
		return;
	*cap = *cap == 0 ? 16 : 2 * *cap;
	*p = mem_realloc(*p, *cap * size);
}

int case_number(const struct case_line *l, size_t field, const char *what, int64_t low,
		int64_t high, int64_t *out, struct err *e)
{
	const char *text = l->fields[field];
	const char *digits = text + (text[0] == '-');
	char *end;

	errno = 0;
	*out = strtoll(text, &end, 10);
	if (*digits < '0' || *digits > '9' || *end != '\0' || errno != 0 || *out < low ||
	    *out > high)
		return err_set(e, ERR_INVALID,
			       "%s:%u: %s: %s: want a number from %" PRId64 " to %" PRId64
			       ", not \"%.40s\"",
			       l->name, l->number, l->fields[0], what, low, high, text);
	return 0;
}

int case_count(const struct case_line *l, size_t field, const char *what, uint64_t *out,
	       struct err *e)
{
	int64_t v;

	if (case_number(l, field, what, 0, INT64_MAX, &v, e) != 0)
		return -1;
	*out = (uint64_t)v;
	return 0;
}

int case_time(const struct case_line *l, size_t field, const char *what, int64_t *out,
	      struct err *e)
{
	/* the years 1 to 9999 */
	static const int64_t low = INT64_C(-62135596800), high = INT64_C(253402300799);

	*out = ALLOCATE_NEVER;
	if (l->fields[field][0] == '\0')
		return 0;
	return case_number(l, field, what, low, high, out, e);
}

static int read_part(const struct case_line *l, size_t field, struct allocate_part *out,
		     struct err *e)
{
	if (case_count(l, field, "GPUs", &out->gpus, e) != 0 ||
	    case_count(l, field + 1, "CPUs", &out->cpus, e) != 0)
		return -1;
	return case_count(l, field + 2, "memory", &out->memory, e);
}

/* --- records -----------------------------------------------------------------------------------
 */

static int read_meta(struct case_book *b, const struct case_line *l, struct err *e)
{
	struct err zone;

	if (strcmp(l->fields[2], "gpu") == 0)
		b->share = ALLOCATE_GPU;
	else if (strcmp(l->fields[2], "dominant") != 0)
		return case_bad(l, "want dominant or gpu", e);
	if (b->zone != NULL)
		return case_bad(l, "a second one", e);
	b->zone = zone_new(l->fields[1], &zone);
	return b->zone != NULL ? 0 : case_bad(l, zone.msg, e);
}

static int read_policy(struct case_book *b, const struct case_line *l, struct err *e)
{
	static const char *const modes[] = {"instant", "hour_start", "launch"};
	struct case_policy p = {.name = l->fields[1]}, *own;
	size_t mode = 0;

	while (mode < 3 && strcmp(l->fields[4], modes[mode]) != 0)
		mode++;
	if (mode == 3)
		return case_bad(l, "want instant, hour_start or launch", e);
	p.policy.mode = (enum meter_mode)mode;
	if (map_get(&b->by_policy, p.name) != NULL)
		return case_bad(l, "a second policy of that name", e);
	if (case_number(l, 2, "granularity", 1, CASE_TIME_MAX, &p.policy.granularity_s, e) != 0 ||
	    case_number(l, 3, "minimum", 0, CASE_TIME_MAX, &p.policy.minimum_s, e) != 0 ||
	    case_number(l, 5, "reclaim_free", 0, CASE_TIME_MAX, &p.policy.reclaim_free_s, e) != 0)
		return -1;
	own = mem_zalloc(sizeof(*own));
	*own = p;
	case_grow(&b->policies, b->npolicies, &b->policies_cap, sizeof(void *));
	b->policies[b->npolicies++] = own;
	map_put(&b->by_policy, own->name, own);
	return 0;
}

static int read_price(struct case_book *b, const struct case_line *l, struct err *e)
{
	struct case_schedule *s = map_get(&b->by_key, l->fields[1]);
	struct case_price p;

	if (case_time(l, 2, "time", &p.price.at_s, e) != 0 ||
	    case_number(l, 3, "price", 0, INT64_MAX, &p.price.nano_h, e) != 0)
		return -1;
	if (p.price.at_s == ALLOCATE_NEVER)
		return case_bad(l, "want a time", e);
	if (s == NULL) {
		s = mem_zalloc(sizeof(*s));
		s->key = l->fields[1];
		case_grow(&b->schedules, b->nschedules, &b->schedules_cap, sizeof(void *));
		b->schedules[b->nschedules++] = s;
		map_put(&b->by_key, s->key, s);
	}
	p.number = s->n;
	case_grow(&s->records, s->n, &s->cap, sizeof(*s->records));
	s->records[s->n++] = p;
	return 0;
}

/* Of those of one moment the later record counts. */
static int by_time(const void *a, const void *b)
{
	const struct case_price *x = a, *y = b;

	if (x->price.at_s != y->price.at_s)
		return x->price.at_s < y->price.at_s ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static void sort_prices(struct case_schedule *s)
{
	qsort(s->records, s->n, sizeof(*s->records), by_time);
	s->prices = mem_zalloc(s->n * sizeof(*s->prices));
	for (size_t i = 0; i < s->n; i++)
		s->prices[i] = s->records[i].price;
}

static bool is_reclaim(const char *why)
{
	return strcmp(why, "reclaim") == 0 || strcmp(why, "reclaimed") == 0;
}

static int read_instance(struct case_book *b, const struct case_line *l, struct err *e)
{
	struct case_instance *c;
	struct allocate_instance *in;

	if (map_get(&b->by_id, l->fields[1]) != NULL)
		return case_bad(l, "a second instance of that id", e);
	c = mem_zalloc(sizeof(*c));
	*c = (struct case_instance){.id = l->fields[1],
				    .partition = l->fields[2],
				    .policy = l->fields[3],
				    .price = l->fields[4],
				    .line = l->number};
	in = &c->in;
	case_grow(&b->instances, b->ninstances, &b->instances_cap, sizeof(void *));
	b->instances[b->ninstances++] = c;
	map_put(&b->by_id, c->id, c);
	if (read_part(l, 6, &in->has, e) != 0 ||
	    case_time(l, 9, "bill_start", &in->bill.start_s, e) != 0 ||
	    case_time(l, 10, "ready", &in->ready_s, e) != 0 ||
	    case_time(l, 11, "drain", &in->drain_s, e) != 0 ||
	    case_time(l, 12, "stop_req", &in->stop_s, e) != 0 ||
	    case_time(l, 13, "bill_end", &in->bill.end_s, e) != 0 ||
	    case_time(l, 15, "orphan_until", &in->orphan_until_s, e) != 0)
		return -1;
	c->billed = in->bill.start_s != ALLOCATE_NEVER;
	if (c->billed && in->bill.end_s == ALLOCATE_NEVER)
		return case_bad(l, "it has no bill_end, so what it costs is not known yet", e);
	if (c->billed && in->bill.end_s < in->bill.start_s)
		return case_bad(l, "it ends before it begins", e);
	if (c->billed && in->bill.end_s - in->bill.start_s > CASE_LIFE_MAX)
		return case_bad(l, "it lives for more than twenty years", e);
	in->reclaimed = is_reclaim(l->fields[14]);
	return 0;
}

static int read_trigger(struct case_book *b, const struct case_line *l, struct err *e)
{
	struct case_instance *c = map_get(&b->by_id, l->fields[1]);
	struct allocate_trigger t;

	if (c == NULL)
		return case_bad(l, "no instance of that id before it", e);
	if (case_count(l, 2, "job", &t.job, e) != 0 ||
	    case_count(l, 3, "attempt", &t.attempt, e) != 0 || read_part(l, 4, &t.wants, e) != 0)
		return -1;
	case_grow(&c->triggers, c->in.ntriggers, &c->triggers_cap, sizeof(*c->triggers));
	c->triggers[c->in.ntriggers++] = t;
	return 0;
}

static struct case_attempt *attempt_of(struct case_book *b, const struct allocate_run *r)
{
	struct case_attempt *a, fresh = {.saved_s = ALLOCATE_NEVER};

	(void)snprintf(fresh.key, sizeof(fresh.key), "%" PRIu64 ".%" PRIu64, r->job, r->attempt);
	a = map_get(&b->by_attempt, fresh.key);
	if (a != NULL)
		return a;
	a = mem_zalloc(sizeof(*a));
	*a = fresh;
	case_grow(&b->attempts, b->nattempts, &b->attempts_cap, sizeof(void *));
	b->attempts[b->nattempts++] = a;
	map_put(&b->by_attempt, a->key, a);
	return a;
}

static int read_job(struct case_book *b, const struct case_line *l, struct err *e)
{
	struct case_instance *c = map_get(&b->by_id, l->fields[3]);
	struct case_attempt *a;
	struct allocate_run r = {0};

	if (c == NULL)
		return case_bad(l, "no instance of that id before it", e);
	if (case_count(l, 1, "job", &r.job, e) != 0 ||
	    case_count(l, 2, "attempt", &r.attempt, e) != 0 ||
	    case_time(l, 4, "start", &r.start_s, e) != 0 ||
	    case_time(l, 5, "end", &r.end_s, e) != 0 || read_part(l, 6, &r.uses, e) != 0 ||
	    case_time(l, 10, "saved", &r.saved_s, e) != 0)
		return -1;
	if (r.start_s == ALLOCATE_NEVER || r.end_s == ALLOCATE_NEVER)
		return case_bad(l, "want a start and an end", e);
	a = attempt_of(b, &r);
	a->lost = a->lost || is_reclaim(l->fields[9]) || strcmp(l->fields[9], "node_fail") == 0;
	a->saved_s = r.saved_s > a->saved_s ? r.saved_s : a->saved_s;
	case_grow(&c->runs, c->in.nruns, &c->runs_cap, sizeof(*c->runs));
	c->runs[c->in.nruns++] = r;
	return 0;
}

/* --- lines -------------------------------------------------------------------------------------
 */

static int read_record(struct case_book *b, const struct case_line *l, struct err *e)
{
	static const struct {
		const char *kind;
		size_t fields;
		int (*read)(struct case_book *b, const struct case_line *l, struct err *e);
	} kinds[] = {
		{"meta", 3, read_meta},       {"policy", 6, read_policy},
		{"price", 4, read_price},     {"instance", 16, read_instance},
		{"trigger", 7, read_trigger}, {"job", 11, read_job},
		{"budget", 10, case_budget},  {"batch", 2, case_batch},
		{"settle", 3, case_settle},
	};
	char why[80];

	if (b->batch > 0)
		return strcmp(l->fields[0], "job") == 0 && l->n == 5
			       ? case_wish(b, l, e)
			       : case_bad(l, "want a job of the batch, with 5 fields", e);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(l->fields[0], kinds[i].kind) != 0)
			continue;
		if (l->n == kinds[i].fields)
			return kinds[i].read(b, l, e);
		(void)snprintf(why, sizeof(why), "want %zu fields, not %zu", kinds[i].fields, l->n);
		return case_bad(l, why, e);
	}
	return err_set(e, ERR_INVALID, "%s:%u: no record is called \"%.40s\"", l->name, l->number,
		       l->fields[0]);
}

/* Cut the line, which is changed, into its fields. */
static int read_line(struct case_book *b, char *text, unsigned number, struct err *e)
{
	static char none[] = "";
	struct case_line l = {.name = b->name, .number = number};
	size_t len = strlen(text);

	if (len > 0 && text[len - 1] == '\r')
		text[len - 1] = '\0';
	if (text[0] == '\0')
		return 0;
	for (size_t i = 0; i < CASE_FIELDS_MAX; i++)
		l.fields[i] = none;
	for (char *p = text; p != NULL; l.n++) {
		char *comma = strchr(p, ',');

		if (l.n == CASE_FIELDS_MAX)
			return case_bad(&l, "too many fields", e);
		l.fields[l.n] = p;
		if (comma != NULL)
			*comma++ = '\0';
		p = comma;
	}
	return read_record(b, &l, e);
}

static int read_all(struct case_book *b, char *text, struct err *e)
{
	unsigned number = 0;

	for (char *line = text; line != NULL && *line != '\0';) {
		char *end = strchr(line, '\n');

		if (end != NULL)
			*end++ = '\0';
		if (read_line(b, line, ++number, e) != 0)
			return -1;
		line = end;
	}
	if (b->batch > 0)
		return err_set(e, ERR_INVALID, "%s: the last batch lacks %" PRIu64 " jobs", b->name,
			       b->batch);
	return 0;
}

/* --- what it comes to --------------------------------------------------------------------------
 */

struct printing {
	const struct case_instance *c;
	struct str *out, *notes;
	const char *eol;
};

static int64_t month(void *ctx, int64_t t_s)
{
	return zone_month(ctx, t_s);
}

static int64_t next_month(void *ctx, int64_t t_s)
{
	return zone_month_begin(ctx, zone_month(ctx, t_s) + 1);
}

static void print_row(void *ctx, const struct allocate_row *r)
{
	const struct printing *p = ctx;
	char when[DATE_STR_SIZE];

	str_addf(p->out, "%s,%s,%s%s,", date_month_str(when, r->month), p->c->id,
		 r->credit ? "credit:" : "", allocate_class_str(r->class));
	if (r->owner == ALLOCATE_JOB)
		str_addf(p->out, "job:%" PRIu64, r->job);
	else
		str_addf(p->out, "pool:%s",
			 r->owner == ALLOCATE_POOL ? p->c->partition : "cluster");
	str_addf(p->out, ",%" PRIu64 ",%" PRId64 "%s", r->attempt, r->nano, p->eol);
}

static void print_flag(void *ctx, enum allocate_flag flag, const struct allocate_run *r, int64_t s)
{
	const struct printing *p = ctx;

	str_addf(p->notes, "job %" PRIu64 ", attempt %" PRIu64 ", on %s: %s %" PRId64 " s\n",
		 r->job, r->attempt, p->c->id,
		 flag == ALLOCATE_NEGATIVE
			 ? "it ended before it began, by"
			 : "Slurm has it there longer than the node was ready, by",
		 s);
}

/* Find what its names name. */
static int complete(struct case_book *b, struct case_instance *c, struct err *e)
{
	const struct case_schedule *s = map_get(&b->by_key, c->price);
	const struct case_policy *policy = map_get(&b->by_policy, c->policy);

	if (policy == NULL)
		return err_set(e, ERR_INVALID, "%s:%u: instance %s: no policy \"%.40s\"", b->name,
			       c->line, c->id, c->policy);
	c->in.bill.policy = &policy->policy;
	if (s != NULL) {
		c->in.bill.prices = s->prices;
		c->in.bill.nprices = s->n;
	}
	c->in.share = b->share;
	c->in.triggers = c->triggers;
	c->in.runs = c->runs;
	for (size_t i = 0; i < c->in.nruns; i++) {
		struct allocate_run *r = &c->runs[i];
		const struct case_attempt *a = attempt_of(b, r);

		r->lost = a->lost;
		if (r->saved_s == ALLOCATE_NEVER)
			r->saved_s = a->saved_s;
	}
	return 0;
}

static int print_all(struct case_book *b, struct str *notes, struct err *e)
{
	const struct allocate_calendar calendar = {month, next_month, b->zone};

	if (b->zone == NULL)
		return err_set(e, ERR_INVALID, "%s: want a record meta", b->name);
	for (size_t i = 0; i < b->nschedules; i++)
		sort_prices(b->schedules[i]);
	str_addf(b->out, "%s%s", header, b->eol);
	for (size_t i = 0; i < b->ninstances; i++) {
		struct case_instance *c = b->instances[i];
		struct printing p = {c, b->out, notes, b->eol};
		const struct allocate_report report = {
			.row = print_row, .flag = print_flag, .ctx = &p};
		struct err why;

		if (!c->billed)
			continue;
		if (complete(b, c, e) != 0)
			return -1;
		if (allocate(&c->in, &calendar, &report, &why) != 0)
			return err_set(e, (enum err_code)why.code, "%s:%u: instance %s: %.200s",
				       b->name, c->line, c->id, why.msg);
	}
	return 0;
}

static void book_fini(struct case_book *b)
{
	for (size_t i = 0; i < b->nschedules; i++) {
		free(b->schedules[i]->prices);
		free(b->schedules[i]->records);
		free(b->schedules[i]);
	}
	for (size_t i = 0; i < b->npolicies; i++)
		free(b->policies[i]);
	for (size_t i = 0; i < b->ninstances; i++) {
		free(b->instances[i]->triggers);
		free(b->instances[i]->runs);
		free(b->instances[i]);
	}
	for (size_t i = 0; i < b->nattempts; i++)
		free(b->attempts[i]);
	zone_free(b->zone);
	map_fini(&b->by_id);
	map_fini(&b->by_attempt);
	map_fini(&b->by_policy);
	map_fini(&b->by_key);
	map_fini(&b->by_wish);
	free(b->policies);
	free(b->schedules);
	free(b->instances);
	free(b->attempts);
	case_budget_free(b->budget);
}

int case_run(const char *name, const char *text, struct str *out, struct str *notes, struct err *e)
{
	struct case_book b = {.name = name, .out = out};
	const char *end = strchr(text, '\n');
	char *own = mem_strdup(text);
	int rc;

	b.eol = end != NULL && end > text && end[-1] == '\r' ? "\r\n" : "\n";
	map_init(&b.by_id);
	map_init(&b.by_attempt);
	map_init(&b.by_policy);
	map_init(&b.by_key);
	map_init(&b.by_wish);
	rc = read_all(&b, own, e);
	if (rc == 0 && b.budget != NULL && (b.zone != NULL || b.ninstances > 0))
		rc = err_set(e, ERR_INVALID, "%s: want instances or a budget, not both", name);
	else if (rc == 0 && b.budget == NULL)
		rc = print_all(&b, notes, e);
	book_fini(&b);
	free(own);
	return rc;
}
