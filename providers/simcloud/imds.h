/* imds.h - the metadata service, which tells instances about themselves, as 169.254.169.254 does.
 *
 * It knows an instance by its source address, so nobody may be able to forge addresses on the
 * network between, such as the bridge of a lab.  The kind of its keys (identity_kind()) says which
 * cloud it imitates: an instance that was made by EC2's API sees EC2's metadata, with version 2's
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
	/* Sends an answer that was left for later; takes an->body. */
	void (*later)(void *ctx, uint64_t ticket, const struct http_answer *an);
	void *ctx;
	struct imds_wait *waits;
	uint32_t nwaits, cap;
	int64_t next;   /* when the first of the waiting requests is answered at the latest */
	uint64_t heard; /* number of the cloud's notices when they were last looked at */
};

enum { IMDS_TOKEN_S_MAX = 21600, IMDS_WAITS_MAX = 1 << 15 };

void imds_fini(struct imds *m); /* waiting requests get no answer */
void imds_handle(struct imds *m, const struct http_request *rq, struct http_answer *an,
		 int64_t now);
void imds_tick(struct imds *m, int64_t now); /* answer the requests that are due */
int64_t imds_next(const struct imds *m);     /* when one is due; INT64_MAX: none waits */

#endif
