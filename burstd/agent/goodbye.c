/* goodbye.c - sends a last notice when the agent is stopped: the machine shuts down, or only the
 * agent ends.
 *
 * Oracle's cloud announces a preemption to the machine only by its power button: its metadata
 * service has nothing about it, and its Events service tells the account, not the node.  So a
 * machine there that shuts down counts as preempted; if burstd deleted it, burstd knows. */
#include <stdio.h>
#include <string.h>

#include "agent/agent.h"
#include "agent/child.h"
#include "base/clock.h"

enum {
	GOODBYE_MS = 3000, /* for burstd to take it; systemd gives the agent 10 s for all of this */
	GOODBYE_PREEMPT_MS = 6000, /* and for local_command to begin, if burstd does not */
	GOODBYE_ASK_MS = 1000,     /* for state_command */
	GOODBYE_LEFT_MS = 20000,   /* until slurmd and its jobs are killed: an assumption */
};

struct question {
	bool over, stopping;
};

static void on_state(void *ctx, const struct child_end *end)
{
	struct question *q = ctx;

	/* systemctl fails with every state but one, so its status says nothing. */
	q->stopping = end->len >= 8 && strncmp(end->out, "stopping", 8) == 0;
	q->over = true;
}

static bool stopping(struct agent *a)
{
	struct question q = {false, false};
	const struct child_call call = {.command = a->conf.state_command,
					.timeout_ms = GOODBYE_ASK_MS,
					.done = on_state,
					.ctx = &q};
	struct child *child = NULL;
	struct err e = {0};

	if (call.command[0] == '\0')
		return false;
	if (child_start(&child, &a->poller, &call, &e) != 0) {
		agent_complain(a, "state_command", e.msg);
		return false;
	}
	while (!q.over)
		poller_turn(&a->poller);
	child_leave(child);
	return q.stopping;
}

static void on_late(struct poller_item *it, short got, int64_t now)
{
	(void)it;
	(void)got;
	(void)now;
}

void goodbye(struct agent *a)
{
	const bool ends = stopping(a), taken = ends && a->conf.cloud == AGENT_OCI;
	const int64_t until = clock_boot_ms() + (taken ? GOODBYE_PREEMPT_MS : GOODBYE_MS);
	struct poller_item timer = {.fd = -1, .deadline = until, .fn = on_late};
	struct notice n = {.type = taken ? NOTICE_PREEMPT : NOTICE_SHUTDOWN,
			   .deadline = taken ? clock_wall_ms() + GOODBYE_LEFT_MS : 0};

	(void)snprintf(n.id, sizeof(n.id), "%lld", (long long)clock_boot_ms());
	(void)snprintf(n.detail, sizeof(n.detail), "%s",
		       ends ? "the machine shuts down" : "stopped by a signal");
	notices_tell(a->notices, &n);
	poller_add(&a->poller, &timer);
	while (!notices_quiet(a->notices) && clock_boot_ms() < until)
		poller_turn(&a->poller);
	poller_del(&a->poller, &timer);
}
