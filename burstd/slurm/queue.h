/* queue.h - commands that wait to be run, the next one first. */
#ifndef BURSTD_SLURM_QUEUE_H
#define BURSTD_SLURM_QUEUE_H

struct command;

struct queue { /* linked by their prev and next; {NULL}: none wait */
	struct command *first, *last;
};

/* Behind after, which is in the queue, or first if that is NULL.  The queue has c from then on. */
void queue_insert(struct queue *q, struct command *after, struct command *c);
/* The first one, which is the caller's then; NULL: none waits. */
struct command *queue_take(struct queue *q);
/* c, which is in the queue, is the caller's then. */
void queue_remove(struct queue *q, struct command *c);
void queue_fini(struct queue *q); /* frees all that wait */

#endif
