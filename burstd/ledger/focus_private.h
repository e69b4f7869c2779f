/* focus_private.h - the rows and columns of a FOCUS data set, for focus*.c alone. */
#ifndef BURSTD_LEDGER_FOCUS_PRIVATE_H
#define BURSTD_LEDGER_FOCUS_PRIVATE_H

#include "ledger/csv.h"
#include "ledger/focus.h"
#include "ledger/held.h"

__extension__ typedef __int128 focus_wide;

/* How the charge is billed, by which most of what may be null is null. */
enum focus_category { FOCUS_USAGE, FOCUS_CREDIT, FOCUS_ADJUSTMENT, FOCUS_TAX };

struct focus_row { /* merged */
	struct held held;
	int64_t start_s, end_s, nano, gpu_s, cpu_s;
	int64_t list_nano; /* exact; -1: of some charge not known */
	focus_wide picos;  /* 1e-12 s of the whole machine */
	bool estimated;
};

struct focus_driver {
	const char *driver, *name, *service;
};

struct focus_line { /* a row as the columns see it */
	const struct focus_options *o;
	const struct focus_provider *provider;
	const struct focus_driver *driver;
	const struct focus_row *row;
	const struct charge *c;
	enum focus_category category;
	bool correction; /* of a period that was billed before */
	double price, quantity;
	focus_wide origin_picos; /* of all usage of the instance that day */
	struct str text;         /* scratch */
	bool full;               /* some text did not fit into it */
};

enum focus_in { FOCUS_OLD = 1 << FOCUS_1_2, FOCUS_NEW = 1 << FOCUS_1_4, FOCUS_BOTH = 3 };

struct focus_column {
	const char *name;
	unsigned in; /* of enum focus_in */
	const char *type, *about;
	void (*put)(struct focus_line *l, struct csv *out);
};

enum { FOCUS_COLUMNS_MAX = 80 }; /* there are 64 */

extern const struct focus_column focus_columns[]; /* until one without a name */
extern const struct focus_column focus_slurm_columns[];

/* The columns of that version, in their order; returns how many. */
size_t focus_columns_of(enum focus_version v, const struct focus_column *out[FOCUS_COLUMNS_MAX]);
enum focus_category focus_category_of(const struct charge *c);
const char *focus_category_str(enum focus_category c);
bool focus_is_correction(const struct focus_options *o, const struct charge *c);
/* Owner, class and so on are the same, and the unit price; of adjustments also the period. */
int focus_compare(const struct focus_options *o, const struct charge *a, const struct charge *b);
int64_t focus_unit_price(const struct charge *c); /* nano-units an hour */

/* Empty the scratch text for the next. */
void focus_clear(struct focus_line *l);
const struct focus_driver *focus_driver(const char *driver);
const struct focus_provider *focus_find_provider(const struct focus_options *o, const char *name);
/* Each writes to the scratch text and returns it. */
const char *focus_time(struct focus_line *l, int64_t t_s);
const char *focus_billing_account(struct focus_line *l);
const char *focus_invoice(struct focus_line *l, const char *number);
const char *focus_resource(struct focus_line *l);
const char *focus_user(struct focus_line *l); /* or its pseudonym; not ASCII */

#endif
