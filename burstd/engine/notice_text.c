#include <stdio.h>

#include "core/reclaim.h"
#include "engine/private.h"

/* What slurmctld and people are told of a node whose machine goes. */

void notice_text(char out[NOTICE_WHY_SIZE], const struct node *n)
{
	(void)snprintf(out, NOTICE_WHY_SIZE, "burstd: %s", reclaim_kind_text(n->notice));
}
