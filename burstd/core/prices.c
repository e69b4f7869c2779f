#include "core/prices.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

enum { KEY_MAX = 5 * (PROVIDER_WORD_MAX + 1) + 32 };

static const char *const source_words[PRICE_NSOURCES] = {"contract", "conf", "quote", "history"};

const char *price_source_str(enum price_source s)
{
	return source_words[s];
}

int price_source_parse(const char *word)
{
	for (int i = 0; i < PRICE_NSOURCES; i++)
		if (strcmp(source_words[i], word) == 0)
			return i;
	return -1;
}

void prices_init(struct prices *b)
{
	*b = (struct prices){.n = 0};
	map_init(&b->by_key);
	map_init(&b->by_type);
}

void prices_fini(struct prices *b)
{
	for (size_t i = 0; i < b->n; i++) {
		free(b->v[i]->steps);
		free(b->v[i]->words);
		free(b->v[i]->type_key);
		free(b->v[i]->key);
		free(b->v[i]);
	}
	free(b->v);
	free(b->rows);
	map_fini(&b->by_key);
	map_fini(&b->by_type);
	*b = (struct prices){.n = 0};
}

/* --- series ------------------------------------------------------------------------------------
 */

static enum price_source series_of(enum price_source s)
{
	return s == PRICE_HISTORY ? PRICE_QUOTE : s;
}

/* A separator that no word of a configuration has; a provider's word may have any byte, which then
 * makes another series of it, and no harm. */
static const char *key_of(char *out, const struct price *p)
{
	(void)snprintf(out, KEY_MAX, "%.63s\n%.63s\n%.63s\n%.63s\n%d\n%d", p->provider, p->type,
		       p->region, p->zone, (int)p->market, (int)series_of(p->source));
	return out;
}

/* The key of all series of the same provider and type is the beginning of theirs. */
static const char *type_key_of(char *out, const struct price *p)
{
	(void)snprintf(out, KEY_MAX, "%.63s\n%.63s", p->provider, p->type);
	return out;
}

static const char *put_word(char **at, const char *word)
{
	char *to = *at;
	size_t len = strnlen(word, PROVIDER_WORD_MAX);

	memcpy(to, word, len);
	*at = to + len + 1;
	return to;
}

static struct price_series *series_new(const struct price *p, const char *key)
{
	struct price_series *s = mem_zalloc(sizeof(*s));
	char *at;

	s->key = mem_strdup(key);
	s->words = at = mem_zalloc(4 * (PROVIDER_WORD_MAX + 1));
	s->provider = put_word(&at, p->provider);
	s->type = put_word(&at, p->type);
	s->region = put_word(&at, p->region);
	s->zone = put_word(&at, p->zone);
	s->market = p->market;
	s->source = series_of(p->source);
	return s;
}

static void chain(struct prices *b, struct price_series *s, const struct price *p)
{
	char key[KEY_MAX];
	struct price_series *first = map_get(&b->by_type, type_key_of(key, p));

	if (first != NULL) {
		s->next = first->next;
		first->next = s;
		return;
	}
	s->type_key = mem_strdup(key);
	map_put(&b->by_type, s->type_key, s);
}

/* NULL: there is no place for another one. */
static struct price_series *series_get(struct prices *b, const struct price *p, bool make)
{
	char key[KEY_MAX];
	struct price_series *s = map_get(&b->by_key, key_of(key, p));

	if (s != NULL || !make)
		return s;
	if (b->n == PRICES_MAX) {
		b->full = true;
		return NULL;
	}
	if (b->n == b->cap) {
		b->cap = b->cap == 0 ? 64 : 2 * b->cap;
		b->v = mem_realloc(b->v, b->cap * sizeof(struct price_series *));
	}
	s = series_new(p, key);
	b->v[b->n++] = s;
	map_put(&b->by_key, s->key, s);
	chain(b, s, p);
	return s;
}

/* --- steps -------------------------------------------------------------------------------------
 */

static const struct price_step *last_of(const struct price_series *s)
{
	return s->nsteps > 0 ? &s->steps[s->nsteps - 1] : NULL;
}

static bool same_amount(const struct price_step *a, const struct price_step *b)
{
	return a->nano_h == b->nano_h && strcmp(a->currency, b->currency) == 0;
}

/* The step in force at at_ms; NULL: none is known. */
static const struct price_step *step_at(const struct price_series *s, int64_t at_ms)
{
	size_t n = s->nsteps;

	while (n > 0 && s->steps[n - 1].from_ms > at_ms)
		n--;
	return n > 0 ? &s->steps[n - 1] : NULL;
}

/* Forget steps that ended long before this one begins. */
static void forget(struct price_series *s, int64_t now_ms)
{
	size_t old = s->nsteps >= PRICES_STEPS_MAX ? s->nsteps - PRICES_STEPS_MAX / 2 : 0;

	if (s->steps == NULL)
		return;
	while (old + 1 < s->nsteps && s->steps[old + 1].from_ms < now_ms - PRICES_KEEP_MS)
		old++;
	if (old == 0)
		return;
	s->nsteps -= old;
	memmove(s->steps, s->steps + old, s->nsteps * sizeof(*s->steps));
}

/* In the place of all that began then or later. */
static void add_step(struct price_series *s, const struct price_step *step)
{
	forget(s, step->from_ms);
	if (s->nsteps == s->cap) {
		s->cap = s->cap == 0 ? 1 : 2 * s->cap;
		s->steps = mem_realloc(s->steps, s->cap * sizeof(*s->steps));
	}
	assert(s->steps != NULL);
	while (s->nsteps > 0 && s->steps[s->nsteps - 1].from_ms >= step->from_ms)
		s->nsteps--;
	s->steps[s->nsteps++] = *step;
}

static void add_row(struct prices *b, const struct price_row *row)
{
	if (b->nrows == b->rows_cap) {
		b->rows_cap = b->rows_cap == 0 ? 64 : 2 * b->rows_cap;
		b->rows = mem_realloc(b->rows, b->rows_cap * sizeof(*b->rows));
	}
	b->rows[b->nrows++] = *row;
}

static struct price_step step_of(const struct price *p)
{
	struct price_step s = {.from_ms = p->valid_from_ms, .nano_h = p->nano_h};

	memcpy(s.currency, p->currency, sizeof(s.currency));
	return s;
}

void prices_load(struct prices *b, const struct price *p)
{
	struct price_series *s = series_get(b, p, true);
	const struct price_step step = step_of(p);

	if (s != NULL && s->nsteps == 0)
		add_step(s, &step);
}

/* --- what is said ------------------------------------------------------------------------------
 */

void prices_say(struct prices *b, const struct price *p)
{
	struct price_series *s = series_get(b, p, p->nano_h > 0);

	assert(p->source != PRICE_HISTORY && (p->nano_h > 0 || p->nano_h == PRICE_WITHDRAWN));
	if (s == NULL || (s->said.nano_h > 0 && strcmp(s->said.currency, p->currency) != 0))
		return;
	if (s->said.nano_h == 0 || p->nano_h > s->said.nano_h ||
	    (s->said.nano_h < 0 && p->nano_h < 0 && p->valid_from_ms > s->said.from_ms))
		s->said = step_of(p);
}

/* A negotiated price may begin before it is known: then it was in force at all later steps, too.
 * Their rows come first, so that the last row is what the file says. */
static void take_contract(struct prices *b, struct price_series *s, struct price_row row)
{
	const struct price_step said = row.step;
	const struct price_step *was = step_at(s, said.from_ms);
	bool differs = was == NULL || !same_amount(was, &said);
	size_t first = s->nsteps;

	while (first > 0 && s->steps[first - 1].from_ms > said.from_ms)
		first--;
	for (size_t i = first; i < s->nsteps; i++)
		differs = differs || !same_amount(&s->steps[i], &said);
	if (!differs)
		return;
	for (size_t i = first; i < s->nsteps; i++) {
		row.step.from_ms = s->steps[i].from_ms;
		add_row(b, &row);
	}
	row.step = said;
	add_row(b, &row);
	add_step(s, &said);
}

/* All others go on from their last step: what a provider says of the time before is history. */
static void take(struct prices *b, struct price_series *s, struct price_row row)
{
	const struct price_step *last = last_of(s);

	if (last != NULL && same_amount(last, &row.step))
		return;
	/* One from the future was written before the clock was set back. */
	if (last != NULL && row.step.from_ms < last->from_ms && last->from_ms <= row.observed_ms)
		row.step.from_ms = last->from_ms;
	add_row(b, &row);
	add_step(s, &row.step);
}

static bool is_in_force(const struct price_series *s)
{
	return s->nsteps > 0 && s->steps[s->nsteps - 1].nano_h > 0;
}

static void end_round(struct prices *b, struct price_series *s, int64_t now_ms, bool was_asked)
{
	struct price_row row = {
		.of = s, .step = s->said, .source = s->source, .observed_ms = now_ms};
	const struct price_step *last = last_of(s);

	s->said = (struct price_step){0};
	if (row.step.nano_h <= 0 && !is_in_force(s))
		return;
	if (row.step.nano_h == 0 && !was_asked)
		return;
	if (row.step.nano_h == 0)
		row.step.nano_h = PRICE_WITHDRAWN;
	if (row.step.nano_h == PRICE_WITHDRAWN && last != NULL)
		memcpy(row.step.currency, last->currency, sizeof(row.step.currency));
	if (s->source == PRICE_CONTRACT && row.step.nano_h > 0 && row.step.from_ms != 0) {
		take_contract(b, s, row);
		return;
	}
	if (row.step.from_ms == 0 || row.step.from_ms > now_ms)
		row.step.from_ms = now_ms;
	take(b, s, row);
}

void prices_said(struct prices *b, const char *provider, enum price_source source, int64_t now_ms,
		 prices_asked_fn asked, void *ctx)
{
	for (size_t i = 0; i < b->n; i++) {
		struct price_series *s = b->v[i];

		if (s->source == source && (provider == NULL || strcmp(s->provider, provider) == 0))
			end_round(b, s, now_ms,
				  s->said.nano_h != 0 || asked == NULL || asked(ctx, s));
	}
}

void prices_past(struct prices *b, const struct price *p)
{
	struct price_series *s = series_get(b, p, true);
	const struct price_row row = {.of = s,
				      .step = step_of(p),
				      .source = PRICE_HISTORY,
				      .observed_ms = p->observed_ms};
	const struct price_step *last = s != NULL ? last_of(s) : NULL;

	if (s == NULL || p->nano_h <= 0 || p->valid_from_ms > p->observed_ms)
		return;
	if (last != NULL && (row.step.from_ms <= last->from_ms || same_amount(last, &row.step)))
		return;
	add_row(b, &row);
	add_step(s, &row.step);
}

bool prices_next(struct prices *b, struct price *out)
{
	const struct price_row *r = &b->rows[b->rows_at];

	if (!prices_wait(b))
		return false;
	*out = (struct price){.provider = r->of->provider,
			      .region = r->of->region,
			      .zone = r->of->zone,
			      .type = r->of->type,
			      .market = r->of->market,
			      .source = r->source,
			      .nano_h = r->step.nano_h,
			      .valid_from_ms = r->step.from_ms,
			      .observed_ms = r->observed_ms};
	memcpy(out->currency, r->step.currency, sizeof(out->currency));
	if (++b->rows_at == b->nrows) {
		free(b->rows);
		b->rows = NULL;
		b->rows_at = b->nrows = b->rows_cap = 0;
	}
	return true;
}

/* --- what it cost ------------------------------------------------------------------------------
 */

static bool either(const char *a, const char *b)
{
	return a[0] == '\0' || b[0] == '\0' || strcmp(a, b) == 0;
}

/* The price at that time; 0: none.  What a provider does not quote any more goes on at the last
 * price; what an admin has taken out of a file does not. */
static int64_t price_then(const struct price_series *s, int64_t at_ms, const char *currency)
{
	for (size_t i = s->nsteps; i > 0; i--) {
		const struct price_step *step = &s->steps[i - 1];

		if (step->from_ms > at_ms || (step->nano_h < 0 && s->source == PRICE_QUOTE))
			continue;
		return step->nano_h > 0 && strcmp(step->currency, currency) == 0 ? step->nano_h : 0;
	}
	return 0;
}

int64_t prices_at(const struct prices *b, const struct price *place, int64_t at_ms)
{
	char key[KEY_MAX];
	const struct price_series *s = map_get(&b->by_type, type_key_of(key, place));
	int64_t highest = 0;

	for (; s != NULL; s = s->next) {
		int64_t price;

		if (s->source != series_of(place->source) || s->market != place->market ||
		    !either(s->region, place->region) || !either(s->zone, place->zone))
			continue;
		price = price_then(s, at_ms, place->currency);
		highest = price > highest ? price : highest;
	}
	return highest;
}

int64_t prices_last_ms(const struct prices *b, const char *provider)
{
	int64_t last = 0;

	for (size_t i = 0; i < b->n; i++) {
		const struct price_series *s = b->v[i];

		if (s->source == PRICE_QUOTE && s->nsteps > 0 &&
		    strcmp(s->provider, provider) == 0 && s->steps[s->nsteps - 1].from_ms > last)
			last = s->steps[s->nsteps - 1].from_ms;
	}
	return last;
}
