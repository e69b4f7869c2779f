#include <stdio.h>

#include "core/reclaim.h"
#include "jobs/jobs.h"

/* The Reason that slurmctld and people get when a provider takes a node's machine. */

void notice_text(char out[NOTICE_WHY_SIZE], const struct node *n)
{
	(void)snprintf(out, NOTICE_WHY_SIZE, "burstd: %s", reclaim_kind_text(n->notice));
}
