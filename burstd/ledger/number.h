/* number.h - numbers as exports want them: money exact, quantities so that they can be read back.
 *
 * Money is never a double here: its text has all its decimals.  A quantity (hours, GPU hours) is
 * one, as the formats want it, and its text is the shortest that gives the same double again. */
#ifndef BURSTD_LEDGER_NUMBER_H
#define BURSTD_LEDGER_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

enum {
	NUMBER_MONEY_SIZE = 32,
	/* A double has 17 digits; up to 308 zeros are before or after them. */
	NUMBER_REAL_SIZE = 352,
};

/* Nano-units as a decimal: all nine places less trailing zeros: "29.5", "-0.000000001", "12", or
 * "12.0" if a point is wanted.  out has NUMBER_MONEY_SIZE. */
char *number_money(char *out, int64_t nano, bool point);
/* Rounded half away from zero to `places` (0 to 9): "29.52".  For people; sums are split first. */
char *number_money_round(char *out, int64_t nano, int places);
/* Seconds as hours of two decimals, rounded half away from zero: "0.02" of 64 s. */
char *number_hours(char *out, int64_t seconds);
/* The shortest decimal that reads as v again, with a point and without an exponent: "0.25", "3.0".
 * v is finite; out has NUMBER_REAL_SIZE. */
char *number_real(char *out, double v);

#endif
