/* sim_wire.h - a request to the provider, from send to reply: sim_http.c carries it, sim_request.c
 * reads it, sim_serve.c is the provider that answers. */
#ifndef SIM_WIRE_H
#define SIM_WIRE_H

#include "base/str.h"
#include "io/http_client.h"
#include "sim_cloud.h"

enum wire_kind {
	WIRE_CREATE,
	WIRE_STEP, /* asks about a create that is an operation */
	WIRE_LIST,
	WIRE_DELETE,
	WIRE_OFFERS,
	WIRE_NOTICES,
	WIRE_REPORT,
	WIRE_CONSOLE,
	WIRE_MAKE,
	WIRE_NAMES,
	WIRE_DROP,
	WIRE_PATHS,
	WIRE_STORE,
	WIRE_NONE
};

struct wire {
	struct wire *next;
	struct world *w;
	uint64_t handle;
	http_done_fn done; /* NULL: nobody waits any more */
	void *ctx;
	bool here; /* the request has not arrived, or its reply has not */
	enum wire_kind kind;
	struct create_request create; /* of MAKE and DROP the fabric and the cluster */
	uint32_t ids[CLOUD_WANTS_MAX];
	size_t nids;
	bool single; /* DELETE /v1/instances/ID */
	int64_t sent_at, replied_at;
	int64_t began_at; /* the answer is that of a create which was sent then; 0: it is not */
	int64_t hold_ms;  /* the answer waits for something to tell */
	char cursor[48];
	bool twin;     /* asked by the account's other name */
	char url[160]; /* of STORE ... */
	char *put;     /* ... and what it is to write; NULL: nothing */
	int64_t deadline;
	/* the reply */
	struct err error; /* code set: there is none */
	long status;
	struct str body;
	struct sim_offers offers; /* that are in it */
	bool garbage;             /* is what it became on its way */
	enum sim_fails fails;     /* its place does */
	unsigned retry_s;         /* Retry-After; 0: none */
	uint32_t list_run;        /* not 0: the last page of this list */
};

static inline bool wire_makes(const struct wire *q)
{
	return q->kind == WIRE_CREATE || q->kind == WIRE_MAKE;
}

/* What the driver asks for.  -1: no provider understands it. */
int sim_wire_read(const struct world *w, struct wire *q, const struct http_call *call);
/* Is nobody there?  Asked when it is sent. */
bool sim_wire_away(struct world *w, struct wire *q);
/* It has arrived: do it, and make the reply, or say in `error` that there is none. */
void sim_wire_serve(struct world *w, struct wire *q);
void sim_wire_no_reply(const struct world *w, struct wire *q);
/* --- sim_operation.c --- */
/* Answer a create with an operation, which ends with the answer that q has. */
void sim_operation_begin(struct world *w, struct wire *q);
bool sim_operation_ask(struct world *w, struct wire *q); /* false: there is none */
/* --- sim_topology.c --- */
/* Say where they are; or the error's word. */
const char *sim_topology_serve(struct world *w, struct wire *q);
/* A question goes out, among all that are on the wire; its answer, or that there is none, reaches
 * burstd. */
void sim_topology_asked(struct world *w, const struct wire *q, const struct wire *all);
void sim_topology_told(struct world *w, const struct wire *q);
/* Count a fault for every generation that the request is about. */
void sim_wire_met(struct world *w, enum sim_fault f, const struct wire *q);

#endif
