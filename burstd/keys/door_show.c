#include "core/voucher.h"
#include "keys/door.h"
#include "keys/vouchers.h"

/* Shows booting machines, to people and /metrics. */

/* Likewise for a machine with a voucher, which sends nothing to burstd. */
static bool voucher_boot(const struct engine *e, const char *node, uint64_t gen,
			 struct engine_boot *out)
{
	const struct voucher *v = vouchers_of(e, node, gen);

	if (v == NULL)
		return false;
	*out = (struct engine_boot){.claim = voucher_state_str(v->state),
				    .why = "",
				    .unproved = true,
				    .since_ms = v->since_ms,
				    .key_version = v->version};
	return true;
}

bool engine_boot(const struct engine *e, const char *node, uint64_t gen, struct engine_boot *out)
{
	const struct claim_run *r = e->keys->door != NULL ? claims_of(e, node, gen) : NULL;

	if (r == NULL)
		return voucher_boot(e, node, gen, out);
	*out = (struct engine_boot){
		.claim = claim_state_str(r->c.state),
		.why = claim_reason_text(r->c.reason),
		.weak = r->c.weak,
		.faulty = r->faulty,
		.old_keys = r->old_keys,
		.since_ms = r->c.since_ms,
		.key_version = r->key_version != 0 ? (int64_t)r->key_version : r->c.version,
		.heartbeat_ms = r->heartbeat_ms,
		.ready_ms = r->ready_ms,
		.boot_ms = r->boot_ms,
		.cert_until_ms = r->cert_until_ms,
	};
	return true;
}

const struct learned *engine_learned(const struct engine *e)
{
	return e->keys->door != NULL ? &e->keys->door->learned : NULL;
}

const struct engine_door_counters *engine_door_counters(const struct engine *e)
{
	return e->keys->door != NULL ? &e->keys->door->count : NULL;
}

size_t engine_claims(const struct engine *e, size_t *states)
{
	size_t weak = 0;

	memset(states, 0, CLAIM_NSTATES * sizeof(*states));
	for (size_t i = 0; e->keys->door != NULL && i < e->fleet.nall; i++)
		for (const struct fleet_node *fn = e->fleet.all[i]->newest; fn; fn = fn->older) {
			const struct claim_run *r = NULL;

			if (fn->n.state != NODE_GONE && fn->n.state != NODE_WANTED)
				r = claims_of(e, fn->n.name, fn->n.gen);
			if (r == NULL)
				continue;
			states[r->c.state]++;
			weak += r->c.weak;
		}
	return weak;
}
