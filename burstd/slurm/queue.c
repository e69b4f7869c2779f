#include "slurm/queue.h"

#include "slurm/command.h"

void queue_insert(struct queue *q, struct command *after, struct command *c)
{
	struct command *next = after != NULL ? after->next : q->first;

	c->prev = after;
	c->next = next;
	*(after != NULL ? &after->next : &q->first) = c;
	*(next != NULL ? &next->prev : &q->last) = c;
}

struct command *queue_take(struct queue *q)
{
	struct command *c = q->first;

	if (c != NULL)
		queue_remove(q, c);
	return c;
}

void queue_remove(struct queue *q, struct command *c)
{
	*(c->prev != NULL ? &c->prev->next : &q->first) = c->next;
	*(c->next != NULL ? &c->next->prev : &q->last) = c->prev;
}

void queue_fini(struct queue *q)
{
	struct command *c;

	while ((c = queue_take(q)) != NULL)
		command_free(c);
}
