#include "core/submit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/fnv.h"
#include "base/mem.h"
#include "core/hardware.h"
#include "core/jurisdiction.h"

/* A line is a word and fields, NAME=VALUE, with a tab before each. */

static bool is_plain(const char *text)
{
	for (; *text != '\0'; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return false;
	return true;
}

static bool is_word(const char *text)
{
	return text[0] != '\0' && is_plain(text) && strchr(text, ',') == NULL;
}

/* Append it, if all of it fits.  max: bytes of *out. */
static bool add_whole(struct str *out, const struct str *part, size_t max)
{
	if (part->full || out->len + part->len + sizeof("end\n") > max)
		return false;
	str_add(out, part->p, part->len);
	return true;
}

/* --- pools -------------------------------------------------------------------------------------
 */

static const char *const markets[] = {[PROVIDER_ON_DEMAND] = "ondemand",
				      [PROVIDER_SPOT] = "spot",
				      [PROVIDER_RESERVED] = "reserved"};

struct view { /* of a pool, by prices and configuration alone */
	const struct conf_pool *p;
	const struct conf_offer *rungs;
	size_t n;
	struct ladder_known known[CONF_OFFERS_MAX];
	struct ladder_ask ask;
	struct ladder ladder;
};

static void look(struct view *v, const struct submit *s, uint32_t pool)
{
	*v = (struct view){.p = &s->conf->pools[pool]};
	v->rungs = conf_rungs(v->p, &v->n);
	for (size_t i = 0; i < v->n; i++)
		v->known[i] = (struct ladder_known){.price = s->known[pool][i].price,
						    .agreed = s->known[pool][i].agreed};
	v->ask = (struct ladder_ask){.conf = s->conf,
				     .pool = v->p,
				     .known = v->known,
				     .job = {.nodes = 1, .none = true}};
	ladder_make(&v->ladder, &v->ask);
}

/* A price of spot moves by itself, unless the configuration says what it is. */
static bool moves(const struct view *v, size_t i)
{
	return v->rungs[i].market == PROVIDER_SPOT && v->known[i].agreed == 0 &&
	       v->rungs[i].price_nano_h == 0;
}

/* What a node costs there at least; 0: not known. */
static int64_t floor_of(const struct view *v, size_t i)
{
	int64_t price = ladder_price(&v->ask, i);

	return price > 0 && !moves(v, i) ? price : 0;
}

/* May any job ever be bought there?  What the provider does not offer today it may tomorrow. */
static bool may_ever(const struct view *v, size_t i)
{
	int64_t price = ladder_price(&v->ask, i);

	if (!ladder_is_for_good(&v->ladder, &v->ask, i))
		return true;
	if (v->ladder.cause[i] == LADDER_NOT_OFFERED)
		return price != LADDER_UNPRICED;
	return v->ladder.cause[i] == LADDER_DEAR && moves(v, i);
}

/* The least that any node may cost; 0: not known, or there is no rung. */
static int64_t least_of(const struct view *v, size_t *rungs)
{
	int64_t least = INT64_MAX;

	*rungs = 0;
	for (size_t i = 0; i < v->n; i++) {
		if (!may_ever(v, i))
			continue;
		(*rungs)++;
		least = floor_of(v, i) < least ? floor_of(v, i) : least;
	}
	return *rungs > 0 ? least : 0;
}

/* What max_rate allows at this price: machines that are up may have been cheaper. */
static int64_t by_rate(const struct conf_pool *p, const struct submit_live *live, int64_t price)
{
	int64_t left = p->max_rate_nano_h - live->rate_nano_h;
	int64_t more = live->nodes + (left > 0 ? left / price : 0);

	return more > p->max_rate_nano_h / price ? more : p->max_rate_nano_h / price;
}

/* How many nodes the pool can have at most; why: the limit that says so. */
static uint32_t most_nodes(const struct view *v, const struct submit *s,
			   const struct submit_live *live, char *why, size_t size)
{
	const struct conf_pool *p = v->p;
	char rate[FMT_MONEY_SIZE], price[FMT_MONEY_SIZE];
	size_t rungs;
	int64_t least = least_of(v, &rungs);

	(void)snprintf(why, size, "pool %s has max_nodes %u", p->name, (unsigned)p->max_nodes);
	if (rungs == 0) {
		char none[160];

		ladder_why(&v->ladder, &v->ask, none, sizeof(none));
		(void)snprintf(why, size, "pool %s buys none: %s", p->name, none);
		return 0;
	}
	if (least == 0 || by_rate(p, live, least) >= p->max_nodes)
		return p->max_nodes;
	(void)snprintf(why, size, "pool %s has max_rate %s %s/h, and a node costs %s", p->name,
		       fmt_money(rate, p->max_rate_nano_h), s->conf->currency,
		       fmt_money(price, least));
	return (uint32_t)by_rate(p, live, least);
}

/* "gpu:h100:8,gpu:a100:4"; "": there are none, or it is not known which: `gpus` is left out. */
static bool print_gpus(const struct conf_pool *p, struct str *out)
{
	struct hardware_gres_list list;

	if (p->gres == NULL || p->gres[0] == '\0' || hardware_parse_gres(p->gres, &list, NULL) != 0)
		return false;
	for (size_t i = 0; i < list.n; i++)
		if (strcmp(list.v[i].name, "gpu") == 0)
			str_addf(out, "%s%s:%u", out->len > 0 ? "," : "", list.v[i].type,
				 (unsigned)list.v[i].count);
	return true;
}

static const char *place_of(const struct submit *s, const struct conf_offer *o)
{
	const char *place = o->jurisdiction;

	if (place == NULL || place[0] == '\0')
		place = jurisdiction_of(s->conf->providers[o->provider_index].driver, o->region);
	return place != NULL ? place : "";
}

static void print_rung(const struct submit *s, const struct view *v, size_t i, struct str *out)
{
	const struct conf_offer *o = &v->rungs[i];
	const char *place = place_of(s, o);

	str_addf(out, "rung\tpool=%s\tmarket=%s\tprovider=%s\tprice=%" PRId64 "\tin=%s", v->p->name,
		 markets[o->market], s->conf->providers[o->provider_index].name, floor_of(v, i),
		 place);
	if (strcmp(place, "EU") != 0 && jurisdiction_within(place, "EU"))
		str_adds(out, ",EU");
	if (strcmp(place, "EEA") != 0 && jurisdiction_within(place, "EEA"))
		str_adds(out, ",EEA");
	str_adds(out, "\n");
}

static void print_pool(const struct submit *s, uint32_t pool, struct str *out)
{
	const struct submit_live *live = &s->live[pool];
	char why[256];
	struct view v;
	struct str gpus;
	uint32_t can;

	look(&v, s, pool);
	can = most_nodes(&v, s, live, why, sizeof(why));
	for (char *c = why; *c != '\0'; c++)
		*c = (char)((unsigned char)*c < ' ' ? ' ' : *c);
	str_addf(out, "pool\tname=%s\tcan=%u\twhy=%s", v.p->name,
		 (unsigned)(can > live->nodes ? can : live->nodes), why);
	str_init(&gpus, HARDWARE_TEXT_MAX);
	if (!live->own_gres && print_gpus(v.p, &gpus))
		str_addf(out, "\tgpus=%s", gpus.p);
	str_fini(&gpus);
	if (live->nodes > 0)
		str_addf(out, "\tlive=%" PRId64, live->least_nano_h);
	if (!live->strange && v.p->noffers > 0)
		str_adds(out, "\tconstraint=1");
	if (!live->strange && v.p->job_comment)
		str_adds(out, "\tcomment=1");
	str_adds(out, "\n");
	for (size_t i = 0; i < v.n; i++)
		if (may_ever(&v, i) || (live->rungs & UINT32_C(1) << i) != 0)
			print_rung(s, &v, i, out);
}

/* --- partitions --------------------------------------------------------------------------------
 */

static bool is_shown(const struct submit *s, const struct submit_partition *p, const bool *pools)
{
	bool any = false;

	if (!is_word(p->name) || !is_plain(p->list) || strlen(p->list) > SUBMIT_LIST_MAX)
		return false;
	for (size_t i = 0; i < s->conf->npools; i++) {
		if (p->of_pool[i] == 0)
			continue;
		if (!pools[i])
			return false;
		any = true;
	}
	return any;
}

static void print_partition(const struct submit *s, const struct submit_partition *p,
			    struct str *out)
{
	const char *comma = "";

	str_addf(out, "partition\tname=%s\ttotal=%u\tothers=%u\tlist=%s\tpools=", p->name,
		 (unsigned)p->total, (unsigned)p->others, p->list);
	for (size_t i = 0; i < s->conf->npools; i++) {
		if (p->of_pool[i] == 0)
			continue;
		str_addf(out, "%s%s:%u", comma, s->conf->pools[i].name, (unsigned)p->of_pool[i]);
		comma = ",";
	}
	str_adds(out, "\n");
}

/* --- budgets -----------------------------------------------------------------------------------
 */

/* false: a name cannot be written. */
static bool print_list(struct str *out, const char *name, char *const *list)
{
	if (list == NULL)
		return true;
	str_addf(out, "\t%s=", name);
	for (size_t i = 0; list[i] != NULL; i++) {
		if (!is_word(list[i]))
			return false;
		str_addf(out, "%s%s", i > 0 ? "," : "", list[i]);
	}
	return true;
}

/* The shortest that a period of the rule can be, in days; 0: any stretch of time is in one, as a
 * rolling window moves with it. */
static int days_of(const struct period_rule *r)
{
	switch (r->kind) {
	case PERIOD_MONTH:
		return 27; /* one of 28 may have lost an hour */
	case PERIOD_QUARTER:
		return 89;
	case PERIOD_ROLLING:
		return 0;
	default:
		return 364;
	}
}

/* The time of a job that is set aside at once, at most; 0: none that is known here. */
static int64_t aside_ms(const struct conf_budget *b)
{
	switch ((enum conf_reserve)b->reserve) {
	case CONF_RESERVE_FULL:
		return INT64_MAX;
	case CONF_RESERVE_LEASE:
		return b->lease_ms;
	default:
		return 0;
	}
}

/* Append its fields.  false: it refuses nothing, or cannot be written. */
static bool print_budget(const struct conf_budget *b, int64_t most, struct str *out)
{
	most = aside_ms(b) > 0 ? most : 0;
	if (!is_word(b->name) || !is_plain(b->contact != NULL ? b->contact : "") ||
	    (most <= 0 && b->rate_nano_h <= 0))
		return false;
	str_addf(out, "\tname=%s", b->name);
	if (most > 0)
		str_addf(out, "\tmost=%" PRId64 "\tdays=%d", most, days_of(&b->period_rule));
	if (most > 0 && aside_ms(b) != INT64_MAX)
		str_addf(out, "\tlease=%" PRId64, aside_ms(b) / 1000);
	if (b->rate_nano_h > 0)
		str_addf(out, "\trate=%" PRId64, b->rate_nano_h);
	if (conf_budget_is_of_jobs(b))
		str_adds(out, "\tof=jobs");
	if (b->market != CONF_MARKET_ANY)
		str_addf(out, "\tmarket=%s", markets[b->market]);
	if (b->contact != NULL && b->contact[0] != '\0')
		str_addf(out, "\tcontact=%s", b->contact);
	return print_list(out, "partitions", b->partitions) && print_list(out, "pools", b->pools) &&
	       print_list(out, "providers", b->providers) && print_list(out, "users", b->users) &&
	       print_list(out, "qos", b->qos) && print_list(out, "wckeys", b->wckeys) && !out->full;
}

/* By whom a budget is found: each account that it names, else each user, else all. */
struct payer_key {
	char key[BUDGET_VALUE_MAX + 16]; /* "account=physics" */
	size_t budget;                   /* index in conf */
};

struct payer_keys {
	struct payer_key *v;
	size_t n;
};

static int by_key(const void *a, const void *b)
{
	const struct payer_key *x = a, *y = b;
	int order = strcmp(x->key, y->key);

	return order != 0 ? order : (x->budget > y->budget) - (x->budget < y->budget);
}

static void add_key(struct payer_keys *k, const char *kind, const char *name, size_t budget)
{
	char folded[BUDGET_VALUE_MAX + 1];

	budget_fold(folded, name);
	if (!is_word(folded))
		return;
	k->v = mem_realloc(k->v, (k->n + 1) * sizeof(*k->v));
	k->v[k->n].budget = budget;
	(void)snprintf(k->v[k->n++].key, sizeof(k->v->key), "%s=%s", kind, folded);
}

static void collect_keys(const struct conf *c, struct payer_keys *k)
{
	size_t all = 0;

	for (size_t i = 0; i < c->nbudgets; i++) {
		const struct conf_budget *b = &c->budgets[i];
		char *const *list = b->accounts != NULL ? b->accounts : b->users;

		if (list == NULL && all++ < SUBMIT_FOR_ALL_MAX)
			add_key(k, "all", "1", i);
		for (; list != NULL && *list != NULL && k->n < SUBMIT_BUDGETS_MAX; list++)
			add_key(k, b->accounts != NULL ? "account" : "user", *list, i);
	}
	if (k->n > 0)
		qsort(k->v, k->n, sizeof(*k->v), by_key);
}

struct tree {
	struct str *out;
	size_t n;
};

static void print_account(void *ctx, const char *account, const char *parent)
{
	struct tree *t = ctx;

	if (++t->n > SUBMIT_ACCOUNTS_MAX || !is_word(account) || !is_word(parent))
		return;
	str_addf(t->out, "account\tname=%s\tparent=%s\n", account, parent);
}

static void print_tree(const struct submit *s, struct str *part, struct str *out)
{
	struct tree t = {.out = part};

	str_clear(part);
	budgets_each_account(s->budgets, print_account, &t);
	if (t.n <= SUBMIT_ACCOUNTS_MAX)
		(void)add_whole(out, part, SUBMIT_TEXT_MAX);
}

static void print_budgets(const struct submit *s, struct str *out)
{
	int64_t *most = mem_zalloc((s->conf->nbudgets + 1) * sizeof(*most));
	struct payer_keys keys = {.v = NULL};
	bool by_account = false;
	struct str one;

	budgets_most(s->budgets, most);
	collect_keys(s->conf, &keys);
	str_init(&one, SUBMIT_TEXT_MAX);
	for (size_t i = 0; i < keys.n; i++) {
		const struct conf_budget *b = &s->conf->budgets[keys.v[i].budget];

		str_clear(&one);
		str_addf(&one, "budget\t%s", keys.v[i].key);
		if (!print_budget(b, most[keys.v[i].budget], &one))
			continue;
		str_adds(&one, "\n");
		(void)add_whole(out, &one, SUBMIT_TEXT_MAX);
		by_account = by_account || b->accounts != NULL;
	}
	if (by_account)
		print_tree(s, &one, out);
	str_fini(&one);
	free(keys.v);
	free(most);
}

/* --- all of it ---------------------------------------------------------------------------------
 */

static void print_site(const struct submit *s, struct str *out)
{
	str_addf(out, "site\tcurrency=%s\tproviders=", s->conf->currency);
	for (size_t i = 0; i < s->conf->nproviders; i++)
		str_addf(out, "%s%s", i > 0 ? "," : "", s->conf->providers[i].name);
	str_adds(out, "\n");
}

/* Half of the table is for pools, so that there is room for partitions.  shown: one for each. */
static void print_pools(const struct submit *s, struct str *part, struct str *out, bool *shown)
{
	for (uint32_t i = 0; i < s->conf->npools; i++) {
		if (s->conf->pools[i].removed || !is_word(s->conf->pools[i].name))
			continue;
		str_clear(part);
		print_pool(s, i, part);
		shown[i] = add_whole(out, part, SUBMIT_TEXT_MAX / 2);
	}
}

static size_t print_partitions(const struct submit *s, struct str *part, struct str *out,
			       const bool *pools)
{
	size_t n = 0;

	for (size_t i = 0; i < s->npartitions && n < SUBMIT_PARTITIONS_MAX; i++) {
		if (!is_shown(s, &s->partitions[i], pools))
			continue;
		str_clear(part);
		print_partition(s, &s->partitions[i], part);
		n += add_whole(out, part, SUBMIT_TEXT_MAX);
	}
	return n;
}

void submit_print(const struct submit *s, struct str *out)
{
	bool *pools = mem_zalloc((s->conf->npools + 1) * sizeof(*pools));
	struct str part;

	str_init(&part, SUBMIT_TEXT_MAX);
	print_site(s, out);
	print_pools(s, &part, out, pools);
	if (print_partitions(s, &part, out, pools) > 0 && s->budgets != NULL)
		print_budgets(s, out);
	str_fini(&part);
	free(pools);
	str_adds(out, "end\n");
}

bool submit_is_due(struct submit_written *w, const struct str *text, int64_t now_ms)
{
	const uint64_t hash = fnv_bytes(FNV_BEGIN, text->p, text->len);

	if (w->at_ms != 0 && hash == w->hash && now_ms < w->at_ms + SUBMIT_EVERY_MS)
		return false;
	*w = (struct submit_written){hash, now_ms};
	return true;
}

void submit_head(char head[SUBMIT_HEAD_MAX], const struct str *text, int64_t wall_ms)
{
	(void)snprintf(head, SUBMIT_HEAD_MAX,
		       "burstd-submit\t%d\t%" PRId64 "\t%zu\t%016" PRIx64 "\n", SUBMIT_VERSION,
		       wall_ms / 1000, text->len, fnv_bytes(FNV_BEGIN, text->p, text->len));
}
