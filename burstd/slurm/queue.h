/* queue.h - a queue of commands, the next one first. */
#ifndef BURSTD_SLURM_QUEUE_H
#define BURSTD_SLURM_QUEUE_H

struct command;

struct queue { /* linked by prev and next; {NULL}: empty */
	struct command *first, *last;
};

/* Insert c after `after`, or first if that is NULL.  Takes c. */
void queue_insert(struct queue *q, struct command *after, struct command *c);
/* Remove the first command, which is then the caller's; NULL: the queue is empty. */
struct command *queue_take(struct queue *q);
/* Remove c, which is then the caller's. */
void queue_remove(struct queue *q, struct command *c);
void queue_fini(struct queue *q); /* frees all commands in it */

#endif
