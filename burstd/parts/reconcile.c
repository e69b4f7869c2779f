#include "buy/buy.h"
#include "cloud/cloud.h"
#include "engine/kernel.h"
#include "jobs/jobs.h"
#include "parts/parts.h"

/* Looks at slurmctld, its settings and all clouds at once, as an admin asks. */

void engine_reconcile(struct engine *e)
{
	e->poll.next_ms = engine_now(e);
	prereq_hurry(e);
	for (size_t i = 0; i < e->conf->nproviders; i++)
		e->cloud->all[i].list_next = e->cloud->all[i].quotes_next = engine_now(e);
	engine_turn(e);
}
