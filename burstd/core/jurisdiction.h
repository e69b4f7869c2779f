/* jurisdiction.h - in which country a cloud's region is, and which countries a word stands for.
 *
 * A pool may be restricted to, say, the EU.  That is a promise with legal weight, so it fails
 * closed: a region that is not in the table is nowhere, unless the admin sets `jurisdiction =
 * "DE"`.  A region's name says little: eu-west-2 is London and eu-central-2 is Zurich.
 *
 * It is about the place of the machine, not about its owner. */
#ifndef BURSTD_JURISDICTION_H
#define BURSTD_JURISDICTION_H

#include <stdbool.h>

/* The country of a region: two letters as in ISO 3166, static; NULL: not known. */
const char *jurisdiction_of(const char *driver, const char *region);

/* Is `place` (a country, or EU or EEA for "somewhere in it") within `allowed` (likewise)?  Any
 * other word is within itself only; NULL and "" are nowhere. */
bool jurisdiction_within(const char *place, const char *allowed);

/* Is it a country's two letters, EU or EEA?  Any other word matches only offers that have it as
 * their own jurisdiction. */
bool jurisdiction_is_known(const char *word);

#endif
