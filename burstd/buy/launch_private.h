/* launch_private.h - what the files launch*.c share; nobody else includes it.
 *
 * launch.c says what goes out, launch_send.c sends it, launch_answer.c takes the answer in, and
 * launch_batch.c, which knows none of them, has what is on its way. */
#ifndef BURSTD_BUY_LAUNCH_PRIVATE_H
#define BURSTD_BUY_LAUNCH_PRIVATE_H

#include "buy/buy.h"
#include "cloud/cloud.h"

struct sent { /* what an answer to a create is for */
	uint64_t batch;
};

/* --- launch_batch.c --- */
struct batch *batch_find(struct engine *e, uint64_t id); /* NULL: it is settled */
/* One more, of these nodes in this order; it has no hash yet. */
struct batch *batch_new(struct engine *e, struct fleet_node **nodes, size_t n);
void batch_free(struct batch *b);
/* The row of member i.  NULL too for one that was sent again with another batch: its answer comes
 * there. */
struct fleet_node *batch_row(const struct batch *b, size_t i);
struct cloud *batch_cloud(struct engine *e, const struct batch *b);
/* NULL: the configuration has it no more. */
const struct conf_offer *batch_rung(const struct engine *e, const struct batch *b);
bool batch_owns_fabric(const struct engine *e, const struct batch *b); /* made for it alone */
/* The request, the same bytes every time: from the members in their order and where they are
 * bought, which no reload changes, and nothing else (I4).  -1: there is no such place any more. */
int batch_op(const struct engine *e, struct batch *b, struct provider_op *op,
	     struct provider_place *place, struct err *err);
/* 0 and the hash of the request's bytes; -1: it cannot be built. */
int batch_hash(struct cloud *c, struct batch *b, uint64_t *hash, struct err *err);

/* --- launch_answer.c --- */
/* What a create was answered; ctx is a struct sent. */
void launch_on_create(struct cloud *c, void *ctx, const struct provider_result *r);
/* It is on the wire until all of its answer is posted.  of_fabric: no create was sent. */
void launch_put_answer(struct cloud *c, uint64_t batch, const struct provider_result *r,
		       bool of_fabric);

/* --- launch_send.c --- */
void launch_record_create(struct cloud *c, const struct batch *b);
/* Of what is sent first. */
void launch_record(struct cloud *c, struct batch *b, const char *verb);
/* What launch_record() has on record; it is on its way from then on. */
void launch_send_batch(struct cloud *c, struct batch *b);
/* Its fabric is there, or it has none. */
void launch_send_create(struct cloud *c, struct batch *b);
/* Nothing was sent, whatever became of its fabric: that can be decided anew.  It is no failure of
 * the place. */
void launch_give_up(struct cloud *c, struct batch *b);

#endif
