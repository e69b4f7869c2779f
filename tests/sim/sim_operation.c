/* sim_operation.c - a provider at which a create is an operation: it is accepted at once, and asked
 * about until it has ended (as at Google's Compute Engine, Azure, Crusoe). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim_wire.h"

struct sim_operation {
	struct create_request create;
	int64_t sent_at, ends_at;
	long status; /* of its answer */
	char *body;
};

static void accept(struct wire *q, size_t number)
{
	q->status = 202;
	str_clear(&q->body);
	str_addf(&q->body, "{\"operation\":\"op-%zu\"}", number);
}

void sim_operation_begin(struct world *w, struct wire *q)
{
	struct sim_cloud *c = w->cloud;
	struct sim_operation *o = mem_zalloc(sizeof(*o));

	o->create = q->create;
	o->sent_at = q->sent_at;
	o->ends_at = w->now + (world_one_in(w, 3) ? 0 : world_between(w, 0, 90) * SIM_SECOND);
	o->status = q->status;
	o->body = mem_strdup(q->body.p);
	c->operations =
		mem_realloc(c->operations, (c->noperations + 1) * sizeof(struct sim_operation *));
	c->operations[c->noperations++] = o;
	accept(q, c->noperations);
}

/* false: there is no such operation. */
bool sim_operation_ask(struct world *w, struct wire *q)
{
	unsigned number = 0;
	const struct sim_operation *o;

	if (sscanf(q->cursor, "op-%u", &number) != 1 || number == 0 ||
	    number > w->cloud->noperations)
		return false;
	o = w->cloud->operations[number - 1];
	if (w->now < o->ends_at) {
		accept(q, number);
		if (world_one_in(w, 2))
			q->retry_s = (unsigned)world_between(w, 1, 10);
		return true;
	}
	q->create = o->create;
	q->began_at = o->sent_at;
	q->status = o->status;
	str_adds(&q->body, o->body);
	return true;
}

void sim_operations_free(struct sim_cloud *c)
{
	for (size_t i = 0; i < c->noperations; i++) {
		free(c->operations[i]->body);
		free(c->operations[i]);
	}
	free(c->operations);
}
