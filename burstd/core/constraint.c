#include "core/constraint.h"

#include <stdbool.h>
#include <string.h>

struct reader {
	const char *p;
	const struct conf *conf;
	const struct conf_offer *offer;
	int depth;
	bool bad; /* not an expression that Slurm takes */
};

static enum constraint_answer not(enum constraint_answer a) {
	return (enum constraint_answer)(CONSTRAINT_YES - a);
}

static enum constraint_answer both(enum constraint_answer a, enum constraint_answer b)
{
	return a < b ? a : b;
}

static enum constraint_answer either(enum constraint_answer a, enum constraint_answer b)
{
	return a > b ? a : b;
}

static bool is_word(const char *p, size_t n, const char *word)
{
	return strlen(word) == n && memcmp(p, word, n) == 0;
}

static enum constraint_answer answer(bool yes)
{
	return yes ? CONSTRAINT_YES : CONSTRAINT_NO;
}

static enum constraint_answer ask_word(const struct reader *r, const char *p, size_t n)
{
	static const struct {
		const char *word;
		enum provider_market market;
	} markets[] = {{"spot", PROVIDER_SPOT},
		       {"ondemand", PROVIDER_ON_DEMAND},
		       {"on-demand", PROVIDER_ON_DEMAND},
		       {"reserved", PROVIDER_RESERVED}};

	for (size_t i = 0; i < sizeof(markets) / sizeof(markets[0]); i++)
		if (is_word(p, n, markets[i].word))
			return answer(r->offer->market == (int)markets[i].market);
	for (size_t i = 0; i < r->conf->nproviders; i++)
		if (is_word(p, n, r->conf->providers[i].name))
			return answer(is_word(p, n, r->offer->provider));
	return CONSTRAINT_MAYBE; /* another feature, matched by slurmctld */
}

/* Length of a feature's name: printable characters other than operators. */
static size_t word_length(const char *p)
{
	size_t n = 0;

	while ((unsigned char)p[n] > ' ' && p[n] != 0x7f && strchr("&|!*()[],\"'\\", p[n]) == NULL)
		n++;
	return n;
}

/* Skip the node count behind a word or a group, as in "spot*4". */
static bool take_count(struct reader *r)
{
	size_t n;

	if (*r->p != '*')
		return false;
	n = strspn(++r->p, "0123456789");
	if (n == 0)
		r->bad = true;
	r->p += n;
	return true;
}

static enum constraint_answer read_level(struct reader *r, char close);

static enum constraint_answer read_group(struct reader *r)
{
	enum constraint_answer a;
	char close = *r->p++ == '(' ? ')' : ']';

	if (++r->depth > CONSTRAINT_DEPTH_MAX)
		r->bad = true;
	a = r->bad ? CONSTRAINT_MAYBE : read_level(r, close);
	r->depth--;
	if (*r->p == close)
		r->p++;
	else
		r->bad = true;
	return a;
}

static enum constraint_answer read_term(struct reader *r)
{
	enum constraint_answer a;
	bool negated = *r->p == '!';
	size_t n;

	r->p += negated;
	if (*r->p == '(' || *r->p == '[') {
		a = read_group(r);
	} else {
		n = word_length(r->p);
		if (n == 0)
			r->bad = true;
		a = ask_word(r, r->p, n);
		r->p += n;
	}
	if (take_count(r))
		a = CONSTRAINT_MAYBE;
	return negated ? not(a) : a;
}

/* Read terms up to `close` both from left to right and with & before |: MAYBE if these differ. */
static enum constraint_answer read_level(struct reader *r, char close)
{
	enum constraint_answer left = read_term(r), ands = left, ors = CONSTRAINT_NO;
	bool counted = false;

	while (*r->p == '&' || *r->p == '|') {
		char op = *r->p++;
		enum constraint_answer t = read_term(r);

		counted = counted || (op == '&' && close == ']');
		left = op == '&' ? both(left, t) : either(left, t);
		ors = op == '&' ? ors : either(ors, ands);
		ands = op == '&' ? both(ands, t) : t;
	}
	ors = either(ors, ands);
	return counted || left != ors ? CONSTRAINT_MAYBE : left;
}

enum constraint_answer constraint_ask(const char *expression, const struct conf *conf,
				      const struct conf_offer *offer)
{
	struct reader r = {.p = expression, .conf = conf, .offer = offer};
	enum constraint_answer a;

	if (expression == NULL || expression[0] == '\0')
		return CONSTRAINT_YES;
	if (strlen(expression) > CONSTRAINT_MAX)
		return CONSTRAINT_MAYBE;
	a = read_level(&r, '\0');
	return r.bad || *r.p != '\0' ? CONSTRAINT_MAYBE : a;
}
