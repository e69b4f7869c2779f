#include "buy/buy.h"
#include "jobs/jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Carries out an admin's orders about nodes.  If slurmctld has the node up, it gets the order, so
 * that jobs are requeued and accounted properly; the suspend call that follows ends the instance.
 */

/* Has slurmctld the node up, or does it wait for it to boot? */
static bool is_held(const struct fleet_name *nm)
{
	return (nm->flags & SLURM_KNOWN) != 0 && (nm->flags & SLURM_VANISHED) == 0 &&
	       !slurm_is_off(nm->flags);
}

static void release(struct engine *e, struct fleet_name *nm)
{
	struct node_event ev = {
		.type = NODE_EV_RELEASE, .reason = NODE_BECAUSE_OPERATOR, .now_ms = engine_now(e)};

	for (struct fleet_node *fn = nm->newest; fn != NULL; fn = fn->older)
		if (node_counts(&fn->n))
			engine_post(e, fn, &ev);
}

static bool is_busy(const struct fleet_name *nm)
{
	return (nm->flags & (SLURM_ALLOCATED | SLURM_COMPLETING)) != 0;
}

static void operate(struct engine *e, struct fleet_name *nm, const struct engine_request *rq)
{
	char detail[96];

	(void)snprintf(detail, sizeof(detail), "ordered by %.60s", rq->by);
	engine_event(e, nm->name, nm->newest != NULL ? nm->newest->n.gen : 0,
		     rq->order == ENGINE_DRAIN ? "drained" : "terminated", detail);
	(void)snprintf(nm->by, sizeof(nm->by), "%.31s", rq->by);
	if (!is_held(nm)) {
		release(e, nm); /* nothing runs there */
	} else if (rq->order == ENGINE_DRAIN) {
		fleet_tell(nm, "drained by an admin", engine_now(e));
		insist_drain(e, nm, ENGINE_WHY_DRAINED);
	} else {
		insist_end(e, nm);
	}
}

/* Count the node, and carry out the order. */
static void take(struct engine *e, struct fleet_name *nm, const struct engine_request *rq,
		 struct engine_ordered *out)
{
	if (!is_held(nm) && !fleet_exists(nm)) {
		out->off++;
		return;
	}
	out->n++;
	out->busy += is_busy(nm);
	if (!rq->look)
		operate(e, nm, rq);
}

/* Is the node's state not known yet, since burstd started?  Then jobs may run on it, which must not
 * end (F48). */
static bool is_unsure(const struct engine *e, const struct fleet_name *nm)
{
	const struct fleet_node *fn = fleet_live(nm);

	if ((nm->flags & (SLURM_KNOWN | SLURM_VANISHED)) == 0)
		return fleet_exists(nm);
	return fn != NULL && fn->n.wanted_ms >= e->poll.snapshot_ms;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The nodes of a list, each once.  NULL: no pool names one of them. */
static struct fleet_name **names_of(struct engine *e, const struct hostlist *h, size_t *n,
				    struct err *err)
{
	const char **sorted = mem_zalloc(h->n * sizeof(*sorted));
	struct fleet_name **names = mem_zalloc(h->n * sizeof(struct fleet_name *));

	memcpy(sorted, h->names, h->n * sizeof(*sorted));
	qsort(sorted, h->n, sizeof(*sorted), by_name);
	*n = 0;
	for (size_t i = 0; i < h->n; i++) {
		struct fleet_name *nm = fleet_find(&e->fleet, sorted[i]);

		if (i > 0 && strcmp(sorted[i], sorted[i - 1]) == 0)
			continue;
		if (nm == NULL) {
			(void)err_set(err, ERR_INVALID, "no pool names the node %.63s", sorted[i]);
			free(names);
			names = NULL;
			break;
		}
		names[(*n)++] = nm;
	}
	free(sorted);
	return names;
}

static int check_known(const struct engine *e, struct fleet_name *const *names, size_t n,
		       struct err *err)
{
	for (size_t i = 0; i < n; i++)
		if (is_unsure(e, names[i]))
			return err_set(
				err, ERR_INVALID,
				"slurmctld has not shown the state of %.63s yet: nothing was done",
				names[i]->name);
	return 0;
}

int engine_operate(struct engine *e, const struct engine_request *rq, struct engine_ordered *out,
		   struct err *err)
{
	struct fleet_name **names = e->fleet.all;
	struct hostlist *h = NULL;
	size_t n = e->fleet.nall;
	int rc;

	*out = (struct engine_ordered){0};
	if (rq->nodes != NULL) {
		if (hostlist_parse(&h, rq->nodes, strlen(rq->nodes), err) != 0)
			return -1;
		names = names_of(e, h, &n, err);
		hostlist_free(h);
		if (names == NULL)
			return -1;
	}
	rc = check_known(e, names, n, err);
	for (size_t i = 0; i < n && rc == 0; i++)
		take(e, names[i], rq, out);
	if (rq->nodes != NULL)
		free(names);
	if (rc != 0)
		return -1;
	if (!rq->look)
		engine_turn(e);
	return e->dead ? err_set(err, ERR_IO, "the journal failed") : 0;
}

/* --- places ------------------------------------------------------------------------------------
 */

int engine_retry(struct engine *e, const char *what, const char *by, size_t *n, struct err *err)
{
	char text[200];

	if (place_retry(e, what, n) != 0)
		return err_set(err, ERR_INVALID, "no pool and no provider is named \"%.60s\"",
			       what);
	if (*n == 0)
		return 0;
	(void)snprintf(text, sizeof(text), "%.80s, ordered by %.60s",
		       what != NULL ? what : "all places", by);
	engine_event(e, "", 0, "retried", text);
	engine_commit(e);
	engine_turn(e);
	return e->dead ? err_set(err, ERR_IO, "the journal failed") : 0;
}
