#include "providers/simcloud/op.h"

#include <string.h>

static const char *const ops[OP_COUNT + 1] = {"create", "list",    "get",    "delete",
					      "offers", "notices", "report", "console",
					      "fabric", "login",   NULL};
static const char *const markets[MARKET_COUNT] = {"on-demand", "spot", "reserved"};

static const struct {
	const char *word, *text;
	unsigned status;
} codes[CODE_COUNT] = {
	[CODE_OK] = {"ok", "ok", 200},
	[CODE_CAPACITY] = {"capacity", "none of this type is free here now", 503},
	[CODE_QUOTA] = {"quota", "the account's limit is reached", 403},
	[CODE_DENIED] = {"denied", "not allowed", 403},
	[CODE_INVALID] = {"invalid", "malformed request", 400},
	[CODE_NOT_FOUND] = {"not-found", "no such instance", 404},
	[CODE_TOKEN_MISMATCH] = {"token-mismatch", "the token was used for another request", 409},
	[CODE_NOT_YET] = {"not-yet", "refused for now", 409},
	[CODE_RATE] = {"rate", "too many requests", 429},
	[CODE_INTERNAL] = {"internal", "internal error", 500},
};

const char *op_word(enum op op)
{
	return ops[op];
}

const char *const *op_words(void)
{
	return ops;
}

int op_parse(const char *word)
{
	for (int i = 0; i < OP_COUNT; i++)
		if (strcmp(ops[i], word) == 0)
			return i;
	return -1;
}

const char *market_word(enum market m)
{
	return markets[m];
}

int market_parse(const char *word, enum market *m, struct err *e)
{
	for (int i = 0; i < MARKET_COUNT; i++)
		if (strcmp(markets[i], word) == 0) {
			*m = (enum market)i;
			return 0;
		}
	return err_set(e, ERR_INVALID, "market: want on-demand, spot or reserved");
}

const char *code_word(enum code code)
{
	return codes[code].word;
}

int code_parse(const char *word)
{
	for (int i = 0; i < CODE_COUNT; i++)
		if (strcmp(codes[i].word, word) == 0)
			return i;
	return -1;
}

unsigned code_status(enum code code)
{
	return codes[code].status;
}

const char *code_text(enum code code)
{
	return codes[code].text;
}
