/* out.h - text for people: colours where they help, never where they are in the way.
 *
 * What burstd shows may hold a provider's or a user's words: out_clean() is between every string
 * and every stream (base/plain.h). */
#ifndef BURSTD_OUT_H
#define BURSTD_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum out_style { OUT_PLAIN, OUT_BOLD, OUT_DIM, OUT_GOOD, OUT_BUSY, OUT_BAD };

struct out {
	FILE *f;        /* borrowed */
	bool color;     /* the stream is a terminal that wants colours */
	size_t columns; /* of the terminal, for out_wrapped(); 0: lines are as long as they are */
};

enum { OUT_TIME_SIZE = 32, OUT_TIME_WIDTH = 19, OUT_AGO_SIZE = 40, OUT_MONEY_SIZE = 40 };

/* Colours only on a terminal that is not dumb, and not with NO_COLOR set (no-color.org). */
void out_init(struct out *o, FILE *f);
void out_text(const struct out *o, enum out_style style, const char *text);

/* The end of a line whose first `at` columns are written, with a newline.  On a terminal that is
 * too narrow it is broken between words, and goes on below the column where it began; where little
 * room is left behind `at`, in lines of its own. */
void out_wrapped(const struct out *o, enum out_style style, const char *text, size_t at);

/* Filled up with blanks to `width` columns, then two more: for lines whose widths must not wait for
 * what comes next. */
void out_column(const struct out *o, enum out_style style, const char *text, int width);

/* burstd knows people by their numbers alone, for a name may take a network to find: "uid 1000"
 * becomes the user's name, where there is one and burstd's own words are before it.  The caller's.
 */
char *out_people(const char *text);

/* Text for people to read: what may not be shown as '?', and a time that burstd's sentences have in
 * UTC, 2026-01-02T03:04:05Z, in the reader's own zone.  The caller's. */
char *out_clean(const char *text);
size_t out_width(const char *text); /* columns, at one for each character */

/* "2026-01-02T03:04:05", the reader's local time, as squeue shows it; "-" for 0; out has
 * OUT_TIME_SIZE. */
char *out_time(char *out, int64_t ms);
/* "3h12m", the time from then to now; "-" when then is 0; out has OUT_AGO_SIZE. */
char *out_age(char *out, int64_t then_ms, int64_t now_ms);
/* An amount as burstd gives it, rounded for reading: cents, below one four places; out has
 * OUT_MONEY_SIZE. */
char *out_money(char *out, const char *amount);

#endif
