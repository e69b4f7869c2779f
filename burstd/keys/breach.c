#include <stdio.h>

#include "keys/keys.h"

/* Keeps alarms over a restart, until the key is rotated, or they are a week old: the journal's meta
 * has their number and the time of the last one. */

enum { BREACH_SHOWN_DAYS = 7 };

static const int64_t shown_ms = BREACH_SHOWN_DAYS * INT64_C(86400000);

#define LAST  "breach_last"
#define COUNT "breach_count"

static void put(struct engine *e, int64_t n, int64_t last_ms)
{
	e->keys->breaches = (struct engine_breaches){.n = (uint64_t)n, .last_ms = last_ms};
	journal_put_number(engine_tx(e), COUNT, n);
	journal_put_number(engine_tx(e), LAST, last_ms);
}

int breach_load(struct engine *e, struct err *err)
{
	int64_t n, last_ms;

	if (journal_get_number(e->d.journal, COUNT, &n, err) != 0 ||
	    journal_get_number(e->d.journal, LAST, &last_ms, err) != 0)
		return -1;
	e->keys->breaches =
		(struct engine_breaches){.n = n > 0 ? (uint64_t)n : 0, .last_ms = last_ms};
	return 0;
}

void breach_sound(struct engine *e, const struct breach *b)
{
	uint64_t n = engine_breaches(e).n;
	char text[320];

	(void)snprintf(text, sizeof(text), "%.200s; %s%s", b->why,
		       b->left ? "its keys may have leaked: " : "it had been given nothing",
		       b->left ? engine_rotate_command(e) : "");
	e->count.claims_breached++;
	engine_event(e, b->node, b->gen, "breach", text);
	audit_thing(e, "breach", b->of, b->node, b->why);
	put(e, (int64_t)n + 1, engine_now(e));
}

void breach_mended(struct engine *e, const struct rotation *r)
{
	enum rotation_kind ours =
		e->conf->nodes.auth == CONF_AUTH_SLURM ? ROTATION_JWKS : ROTATION_MUNGE;

	if (e->keys->breaches.n > 0 && r->kind == ours && r->begun_ms >= e->keys->breaches.last_ms)
		put(e, 0, e->keys->breaches.last_ms);
}

struct engine_breaches engine_breaches(const struct engine *e)
{
	if (engine_now(e) - e->keys->breaches.last_ms > shown_ms)
		return (struct engine_breaches){.last_ms = e->keys->breaches.last_ms};
	return e->keys->breaches;
}

const char *engine_rotate_command(const struct engine *e)
{
	return e->conf->nodes.auth == CONF_AUTH_SLURM ? "burstctl secrets rotate --jwks"
						      : "burstctl secrets rotate --munge";
}
