#include "core/voucher.h"

#include <assert.h>
#include <string.h>

static const char *const names[VOUCHER_NSTATES] = {[VOUCHER_HELD] = "held",
						   [VOUCHER_SPENT] = "spent",
						   [VOUCHER_DOUBTED] = "doubted",
						   [VOUCHER_VOID] = "void",
						   [VOUCHER_SPARE] = "spare"};

const char *voucher_state_str(enum voucher_state s)
{
	assert(s < VOUCHER_NSTATES);
	return names[s];
}

int voucher_state_parse(const char *word)
{
	for (int s = 0; s < VOUCHER_NSTATES; s++)
		if (strcmp(word, names[s]) == 0)
			return s;
	return -1;
}

static void move(struct voucher *v, enum voucher_state to, int64_t now_ms, bool *changed)
{
	secret_free(v->token);
	v->token = NULL;
	v->state = to;
	v->since_ms = now_ms;
	*changed = true;
}

/* Did the node have a machine, or may it have had one? */
static bool had_a_machine(const struct voucher *v, const struct node *is)
{
	return is->instance[0] != '\0' || v->in_doubt || is->reason == NODE_BECAUSE_LOST;
}

/* The node has ended and was never up.  If nobody let it go, the token is doubted: all that is
 * known is what the machine was seen to do, and a thief's machine does as he likes. */
static enum voucher_state without_a_node(const struct voucher *v, const struct node *is)
{
	if (!had_a_machine(v, is))
		return VOUCHER_SPARE;
	return v->let_go ? VOUCHER_VOID : VOUCHER_DOUBTED;
}

static enum voucher_verdict row(struct voucher *v, const struct voucher_event *ev, bool *changed)
{
	bool gone = ev->is == NULL || ev->is->state == NODE_GONE;

	if (v->state == VOUCHER_SPENT)
		return gone ? VOUCHER_DROP : VOUCHER_KEEP;
	if (v->state != VOUCHER_HELD)
		return VOUCHER_KEEP;
	if (ev->is == NULL) { /* the journal has lost its node */
		move(v, VOUCHER_VOID, ev->now_ms, changed);
		return VOUCHER_KEEP;
	}
	v->in_doubt = v->in_doubt || ev->is->state == NODE_INDOUBT;
	switch (ev->is->state) {
	case NODE_READY:
		move(v, VOUCHER_SPENT, ev->now_ms, changed);
		return VOUCHER_KEEP;
	case NODE_DELETING:
	case NODE_QUARANTINED:
	case NODE_GONE:
		move(v, without_a_node(v, ev->is), ev->now_ms, changed);
		return VOUCHER_KEEP;
	default: /* DRAINING too: a machine that boots and will be taken away */
		return VOUCHER_KEEP;
	}
}

enum voucher_verdict voucher_step(struct voucher *v, const struct voucher_event *ev, bool *changed)
{
	bool over = ev->now_ms >= v->ends_ms;
	bool held = v->state == VOUCHER_HELD, doubted = v->state == VOUCHER_DOUBTED;
	bool revoked = v->state == VOUCHER_VOID || v->state == VOUCHER_SPARE;

	*changed = false;
	switch (ev->type) {
	case VOUCHER_EV_ROW:
		return row(v, ev, changed);
	case VOUCHER_EV_LET_GO:
		v->let_go = v->let_go || held;
		return VOUCHER_KEEP;
	case VOUCHER_EV_UP:
	case VOUCHER_EV_VOID:
		if (held)
			move(v, ev->type == VOUCHER_EV_UP ? VOUCHER_SPENT : VOUCHER_SPARE,
			     ev->now_ms, changed);
		return VOUCHER_KEEP;
	case VOUCHER_EV_THERE:
		if (doubted)
			move(v, VOUCHER_VOID, ev->now_ms, changed);
		return VOUCHER_KEEP;
	case VOUCHER_EV_USED: /* also said of a token that has expired */
		if (doubted)
			return over || v->undated ? VOUCHER_LATE : VOUCHER_ALARM;
		if (!revoked)
			return VOUCHER_KEEP;
		return v->state == VOUCHER_VOID && !over ? VOUCHER_UNSURE : VOUCHER_DROP;
	case VOUCHER_EV_REVOKED:
		return revoked ? VOUCHER_DROP : VOUCHER_KEEP;
	default:
		if (over && revoked)
			return VOUCHER_DROP;
		return over && doubted ? VOUCHER_LATE : VOUCHER_KEEP;
	}
}

bool voucher_is_good(const struct voucher *v, int64_t now_ms, int64_t boot_ms)
{
	return v->state == VOUCHER_HELD && !v->undated &&
	       v->ends_ms - now_ms >= boot_ms + VOUCHER_RESERVE_MS;
}

void voucher_fini(struct voucher *v)
{
	secret_free(v->token);
	v->token = NULL;
}
