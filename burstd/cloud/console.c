#include "cloud/cloud.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/console.h"

/* Fetches the console log of a machine whose node did not come up, and keeps its last lines in
 * memory for people.  Most providers lose the log with the machine, so the delete waits for it:
 * once, and for ENGINE_CONSOLE_MS at most, whatever the provider does, since the machine bills on.
 * If there is no log by then, there is none; nobody is told.  Machines that fail together mostly
 * fail of one cause, so the logs of a few are enough. */

enum {
	CONSOLE_ASKED_MAX = 16, /* logs that are asked for at once */
	CONSOLE_KEPT = 256,     /* logs that are kept: 1 MiB */
};

struct console { /* asked for if `waits`, else kept; the youngest is the first */
	struct console *next;
	size_t provider;
	uint64_t gen;
	int64_t since_ms; /* when it was asked for, then when it came */
	bool waits, sent;
	char node[HOSTLIST_NAME_MAX + 1];
	char id[PROVIDER_ID_MAX + 1];
	char *text; /* NULL while it waits */
};

static void console_free(struct console *c)
{
	free(c->text);
	free(c);
}

static void free_all(struct engine *e)
{
	while (e->cloud->consoles != NULL) {
		struct console *c = e->cloud->consoles;

		e->cloud->consoles = c->next;
		console_free(c);
	}
}

/* The node's delete need not wait any longer. */
static void let_go(struct engine *e, const struct console *c)
{
	struct fleet_name *nm = fleet_find(&e->fleet, c->node);
	struct fleet_node *fn = nm != NULL ? fleet_gen(nm, c->gen) : NULL;

	if (fn != NULL)
		fn->consoling = false;
}

static size_t asked(const struct engine *e)
{
	size_t n = 0;

	for (const struct console *c = e->cloud->consoles; c != NULL; c = c->next)
		n += c->waits;
	return n;
}

/* Did it end because it did not boot?  A reason that came before the machine did, as when its node
 * was suspended, is none. */
static bool has_failed(const struct node *n, const struct node *was)
{
	return was->state == NODE_BOOTING && (n->state == NODE_DELETING || n->state == NODE_GONE) &&
	       (n->reason == NODE_BECAUSE_BOOT || n->reason == NODE_BECAUSE_INIT ||
		n->reason == NODE_BECAUSE_STOPPED) &&
	       n->instance[0] != '\0';
}

static void on_row(struct engine *e, struct fleet_node *fn, const struct node *was)
{
	const struct cloud *cloud = cloud_of(e, &fn->n);
	struct console *c;

	if (!has_failed(&fn->n, was) || (cloud->caps.flags & PROVIDER_CONSOLES) == 0 ||
	    asked(e) == CONSOLE_ASKED_MAX)
		return;
	c = mem_zalloc(sizeof(*c));
	c->provider = (size_t)(cloud - e->cloud->all);
	c->gen = fn->n.gen;
	c->since_ms = engine_now(e);
	c->waits = true;
	(void)snprintf(c->node, sizeof(c->node), "%s", fn->n.name);
	(void)snprintf(c->id, sizeof(c->id), "%s", fn->n.instance);
	c->next = e->cloud->consoles;
	e->cloud->consoles = c;
	fn->consoling = true;
}

/* The link to the log that this machine is asked for; to NULL: it is not waited for any more. */
static struct console **find_asked(const struct engine *e, const char *node, uint64_t gen)
{
	struct console **link = &e->cloud->consoles;

	while (*link != NULL &&
	       !((*link)->waits && (*link)->gen == gen && strcmp((*link)->node, node) == 0))
		link = &(*link)->next;
	return link;
}

/* A machine that has ended may be listed once more (F14): its row stays, so that what is done about
 * it then waits, too. */
static bool console_needs(const struct engine *e, const struct node *n)
{
	return *find_asked(e, n->name, n->gen) != NULL;
}

/* Keep it as the youngest, instead of any other of its node, and forget the oldest of too many. */
static void keep(struct engine *e, struct console *new)
{
	struct console **link = &e->cloud->consoles;
	size_t kept = 1;

	while (*link != NULL) {
		struct console *c = *link;

		if (!c->waits && (strcmp(c->node, new->node) == 0 || kept++ >= CONSOLE_KEPT)) {
			*link = c->next;
			console_free(c);
		} else {
			link = &c->next;
		}
	}
	new->next = e->cloud->consoles;
	e->cloud->consoles = new;
}

static void on_answer(struct cloud *cloud, void *ctx, const struct provider_result *r)
{
	struct engine *e = cloud->e;
	const struct console *of = ctx;
	struct console **link = find_asked(e, of->node, of->gen), *c = *link;

	if (c == NULL)
		return;
	*link = c->next;
	let_go(e, c);
	if (r->code == PROVIDER_OK && r->console != NULL)
		c->text = console_show(r->console);
	if (c->text == NULL) {
		console_free(c);
		return;
	}
	c->waits = false;
	c->since_ms = engine_now(e);
	keep(e, c);
}

static void send(struct engine *e, struct console *c)
{
	struct provider_op op = {.kind = PROVIDER_CONSOLE};
	struct console *copy = mem_zalloc(sizeof(*copy));

	*copy = *c;
	c->sent = true;
	op.u.console.id = copy->id;
	cloud_send(&e->cloud->all[c->provider], &op, on_answer, copy);
}

static bool is_late(const struct engine *e, const struct console *c)
{
	return engine_now(e) - c->since_ms >= ENGINE_CONSOLE_MS;
}

static void console_run(struct engine *e)
{
	struct console **link = &e->cloud->consoles;

	while (*link != NULL && !e->dead) {
		struct console *c = *link;

		if (c->waits && is_late(e, c)) {
			*link = c->next;
			let_go(e, c);
			console_free(c);
			continue;
		}
		if (c->waits && !c->sent &&
		    cloud_ready(&e->cloud->all[c->provider], PROVIDER_CONSOLE))
			send(e, c);
		link = &c->next;
	}
}

static int64_t console_next_ms(const struct engine *e)
{
	int64_t next = INT64_MAX;

	for (const struct console *c = e->cloud->consoles; c != NULL; c = c->next)
		if (c->waits && c->since_ms + ENGINE_CONSOLE_MS < next)
			next = c->since_ms + ENGINE_CONSOLE_MS;
	return next;
}

bool engine_console(const struct engine *e, const char *node, struct engine_console *out)
{
	for (const struct console *c = e->cloud->consoles; c != NULL; c = c->next) {
		if (c->waits || strcmp(c->node, node) != 0)
			continue;
		*out = (struct engine_console){
			.text = c->text, .gen = c->gen, .instance = c->id, .at_ms = c->since_ms};
		return true;
	}
	return false;
}

const struct engine_part console_part = {
	.name = "console logs",
	.at = {[PART_RUN] = console_run, [PART_FREE] = free_all},
	.next_ms = console_next_ms,
	.needs = console_needs,
	.row_durable = on_row,
};
