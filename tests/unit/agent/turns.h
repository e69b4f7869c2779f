/* turns.h - lets an agent's loop run for a time, whether anything happens or not. */
#ifndef TURNS_H
#define TURNS_H

#include "agent/agent.h"
#include "base/clock.h"

static inline void turns_nop(struct poller_item *it, short got, int64_t now)
{
	(void)it;
	(void)got;
	(void)now;
}

static inline void turns(struct agent *a, int64_t ms)
{
	int64_t end = clock_boot_ms() + ms;

	while (clock_boot_ms() < end) {
		struct poller_item wake = {
			.fd = -1, .deadline = clock_boot_ms() + 5, .fn = turns_nop};

		poller_add(&a->poller, &wake);
		poller_turn(&a->poller);
		poller_del(&a->poller, &wake);
	}
}

#endif
