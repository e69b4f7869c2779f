/* op.h - the words of the neutral API: its operations and its errors. */
#ifndef SIMCLOUD_OP_H
#define SIMCLOUD_OP_H

#include "base/err.h"

enum op {
	OP_CREATE,
	OP_LIST,
	OP_GET,
	OP_DELETE,
	OP_OFFERS,
	OP_NOTICES,
	OP_REPORT,
	OP_CONSOLE,
	OP_FABRIC,
	OP_LOGIN, /* where a face has one: a session for a credential */
	OP_COUNT
};

enum market { MARKET_ON_DEMAND, MARKET_SPOT, MARKET_RESERVED, MARKET_COUNT };

/* The outcome of a request, or of one instance in it. */
enum code {
	CODE_OK,
	CODE_CAPACITY,
	CODE_QUOTA,
	CODE_DENIED,
	CODE_INVALID,
	CODE_NOT_FOUND,
	CODE_TOKEN_MISMATCH,
	CODE_NOT_YET,
	CODE_RATE,
	CODE_INTERNAL,
	CODE_COUNT
};

const char *op_word(enum op op);        /* "create", ... */
const char *const *op_words(void);      /* all of them, and NULL */
int op_parse(const char *word);         /* -1: no such word */
const char *market_word(enum market m); /* "on-demand", ... */
int market_parse(const char *word, enum market *m, struct err *e);
const char *code_word(enum code code); /* "capacity", ... */
int code_parse(const char *word);      /* -1: no such word */
unsigned code_status(enum code code);  /* HTTP status of an answer with this code */
const char *code_text(enum code code); /* a sentence for people */

#endif
