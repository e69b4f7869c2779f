/* parts.h - the table of all parts of the engine, for main and for whoever else makes a whole one.
 * The kernel has it by struct engine_deps only. */
#ifndef BURSTD_PARTS_PARTS_H
#define BURSTD_PARTS_PARTS_H

#include "engine/part.h"

struct engine_parts parts_all(void);

#endif
