/* terms.h - the terms of an offer (struct provider_terms) for people, and whether a machine takes
 * the user-data that it would be given. */
#ifndef BURSTD_TERMS_H
#define BURSTD_TERMS_H

#include "base/str.h"
#include "core/provider.h"

/* What the driver knows of a place before any request. */
struct provider_terms terms_known(const struct provider_ops *ops, const void *self,
				  const struct provider_place *place);
/* Does such a machine take this user-data?  text NULL or "": it gets none, which is good.  -1: *e
 * has its size, or its beginning, and what the provider wants. */
int terms_take_data(const struct provider_terms *t, const char *text, struct err *e);
/* Could a machine become a node, if it is given user-data or none?  Without user-data its image has
 * to have burst-node in it.  -1: *e says that nothing could. */
int terms_boot(const struct provider_terms *t, struct err *e);
/* "cloud-init" (any text), "script", "none"; "": not said. */
const char *terms_data_str(enum provider_data data);
const char *terms_stock_str(enum provider_stock stock); /* "none", "some"; "": not said */
/* Append what is said of billing, user-data and interconnect, each after "; ". */
void terms_print(const struct provider_terms *t, struct str *out);

#endif
