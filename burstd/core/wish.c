#include "core/wish.h"

#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "core/conf_text.h"
#include "core/constraint.h"
#include "core/jurisdiction.h"

struct group {                     /* one `burst:` */
	struct str markets, names; /* "spot|ondemand": alternatives */
	char **codes;              /* likewise; NULL: none */
	size_t ncodes;
};

static char **add_code(char **list, size_t n, const char *code)
{
	list = mem_realloc(list, (n + 2) * sizeof(*list));
	list[n] = code != NULL ? mem_strdup(code) : NULL;
	list[n + (code != NULL)] = NULL;
	return list;
}

static void free_list(char **list)
{
	for (size_t i = 0; list != NULL && list[i] != NULL; i++)
		free(list[i]);
	free(list);
}

static bool is_within_any(const char *place, char *const *list)
{
	for (size_t i = 0; list[i] != NULL; i++)
		if (jurisdiction_within(place, list[i]))
			return true;
	return false;
}

/* The places that both lists allow: of each list those within the other.  Takes both lists. */
static char **meet(char **a, char **b)
{
	char **both = add_code(NULL, 0, NULL);
	size_t n = 0;

	for (size_t i = 0; a[i] != NULL; i++)
		if (is_within_any(a[i], b))
			both = add_code(both, n++, a[i]);
	for (size_t i = 0; b[i] != NULL; i++)
		if (is_within_any(b[i], a) && !is_within_any(b[i], both))
			both = add_code(both, n++, b[i]);
	free_list(a);
	free_list(b);
	return both;
}

static bool is_market(const char *word)
{
	return strcmp(word, "spot") == 0 || strcmp(word, "ondemand") == 0 ||
	       strcmp(word, "on-demand") == 0 || strcmp(word, "reserved") == 0;
}

static bool is_provider(const char *word, const struct conf *conf)
{
	for (size_t i = 0; i < conf->nproviders; i++)
		if (strcmp(word, conf->providers[i].name) == 0)
			return true;
	return false;
}

static void add_word(struct str *s, const char *word)
{
	str_addf(s, "%s%s", s->len > 0 ? "|" : "", word);
}

static bool take_price(struct wish *w, const char *word)
{
	static const char key[] = "max_price=";
	int64_t v;

	if (strncmp(word, key, sizeof(key) - 1) != 0 ||
	    fmt_money_parse(word + sizeof(key) - 1, &v, NULL) < 0 || v == 0)
		return false;
	if (w->max_price_nano_h == 0 || v < w->max_price_nano_h)
		w->max_price_nano_h = v;
	return true;
}

static bool take_code(struct group *g, const char *word)
{
	if (!conf_text_is_code(word) || g->ncodes == WISH_CODES_MAX)
		return false;
	g->codes = add_code(g->codes, g->ncodes++, word);
	return true;
}

static void take_word(struct wish *w, struct group *g, const char *word, const struct conf *conf,
		      struct err *unknown)
{
	if (is_market(word))
		add_word(&g->markets, word);
	else if (is_provider(word, conf))
		add_word(&g->names, word);
	else if (!take_price(w, word) && !take_code(g, word) && unknown->code == 0)
		(void)err_set(unknown, ERR_INVALID,
			      "comment: \"%.40s\" was left out: want spot, ondemand, reserved, a "
			      "provider, a country such as DE, EU, EEA, or max_price=20",
			      word);
}

/* Add "one of these words" to the constraint. */
static void restrict_to(struct str *all, const struct str *words)
{
	bool several = strchr(words->p, '|') != NULL;

	if (words->len > 0)
		str_addf(all, "%s%s%s%s", all->len > 0 ? "&" : "", several ? "(" : "", words->p,
			 several ? ")" : "");
}

/* Read the words of one `burst:`, up to the end of text. */
static void take_group(struct wish *w, struct str *all, char *text, const struct conf *conf,
		       struct err *unknown)
{
	struct group g = {.codes = NULL};
	char *word;

	str_init(&g.markets, WISH_COMMENT_MAX);
	str_init(&g.names, WISH_COMMENT_MAX);
	while ((word = strsep(&text, ",")) != NULL)
		take_word(w, &g, word, conf, unknown);
	restrict_to(all, &g.markets);
	restrict_to(all, &g.names);
	if (g.codes != NULL)
		w->jurisdictions =
			w->jurisdictions != NULL ? meet(w->jurisdictions, g.codes) : g.codes;
	str_fini(&g.markets);
	str_fini(&g.names);
}

/* Blanks, control bytes, and the semicolon that people put between parts of a comment. */
static bool ends_word(char c)
{
	return (unsigned char)c <= ' ' || c == ';';
}

void wish_init(struct wish *w, const char *comment, const struct conf *conf, struct err *unknown)
{
	static const char head[] = "burst:";
	char *copy, *p;
	struct str all;

	*w = (struct wish){0};
	*unknown = (struct err){0};
	if (comment == NULL)
		return;
	if (strlen(comment) > WISH_COMMENT_MAX) {
		(void)err_set(unknown, ERR_LIMIT, "comment: ignored: longer than %d bytes",
			      WISH_COMMENT_MAX);
		return;
	}
	copy = mem_strdup(comment);
	str_init(&all, CONSTRAINT_MAX);
	for (p = copy; (p = strstr(p, head)) != NULL;) {
		char *from = p + sizeof(head) - 1, *end = from;

		if (p > copy && !ends_word(p[-1]) && p[-1] != ',') {
			p = from; /* "sunburst:" is somebody else's */
			continue;
		}
		while (!ends_word(*end))
			end++;
		p = *end != '\0' ? end + 1 : end;
		*end = '\0';
		take_group(w, &all, from, conf, unknown);
	}
	if (all.len > 0)
		w->constraint = mem_strdup(all.p);
	str_fini(&all);
	free(copy);
}

void wish_fini(struct wish *w)
{
	free(w->constraint);
	free_list(w->jurisdictions);
	*w = (struct wish){0};
}

/* --- which wishes must be known ----------------------------------------------------------------
 */

/* One offer is enough: nodes may still have the features of an offer that was removed. */
static enum wish_need of_pool(const struct conf_pool *p)
{
	if (p->job_comment)
		return WISH_COMMENT;
	return p->noffers > 0 ? WISH_CONSTRAINT : WISH_NOTHING;
}

enum wish_need wish_need(const struct conf *conf, const char *node)
{
	const struct conf_pool *p = conf_pool_of(conf, node);

	return p != NULL ? of_pool(p) : WISH_NOTHING;
}

/* A shortcut for each call: most sites have no such pool. */
enum wish_need wish_most(const struct conf *conf)
{
	enum wish_need most = WISH_NOTHING;

	for (size_t i = 0; i < conf->npools; i++) {
		enum wish_need need = of_pool(&conf->pools[i]);

		most = need > most ? need : most;
	}
	return most;
}

static enum wish_need known_of(const struct demand_job *j)
{
	if (!j->wishes_known)
		return WISH_NOTHING;
	return j->comment_known ? WISH_COMMENT : WISH_CONSTRAINT;
}

enum wish_need wish_missing(const struct demand *d, const struct conf *conf)
{
	enum wish_need highest = wish_most(conf), most = WISH_NOTHING;

	if (highest == WISH_NOTHING)
		return WISH_NOTHING;
	for (size_t i = 0; !d->has_jobs && i < demand_count(d) && most < highest; i++) {
		enum wish_need need = wish_need(conf, demand_name(d, i));

		most = need > most ? need : most;
	}
	for (size_t i = 0; i < d->njobs && most < highest; i++) {
		const struct demand_job *j = &d->jobs[i];
		enum wish_need known = known_of(j);

		for (size_t k = 0; known < highest && k < j->n && most < highest; k++) {
			enum wish_need need = wish_need(conf, demand_name(d, j->nodes[k]));

			if (need > known && need > most)
				most = need;
		}
	}
	return most;
}

/* --- features ----------------------------------------------------------------------------------
 */

static bool all_alike(const struct conf_offer *rungs, size_t n, bool markets)
{
	for (size_t i = 1; i < n; i++)
		if (markets ? rungs[i].market != rungs[0].market
			    : strcmp(rungs[i].provider, rungs[0].provider) != 0)
			return false;
	return true;
}

static const char *market_word(int market)
{
	return market == PROVIDER_SPOT       ? "spot"
	       : market == PROVIDER_RESERVED ? "reserved"
					     : "ondemand";
}

static const char *feature_of(const struct conf_offer *o, bool market)
{
	return market ? market_word(o->market) : o->provider;
}

/* If the offers differ in market (or provider), add the word of each, once. */
static void add_features(const struct conf_offer *rungs, size_t n, bool market, struct str *out)
{
	for (size_t i = 0; !all_alike(rungs, n, market) && i < n; i++) {
		const char *word = feature_of(&rungs[i], market);
		bool again = false;

		for (size_t k = 0; k < i; k++)
			again = again || strcmp(feature_of(&rungs[k], market), word) == 0;
		if (!again)
			str_addf(out, "%s%s", out->len > 0 ? "," : "", word);
	}
}

void wish_features(const struct conf_pool *p, struct str *out)
{
	size_t n;
	const struct conf_offer *rungs = conf_rungs(p, &n);

	add_features(rungs, n, true, out);
	add_features(rungs, n, false, out);
}
