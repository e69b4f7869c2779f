/* money_api.h - what burstd's API shows about money. */
#ifndef BURSTD_MONEY_API_H
#define BURSTD_MONEY_API_H

#include "core/stages.h"
#include "engine/engine.h"

/* How long nodes took, by offer; valid until control returns to the loop. */
const struct stages *engine_stages(const struct engine *e);

#endif
