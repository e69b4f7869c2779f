/* stray_deletes.h - deletes of instances, with a cloud of the test's. */
#ifndef TESTS_STRAY_DELETES_H
#define TESTS_STRAY_DELETES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "buy/buy.h"
#include "cloud/cloud.h"
#include "tests/unit/engine/bare_state.h"

enum { STRAYS = 5, SENT_MAX = 16, MINUTE = 60000 };

static struct fix {
	struct engine e;
	struct conf conf;
	struct conf_provider provider;
	struct cloud cloud;
	int64_t now;
	unsigned slots; /* requests that may go out */
	unsigned hurried;
	struct {
		char ids[128]; /* "s0;s1;" */
		size_t n;
		request_fn fn;
		void *ctx;
	} sent[SENT_MAX];
	size_t nsent, on_record;
	char answered[256]; /* the records of answers */
	size_t committed;   /* of them, durably on record */
	char left[64];      /* the numbers of those that went out, "0;1;" */
	char posted[300], events[600];
	int64_t retry_ms;          /* of the last one that was posted */
	enum node_event_type type; /* its type */
} F;

int64_t engine_now(const struct engine *e)
{
	(void)e;
	return F.now;
}

void engine_commit(struct engine *e)
{
	(void)e;
	F.committed = F.on_record;
}

const struct node_limits *engine_limits(const struct engine *e, const struct node *n,
					struct node_limits *out)
{
	(void)e;
	(void)n;
	return out;
}

void engine_post(struct engine *e, struct fleet_node *fn, const struct node_event *ev)
{
	size_t n = strlen(F.posted);

	(void)e;
	F.retry_ms = ev->retry_ms;
	F.type = ev->type;
	(void)snprintf(F.posted + n, sizeof(F.posted) - n, "%s %s;", fn->n.name,
		       node_event_str(ev->type));
}

void engine_event(struct engine *e, const char *node, uint64_t gen, const char *type,
		  const char *detail)
{
	size_t n = strlen(F.events);

	(void)e;
	(void)gen;
	if (strcmp(type, "stray-deleted") == 0)
		return;
	(void)snprintf(F.events + n, sizeof(F.events) - n, "%s %s: %s\n", node, type, detail);
}

bool cloud_ready(struct cloud *c, enum provider_op_kind kind)
{
	(void)c;
	(void)kind;
	return F.slots > 0;
}

void cloud_hurry(struct cloud *c)
{
	(void)c;
	F.hurried++;
}

struct request *cloud_reserve(struct cloud *c, const struct provider_op *op, request_fn fn,
			      void *ctx)
{
	(void)c;
	assert_int_equal(op->kind, PROVIDER_DELETE);
	assert_true(F.nsent < SENT_MAX);
	F.slots--;
	F.sent[F.nsent].ids[0] = '\0';
	for (size_t i = 0; i < op->u.del.nids; i++) {
		strncat(F.sent[F.nsent].ids, op->u.del.ids[i], 16);
		strncat(F.sent[F.nsent].ids, ";", 2);
	}
	F.sent[F.nsent].n = op->u.del.nids;
	F.sent[F.nsent].fn = fn;
	F.sent[F.nsent].ctx = ctx;
	return (struct request *)(void *)&F.sent[F.nsent++];
}

void cloud_send_reserved(struct request *rq)
{
	size_t n = strlen(F.left);

	for (size_t i = 0; i < F.nsent; i++)
		if ((void *)rq == (void *)&F.sent[i]) {
			assert_true(i < F.committed); /* I28 */
			(void)snprintf(F.left + n, sizeof(F.left) - n, "%zu;", i);
		}
}

void audit_begin(struct audit *a, size_t max)
{
	(void)a;
	(void)max;
}

void audit_delete(struct audit *a, struct fleet_node *fn, const char *id)
{
	(void)a;
	(void)fn;
	(void)id;
}

void audit_stray(struct audit *a, const char *node, const char *id, bool again)
{
	(void)node;
	(void)id;
	a->first = a->first || !again;
}

void audit_put_delete(struct engine *e, struct audit *a, const char *target)
{
	(void)e;
	(void)a;
	(void)target;
	assert_int_equal(++F.on_record, F.nsent + 1); /* I28 */
}

void audit_add(struct audit *a, const char *thing)
{
	(void)a;
	(void)snprintf(F.answered + strlen(F.answered), sizeof(F.answered) - strlen(F.answered),
		       "%s ", thing);
}

void audit_answered(struct engine *e, struct audit *a, const char *what, const char *target,
		    const struct provider_result *r)
{
	(void)e;
	(void)a;
	assert_string_equal(what, "delete");
	assert_string_equal(target, "ec2");
	(void)snprintf(F.answered + strlen(F.answered), sizeof(F.answered) - strlen(F.answered),
		       "%s %s;", provider_code_str(r->code), r->request_id);
}

static char name[] = "ec2";

/* s0 ... s4, long known. */
static inline int setup(void **state)
{
	(void)state;
	F = (struct fix){.now = INT64_C(1800000000000), .slots = 8};
	bare_state(&F.e);
	F.provider = (struct conf_provider){.name = name, .settle_ms = 1000};
	F.conf = (struct conf){.providers = &F.provider, .nproviders = 1};
	F.e.conf = &F.conf;
	F.e.cloud->all = &F.cloud;
	F.e.poll.snapshot_ms = F.now; /* it has none of their nodes */
	F.cloud = (struct cloud){.e = &F.e, .conf = &F.provider, .caps.delete_max = 3};
	F.cloud.strays = mem_zalloc(STRAYS * sizeof(*F.cloud.strays));
	F.cloud.nstrays = STRAYS;
	for (int i = 0; i < STRAYS; i++) {
		(void)snprintf(F.cloud.strays[i].id, sizeof(F.cloud.strays[i].id), "s%d", i);
		(void)snprintf(F.cloud.strays[i].node, sizeof(F.cloud.strays[i].node), "x%d", i);
		F.cloud.strays[i].first_ms = F.now - MINUTE;
	}
	fleet_init(&F.e.fleet, 1);
	return 0;
}

static inline int teardown(void **state)
{
	(void)state;
	for (size_t i = 0; i < F.nsent; i++)
		free(F.sent[i].ctx);
	free(F.cloud.strays);
	fleet_fini(&F.e.fleet);
	return 0;
}

/* The i-th of those sent comes to this; codes: of its items, or NULL. */
static inline void answer(size_t i, enum provider_code code, const enum provider_code *codes)
{
	struct provider_result r = {.code = code, .message = "no right to"};

	if (codes != NULL) {
		r.items = mem_zalloc(F.sent[i].n * sizeof(*r.items));
		r.nitems = F.sent[i].n;
		for (size_t k = 0; k < r.nitems; k++)
			r.items[k].code = codes[k];
	}
	F.sent[i].fn(&F.cloud, F.sent[i].ctx, &r);
	free(r.items);
}

/* What was sent and answered, so that there is room for more. */
static inline void forget_sent(void)
{
	while (F.nsent > 0)
		free(F.sent[--F.nsent].ctx);
	F.on_record = 0;
	F.committed = 0;
	F.left[0] = '\0';
}

/* n1 ... n4 are to be deleted. */
static inline void add_nodes(void)
{
	F.cloud.nstrays = 0;
	F.cloud.caps.delete_max = 4;
	for (int i = 1; i <= 4; i++) {
		char id[16];
		struct node n;

		(void)snprintf(id, sizeof(id), "n%d", i);
		(void)fleet_name(&F.e.fleet, id, 0);
		node_init(&n, id, 1, F.now);
		n.state = NODE_DELETING;
		memcpy(n.instance, id, strlen(id) + 1);
		(void)fleet_add(&F.e.fleet, &n);
	}
}

#endif
