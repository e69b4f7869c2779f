#include "providers/simcloud/fault.h"

#include <fnmatch.h>
#include <string.h>

#include "providers/simcloud/js.h"

enum { OPS_TEXT_MAX = 256 }; /* bytes of all operations in an error */

static const char *const words[FAULT_ACTIONS] = {
	[FAULT_ERROR] = "error",           [FAULT_DROP_REQUEST] = "drop-request",
	[FAULT_DROP_REPLY] = "drop-reply", [FAULT_HOLD] = "hold",
	[FAULT_DELAY] = "delay",           [FAULT_TRUNCATE] = "truncate",
	[FAULT_GARBAGE] = "garbage",       [FAULT_PARTIAL] = "partial",
	[FAULT_EMPTY] = "empty",           [FAULT_LATE] = "late",
};

static int unknown_op(struct err *e)
{
	struct str all;
	int rc;

	str_init(&all, OPS_TEXT_MAX);
	for (const char *const *op = op_words(); *op != NULL; op++)
		str_addf(&all, "%s, ", *op);
	rc = err_set(e, ERR_INVALID, "op: want %sor any", all.p);
	str_fini(&all);
	return rc;
}

static int read_words(struct fault_rule *r, const json_t *o, struct err *e)
{
	char op[16] = "", action[16] = "", code[24] = "", when[8] = "before";

	if (js_get_str(o, "op", op, sizeof(op), e) != 0 ||
	    js_get_str(o, "action", action, sizeof(action), e) != 0 ||
	    js_get_str(o, "code", code, sizeof(code), e) != 0 ||
	    js_get_str(o, "when", when, sizeof(when), e) != 0)
		return -1;
	r->op = op_parse(op);
	if (r->op < 0 && op[0] != '\0' && strcmp(op, "any") != 0)
		return unknown_op(e);
	while (r->action < FAULT_ACTIONS && strcmp(words[r->action], action) != 0)
		r->action++;
	if (r->action == FAULT_ACTIONS)
		return err_set(e, ERR_INVALID, "action: unknown word \"%s\"", action);
	r->code = r->action == FAULT_PARTIAL ? CODE_CAPACITY : CODE_INTERNAL;
	if (code[0] != '\0' && code_parse(code) <= 0)
		return err_set(e, ERR_INVALID, "code: unknown word \"%s\"", code);
	if (code[0] != '\0')
		r->code = (enum code)code_parse(code);
	r->after = strcmp(when, "after") == 0;
	if (!r->after && strcmp(when, "before") != 0)
		return err_set(e, ERR_INVALID, "when: want before or after");
	return 0;
}

static int read_numbers(struct fault_rule *r, const json_t *o, struct err *e)
{
	if (js_get_int(o, "status", &r->status, e) != 0 ||
	    js_get_int(o, "retry_after", &r->retry_after_s, e) != 0 ||
	    js_get_int(o, "ms", &r->ms, e) != 0 || js_get_int(o, "keep", &r->keep, e) != 0 ||
	    js_get_int(o, "nth", &r->nth, e) != 0 || js_get_int(o, "every", &r->every, e) != 0 ||
	    js_get_int(o, "count", &r->count, e) != 0 ||
	    js_get_real(o, "probability", &r->probability, e) != 0)
		return -1;
	if (r->status != 0 && (r->status < 200 || r->status > 599))
		return err_set(e, ERR_INVALID, "status: want 200 to 599");
	if (r->ms > 86400000 || r->retry_after_s > 86400)
		return err_set(e, ERR_INVALID, "ms, retry_after: at most a day");
	return 0;
}

int faults_add(struct faults *f, const json_t *o, struct err *e)
{
	static const char *const known[] = {"op",    "action", "status",  "code",        "nth",
					    "every", "count",  "node",    "probability", "when",
					    "ms",    "keep",   "message", "retry_after", NULL};
	struct fault_rule r = {.keep = -1, .probability = 1};

	if (f->n == FAULT_RULES_MAX)
		return err_set(e, ERR_LIMIT, "%d rules at most", FAULT_RULES_MAX);
	if (js_only(o, known, e) != 0 || read_words(&r, o, e) != 0 || read_numbers(&r, o, e) != 0 ||
	    js_get_str(o, "node", r.node, sizeof(r.node), e) != 0 ||
	    js_get_str(o, "message", r.message, sizeof(r.message), e) != 0)
		return -1;
	r.id = ++f->last_id;
	rng_init(&r.rng, f->seed, r.id);
	f->rules[f->n++] = r;
	return (int)r.id;
}

bool faults_remove(struct faults *f, unsigned id)
{
	for (unsigned i = 0; i < f->n; i++)
		if (f->rules[i].id == id) {
			memmove(&f->rules[i], &f->rules[i + 1],
				(f->n - i - 1) * sizeof(f->rules[0]));
			f->n--;
			return true;
		}
	return false;
}

void faults_write(const struct faults *f, struct str *s)
{
	js_open(s, NULL, '{');
	js_open(s, "faults", '[');
	for (unsigned i = 0; i < f->n; i++) {
		const struct fault_rule *r = &f->rules[i];

		js_open(s, NULL, '{');
		js_int(s, "id", r->id);
		js_str(s, "op", r->op >= 0 ? op_word((enum op)r->op) : "any");
		js_str(s, "action", words[r->action]);
		js_str(s, "code", code_word(r->code));
		js_str(s, "when", r->after ? "after" : "before");
		js_str(s, "node", r->node);
		js_int(s, "seen", (int64_t)r->seen);
		js_int(s, "fired", (int64_t)r->fired);
		js_close(s, '}');
	}
	js_close(s, ']');
	js_close(s, '}');
}

bool fault_matches_node(const struct fault_rule *r, const char *node)
{
	return r->node[0] == '\0' || fnmatch(r->node, node, 0) == 0;
}

static bool matches(const struct fault_rule *r, enum op op, const struct fault_nodes *nodes)
{
	if (r->op >= 0 && r->op != (int)op)
		return false;
	if (r->node[0] == '\0' || r->op == OP_LIST)
		return true; /* in a rule for lists, node is what a partial list leaves out */
	for (size_t i = 0; i < nodes->n; i++)
		if (fault_matches_node(r, nodes->get(nodes->ctx, i)))
			return true;
	return false;
}

/* Draw on every match, so that the random stream depends on the requests alone. */
static bool fires(struct fault_rule *r)
{
	bool lucky = rng_unit(&r->rng) < r->probability;

	r->seen++;
	if (r->count > 0 && r->fired >= (uint64_t)r->count)
		return false;
	if (r->nth > 0 && r->seen != (uint64_t)r->nth)
		return false;
	if (r->every > 0 && r->seen % (uint64_t)r->every != 0)
		return false;
	return lucky;
}

const struct fault_rule *faults_pick(struct faults *f, enum op op, const struct fault_nodes *nodes)
{
	const struct fault_rule *picked = NULL;

	for (unsigned i = 0; i < f->n; i++) {
		struct fault_rule *r = &f->rules[i];

		if (!matches(r, op, nodes) || !fires(r) || picked != NULL)
			continue;
		r->fired++;
		picked = r;
	}
	return picked;
}
