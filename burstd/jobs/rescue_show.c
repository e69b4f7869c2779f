#include "jobs/jobs.h"

#include <string.h>

/* Shows people the jobs of a node that goes down, and when it goes. */

int64_t engine_force_ms(const struct engine *e, const char *node)
{
	const struct fleet_name *nm = fleet_find(&e->fleet, node);
	const struct fleet_node *fn = nm != NULL ? fleet_live(nm) : NULL;
	struct reclaim_plan plan;

	if (fn == NULL || fn->n.state != NODE_DRAINING)
		return 0;
	notice_plan(e, fn, &plan);
	return plan.force_ms;
}

bool engine_taken(const struct engine *e, const char *node, size_t i, struct engine_taken *out)
{
	for (const struct rescue *r = e->jobs->parts[JOB_RESCUED]; r != NULL; r = r->in.next) {
		const struct fleet_name *nm = fleet_find(&e->fleet, r->j.node);

		if (nm == NULL || r->j.hold_ms != 0 || strcmp(nm->name, node) != 0 || i-- > 0)
			continue;
		*out = (struct engine_taken){r->j.id, ""};
		if (r->j.signal == JOURNAL_SIGNAL_SENT) {
			const char *signal = e->conf->pools[nm->pool].checkpoint_signal;

			out->signal = signal != NULL && signal[0] != '\0' ? signal : "a notice";
		}
		return true;
	}
	return false;
}
