/* export_xdmod.h - what Open XDMoD wants to know of a cluster that grows and shrinks.
 *
 * XDMoD computes utilisation against the size of a resource, which a file tells it by day
 * (resource_specs.json); without it an elastic cluster looks idle.  Its cloud realm reads events of
 * instances, one JSON object a line.  Neither has money. */
#ifndef BURSTD_LEDGER_EXPORT_XDMOD_H
#define BURSTD_LEDGER_EXPORT_XDMOD_H

#include "base/zone.h"
#include "ledger/sink.h"
#include "ledger/source.h"

struct export_xdmod {
	const char *resource;    /* XDMoD's name of the cluster */
	int64_t start_s, end_s;  /* whole days of the zone; UTC, end_s is outside */
	const struct zone *zone; /* in which days begin; NULL: UTC */
};

/* Write resource_specs.json: for each day the nodes, CPUs and GPUs that were ready, as averages,
 * rounded up.  CPUs are those of all nodes, those with GPUs included.  -1: the period has more than
 * 400 days, a charge is outside of it or has no share, or the sink failed. */
int export_xdmod_specs(const struct export_xdmod *o, const struct source *from,
		       const struct sink *to, struct err *e);

struct export_xdmod_instance {
	const char *instance, *account, *type, *image;
	uint32_t cpus;
	uint64_t memory_mb;
	int64_t start_s, end_s; /* end_s 0: it runs */
};

/* Write the instance's events from from_s to before to_s: START, STATE_REPORT at each full hour,
 * TERMINATE. */
int export_xdmod_events(const struct export_xdmod_instance *i, int64_t from_s, int64_t to_s,
			const struct sink *to, struct err *e);

#endif
