#include "engine/kernel.h"

/* Shows to the API what the kernel keeps: configuration, fleet, slurmctld, counters (engine.h). */

const struct conf *engine_conf(const struct engine *e)
{
	return e->conf;
}

const struct fleet *engine_fleet(const struct engine *e)
{
	return &e->fleet;
}

struct fleet_name *const *engine_sorted(struct engine *e)
{
	return fleet_sorted(&e->fleet);
}

int64_t engine_started_ms(const struct engine *e)
{
	return e->started_ms;
}

struct engine_source engine_slurm_source(const struct engine *e)
{
	return (struct engine_source){"slurmctld", e->poll.ok_ms, e->poll.failed_ms, e->poll.error};
}

const struct engine_counters *engine_counters(const struct engine *e)
{
	return &e->count;
}

const char *engine_slurm_state(const struct engine *e, const char *node, char *buf, size_t size)
{
	const struct fleet_name *nm = fleet_find(&e->fleet, node);

	buf[0] = '\0';
	if (nm != NULL)
		slurm_print_state(nm->flags, buf, size);
	return buf;
}
