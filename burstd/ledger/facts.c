#include "ledger/facts.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* As core/life.h has them; ledger_attempts.c of the store has two in its queries. */
enum word {
	WANTED,
	SENT,
	CREATED,
	REGISTERED,
	READY,
	DRAINED,
	RELEASED,
	DELETE_ASKED,
	TAKEN,
	SHOWN,
	ENDED,
	SEEN,
	NWORDS
};

static const char *const words[NWORDS] = {"wanted", "sent",    FACTS_CREATED, "registered",
					  "ready",  "drained", "released",    "delete_asked",
					  "taken",  "shown",   "ended",       "seen"};

void facts_init(struct facts *f)
{
	*f = (struct facts){.wanted_ms = FACTS_NEVER,
			    .created_ms = FACTS_NEVER,
			    .ready_ms = FACTS_NEVER,
			    .drained_ms = FACTS_NEVER,
			    .stop_ms = FACTS_NEVER,
			    .shown_ms = FACTS_NEVER,
			    .ended_ms = FACTS_NEVER,
			    .counted_from_ms = FACTS_NEVER,
			    .counted_to_ms = FACTS_NEVER,
			    .counted_nano_h = FACTS_NEVER,
			    .boot_from_ms = FACTS_NEVER,
			    .found_gone_ms = FACTS_NEVER};
}

void facts_fini(struct facts *f)
{
	free(f->rates);
	*f = (struct facts){0};
}

static void first(int64_t *at, int64_t ms)
{
	if (*at == FACTS_NEVER || ms < *at)
		*at = ms;
}

static void take_rate(struct facts *f, int64_t at_ms, int64_t nano_h)
{
	if (nano_h <= 0 || (f->nrates > 0 && f->rates[f->nrates - 1].nano_h == nano_h))
		return;
	if (f->nrates == f->rates_cap) {
		f->rates_cap = f->rates_cap == 0 ? 4 : 2 * f->rates_cap;
		f->rates = mem_realloc(f->rates, f->rates_cap * sizeof(*f->rates));
	}
	f->rates[f->nrates++] = (struct facts_rate){at_ms, nano_h};
}

void facts_take(struct facts *f, const char *kind, int64_t at_ms, int64_t said_ms,
		int64_t rate_nano_h)
{
	const int64_t when = said_ms != 0 ? said_ms : at_ms;
	size_t w = 0;

	while (w < NWORDS && strcmp(words[w], kind) != 0)
		w++;
	take_rate(f, at_ms, rate_nano_h);
	if (f->counted_nano_h == FACTS_NEVER)
		f->counted_nano_h = rate_nano_h > 0 ? rate_nano_h : 0;
	switch ((enum word)w) {
	case WANTED:
	case SENT:
		f->bought = true;
		first(&f->wanted_ms, at_ms);
		break;
	case CREATED: /* the last counts: the provider has corrected the begin */
		f->created_ms = when;
		break;
	case REGISTERED:
	case READY:
		if (f->ready_ms == FACTS_NEVER)
			f->boot_from_ms = f->created_ms;
		first(&f->ready_ms, at_ms);
		break;
	case DRAINED:
		first(&f->drained_ms, at_ms);
		break;
	case RELEASED:
	case DELETE_ASKED:
		first(&f->stop_ms, at_ms);
		break;
	case TAKEN:
		f->taken = true;
		break;
	case SHOWN:
		f->shown_ms = at_ms;
		break;
	case ENDED:
		f->ended_ms = when;
		f->ended_said = said_ms != 0;
		if (f->counted_to_ms != FACTS_NEVER) /* what is said later changes no budget */
			break;
		f->counted_from_ms = f->created_ms;
		f->counted_to_ms = when;
		f->found_gone_ms = at_ms;
		break;
	case SEEN: /* it was not gone: its bill goes on from its begin */
		f->shown_ms = f->ended_ms = f->counted_to_ms = FACTS_NEVER;
		f->taken = false;
		f->seen_again = true;
		break;
	case NWORDS:
		break;
	}
}
