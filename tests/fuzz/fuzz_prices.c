/* fuzz_prices.c - any bytes at all as prices.conf: it is refused with FILE:LINE, or each price in
 * it is one that can be charged, and of two no offer can have both at once. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/rates.h"
#include "io/conf_file.h"
#include "io/prices_file.h"
#include "providers/options.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char burstd_conf[] =
	"cluster = c\ncurrency = USD\nprices_file = /p\n"
	"provider \"aws\" { driver = sim credential_file = /x }\n"
	"pool \"a\" { nodes = n1 provider = aws type = t region = r market = spot max_nodes = 1 "
	"max_rate = 1 }\n";

static void check_message(const char *msg)
{
	size_t digits = strspn(msg + 3, "0123456789");

	assert(strncmp(msg, "/p:", 3) == 0 && digits > 0 && msg[3 + digits] == ':');
	assert(strlen(msg) > 3 + digits + 2 && strchr(msg, '\n') == NULL);
}

static void check_rates(const struct conf *c)
{
	const struct conf_offer *o = conf_rungs(&c->pools[0], NULL);
	int64_t at = 0;

	for (size_t i = 0; i < c->nrates; i++) {
		const struct conf_rate *r = &c->rates[i];

		assert(r->price_nano_h > 0 && r->from_ms >= 0 && r->type[0] != '\0');
		assert(r->until_ms == 0 || r->until_ms > r->from_ms);
		assert(strcmp(r->currency, "USD") == 0 && strcmp(r->provider, "aws") == 0);
	}
	for (size_t i = 0; i <= 2 * c->nrates + 1 && at != INT64_MAX; i++) {
		const struct conf_rate *r = rates_find(c, o, at);
		int64_t next = rates_next_ms(c, at);

		assert(next > at);
		assert(r == NULL || rates_runs(r, at));
		assert(rates_price(c, o, at) == (r != NULL ? r->price_nano_h : 0));
		at = next;
	}
	assert(at == INT64_MAX);
	assert(rates_same(c, c));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = mem_zalloc(size + 1);
	struct conf *c;
	struct err e = {0};

	if (size > 0)
		memcpy(text, data, size);
	if (conf_file_parse(&c, "f", burstd_conf, provider_options, &e) < 0)
		abort();
	if (prices_file_parse(c, text, &e) == 0)
		check_rates(c);
	else
		check_message(e.msg);
	conf_free(c);
	free(text);
	return 0;
}
