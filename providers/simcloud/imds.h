/* imds.h - what an instance is told about itself, as 169.254.169.254 tells it.
 *
 * Who asks is known by his source address, so the network between must be one that nobody can lie
 * on, as the bridge of a lab is.  An instance that was made by EC2's API sees EC2's metadata, with
 * version 2's tokens (docs/simcloud.md names the paths); every instance sees /metadata/v1/, which
 * has what clouds without signed identities have. */
#ifndef SIMCLOUD_IMDS_H
#define SIMCLOUD_IMDS_H

#include <stdint.h>

#include "io/http_server.h"
#include "providers/simcloud/cloud.h"
#include "providers/simcloud/identity.h"

struct imds { /* borrowed */
	const struct cloud *cloud;
	const struct identity *identity;
};

enum { IMDS_TOKEN_S_MAX = 21600 };

void imds_handle(const struct imds *m, const struct http_request *rq, struct http_answer *an,
		 int64_t now);

#endif
