/* scrape.h - the listener of /metrics and the other pages of api/pages.h (option listen).  A port
 * in use is tried again, since burstd does not depend on it, and any user of this machine can
 * occupy it. */
#ifndef BURSTD_SCRAPE_H
#define BURSTD_SCRAPE_H

#include "api/api.h"
#include "base/err.h"

struct loop;
struct scrape;
struct sd_listen;

/* Listen as long as *api lives, on a socket of `from` if it has the one (io/sd_listen.h);
 * api->unscraped says why it cannot now.  *out NULL: the option is empty.  -1: it can never listen.
 */
int scrape_open(struct scrape **out, struct loop *loop, struct api *api, struct sd_listen *from,
		struct err *e);
/* Stop listening. */
void scrape_close(struct scrape *s);
/* Call it after the loop is freed. */
void scrape_free(struct scrape *s);

#endif
