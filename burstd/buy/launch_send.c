/* Sends a create: commits its intent and the audit record of its first request, makes its fabric if
 * it has one, and then sends it. */
#include "buy/launch_private.h"
#include "keys/keys.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "core/unit.h"
#include "store/journal_nodes.h"

void launch_record_create(struct cloud *c, const struct batch *b)
{
	struct audit a;

	audit_begin(&a, b->n);
	for (size_t i = 0; i < b->n; i++)
		audit_create(&a, b->members[i].name,
			     fleet_gen(b->members[i].name, b->members[i].gen));
	audit_put(c->e, &a, b->verb, c->conf->name, b->j.token);
}

void launch_record(struct cloud *c, struct batch *b, const char *verb)
{
	const char *fabric = batch_fabric(c->e, b);

	b->verb = verb;
	if (fabric != NULL)
		audit_thing(c->e, "fabric-make", c->conf->name, fabric,
			    unit_is_of(batch_rung(c->e, b)) ? "for a placement unit"
							    : "for a job of several nodes");
	else
		launch_record_create(c, b);
}

void launch_send_create(struct cloud *c, struct batch *b)
{
	struct sent *sent = mem_zalloc(sizeof(*sent));
	struct provider_place place;
	struct provider_op op;

	(void)batch_op(c->e, b, &op, &place, NULL); /* cannot fail: it was hashed just now */
	sent->batch = b->j.id;
	b->place = place; /* the request may be read again when its answer comes */
	op.u.create.place = &b->place;
	cloud_send(c, &op, launch_on_create, sent);
}

void launch_give_up(struct cloud *c, struct batch *b)
{
	const struct provider_result no = {.code = PROVIDER_NOT_YET};

	b->made = false;
	launch_put_answer(c, b->j.id, &no, true);
}

static void on_fabric(struct cloud *c, void *ctx, const struct provider_result *r)
{
	const struct sent *sent = ctx;
	struct batch *b = batch_find(c->e, sent->batch);
	struct provider_result no = {.code = r->code, .retry_after_ms = r->retry_after_ms};

	assert(b != NULL && b->inflight);
	if (r->code == PROVIDER_OK) {
		b->made = true; /* the turn goes on with its create */
		return;
	}
	if (r->code == PROVIDER_QUOTA) /* a quota of fabrics, where ending jobs make room */
		no.code = PROVIDER_CAPACITY;
	else if (r->code != PROVIDER_CAPACITY && r->code != PROVIDER_DENIED &&
		 r->code != PROVIDER_INVALID && r->code != PROVIDER_RATE)
		no.code = PROVIDER_TRANSIENT;
	memcpy(no.message, r->message, sizeof(no.message));
	launch_put_answer(c, b->j.id, &no, true);
}

/* Mark the batch and its rows busy until there is an answer, even if nothing is sent. */
static void batch_hold(struct cloud *c, struct batch *b)
{
	b->inflight = true;
	b->sent_ms = engine_now(c->e);
	for (size_t i = 0; i < b->n; i++) {
		struct fleet_node *fn = batch_row(b, i);

		if (fn != NULL && (fn->n.state == NODE_CREATING || fn->n.state == NODE_INDOUBT))
			fn->busy = true;
	}
}

void launch_send_batch(struct cloud *c, struct batch *b)
{
	const char *fabric = batch_fabric(c->e, b);
	struct sent *sent;

	batch_hold(c, b);
	if (fabric == NULL) {
		launch_send_create(c, b);
		return;
	}
	sent = mem_zalloc(sizeof(*sent));
	sent->batch = b->j.id;
	fabric_make(c, fabric, on_fabric, sent);
}

void launch_go_on(struct cloud *c, struct batch *b)
{
	batch_hold(c, b);
	launch_send_create(c, b);
}

/* Do not send what is outdated because the disk took minutes for the commit (F55). */
static void send_or_not(struct cloud *c, struct batch *b)
{
	bool fresh = true;

	for (size_t i = 0; i < b->n; i++) {
		const struct fleet_node *fn = batch_row(b, i);

		fresh = fresh && (fn == NULL || wanted_is_fresh(c->e, fn->n.wanted_ms));
	}
	if (fresh) {
		launch_send_batch(c, b);
		return;
	}
	batch_hold(c, b);
	launch_give_up(c, b);
}

void launch_send(struct cloud *c, struct fleet_node **nodes, size_t n, struct roll_image image)
{
	struct engine *e = c->e;
	struct batch *b = batch_new(e, nodes, n, image.name);
	struct err err;
	int rc = batch_hash(c, b, &b->j.body_hash, &err);
	const bool again = rc != 0 && image.canary; /* with the old image, in the next turn */

	if (again)
		rolls_refused(e, &nodes[0]->n, image.name, err.msg);
	for (size_t i = 0; i < n && !again; i++) {
		struct node_event ev = {.type = rc == 0 ? NODE_EV_START : NODE_EV_REFUSED,
					.reason = NODE_BECAUSE_INVALID,
					.now_ms = engine_now(e),
					.batch = b->j.id,
					.image = b->j.image,
					.canary = image.canary,
					.slot = (uint32_t)i};

		if (rc != 0)
			(void)snprintf(nodes[i]->name->why, sizeof(nodes[i]->name->why), "%.150s",
				       err.msg);
		engine_post(e, nodes[i], &ev);
	}
	/* Even if the create cannot be built: state_dir_note() may have this number, and a journal
	 * without it would count as an older copy (F58). */
	journal_put_number(engine_tx(e), JOURNAL_LAST_BATCH, (int64_t)b->j.id);
	if (rc != 0) {
		place_unsent(e, engine_offer_of(e, &nodes[0]->n));
	} else {
		const struct keys_for keys = keys_of(b);

		journal_put_batch(engine_tx(e), &b->j);
		claims_issue(e, &keys);
		launch_record(c, b, "create");
	}
	engine_commit(e);
	engine_spend(e, n);
	if (rc == 0 && !e->dead)
		send_or_not(c, b);
}
