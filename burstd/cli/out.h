/* out.h - text for people, with colours on a terminal.
 *
 * What burstd shows may hold a provider's or a user's words: every string passes out_clean() on its
 * way to a stream (base/plain.h). */
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
	size_t columns; /* of the terminal, for out_wrapped(); 0: do not wrap */
};

enum { OUT_TIME_SIZE = 32, OUT_TIME_WIDTH = 19, OUT_AGO_SIZE = 40, OUT_MONEY_SIZE = 40 };

/* Use colours only on a terminal that is not dumb, and not if NO_COLOR is set (no-color.org). */
void out_init(struct out *o, FILE *f);
void out_text(const struct out *o, enum out_style style, const char *text);

/* Write the rest of a line whose first `at` columns are written, and a newline.  On a narrow
 * terminal the text is wrapped between words, below the column where it began, or on lines of its
 * own if little room is left after `at`. */
void out_wrapped(const struct out *o, enum out_style style, const char *text, size_t at);

/* Write text padded to `width` columns, and two blanks: for tables that are printed row by row. */
void out_column(const struct out *o, enum out_style style, const char *text, int width);

/* Replace "uid 1000" by the user's name, where burstd wrote it; the caller's.  burstd itself only
 * writes uids, for a lookup may need the network. */
char *out_people(const char *text);

/* A copy of text for a terminal, the caller's: bytes that may not be shown become '?', and times of
 * the form 2026-01-02T03:04:05Z local time. */
char *out_clean(const char *text);
size_t out_width(const char *text); /* in columns, one for each character */

/* "2026-01-02T03:04:05", the reader's local time, as squeue shows it; "-" for 0; out has
 * OUT_TIME_SIZE. */
char *out_time(char *out, int64_t ms);
/* "3h12m", the time since then_ms; "-" for 0; out has OUT_AGO_SIZE. */
char *out_age(char *out, int64_t then_ms, int64_t now_ms);
/* Round an amount from burstd, which may be below zero: to cents, below one to four places; out has
 * OUT_MONEY_SIZE. */
char *out_money(char *out, const char *amount);

#endif
