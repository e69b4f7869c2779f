/* jurisdiction.h - in which country a region's machines stand, and which countries a word means.
 *
 * A pool may say that nothing is bought outside of, say, EU.  That is a promise to people who have
 * signed something, so it fails closed: a region that is not in the table is nowhere, and an admin
 * who knows better says so with `jurisdiction = "DE"`.  A name says little: eu-west-2 is London and
 * eu-central-2 is Zurich.
 *
 * It is about where the machine stands, not about whose it is. */
#ifndef BURSTD_JURISDICTION_H
#define BURSTD_JURISDICTION_H

#include <stdbool.h>

/* Two letters as in ISO 3166, static; NULL: not known. */
const char *jurisdiction_of(const char *driver, const char *region);

/* Is `place` (a country, or EU or EEA for "somewhere in it") within `allowed` (likewise)?  Any
 * other word is within itself only; NULL and "" are nowhere. */
bool jurisdiction_within(const char *place, const char *allowed);

/* Is it a country's two letters, EU or EEA?  Any other word is good only where an offer says that
 * its machines stand there. */
bool jurisdiction_is_known(const char *word);

#endif
