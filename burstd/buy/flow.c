#include "buy/buy.h"
#include "cloud/cloud.h"

/* Shows to the API how requests to a provider flow (cloud_api.h).  Creates and deletes are shown by
 * what they are about: nobody knows yet how many requests they will be. */

struct engine_flow engine_flow(struct engine *e, size_t provider, enum provider_op_kind kind)
{
	struct cloud *c = &e->cloud->all[provider];
	struct engine_flow f = cloud_flow(c, kind);

	if (f.queued == 0 || (kind != PROVIDER_CREATE && kind != PROVIDER_DELETE))
		return f;
	f.oldest_ms = INT64_MAX;
	if (kind == PROVIDER_CREATE)
		f.queued = wanted_queue(c, &f.oldest_ms);
	else
		f.queued = remove_queue(c, &f.oldest_ms);
	if (f.queued == 0) /* creates stand in line at each provider that might have to buy */
		f.oldest_ms = 0;
	return f;
}
