/* unmount.c - runs unmount_command once, when the machine will be taken away, or burstd has
 * released it, and its jobs have ended or have no time left.
 *
 * It never delays what jobs are told: it begins when burstd has taken the notice (and so has fenced
 * the node), or when local_command has run, and only time cuts that short. */
#include <stdlib.h>

#include "agent/agent.h"
#include "agent/alarm.h"
#include "agent/child.h"
#include "base/clock.h"
#include "base/mem.h"

enum {
	UNMOUNT_LOOK_MS = 1000,
	UNMOUNT_QUIET = 2, /* looks without a job, one after the other: burstd fences a node some
			      0.1 s after it has taken a notice, and a job may start in between */
	UNMOUNT_LEAST_MS = 5000, /* from a notice on: for burstd, or after it local_command, to tell
				    jobs, also when a clock is wrong */
	UNMOUNT_COMMAND_MS = 120000,
};

struct unmount {
	struct agent *a;
	struct poller_item timer;
	struct child *child;
	int64_t by; /* POLLER_NEVER: nobody says when the machine goes */
	bool told, begun;
	unsigned quiet;
};

static void on_end(void *ctx, const struct child_end *end)
{
	struct unmount *u = ctx;

	if (end->status == 0) {
		log_write(u->a->log, LOG_INFO, "file systems are unmounted", NULL);
		return;
	}
	agent_complain(u->a, "unmount_command failed",
		       end->status < 0 ? end->e.msg : u->a->conf.unmount_command);
	alarm_raise("%s: file systems were not all unmounted in time", u->a->conf.node);
}

static void begin(struct unmount *u)
{
	const struct child_call call = {.command = u->a->conf.unmount_command,
					.vars = {.node = u->a->conf.node},
					.timeout_ms = UNMOUNT_COMMAND_MS,
					.done = on_end,
					.ctx = u};
	struct err e = {0};

	u->begun = true;
	u->timer.deadline = POLLER_NEVER;
	log_write(u->a->log, LOG_INFO, "unmounting: the machine goes", "job",
		  u->a->facts.job ? "yes" : "no", NULL);
	if (child_start(&u->child, &u->a->poller, &call, &e) != 0)
		agent_complain(u->a, "unmount_command", e.msg);
}

static bool is_wanted(const struct unmount *u)
{
	return u->a->conf.unmount_command[0] != '\0' && !u->begun;
}

static void on_timer(struct poller_item *it, short got, int64_t now)
{
	struct unmount *u = it->ctx;

	(void)got;
	agent_look(u->a);
	u->quiet = u->a->facts.job ? 0 : u->quiet + 1;
	if (now >= u->by || u->quiet >= UNMOUNT_QUIET) {
		begin(u);
		return;
	}
	it->deadline = now + UNMOUNT_LOOK_MS < u->by ? now + UNMOUNT_LOOK_MS : u->by;
}

struct unmount *unmount_new(struct agent *a)
{
	struct unmount *u = mem_zalloc(sizeof(*u));

	u->a = a;
	u->by = POLLER_NEVER;
	u->timer =
		(struct poller_item){.fd = -1, .deadline = POLLER_NEVER, .fn = on_timer, .ctx = u};
	poller_add(&a->poller, &u->timer);
	return u;
}

void unmount_free(struct unmount *u)
{
	if (u == NULL)
		return;
	child_leave(u->child); /* it unmounts, whatever becomes of the agent */
	poller_del(&u->a->poller, &u->timer);
	free(u);
}

void unmount_by(struct unmount *u, int64_t at)
{
	const int64_t least = clock_boot_ms() + UNMOUNT_LEAST_MS;
	int64_t by;

	if (u == NULL || !is_wanted(u))
		return;
	by = at - u->a->conf.unmount_before;
	if (by < least)
		by = least;
	if (by >= u->by)
		return;
	u->by = by;
	if (u->by < u->timer.deadline)
		u->timer.deadline = u->by;
}

void unmount_told(struct unmount *u)
{
	if (u == NULL || !is_wanted(u) || u->told)
		return;
	u->told = true;
	u->timer.deadline = clock_boot_ms();
}
