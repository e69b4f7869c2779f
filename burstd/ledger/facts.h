/* facts.h - what burstd wrote of the life of an instance, put together: when it began and ended,
 * and what it did in between.
 *
 * This is the one place in the ledger that knows the words of the journal's table `life`.  Pure. */
#ifndef BURSTD_LEDGER_FACTS_H
#define BURSTD_LEDGER_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FACTS_NEVER INT64_MIN /* a moment that there was not */

struct facts_rate { /* as burstd counted it then */
	int64_t at_ms, nano_h;
};

struct facts { /* all in ms; FACTS_NEVER: not yet, or never */
	int64_t wanted_ms, created_ms, ready_ms, drained_ms, stop_ms, ended_ms;
	bool ended_said;  /* the provider says when it ended; else burstd only saw it gone */
	int64_t shown_ms; /* if it does not: when the last list began that showed it */
	bool taken;       /* the provider took it */
	bool bought;      /* burstd bought it; else it appeared */
	/* As burstd's budgets counted it: begin and end when it was first found to be gone, and the
	 * rate of its purchase, 0: none was known. */
	int64_t counted_from_ms, counted_to_ms, counted_nano_h;
	int64_t boot_from_ms;  /* its begin, as it was known when it became ready */
	int64_t found_gone_ms; /* when that was */
	bool seen_again;       /* it was not gone: since then budgets do not know its jobs */
	struct facts_rate *rates;
	size_t nrates, rates_cap;
};

#define FACTS_CREATED "created" /* the word for that an instance exists */

void facts_init(struct facts *f);
void facts_fini(struct facts *f);
/* Take the next row, in the order in which burstd wrote them; an unknown word is ignored.
 * said_ms: 0: the provider does not say. */
void facts_take(struct facts *f, const char *kind, int64_t at_ms, int64_t said_ms,
		int64_t rate_nano_h);

#endif
