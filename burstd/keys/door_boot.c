#include <stdio.h>
#include <string.h>

#include "core/node_said.h"
#include "keys/door.h"

/* Handles a node's report of its boot: it is ready, or a step failed.  Counts how long each step
 * took. */

enum {
	TELL_MAX = 480, /* bytes of one event about a boot */
	STEPS_TOLD = 3, /* the slowest */
};

/* The steps of node-init --list, and other words in its reports; all else is "other". */
static const char *const step_names[ENGINE_BOOT_STEPS] = {
	"claim",   "imds",     "time",      "munge_version",  "key",     "munge", "confirm",
	"names",   "route",    "gpu",       "fabric_manager", "fabric",  "dcgm",  "mounts",
	"scratch", "hardware", "container", "limits",         "hygiene", "nccl",  "agent",
	"slurmd",  "report",   "other"};

static size_t step_index(const char *name)
{
	size_t i = 0;

	while (i < ENGINE_BOOT_STEPS - 1 && strcmp(step_names[i], name) != 0)
		i++;
	return i;
}

static void count_steps(struct engine *e, const struct node_report *p)
{
	for (size_t i = 0; i < p->n; i++) {
		size_t k = step_index(p->steps[i].name);
		struct engine_boot_step *s = &e->keys->door->count.steps[k];
		int64_t ms = p->steps[i].ms < 86400000 ? p->steps[i].ms : 86400000;

		s->name = step_names[k];
		s->n++;
		s->sum_ms += ms;
		s->max_ms = ms > s->max_ms ? ms : s->max_ms;
	}
}

/* Append "; the slowest: dcgm 1m2s, ..."; then failed steps. */
static void tell_steps(struct str *s, const struct node_report *p)
{
	bool told[NODE_STEPS_MAX] = {false};
	char took[FMT_DUR_SIZE];

	for (size_t k = 0; k < STEPS_TOLD && k < p->n; k++) {
		size_t most = 0;

		while (most + 1 < p->n && told[most])
			most++;
		for (size_t i = most + 1; i < p->n; i++)
			if (!told[i] && p->steps[i].ms > p->steps[most].ms)
				most = i;
		told[most] = true;
		str_addf(s, "%s%s %s", k == 0 ? "; the slowest: " : ", ", p->steps[most].name,
			 fmt_duration(took, p->steps[most].ms));
	}
	for (size_t i = 0; i < p->n; i++)
		if (strcmp(p->steps[i].result, "warning") == 0)
			str_addf(s, "; warning: %s: %s", p->steps[i].name, p->steps[i].why);
}

/* What the machine has: told once, and when it is something else than the last one of its offer
 * had.  A machine may say anything; nothing but numbers is kept of it, and nothing follows but
 * words. */
static void learn(struct engine *e, const struct claim_run *r, const char *hardware)
{
	const struct fleet_name *nm = fleet_find(&e->fleet, r->c.node);
	const struct fleet_node *fn = nm != NULL ? fleet_gen(nm, r->c.gen) : NULL;
	struct learned_row row = {.at_ms = engine_now(e)};
	struct str text;

	if (fn == NULL || hardware_parse_node(hardware, &row.has, NULL) != 0)
		return;
	(void)snprintf(row.pool, sizeof(row.pool), "%s", engine_conf(e)->pools[fn->n.pool].name);
	(void)snprintf(row.offer, sizeof(row.offer), "%s", fn->n.offer);
	(void)snprintf(row.node, sizeof(row.node), "%s", r->c.node);
	if (!learned_put(&e->keys->door->learned, &row))
		return;
	str_init(&text, TELL_MAX);
	hardware_print(&row.has, &text);
	engine_event(e, r->c.node, r->c.gen, "hardware", text.p);
	str_fini(&text);
}

void door_boot_ready(struct engine *e, struct claim_run *r, const struct node_said *s,
		     struct http_answer *an)
{
	struct node_report p;
	char took[FMT_DUR_SIZE];
	struct str text;

	if (node_report_read(&p, &s->steps) != 0) {
		door_say(an, 400, "malformed request");
		return;
	}
	door_say(an, 200, "ok=1");
	if (r->ready_ms != 0)
		return; /* a repeat: the answer was lost */
	r->ready_ms = engine_now(e);
	r->boot_ms = s->total_ms;
	e->keys->door->count.ready++;
	count_steps(e, &p);
	str_init(&text, TELL_MAX);
	str_addf(&text, "in %s", fmt_duration(took, s->total_ms));
	tell_steps(&text, &p);
	engine_event(e, r->c.node, r->c.gen, "bootstrapped", text.p);
	str_fini(&text);
	if (s->hardware[0] != '\0')
		learn(e, r, s->hardware);
}

void door_boot_failed(struct engine *e, struct claim_run *r, const struct node_said *s,
		      struct http_answer *an)
{
	const char *step = s->step[0] != '\0' ? step_names[step_index(s->step)] : "other";
	char text[TELL_MAX];
	struct node_report p;

	if (node_report_read(&p, &s->steps) == 0)
		count_steps(e, &p);
	door_say(an, 200, "ok=1");
	e->keys->door->count.failed++;
	(void)snprintf(text, sizeof(text), "%s: %.380s", step,
		       s->why[0] != '\0' ? s->why : "no reason given");
	if (!r->failed) /* otherwise it waits for its end, and reports again */
		engine_event(e, r->c.node, r->c.gen, "boot-failed", text);
	r->failed = true;
	claims_fail(e, r, step, s->why[0] != '\0' ? s->why : "no reason given", false);
}
