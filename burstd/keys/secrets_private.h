/* secrets_private.h - what the files of the session with the secret store share; nobody else
 * includes it.
 *
 *   secrets.c          keys are asked for, and given to those who wait
 *   secrets_session.c  the session, and at which address it is
 *   secrets_wait.c     the list of those who wait
 *   secrets_trouble.c  how long to wait after a failure, and what people are told */
#ifndef BURSTD_SECRETS_PRIVATE_H
#define BURSTD_SECRETS_PRIVATE_H

#include "keys/secrets.h"

/* --- secrets_session.c --- */
/* The request of the session itself failed, or an ask for a reason that is not its own. */
void secrets_trouble(struct secrets *s, enum secret_op_kind kind, const struct secret_result *r);
/* The session's own next request goes out, if its time has come. */
void secrets_run_own(struct secrets *s);

/* --- secrets_wait.c --- */
/* It is given r, or refused for err, and freed; one that is cancelled is only freed. */
void secrets_end_ask(struct secrets *s, struct secrets_ask *ask, const struct secrets_released *r,
		     const struct err *err);
void secrets_refuse_ask(struct secrets *s, struct secrets_ask *ask, enum err_code code,
			const char *words);
/* Nobody can help them now but an admin. */
void secrets_refuse_all(struct secrets *s, const char *words);
/* Nobody waits for these any more: they are freed. */
void secrets_reap(struct secrets *s);

/* --- secrets_trouble.c --- */
/* Only so that many of us do not come at once: nothing secret hangs on it. */
uint64_t secrets_dice(struct secrets *s, uint64_t sides);
/* Full jitter: anything up to what the doubling has come to. */
int64_t secrets_backoff(struct secrets *s, int64_t base, int64_t cap, unsigned failures);
/* A replica catches up within a second, or not soon. */
int64_t secrets_behind_ms(struct secrets *s);
/* The one that we talk to; where there are none, the driver's name. */
const char *secrets_present_address(const struct secrets *s);
/* What is wrong, for people: logged, unless it was so before. */
void secrets_failed(struct secrets *s, enum secret_code code, const char *text);
/* Likewise, in the words of an answer. */
void secrets_complain(struct secrets *s, enum secret_op_kind kind, const struct secret_result *r);
/* It has answered: there is no trouble, and people hear so if there was an alarm. */
void secrets_all_is_well(struct secrets *s);
/* Once, when it lasts: an hour of it is one event. */
void secrets_alarm_when_long(struct secrets *s);

#endif
