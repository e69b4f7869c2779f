#include "keys/secrets_private.h"

#include <stdio.h>

/* Computes pauses after failures of the store, and tells people. */

/* --- dice, and how long to wait ----------------------------------------------------------------
 */

uint64_t secrets_dice(struct secrets *s, uint64_t sides)
{
	s->dice ^= s->dice << 13;
	s->dice ^= s->dice >> 7;
	s->dice ^= s->dice << 17;
	return sides > 0 ? s->dice % sides : 0;
}

int64_t secrets_backoff(struct secrets *s, int64_t base, int64_t cap, unsigned failures)
{
	int64_t most = base;

	while (failures-- > 1 && most < cap)
		most *= 2;
	most = most < cap ? most : cap;
	return (int64_t)secrets_dice(s, (uint64_t)most) + 1;
}

int64_t secrets_behind_ms(struct secrets *s)
{
	return SECRETS_AGAIN_MS + secrets_backoff(s, SECRETS_BEHIND_MS, SECRETS_BEHIND_MS, 1);
}

/* --- what people are told ----------------------------------------------------------------------
 */

const char *secrets_present_address(const struct secrets *s)
{
	const char *address = s->ops->address(s->self, s->at);

	return address != NULL ? address : s->ops->name;
}

void secrets_failed(struct secrets *s, enum secret_code code, const char *text)
{
	s->failed_ms = engine_now(s->e);
	if (s->trouble_ms == 0)
		s->trouble_ms = s->failed_ms;
	if (strcmp(s->error, text) != 0)
		log_write(s->e->d.log, s->off ? LOG_ERROR : LOG_WARN,
			  s->off ? "the secret store is off" : "the secret store failed", "address",
			  secrets_present_address(s), "code", secret_code_str(code), "error", text,
			  NULL);
	(void)snprintf(s->error, sizeof(s->error), "%s", text);
}

void secrets_complain(struct secrets *s, enum secret_op_kind kind, const struct secret_result *r)
{
	char full[sizeof(s->error)];

	(void)snprintf(full, sizeof(full), "%s: %s", secret_op_str(kind), r->message);
	secrets_failed(s, r->code, full);
}

void secrets_all_is_well(struct secrets *s)
{
	s->ok_ms = engine_now(s->e);
	s->failures = 0;
	s->round = 0;
	s->turned = false;
	s->error[0] = '\0';
	if (s->alarmed)
		engine_event(s->e, "", 0, "secrets", "the secret store answers again");
	s->alarmed = false;
	s->trouble_ms = 0;
}

void secrets_alarm_when_long(struct secrets *s)
{
	if (s->trouble_ms == 0 || s->alarmed || engine_now(s->e) - s->trouble_ms < SECRETS_ALARM_MS)
		return;
	s->alarmed = true;
	engine_event(s->e, "", 0, "secrets-alarm", s->error);
}
