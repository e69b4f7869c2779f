/* doc.h - reads a vendor's reply in JSON, and says what is wrong with it and where.
 *
 *	struct doc d;
 *	struct doc_at rows, o;
 *
 *	(void)doc_load(&d, reply->body, reply->len);
 *	rows = doc_list(&d.top, "data", ROWS_MAX);
 *	for (size_t i = 0; i < rows.n; i++) {
 *		o = doc_item(&rows, i);
 *		doc_id(&o, "id", in[i].id, sizeof(in[i].id));
 *		in[i].created_ms = doc_time(&o, "created_at");
 *	}
 *	if (!doc_good(&d)) ...                  d.wrong is "data[3].id: want a string"
 *
 * The first error ends the reading: lists are empty, texts "" and numbers 0 from then on.  So check
 * once, at the end, and believe nothing before.  What may be missing or odd in rows that are not
 * ours is read by doc_word(), which knows no error.
 *
 * A key is a name, or several with dots between for members of members: "instance_type.name".  "*"
 * is the only member of an object, whatever its name.  For lists of ten thousand rows use jpull.h,
 * which builds no tree. */
#ifndef PROVIDERS_COMMON_DOC_H
#define PROVIDERS_COMMON_DOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

enum {
	DOC_BYTES_MAX = 32 << 20, /* a page of a thousand instances is about 2 MiB ... */
	/* ... and has some 60,000 values.  "[{},{},...]" of 32 MiB would take 2.5 GiB. */
	DOC_VALUES_MAX = 2000000,
	DOC_KEY_MAX = 64,
	DOC_WRONG_SIZE = 160,
};

struct doc_at { /* a place in a document; fields are for doc.c, but for n */
	struct doc *doc;
	const struct doc_at *up; /* must live as long as this one; NULL: the whole */
	const char *key;         /* in up; NULL: an item of a list */
	size_t index;
	const json_t *v; /* NULL after an error */
	size_t n;        /* items, of a list */
};

struct doc {
	json_t *root;
	struct doc_at top;
	char wrong[DOC_WRONG_SIZE]; /* the first error, without any of the vendor's text; "": none
				     */
};

/* Parse all of body (NULL: empty): JSON without members that come twice, at most DOC_BYTES_MAX,
 * DOC_VALUES_MAX values and JPULL_DEPTH_MAX deep.  Call doc_fini() in either case. */
bool doc_load(struct doc *d, const char *body, size_t len);
void doc_fini(struct doc *d);
/* Was all that was asked for there? */
bool doc_good(const struct doc *d);
/* Was something wrong with this row?  Then forget it, and go on: for rows that may be odd.  Only in
 * a loop that began well. */
bool doc_forgive(struct doc *d);
/* The driver's own complaint about o's member key (NULL: about o itself): "want ...". */
void doc_wrong(const struct doc_at *o, const char *key, const char *want);

/* The list at key, of at most max items; anything else is an error.  key NULL: o itself. */
struct doc_at doc_list(const struct doc_at *o, const char *key, size_t max);
/* Likewise the values of an object whose keys are data: {"small": {...}, "large": {...}}, in the
 * order of the reply. */
struct doc_at doc_values(const struct doc_at *o, const char *key, size_t max);
struct doc_at doc_item(const struct doc_at *list, size_t i);
/* Is there anything but null at key? */
bool doc_has(const struct doc_at *o, const char *key);

/* Copy a text that must be there, and fit.  doc_text_if(): false, and "", if it is missing or null.
 */
void doc_text(const struct doc_at *o, const char *key, char *out, size_t size);
bool doc_text_if(const struct doc_at *o, const char *key, char *out, size_t size);
/* An id, as text or number: printable ASCII without blanks, quotes and backslashes, not empty. */
void doc_id(const struct doc_at *o, const char *key, char *out, size_t size);
/* Borrow a text; "" for anything else, and never an error. */
const char *doc_word(const struct doc_at *o, const char *key);

/* A whole number >= 0, as number or text ("7"), that must be there; doc_int_if(): 0 if it is
 * missing or null. */
int64_t doc_int(const struct doc_at *o, const char *key);
int64_t doc_int_if(const struct doc_at *o, const char *key);
/* false if it is missing or null. */
bool doc_flag(const struct doc_at *o, const char *key);

/* A price in nano-units, as number or text ("29.52"), that must be there.  per: how many of the
 * vendor's units make one, 1 or 100 (cents); what is left over is rounded up. */
int64_t doc_money(const struct doc_at *o, const char *key, int64_t per);
/* A time of RFC 3339 in ms since 1970; 0 if it is missing, null, "", or the year 1, which is how Go
 * says that there is none.  Any other before 1970 is an error. */
int64_t doc_time(const struct doc_at *o, const char *key);
/* The same, where nothing depends on it: a time without a zone is in UTC, and one that cannot be
 * read is 0, and no error. */
int64_t doc_time_if(const struct doc_at *o, const char *key);
/* Is there a time, whatever it looks like?  Not where doc_time() is 0. */
bool doc_has_time(const struct doc_at *o, const char *key);

#endif
