/* meter.h - the billing meter: one row for every instance that ever was, never changed afterwards.
 *
 * A row runs from the effect of the create to the end of the instance, at the price of that moment
 * and the later prices, each from its own time on.
 * This is the ground truth by which `simcloud audit` judges burstd, so it knows nothing of burstd.
 * With a state file every change is one line appended by one write(2); a simcloud that is killed
 * and started again closes the rows left open at the last time it is known to have lived. */
#ifndef SIMCLOUD_METER_H
#define SIMCLOUD_METER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "providers/simcloud/op.h"

enum {
	METER_ID_SIZE = 16,
	METER_ROWS_MAX = 1 << 22, /* about 500 MB; then creates are refused */
};

/* A price that holds from a time on. */
struct meter_price {
	int64_t from_ms, nano_h;
};

/* Strings are the meter's, shared between rows, and live as long as it does. */
struct meter_row {
	const char *node, *cluster, *type, *region, *zone, *currency;
	uint64_t gen;
	int64_t price_nano_h;
	int64_t start_ms, deleted_ms, end_ms; /* -1: not yet; deleted: when a delete was accepted */
	enum market market;
	struct meter_price *later; /* prices after price_nano_h, in order; the meter owns them */
	uint32_t nlater;
};

struct meter {
	struct meter_row *rows;
	uint32_t n, cap;
	int64_t last_ms;   /* latest time in any row */
	int fd;            /* state file, or -1 */
	struct map *words; /* every string once */
	char **owned;
	size_t nowned, owned_cap;
};

struct meter *meter_new(void);
void meter_free(struct meter *m); /* NULL is fine */

/* Read what an earlier run wrote to path and append to it from now on; the file is made if need be.
 * A torn last line is cut off.  -1: nothing was written, and *m is good for meter_free() alone. */
int meter_attach(struct meter *m, const char *path, struct err *e);
/* Read a state file, or the answer of GET /admin/meter, without writing.  -1: as above. */
int meter_load(struct meter *m, const char *text, size_t len, struct err *e);

/* Add a row; the strings of *r are copied, its times but start_ms ignored.  Returns its number. */
uint32_t meter_start(struct meter *m, const struct meter_row *r);
/* Set the price from from_ms on, which must not precede the begin of the last price. */
void meter_price(struct meter *m, uint32_t row, int64_t from_ms, int64_t nano_h);
int64_t meter_price_now(const struct meter_row *r);             /* the last price */
void meter_deleted(struct meter *m, uint32_t row, int64_t now); /* only the first call counts */
void meter_ended(struct meter *m, uint32_t row, int64_t now, const char *why);
void meter_alive(struct meter *m, int64_t now); /* a mark: simcloud lived at this time */

char *meter_id(char out[METER_ID_SIZE], uint32_t row); /* the instance's id, "sim-0000002a" */
bool meter_row_of(const struct meter *m, const char *id, uint32_t *row);

int64_t meter_cost(const struct meter_row *r, int64_t now);
void meter_write(const struct meter *m, struct str *s, int64_t now, const char *cluster);

#endif
