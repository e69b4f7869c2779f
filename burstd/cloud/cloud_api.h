/* cloud_api.h - what burstd's API shows of the providers.  Texts are borrowed, and valid until
 * control returns to the loop; `provider` is an index in the configuration. */
#ifndef BURSTD_CLOUD_API_H
#define BURSTD_CLOUD_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/limit.h"
#include "core/provider.h"
#include "engine/engine.h"

struct engine_source engine_provider_source(const struct engine *e, size_t provider);

/* Since when the provider cannot be reached, so that burstd buys nothing there; 0: it can. */
int64_t engine_away_since(const struct engine *e, size_t provider);
/* Why the provider is off: it could not be opened, or the configuration does not have it any more;
 * NULL: it is on. */
const char *engine_off(const struct engine *e, size_t provider);
/* How far the wall clock of this machine is ahead of the provider's, in ms, as far as the Dates of
 * its answers prove; < 0: behind. */
int64_t engine_clock_ahead(const struct engine *e, size_t provider);
/* Why the provider's last failed delete failed, and when that was; 0: none has. */
const char *engine_undeleted(const struct engine *e, size_t provider, int64_t *failed_ms);
/* Why requests for the provider's notices fail, and since when; 0: they do not, or it has none. */
const char *engine_unheard(const struct engine *e, size_t provider, int64_t *since_ms);
/* The name of the fabric that this row's machine is in, or is to be; "": none is known.  Returns
 * out. */
const char *engine_fabric(const struct engine *e, const struct node *n,
			  char out[PROVIDER_WORD_MAX + 1]);
/* Why the provider refused to drop a fabric last, and how many fabrics it refuses to drop. */
const char *engine_undropped(const struct engine *e, size_t provider, size_t *n);
/* The id of the i-th instance in the provider's last list that has our tag, but an unreadable node
 * name or generation; NULL: no more. */
const char *engine_unreadable(const struct engine *e, size_t provider, size_t i);
struct engine_stray {
	const char *id, *node; /* valid for this turn; node: as its tag says */
	int64_t tried_ms;      /* when the provider was first asked to delete it; 0: not yet */
	int64_t seen_ms;       /* when the list began that shows it */
	bool leaves;           /* it stops already */
	bool up; /* no pool names its node, but slurmctld has the node up: it is not deleted */
};
/* The i-th stray of a provider: an instance in its last good list that has our tag and no row.  It
 * is deleted, unless slurmctld turns out to use it.  false: no more. */
bool engine_stray(const struct engine *e, size_t provider, size_t i, struct engine_stray *out);

struct engine_flow {        /* requests of one kind to a provider */
	uint64_t sent;      /* since burstd started, with those that were throttled ... */
	uint64_t throttled; /* ... and of them, these */
	/* What waits for the limiter alone: nodes in creates, instances in deletes, else requests
	 * (of which burstd knows one, but of steps and reports all). */
	size_t queued;
	int64_t oldest_ms; /* since when the first of these waits; 0: none does */
	struct limit_view limit;
};
/* The flow of this kind, now.  In buy/flow.c. */
struct engine_flow engine_flow(struct engine *e, size_t provider, enum provider_op_kind kind);

struct engine_console {   /* what a machine wrote before it failed to boot */
	const char *text; /* as console_show() (core/console.h): untrusted, without secrets */
	uint64_t gen;
	const char *instance;
	int64_t at_ms; /* when it was fetched */
};
/* The console log of the last machine of this node that did not boot, if its provider has one.
 * false: there is none; in memory only, and only of the last 256 such machines. */
bool engine_console(const struct engine *e, const char *node, struct engine_console *out);

/* A fabric whose machines are further from each other than its pool's fabric_hops, by what the
 * provider says of where they are.  Its texts are borrowed for this turn. */
struct engine_apart {
	const char *fabric;
	const char *nodes; /* a folded list of those whose place is known; "": it is too long */
	size_t n, provider;
	uint32_t pool, unit; /* unit: 0: it is not that of a placement unit */
	int hops;            /* core/hops.h */
};
/* The i-th of them, by provider, fabric and pool; false: no more. */
bool engine_apart(const struct engine *e, size_t i, struct engine_apart *out);
/* Append what is to be said about it. */
void engine_apart_text(const struct engine *e, const struct engine_apart *a, struct str *out);
/* Why the provider does not say where its machines are; "": it does, or was not asked. */
const char *engine_unplaced(const struct engine *e, size_t provider);

/* Why a WANTED row is not bought yet: its machine could not get its keys now; NULL: that is not
 * why. */
const char *engine_keys_wait(const struct engine *e, const struct node *n);

#endif
