#include "engine/private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* What is asked of a provider, and what slurmctld is told that changes a node or a job: each
 * request is on record before it is sent (I28).  Nothing that a driver makes of it is in the
 * record, so no credential can be. */

enum { SAY_MAX = 400 }; /* bytes of who, and of why; more is left out */

void audit_begin(struct audit *a, size_t max)
{
	*a = (struct audit){.max = max};
	a->names = mem_zalloc((max + 1) * sizeof(*a->names));
	str_init(&a->actor, SAY_MAX);
	str_init(&a->reason, SAY_MAX);
	str_init(&a->ids, max * (PROVIDER_ID_MAX + 1));
}

static void say(struct str *s, const char *text)
{
	if (strstr(s->p, text) == NULL)
		str_addf(s, "%s%s", s->len > 0 ? "; " : "", text);
}

static void add(struct audit *a, const char *node, const char *actor, const char *reason)
{
	if (a->n < a->max)
		a->names[a->n++] = node;
	say(&a->actor, actor);
	say(&a->reason, reason);
}

static const char *admin(const struct fleet_name *nm)
{
	return nm != NULL && nm->by[0] != '\0' ? nm->by : "an admin";
}

void audit_create(struct audit *a, const struct fleet_name *nm, const struct fleet_node *fn)
{
	const char *why = fn != NULL ? fn->made : NULL;

	if (nm != NULL)
		add(a, nm->name,
		    why != NULL && strcmp(why, ENGINE_WHY_CALL) == 0 ? "hook" : "reconciler",
		    why != NULL ? why : "wanted before burstd started");
}

static void add_id(struct audit *a, const char *id)
{
	str_addf(&a->ids, "%s%s", a->ids.len > 0 ? "," : "", id);
}

void audit_delete(struct audit *a, const struct fleet_node *fn, const char *id)
{
	add(a, fn->name->name,
	    fn->n.reason == NODE_BECAUSE_OPERATOR ? admin(fn->name) : "reconciler",
	    node_reason_text(fn->n.reason));
	add_id(a, id);
}

void audit_stray(struct audit *a, const char *node, const char *id)
{
	add(a, node, "reconciler", "it is ours, and stands for no node");
	add_id(a, id);
}

static int by_name(const void *a, const void *b)
{
	return strverscmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorted, as Slurm writes it; what is no list of names, as a provider may have it, one by one. */
static void fold(struct str *s, const char **names, size_t n)
{
	bool good = true;

	qsort(names, n, sizeof(*names), by_name);
	for (size_t i = 0; i < n; i++)
		good = good && hostlist_is_name(names[i]);
	if (good)
		hostlist_fold(s, names, n);
	for (size_t i = 0; i < n && !good; i++)
		str_addf(s, "%s%s", i > 0 ? "," : "", names[i]);
}

void audit_put(struct engine *e, struct audit *a, const char *verb, const char *target,
	       const char *request)
{
	struct str object;

	str_init(&object, a->n * (HOSTLIST_NAME_MAX + 3) + 1);
	fold(&object, a->names, a->n);
	journal_put_audit(engine_tx(e),
			  &(struct journal_audit){.at_ms = engine_now(e),
						  .actor = a->actor.p,
						  .verb = verb,
						  .target = target,
						  .object = object.p,
						  .reason = a->reason.p,
						  .request = request != NULL ? request : a->ids.p});
	str_fini(&object);
	str_fini(&a->actor);
	str_fini(&a->reason);
	str_fini(&a->ids);
	free(a->names);
}

/* --- orders to slurmctld -----------------------------------------------------------------------
 */

static const char *reason_of(const struct slurm_order *o)
{
	if (o->reason[0] != '\0')
		return o->reason;
	if (strcmp(o->verb, "address") == 0)
		return "where its instance is";
	return strcmp(o->verb, "resume") == 0 ? "ResumeTimeout left it down"
					      : "its nodes were refused";
}

static void put_jobs(struct engine *e, const struct slurm_order *o)
{
	journal_put_audit(engine_tx(e), &(struct journal_audit){.at_ms = engine_now(e),
								.actor = "reconciler",
								.verb = o->verb,
								.target = "slurmctld",
								.object = o->names,
								.reason = reason_of(o),
								.request = ""});
}

bool audit_order(struct engine *e)
{
	struct slurm_order o;
	struct hostlist *h;
	struct audit a;
	bool ordered;

	if (e->dead || !slurm_next(e->slurm, &o))
		return false;
	if (o.of_jobs || hostlist_parse(&h, o.names, strlen(o.names), NULL) != 0) {
		put_jobs(e, &o);
		return true;
	}
	ordered = strcmp(o.reason, ENGINE_WHY_TERMINATED) == 0 ||
		  strcmp(o.reason, ENGINE_WHY_DRAINED) == 0;
	audit_begin(&a, h->n);
	for (size_t i = 0; i < h->n; i++)
		add(&a, h->names[i],
		    ordered ? admin(fleet_find(&e->fleet, h->names[i])) : "reconciler",
		    reason_of(&o));
	audit_put(e, &a, o.verb, "slurmctld", "");
	hostlist_free(h);
	return true;
}
