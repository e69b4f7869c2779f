/* imds.h - what an instance is told about itself, as 169.254.169.254 tells it.
 *
 * Who asks is known by his source address, so the network between must be one that nobody can lie
 * on, as the bridge of a lab is.  Whose words it has is said by the keys that it signs with
 * (identity_kind()): an instance that was made by EC2's API sees EC2's metadata, with version 2's
 * tokens; with Google's or Azure's keys all instances see theirs (docs/simcloud.md names the
 * paths).  Every instance sees /metadata/v1/, which has what clouds without signed identities
 * have. */
#ifndef SIMCLOUD_IMDS_H
#define SIMCLOUD_IMDS_H

#include <stdint.h>

#include "io/http_server.h"
#include "providers/simcloud/cloud.h"
#include "providers/simcloud/identity.h"

struct imds_wait;

struct imds {
	struct cloud *cloud; /* these two are borrowed */
	const struct identity *identity;
	/* Where answers go that were left for later; takes an->body. */
	void (*later)(void *ctx, uint64_t ticket, const struct http_answer *an);
	void *ctx;
	struct imds_wait *waits;
	uint32_t nwaits, cap;
	int64_t next;   /* when the first of them has waited long enough */
	uint64_t heard; /* they know of so many of the cloud's notices */
};

enum { IMDS_TOKEN_S_MAX = 21600, IMDS_WAITS_MAX = 1 << 15 };

void imds_fini(struct imds *m); /* nobody who waits is answered */
void imds_handle(struct imds *m, const struct http_request *rq, struct http_answer *an,
		 int64_t now);
void imds_tick(struct imds *m, int64_t now); /* answer whom there is something to tell */
int64_t imds_next(const struct imds *m);     /* when there will be; INT64_MAX: nobody waits */

#endif
