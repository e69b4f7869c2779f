/* scrape.h - the listener of /metrics (option listen).  A port that cannot be had is tried again:
 * nothing that burstd does hangs on it, and any user of this machine may have had it first. */
#ifndef BURSTD_SCRAPE_H
#define BURSTD_SCRAPE_H

#include "api/api.h"
#include "base/err.h"

struct loop;
struct scrape;

/* Listen for as long as *api lives, which has in api->unscraped why nobody does now; *out NULL:
 * that is not wanted.  -1: it never can. */
int scrape_open(struct scrape **out, struct loop *loop, struct api *api, struct err *e);
/* Nobody is heard from now on. */
void scrape_close(struct scrape *s);
/* After its loop. */
void scrape_free(struct scrape *s);

#endif
