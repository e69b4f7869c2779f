/* ironic_remove.c - a delete: of an allocation, and before that its machine's deployment.
 *
 *	GET    /v1/allocations/ID                 which machine has it?
 *	GET    /v1/nodes/NODE                     does that say so, too?
 *	PUT    /v1/nodes/NODE/states/provision    deleted: Ironic removes the allocation itself
 *	DELETE /v1/allocations/ID                 instead, if nothing was deployed
 *
 * Of a deployment that failed Ironic would remove the allocation alone, and the machine would be
 * nobody's and not free: so it is undeployed as one that runs. */
#include "providers/ironic_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { LOCKED_MS = 10000 }; /* before a delete is asked for again */

int ironic_remove_build(const struct ironic *i, const struct provider_op *op, struct rest_call *c,
			struct err *e)
{
	struct ironic_step s;

	if (op->u.del.nids != 1)
		return err_set(e, ERR_INVALID, "delete: want one id");
	if (ironic_step_read(op, &s) != 0)
		return err_set(e, ERR_INVALID, "delete: unknown cursor");
	switch (s.what) {
	case IRONIC_BEGIN:
		rest_begin(c, &i->rest, "GET", "/v1/allocations");
		rest_part(c, op->u.del.ids[0]);
		rest_query(c, "fields", "uuid,state,node_uuid");
		return 0;
	case IRONIC_LOOK:
		ironic_look_build(c, &i->rest, &s);
		return 0;
	case IRONIC_ACT:
		ironic_target_begin(c, &i->rest, &s);
		rest_text(c, "target", "deleted");
		rest_close(c, '}');
		return 0;
	case IRONIC_DROP:
		ironic_drop_begin(c, &i->rest, op->u.del.ids[0]);
		return 0;
	default:
		return err_set(e, ERR_INVALID, "delete: unknown cursor");
	}
}

static void finish(const struct provider_op *op, enum provider_code code, int64_t retry_ms,
		   struct provider_result *out)
{
	provider_result_fini(out);
	rest_deleted(op, code, out);
	out->retry_after_ms = retry_ms;
}

static void read_alloc(const struct provider_op *op, struct doc *d, struct ironic_step *s,
		       struct provider_result *out)
{
	const char *state = doc_word(&d->top, "state");
	bool chosen = doc_has(&d->top, "node_uuid");

	ironic_uuid(&d->top, "uuid", s->alloc);
	if (chosen)
		ironic_uuid(&d->top, "node_uuid", s->node);
	if (strcmp(s->alloc, op->u.del.ids[0]) != 0)
		doc_wrong(&d->top, "uuid", "the one that was asked for");
	if (state[0] == '\0')
		doc_wrong(&d->top, "state", "a state");
	if (!doc_good(d))
		return;
	if (chosen) {
		s->what = IRONIC_LOOK;
		ironic_go_on(out, s, 0);
	} else if (strcmp(state, "error") == 0) {
		s->what = IRONIC_DROP;
		ironic_go_on(out, s, 0);
	} else {
		finish(op, PROVIDER_NOT_YET, IRONIC_PAUSE_MS, out);
	}
}

static void read_look(const struct provider_op *op, struct doc *d, struct ironic_step *s,
		      struct provider_result *out)
{
	const char *state = doc_word(&d->top, "provision_state");

	if (state[0] == '\0')
		doc_wrong(&d->top, "provision_state", "a state");
	if (!doc_good(d))
		return;
	if (strcmp(doc_word(&d->top, "instance_uuid"), s->alloc) != 0) {
		/* It was ours a moment ago: the next try begins with the allocation. */
		finish(op, PROVIDER_NOT_YET, IRONIC_PAUSE_MS, out);
	} else if (strcmp(state, "deleting") == 0) {
		finish(op, PROVIDER_OK, 0, out);
	} else if (strcmp(state, "available") == 0 || strcmp(state, "manageable") == 0) {
		s->what = IRONIC_DROP;
		ironic_go_on(out, s, 0);
	} else {
		ironic_looked(op, s, IRONIC_ACT);
		ironic_go_on(out, s, 0);
	}
}

static void read_body(const struct ironic *i, const struct provider_op *op,
		      const struct provider_reply *reply, struct ironic_step *s,
		      struct provider_result *out)
{
	struct doc d;

	(void)doc_load(&d, reply->body, reply->len);
	if (doc_good(&d)) {
		if (s->what == IRONIC_LOOK)
			read_look(op, &d, s, out);
		else
			read_alloc(op, &d, s, out);
	}
	if (!doc_good(&d))
		rest_unreadable(&i->rest, op, reply, d.wrong, out);
	doc_fini(&d);
}

/* "In this state it cannot be": it is on its way to another. */
static bool is_moving(const struct ironic_step *s, const struct provider_reply *reply)
{
	return (s->what == IRONIC_ACT && reply->status == 400) || reply->status == 409;
}

void ironic_remove_parse(const struct ironic *i, const struct provider_op *op,
			 const struct provider_reply *reply, struct provider_result *out)
{
	bool looks, ends;
	struct ironic_step s;

	if (ironic_step_read(op, &s) != 0 || op->u.del.nids != 1) {
		out->code = PROVIDER_INVALID;
		return;
	}
	looks = s.what == IRONIC_BEGIN || s.what == IRONIC_LOOK;
	ends = reply->status == (s.what == IRONIC_ACT ? 202 : 204);
	if (looks && rest_succeeded(reply))
		read_body(i, op, reply, &s, out);
	else if (!looks && ends)
		finish(op, PROVIDER_OK, 0, out);
	else if (rest_succeeded(reply))
		rest_unreadable(&i->rest, op, reply, "no answer of Ironic's", out);
	else if (!looks && is_moving(&s, reply))
		finish(op, PROVIDER_NOT_YET, LOCKED_MS, out);
	else
		rest_refused(&i->rest, op, reply, out);
	/* Of a machine that is not there nobody knows whether it runs. */
	if ((s.what == IRONIC_LOOK || s.what == IRONIC_ACT) && out->code == PROVIDER_OK &&
	    out->nitems == 1 && out->items[0].code == PROVIDER_NOT_FOUND)
		out->items[0].code = PROVIDER_NOT_YET;
}
