/* fake_cloud.h - cloud_api.h of the fake engine: what providers said last, and what is left there.
 */
#ifndef BURSTD_TEST_FAKE_CLOUD_H
#define BURSTD_TEST_FAKE_CLOUD_H

#include "fake_state.h"

const char *engine_undeleted(const struct engine *e, size_t provider, int64_t *failed_ms)
{
	assert_true(provider < e->conf->nproviders);
	*failed_ms = e->undeleted_ms;
	return e->undeleted;
}

bool engine_console(const struct engine *e, const char *node, struct engine_console *out)
{
	assert_non_null(node);
	*out = (struct engine_console){
		.text = e->console, .gen = 1, .instance = "i-1", .at_ms = FAKE_NOW};
	return e->console != NULL;
}

const char *engine_off(const struct engine *e, size_t provider)
{
	assert_true(provider < e->conf->nproviders);
	return e->off;
}

const char *engine_fabric(const struct engine *e, const struct node *n,
			  char out[PROVIDER_WORD_MAX + 1])
{
	assert_true(node_counts(n));
	(void)snprintf(out, PROVIDER_WORD_MAX + 1, "%.20s-of-%.30s", e->fabric, n->name);
	return out;
}

const char *engine_undropped(const struct engine *e, size_t provider, size_t *n)
{
	assert_true(provider < e->conf->nproviders);
	*n = e->undropped;
	return "no right to delete groups";
}

bool engine_apart(const struct engine *e, size_t i, struct engine_apart *out)
{
	*out = (struct engine_apart){.fabric = "f", .nodes = "", .n = i + 2, .pool = 1, .hops = 1};
	return i < e->naparts;
}

void engine_apart_text(const struct engine *e, const struct engine_apart *a, struct str *out)
{
	(void)e;
	str_addf(out, "fabric %s: %zu machines are %d hop", a->fabric, a->n, a->hops);
}

const char *engine_unplaced(const struct engine *e, size_t provider)
{
	assert_true(provider < e->conf->nproviders);
	return e->unplaced != NULL ? e->unplaced : "";
}

int64_t engine_clock_ahead(const struct engine *e, size_t provider)
{
	assert_true(provider < e->conf->nproviders);
	return e->ahead_ms;
}

const char *engine_unheard(const struct engine *e, size_t provider, int64_t *since_ms)
{
	(void)provider;
	*since_ms = e->unheard_ms;
	return "the queue does not exist";
}

const char *engine_unreadable(const struct engine *e, size_t provider, size_t i)
{
	assert_true(provider < e->conf->nproviders);
	return e->unreadable != NULL ? e->unreadable[i] : NULL;
}

bool engine_stray(const struct engine *e, size_t provider, size_t i, struct engine_stray *out)
{
	static char id[32];

	assert_true(provider < e->conf->nproviders);
	if (i >= e->nstrays)
		return false;
	(void)snprintf(id, sizeof(id), "i-%zu", i);
	*out = (struct engine_stray){id,
				     "n9",
				     i == 0 ? FAKE_NOW - 5000 : e->tried_ms,
				     FAKE_NOW - 2000,
				     i == 1 && e->leaves,
				     e->stray_up};
	return true;
}

int64_t engine_away_since(const struct engine *e, size_t provider)
{
	assert_true(provider < e->conf->nproviders && provider < 2);
	return e->away_ms[provider];
}

struct engine_source engine_provider_source(const struct engine *e, size_t provider)
{
	assert_true(provider < e->conf->nproviders);
	return e->provider;
}

const char *engine_keys_wait(const struct engine *e, const struct node *n)
{
	(void)n;
	return e->door_off;
}

struct engine_flow engine_flow(struct engine *e, size_t provider, enum provider_op_kind kind)
{
	assert_true(provider < e->conf->nproviders);
	return e->flow[kind];
}

#endif
