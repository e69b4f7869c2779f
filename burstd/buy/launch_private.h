/* launch_private.h - functions that launch*.c share; only these include it.
 *
 * launch.c decides what goes out, launch_send.c sends it, launch_answer.c takes the answer, and
 * launch_batch.c, which knows none of the others, keeps the batches that are under way. */
#ifndef BURSTD_BUY_LAUNCH_PRIVATE_H
#define BURSTD_BUY_LAUNCH_PRIVATE_H

#include "buy/buy.h"
#include "cloud/cloud.h"

struct sent { /* the context of a create on the wire */
	uint64_t batch;
};

/* --- launch_batch.c --- */
struct batch *batch_find(struct engine *e, uint64_t id); /* NULL: it is settled */
/* Make a batch of these nodes in this order, without a hash yet. */
struct batch *batch_new(struct engine *e, struct fleet_node **nodes, size_t n, const char *image);
void batch_free(struct batch *b);
/* The row of member i.  NULL: it is gone, or was sent again with another batch, which has its
 * answer. */
struct fleet_node *batch_row(const struct batch *b, size_t i);
struct cloud *batch_cloud(struct engine *e, const struct batch *b);
/* NULL: the configuration does not have the offer any more. */
const struct conf_offer *batch_rung(const struct engine *e, const struct batch *b);
uint32_t batch_unit(const struct engine *e, const struct batch *b); /* 0: not of one */
/* The name of the fabric that burstd makes before this create: of its job alone, or of its unit.
 * NULL: none.  In b->fabric. */
const char *batch_fabric(const struct engine *e, struct batch *b);
/* Make the request, the same bytes every time: only from the members in their order and the offer,
 * which no reload changes (I4).  -1: the offer is gone, or there is no user-data. */
int batch_op(const struct engine *e, struct batch *b, struct provider_op *op,
	     struct provider_place *place, struct err *err);
/* *hash: of the bytes of its first request; -1: the request cannot be built. */
int batch_hash(struct cloud *c, struct batch *b, uint64_t *hash, struct err *err);

/* Stage where the create goes on; "": its last answer has come. */
void batch_goes_on(struct engine *e, struct batch *b, const char *cursor);

/* --- launch_answer.c --- */
/* Take the answer to a create; ctx is a struct sent. */
void launch_on_create(struct cloud *c, void *ctx, const struct provider_result *r);
/* Queue an answer; the batch stays inflight until all of it is posted.  of_fabric: the answer is
 * about the fabric, and no create was sent. */
void launch_put_answer(struct cloud *c, uint64_t batch, const struct provider_result *r,
		       bool of_fabric);

/* --- launch_send.c --- */
void launch_record_create(struct cloud *c, const struct batch *b);
/* Stage the audit record of the batch's first request: its fabric, or its create. */
void launch_record(struct cloud *c, struct batch *b, const char *verb);
/* Send that request. */
void launch_send_batch(struct cloud *c, struct batch *b);
/* Go on with a create of several requests, from its cursor in the journal. */
void launch_go_on(struct cloud *c, struct batch *b);
/* Send the create; its fabric is made, or it needs none. */
void launch_send_create(struct cloud *c, struct batch *b);
/* Answer the batch with NOT_YET: no create was sent, so its nodes are WANTED again, and the place
 * has not failed. */
void launch_give_up(struct cloud *c, struct batch *b);

#endif
