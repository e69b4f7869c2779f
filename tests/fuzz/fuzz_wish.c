/* fuzz_wish.c - any bytes as a job's comment, parted by a NUL byte from a second one.  What is made
 * of it can be asked (core/constraint.h), and two comments together never allow what one of them
 * forbids. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/constraint.h"
#include "core/jurisdiction.h"
#include "core/wish.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char aws[] = "aws", lambda[] = "lambda", eu[] = "EU";
static struct conf_provider providers[] = {{.name = aws}, {.name = lambda}, {.name = eu}};
static const struct conf conf = {.providers = providers, .nproviders = 3};
static const struct conf_offer offers[] = {
	{.provider = aws, .market = PROVIDER_SPOT},
	{.provider = aws, .market = PROVIDER_ON_DEMAND},
	{.provider = lambda, .market = PROVIDER_RESERVED},
	{.provider = eu, .market = PROVIDER_SPOT},
};
static const char *const places[] = {"DE", "FR", "US", "CH", "NO", "XX"};

static bool stands_in(const struct wish *w, const char *place)
{
	for (size_t i = 0; w->jurisdictions != NULL && w->jurisdictions[i] != NULL; i++)
		if (jurisdiction_within(place, w->jurisdictions[i]))
			return true;
	return w->jurisdictions == NULL;
}

/* A bit for each offer and place that it allows. */
static unsigned allowed(const struct wish *w)
{
	unsigned bits = 0;

	for (size_t i = 0; i < sizeof(offers) / sizeof(offers[0]); i++) {
		enum constraint_answer a = constraint_ask(w->constraint, &conf, &offers[i]);

		assert(a != CONSTRAINT_MAYBE); /* our own words */
		bits |= (unsigned)(a == CONSTRAINT_YES) << i;
	}
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		bits |= (unsigned)stands_in(w, places[i]) << (8 + i);
	return bits;
}

static unsigned read_wish(const char *comment, int64_t *price)
{
	struct wish w;
	struct err e;
	unsigned bits;

	wish_init(&w, comment, &conf, &e);
	assert(memchr(e.msg, '\0', sizeof(e.msg)) != NULL && (e.code != 0) == (e.msg[0] != '\0'));
	bits = allowed(&w);
	*price = w.max_price_nano_h;
	assert(*price >= 0);
	wish_fini(&w);
	return bits;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = calloc(1, size + 2), *second, *both;
	unsigned a, b, together;
	int64_t price[3];
	size_t n;

	if (text == NULL)
		abort();
	memcpy(text, data, size);
	n = strlen(text);
	second = n < size ? text + n + 1 : text + n;
	both = calloc(1, 2 * size + 3);
	if (both == NULL)
		abort();
	memcpy(both, text, n);
	both[n] = '\n';
	memcpy(both + n + 1, second, strlen(second));
	a = read_wish(text, &price[0]);
	b = read_wish(second, &price[1]);
	together = read_wish(both, &price[2]);
	if (strlen(both) <= WISH_COMMENT_MAX) {
		assert(together == (a & b));
		assert(price[0] == 0 || (price[2] != 0 && price[2] <= price[0]));
		assert(price[1] == 0 || (price[2] != 0 && price[2] <= price[1]));
	}
	free(both);
	free(text);
	return 0;
}
