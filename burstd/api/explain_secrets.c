#include <stdio.h>
#include <string.h>

#include "api/explain.h"
#include "base/fmt.h"
#include "base/str.h"
#include "keys/keys_api.h"

enum {
	SENTENCE_MAX = 1024,
	LONG_MS = 120000, /* a store that restarts is back by then */
};

static bool is_told(const struct engine *e, const struct engine_secrets *s)
{
	return s->trouble_ms != 0 &&
	       (strcmp(s->phase, "refused") == 0 || engine_now(e) - s->trouble_ms > LONG_MS);
}

/* Report misused claims: somebody else may have the keys. */
static void explain_breaches(const struct engine *e, explain_fn fn, void *ctx)
{
	const struct engine_door_counters *d = engine_door_counters(e);
	struct engine_breaches b = engine_breaches(e);
	int64_t age = engine_now(e) - b.last_ms;
	char text[256], k[FMT_U64_SIZE], ago[FMT_DUR_SIZE];

	if (b.n > 0) {
		(void)snprintf(text, sizeof(text),
			       "%s claim%s of keys %s misused, the last one %s ago: see \"breach\" "
			       "in \"burstctl events\"; if keys leaked: %s",
			       fmt_u64(k, b.n), b.n == 1 ? "" : "s", b.n == 1 ? "was" : "were",
			       fmt_duration(ago, age > 0 ? age : 0), engine_rotate_command(e));
		fn(ctx, text);
	}
	if (d != NULL && d->hosts_left_out > 0) {
		(void)snprintf(text, sizeof(text),
			       "%s node%s missing in the list of node names that nodes get: it is "
			       "full; use shorter names or a name service",
			       fmt_u64(k, d->hosts_left_out),
			       d->hosts_left_out == 1 ? " is" : "s are");
		fn(ctx, text);
	}
	if (d != NULL && d->misuses > 0) {
		(void)snprintf(text, sizeof(text),
			       "%s %s of a node spoke for another one since burstd started: see "
			       "\"claim-misuse\" in \"burstctl events\", and check who is root on "
			       "that node",
			       fmt_u64(k, d->misuses), d->misuses == 1 ? "request" : "requests");
		fn(ctx, text);
	}
}

/* Report a rotation that needs a credential, or whose error somebody must mend. */
static void explain_rotation(const struct engine *e, explain_fn fn, void *ctx)
{
	struct engine_rotation s;
	char text[480];

	engine_rotation(e, &s);
	if (!s.there || (s.error[0] == '\0' && !s.needs_credential))
		return;
	(void)snprintf(text, sizeof(text),
		       "the rotation of %s's key is blocked (%s): %s; \"burstctl secrets rotate\" "
		       "shows the progress",
		       rotation_kind_str(s.r.kind), rotation_phase_str(s.r.phase),
		       s.error[0] != '\0'
			       ? s.error
			       : "it needs a credential: burstctl secrets rotate --resume");
	fn(ctx, text);
}

void explain_secrets(const struct engine *e, explain_fn fn, void *ctx)
{
	char ago[FMT_DUR_SIZE];
	struct engine_secrets s;
	struct str text;

	explain_breaches(e, fn, ctx);
	engine_secrets(e, &s);
	if (s.driver[0] == '\0')
		return;
	str_init(&text, SENTENCE_MAX);
	if (is_told(e, &s)) {
		str_addf(&text, "the secret store %s has given out no keys for %s: %s; %s",
			 s.source.name, fmt_duration(ago, engine_now(e) - s.trouble_ms),
			 s.source.error,
			 engine_conf(e)->secrets.release == CONF_USER_DATA
				 ? "no node that needs keys is bought"
				 : "nodes that boot wait for theirs");
		fn(ctx, text.p);
		str_clear(&text);
	}
	explain_rotation(e, fn, ctx);
	if (s.insecure)
		fn(ctx,
		   "the cluster's keys are in a plain file (section secrets, driver file): for "
		   "development only");
	str_fini(&text);
}
