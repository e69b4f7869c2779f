/* secrets_private.h - functions that these four files share; only they include it.
 *
 *   secrets.c          asks for keys and delivers them
 *   secrets_session.c  keeps the session, chooses the address
 *   secrets_wait.c     lists the requests for keys that wait
 *   secrets_trouble.c  says how long to wait after a failure, and tells people */
#ifndef BURSTD_SECRETS_PRIVATE_H
#define BURSTD_SECRETS_PRIVATE_H

#include "keys/secrets.h"

/* --- secrets_session.c --- */
/* A request of the session failed, or a request for keys for a reason that concerns them all. */
void secrets_trouble(struct secrets *s, enum secret_op_kind kind, const struct secret_result *r);
/* Send the session's own next request, if it is due. */
void secrets_run_own(struct secrets *s);

/* --- secrets_wait.c --- */
/* End a request with r, or with err, and free it; a cancelled one is only freed. */
void secrets_end_ask(struct secrets *s, struct secrets_ask *ask, const struct secrets_released *r,
		     const struct err *err);
void secrets_refuse_ask(struct secrets *s, struct secrets_ask *ask, enum err_code code,
			const char *words);
/* Refuse all requests that wait: only an admin can mend this. */
void secrets_refuse_all(struct secrets *s, const char *words);
/* Free cancelled requests. */
void secrets_reap(struct secrets *s);

/* --- secrets_trouble.c --- */
/* A pseudo-random number below sides, for jitter; not for secrets. */
uint64_t secrets_dice(struct secrets *s, uint64_t sides);
/* Full jitter: a random time up to base, doubled with each failure but the first, up to cap. */
int64_t secrets_backoff(struct secrets *s, int64_t base, int64_t cap, unsigned failures);
/* How long to wait after a 412: a replica catches up within a second, or not soon. */
int64_t secrets_behind_ms(struct secrets *s);
/* The address in use; if the driver has none, its name. */
const char *secrets_present_address(const struct secrets *s);
/* Note a failure for people, and log it unless its text is that of the last one. */
void secrets_failed(struct secrets *s, enum secret_code code, const char *text);
/* Likewise with the words of an answer. */
void secrets_complain(struct secrets *s, enum secret_op_kind kind, const struct secret_result *r);
/* The store has answered: clear the failure, and write an event if there was an alarm. */
void secrets_all_is_well(struct secrets *s);
/* Write one event when trouble lasts for SECRETS_ALARM_MS. */
void secrets_alarm_when_long(struct secrets *s);

#endif
