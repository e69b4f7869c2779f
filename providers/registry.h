/* registry.h - the table of cloud drivers, which main.c gives to the engine; a new cloud is one
 * line. */
#ifndef PROVIDERS_REGISTRY_H
#define PROVIDERS_REGISTRY_H

#include "core/provider.h"

extern const struct provider_ops *const provider_drivers[]; /* NULL-terminated */

const struct provider_ops *provider_find(const char *name); /* NULL: no such driver */

#endif
