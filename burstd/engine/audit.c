#include "engine/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/journal_audit.h"

/* Audit records: each request to a provider, and each order to slurmctld that changes a node or a
 * job, is on record before it is sent (I28); what a provider answered follows, with its id of the
 * request.  A record has nothing that a driver makes of a
 * request, so it has none of our credentials; it has a provider's words where they are a job's
 * reason. */

enum { SAY_MAX = 400 }; /* bytes of the actors, and of the reasons; more is left out */

void audit_begin(struct audit *a, size_t max)
{
	*a = (struct audit){.max = max};
	a->names = mem_zalloc((max + 1) * sizeof(*a->names));
	str_init(&a->actor, 2 * SAY_MAX); /* one text may be longer */
	str_init(&a->reason, 2 * SAY_MAX);
	str_init(&a->ids, max * (PROVIDER_ID_MAX + 1));
}

/* Is this text in s already? */
static bool is_said(const struct str *s, const char *text)
{
	size_t len = strlen(text);

	for (const char *p = s->p; (p = strstr(p, text)) != NULL; p++)
		if ((p == s->p || (p >= s->p + 2 && strncmp(p - 2, "; ", 2) == 0)) &&
		    (p[len] == '\0' || strncmp(p + len, "; ", 2) == 0))
			return true;
	return false;
}

/* Add each text once, and "..." for those that have no room. */
static void say(struct str *s, const char *text)
{
	static const char more[] = "; ...";

	if (is_said(s, text) || is_said(s, more + 2))
		return;
	if (s->len > 0 && s->len + 2 + strlen(text) > SAY_MAX)
		str_adds(s, more);
	else
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

void audit_delete(struct audit *a, struct fleet_node *fn, const char *id)
{
	add(a, fn->name->name,
	    fn->n.reason == NODE_BECAUSE_OPERATOR ? admin(fn->name) : "reconciler",
	    fleet_why(fn, &fn->n));
	add_id(a, id);
	a->first = a->first || !fn->asked;
	fn->asked = true;
}

void audit_stray(struct audit *a, const char *node, const char *id, bool again)
{
	add(a, node, "reconciler", "it has our tag, but belongs to no node");
	add_id(a, id);
	a->first = a->first || !again;
}

void audit_thing(struct engine *e, const char *verb, const char *target, const char *thing,
		 const char *reason)
{
	journal_put_audit(engine_tx(e), &(struct journal_audit){.at_ms = engine_now(e),
								.actor = "reconciler",
								.verb = verb,
								.target = target,
								.object = thing,
								.reason = reason,
								.request = ""});
}

static int by_name(const void *a, const void *b)
{
	return strverscmp(*(const char *const *)a, *(const char *const *)b);
}

/* Write the names sorted and folded, as Slurm does; or one by one if some are no node names, as a
 * provider may have them. */
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

static void audit_fini(struct audit *a)
{
	str_fini(&a->actor);
	str_fini(&a->reason);
	str_fini(&a->ids);
	free(a->names);
}

void audit_put(struct engine *e, struct audit *a, const char *verb, const char *target,
	       const char *request)
{
	struct str object;

	str_init(&object, a->n * (HOSTLIST_NAME_MAX + 3) + 1);
	fold(&object, a->names, a->n);
	journal_put_audit(engine_tx(e), &(struct journal_audit){.at_ms = engine_now(e),
								.actor = a->actor.p,
								.verb = verb,
								.target = target,
								.object = object.p,
								.reason = a->reason.p,
								.request = request});
	str_fini(&object);
	audit_fini(a);
}

void audit_add(struct audit *a, const char *thing)
{
	if (a->n < a->max)
		a->names[a->n++] = thing;
}

void audit_answered(struct engine *e, struct audit *a, const char *what, const char *target,
		    const struct provider_result *r)
{
	if (r->request_id[0] == '\0' || r->code == PROVIDER_RATE) {
		audit_fini(a);
		return;
	}
	str_adds(&a->actor, "provider");
	str_addf(&a->reason, "%s: %s", what, provider_code_str(r->code));
	audit_put(e, a, "answered", target, r->request_id);
}

/* A repeated delete is recorded without its instances, which the first record has: repeats, as on a
 * full disk, must not fill it. */
void audit_put_delete(struct engine *e, struct audit *a, const char *target)
{
	if (!a->first)
		a->ids.p[0] = '\0';
	audit_put(e, a, a->first ? "delete" : "delete-again", target, a->ids.p);
}

/* --- orders to slurmctld -----------------------------------------------------------------------
 */

static const char *reason_of(const struct slurm_order *o)
{
	static const char *const reasons[][2] = {
		{"start", "its wait is over"},
		{"clear", "its comment is outdated"},
		{"requeue", "it ended after its signal, before its node is taken away"},
		{"address", "address of its instance"},
		{"resume", "it was down after ResumeTimeout"},
		{"power-up", "its pool keeps nodes warm"},
		{"keep", "it is kept warm, or its quantum is paid for"},
		{"let-go", "slurmctld may power it down"},
		{"create-node", "slurmctld lacks it"}};

	if (strcmp(o->verb, "signal") == 0)
		return "it is to save its work";
	if (o->reason[0] != '\0')
		return o->reason;
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (strcmp(o->verb, reasons[i][0]) == 0)
			return reasons[i][1];
	return o->of_jobs ? "its nodes were refused"
			  : "it is not needed; its Reason was set by an admin";
}

static void put_jobs(struct engine *e, const struct slurm_order *o)
{
	journal_put_audit(engine_tx(e), &(struct journal_audit){.at_ms = engine_now(e),
								.actor = "reconciler",
								.verb = o->verb,
								.target = "slurmctld",
								.object = o->names,
								.reason = reason_of(o),
								.request = o->what});
}

static void put_nodes(struct engine *e, const struct slurm_order *o, const struct hostlist *h)
{
	bool ordered = strcmp(o->reason, ENGINE_WHY_TERMINATED) == 0 ||
		       strcmp(o->reason, ENGINE_WHY_DRAINED) == 0;
	struct audit a;

	audit_begin(&a, h->n);
	for (size_t i = 0; i < h->n; i++)
		add(&a, h->names[i],
		    ordered ? admin(fleet_find(&e->fleet, h->names[i])) : "reconciler",
		    reason_of(o));
	audit_put(e, &a, o->verb, "slurmctld", o->what);
}

/* Stage records of the commands for slurmctld that have none yet; false: there are none. */
static bool audit_order(struct engine *e)
{
	struct slurm_order o;
	struct hostlist *h;
	bool some = false;

	if (e->poll.looking) /* orders go out when all of the snapshot is compared */
		return false;
	while (!e->dead && slurm_next(e->slurm, &o)) {
		some = true;
		if (o.of_jobs || hostlist_parse(&h, o.names, strlen(o.names), NULL) != 0) {
			put_jobs(e, &o);
			continue;
		}
		put_nodes(e, &o, h);
		hostlist_free(h);
	}
	return some;
}

void audit_unsent(struct engine *e, const struct slurm_order *o, const char *why)
{
	journal_put_audit(engine_tx(e), &(struct journal_audit){.at_ms = engine_now(e),
								.actor = "reconciler",
								.verb = "unsent",
								.target = "slurmctld",
								.object = o->names,
								.reason = why,
								.request = o->verb});
}

const struct engine_part audit_part = {
	.name = "audit",
	.record = audit_order,
};
