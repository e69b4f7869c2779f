/* fault.h - faults to inject: rules given by POST /admin/faults.
 *
 * A rule sees the requests that match it, in order, and fires on some of them: the nth, every k-th,
 * or with a probability drawn from its own stream of the seed.  So the same requests in the same
 * order meet the same faults, whatever other rules there are.  The first rule that fires has the
 * request. */
#ifndef SIMCLOUD_FAULT_H
#define SIMCLOUD_FAULT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "providers/simcloud/op.h"
#include "providers/simcloud/rng.h"

enum { FAULT_RULES_MAX = 64, FAULT_GLOB_SIZE = 64, FAULT_TEXT_SIZE = 160 };

enum fault_action {
	FAULT_ERROR,        /* answer with an error; before (the default) or after the effect */
	FAULT_DROP_REQUEST, /* no effect, and the connection closes */
	FAULT_DROP_REPLY,   /* the effect, and the connection closes (F1) */
	FAULT_HOLD,         /* keep the request until it is released; before or after the effect */
	FAULT_DELAY,        /* the effect, and the answer ms later */
	FAULT_TRUNCATE,     /* the effect, and half of the answer */
	FAULT_GARBAGE,      /* the effect, and a page of HTML with status 200 (F30) */
	FAULT_PARTIAL, /* some of the instances are refused, or left out of the list (F4, F16) */
	FAULT_EMPTY,   /* a list without instances (F17) */
	FAULT_LATE,    /* an error now, and the effect ms later all the same (F3) */
	FAULT_ACTIONS
};

struct fault_rule {
	unsigned id;
	int op; /* enum op, or -1: any */
	enum fault_action action;
	enum code code;
	int64_t status, retry_after_s, ms,
		keep;              /* keep: number that partial leaves whole; -1: half */
	int64_t nth, every, count; /* 0: not given; count: fire at most so often */
	double probability;
	bool after;
	char node[FAULT_GLOB_SIZE]; /* "": any node; op list: nodes that partial leaves out */
	char message[FAULT_TEXT_SIZE];
	uint64_t seen, fired;
	struct rng rng;
};

struct faults {
	struct fault_rule rules[FAULT_RULES_MAX];
	unsigned n, last_id;
	uint64_t seed;
};

/* Names of the nodes a request is about. */
struct fault_nodes {
	const char *(*get)(const void *ctx, size_t i);
	const void *ctx;
	size_t n;
};

/* The id of the new rule; -1: it is invalid, or there are too many; nothing changed. */
int faults_add(struct faults *f, const json_t *o, struct err *e);
bool faults_remove(struct faults *f, unsigned id);
void faults_write(const struct faults *f, struct str *s);
/* The rule that fires on this request, or NULL.  Counts the request for each rule that matches; the
 * rule is valid until the table changes. */
const struct fault_rule *faults_pick(struct faults *f, enum op op, const struct fault_nodes *nodes);
bool fault_matches_node(const struct fault_rule *r, const char *node);

#endif
