/* The hooks: slurmctld's calls on their way into the spool, and all that can happen to them. */
#include <stdlib.h>
#include <string.h>

#include "base/hostlist.h"
#include "base/mem.h"
#include "sim_slurm.h"
#include "sim_spool.h"

struct hook { /* one call on its way */
	enum call_kind kind;
	int64_t at;
	struct str list, file; /* file empty: none */
};

static void on_hook(struct world *w, void *ctx, uint64_t arg)
{
	struct hook *h = ctx;
	const struct sim_call call = {.kind = h->kind,
				      .at = h->at,
				      .list = h->list.p,
				      .file = h->file.len > 0 ? h->file.p : NULL};

	(void)arg;
	SIM_TRACE(w, "hook %d: %s", (int)h->kind, h->list.p);
	sim_spool_put(w->spool, &call);
	str_fini(&h->list);
	str_fini(&h->file);
	free(h);
}

static void fold(const struct sim_ctld *c, struct str *out, const bool *nodes)
{
	const char *names[SIM_NODES_MAX + 1];
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++)
		if (nodes[i])
			names[n++] = c->nodes[i].name;
	hostlist_fold(out, names, n);
}

static void put_job(const struct sim_ctld *c, struct str *out, const struct ctld_job *j,
		    const bool *resumed)
{
	bool alloc[SIM_NODES_MAX + 1] = {false}, both[SIM_NODES_MAX + 1] = {false};

	for (uint32_t i = 0; i < j->n; i++) {
		alloc[j->nodes[i]] = true;
		both[j->nodes[i]] = resumed[j->nodes[i]];
	}
	str_addf(out, "{\"extra\":null,\"job_id\":%u,\"%s\":\"", (unsigned)j->id,
		 c->w->set.old_slurm ? "nodes" : "nodes_alloc");
	fold(c, out, alloc);
	if (!c->w->set.old_slurm) {
		str_adds(out, "\",\"nodes_resume\":\"");
		fold(c, out, both);
	}
	str_addf(out, "\",\"partition\":\"%s\"",
		 j->pool == JOB_ANY_POOL ? "all" : c->w->set.pools[j->pool].name);
	if (!c->w->set.old_slurm) {
		const char *quote = j->constraint != NULL ? "\"" : "";

		str_addf(out, ",\"features\":%s%s%s", quote,
			 j->constraint != NULL ? j->constraint : "null", quote);
	}
	str_adds(out, "}");
}

static void put_file(const struct sim_ctld *c, struct str *out, const bool *nodes)
{
	unsigned n = 0;

	str_addf(out, "{\"%s\":\"", c->w->set.old_slurm ? "all_nodes" : "all_nodes_resume");
	fold(c, out, nodes);
	str_adds(out, "\",\"jobs\":[");
	for (size_t k = 0; k < JOBS_MAX; k++) {
		const struct ctld_job *j = &c->jobs[k];
		bool in = false;

		for (uint32_t i = 0; j->state == JOB_CONFIGURING && i < j->n; i++)
			in = in || nodes[j->nodes[i]];
		if (!in)
			continue;
		str_adds(out, n++ > 0 ? "," : "");
		put_job(c, out, j, nodes);
	}
	str_adds(out, "]}");
}

static struct hook *make(struct sim_ctld *c, enum call_kind kind, const bool *nodes, bool file)
{
	struct hook *h = mem_zalloc(sizeof(*h));

	h->kind = kind;
	h->at = c->w->now;
	str_init(&h->list, 4096);
	str_init(&h->file, 65536);
	fold(c, &h->list, nodes);
	if (file)
		put_file(c, &h->file, nodes);
	return h;
}

static void met(struct sim_ctld *c, enum sim_fault f, const bool *nodes)
{
	for (size_t i = 0; i < c->n; i++)
		if (nodes[i])
			world_met(c->w, f, c->nodes[i].name, 0);
}

/* Somebody calls ResumeProgram by hand, or in a loop: mostly for the same node. */
void sim_hook_false(struct sim_ctld *c)
{
	bool nodes[SIM_NODES_MAX + 1] = {false};
	struct ctld_node *n;

	if (world_one_in(c->w, 20))
		c->false_for = world_below(c->w, (uint32_t)c->n);
	n = &c->nodes[c->false_for];
	if (n->deleted || !n->powered_down || n->powering_up || n->job != 0 ||
	    !world_fault(c->w, SIM_HOOK_FALSE))
		return;
	nodes[c->false_for] = true;
	n->called_at = c->w->now;
	met(c, SIM_HOOK_FALSE, nodes);
	world_at(c->w, c->w->now + world_between(c->w, 2, 20), on_hook,
		 make(c, CALL_RESUME, nodes, false), 0);
}

void sim_hook_call(struct sim_ctld *c, enum call_kind kind, const bool *nodes)
{
	struct world *w = c->w;
	bool any = false, file = kind == CALL_RESUME, twice;
	int64_t at = w->now + world_between(w, 2, 20);
	struct hook *h, *again;

	for (size_t i = 0; i < c->n; i++)
		any = any || nodes[i];
	if (!any || c->lose_hooks)
		return;
	if (world_fault(w, SIM_HOOK_LOST)) {
		met(c, SIM_HOOK_LOST, nodes);
		return;
	}
	if (file && world_fault(w, SIM_NO_RESUME_FILE)) {
		met(c, SIM_NO_RESUME_FILE, nodes);
		file = false;
	}
	twice = world_fault(w, SIM_HOOK_TWICE);
	h = make(c, kind, nodes, file);
	if (world_fault(w, SIM_HOOK_ORDER)) {
		met(c, SIM_HOOK_ORDER, nodes);
		/* A suspend that was held up on its way is as fresh as ever when it comes. */
		at += kind == CALL_SUSPEND && world_one_in(w, 4)
			      ? world_between(w, 2, 60) * SIM_SECOND
			      : world_between(w, 100, 1900);
	} else if (world_fault(w, SIM_HOOK_LATE)) {
		met(c, SIM_HOOK_LATE, nodes);
		at += world_between(w, 5, 200) * SIM_SECOND;
	}
	world_at(w, at, on_hook, h, 0);
	if (!twice)
		return;
	met(c, SIM_HOOK_TWICE, nodes);
	again = make(c, kind, nodes, file);
	world_at(w, at + world_between(w, 1, 2000), on_hook, again, 0);
}
