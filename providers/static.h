/* static.h - the driver for machines that a site owns: switched on and off and looked at by the
 * site's own commands (docs/static.md).
 *
 * Its requests are COMMANDs for burst-static (scripts/node/burst-static), which runs those commands
 * and keeps a record of each machine that it switched on: what cloud providers keep as tags. */
#ifndef PROVIDERS_STATIC_H
#define PROVIDERS_STATIC_H

#include "core/provider.h"

extern const struct provider_ops provider_static;

#endif
