/* sink.h - where a report goes, piece by piece, so that no report is in memory as a whole. */
#ifndef BURSTD_LEDGER_SINK_H
#define BURSTD_LEDGER_SINK_H

#include <stdio.h>

#include "base/err.h"
#include "base/str.h"

struct sink {
	/* Take len bytes, all or with -1 none; what failed once need not work again. */
	int (*put)(void *ctx, const char *text, size_t len, struct err *e);
	void *ctx;
};

struct sink sink_file(FILE *f); /* the caller flushes and closes it; a failed write is seen there,
				   too */
struct sink sink_str(struct str *s);

/* Hand over what is in s, and clear it.  -1 with ERR_LIMIT if some text did not fit into s. */
int sink_flush(const struct sink *to, struct str *s, struct err *e);

#endif
