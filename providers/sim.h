/* sim.h - the driver for simcloud's neutral REST API (docs/simcloud.md). */
#ifndef PROVIDERS_SIM_H
#define PROVIDERS_SIM_H

#include "core/provider.h"

extern const struct provider_ops provider_sim;

#endif
