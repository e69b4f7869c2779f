/* health.c - checks the hardware: the number of GPUs, health_command and error_command. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/agent.h"
#include "agent/child.h"
#include "base/clock.h"
#include "base/mem.h"

enum {
	HEALTH_TWICE = 2, /* a fault counts when seen so often in a row */
};

enum health_kind { HEALTH_GPUS, HEALTH_COMMAND, HEALTH_ERRORS, HEALTH_KINDS };

struct health {
	struct agent *a;
	struct poller_item timer;
	struct child *child;
	enum health_kind at;
	bool stuck; /* the command of `at` cannot be killed: nothing else is checked meanwhile */
	unsigned bad[HEALTH_KINDS];
	bool told[HEALTH_KINDS];
	unsigned episode; /* of faults; a new one gets a new id */
};

static const struct {
	const char *name;
	unsigned often;
} kinds[] = {{"gpus", HEALTH_TWICE}, {"health", HEALTH_TWICE}, {"errors", 1}};

/* Whatever it was to find out: the tools of a GPU that is gone hang like that in its driver. */
static const char stuck_text[] = "its command hangs, and cannot be killed";

static void next(struct health *h);

static void name_of(const struct health *h, enum health_kind k, char out[META_ID_MAX])
{
	(void)snprintf(out, META_ID_MAX, "%s:%u", kinds[k].name, h->episode);
}

/* Take the result of a check; detail NULL: sound. */
static void judge(struct health *h, enum health_kind k, const char *detail)
{
	struct notice n = {.type = NOTICE_FAULTY};
	bool any = false;

	if (detail == NULL) {
		h->bad[k] = 0;
		if (h->told[k]) {
			h->told[k] = false;
			h->episode++;
		}
	} else if (++h->bad[k] >= kinds[k].often && !h->told[k]) {
		h->told[k] = true;
		name_of(h, k, n.id);
		(void)snprintf(n.detail, sizeof(n.detail), "%s: %.140s", kinds[k].name, detail);
		notices_tell(h->a->notices, &n);
	}
	for (int i = 0; i < HEALTH_KINDS; i++)
		any = any || h->told[i];
	h->a->faulty = any;
}

static int64_t count_lines(const struct child_end *end)
{
	int64_t n = 0;
	bool text = false;

	for (size_t i = 0; i <= end->len; i++) {
		if (i == end->len || end->out[i] == '\n') {
			n += text;
			text = false;
		} else if (end->out[i] != ' ' && end->out[i] != '\r') {
			text = true;
		}
	}
	return n;
}

static void judge_gpus(struct health *h, int64_t n)
{
	char detail[64];
	const bool bad = h->a->conf.gpus > 0 && n != h->a->conf.gpus;

	h->a->gpus = n;
	(void)snprintf(detail, sizeof(detail), "%lld instead of %lld", (long long)(n < 0 ? 0 : n),
		       (long long)h->a->conf.gpus);
	judge(h, HEALTH_GPUS, bad ? detail : NULL);
}

/* The first line of a command's output, or how it ended. */
static void first_line(const struct child_end *end, char out[META_DETAIL_MAX])
{
	int n = (int)strcspn(end->out, "\r\n");

	if (n > 0)
		(void)snprintf(out, META_DETAIL_MAX, "%.*s", n, end->out);
	else if (end->status < 0)
		(void)snprintf(out, META_DETAIL_MAX, "timed out");
	else
		(void)snprintf(out, META_DETAIL_MAX, "status %d", end->status);
}

static void on_command(void *ctx, const struct child_end *end)
{
	struct health *h = ctx;
	char detail[META_DETAIL_MAX];

	h->stuck = h->child != NULL;
	if (h->stuck) {
		judge(h, h->at, stuck_text);
		return;
	}
	first_line(end, detail);
	if (h->at == HEALTH_GPUS)
		judge_gpus(h, end->status == 0 ? count_lines(end) : -1);
	else if (h->at == HEALTH_COMMAND)
		judge(h, HEALTH_COMMAND, end->status != 0 ? detail : NULL);
	else if (end->status != 0)
		agent_complain(h->a, "error_command", detail);
	else
		judge(h, HEALTH_ERRORS, count_lines(end) > 0 ? detail : NULL);
	h->at++;
	next(h);
}

static const char *command_of(const struct health *h)
{
	const struct agent_conf *c = &h->a->conf;

	return h->at == HEALTH_GPUS      ? c->gpu_command
	       : h->at == HEALTH_COMMAND ? c->health_command
					 : c->error_command;
}

static void next(struct health *h)
{
	struct child_call call = {.vars = {.node = h->a->conf.node},
				  .timeout_ms = h->a->conf.command_timeout,
				  .done = on_command,
				  .ctx = h};
	struct err e = {0};

	for (; h->at < HEALTH_KINDS; h->at++) {
		call.command = command_of(h);
		if (call.command[0] == '\0') {
			if (h->at == HEALTH_GPUS)
				judge_gpus(h, facts_gpus(h->a->conf.proc));
			continue;
		}
		if (child_start(&h->child, &h->a->poller, &call, &e) == 0)
			return;
		/* A command that does not start counts as a fault, except error_command. */
		if (h->at == HEALTH_ERRORS)
			agent_complain(h->a, "error_command", e.msg);
		else
			judge(h, h->at, e.msg);
	}
}

static void on_timer(struct poller_item *t, short got, int64_t now)
{
	struct health *h = t->ctx;

	(void)got;
	t->deadline = now + h->a->conf.health;
	if (h->child != NULL) {
		if (h->stuck)
			judge(h, h->at, stuck_text);
		return;
	}
	h->at = HEALTH_GPUS;
	next(h);
}

struct health *health_new(struct agent *a)
{
	struct health *h = mem_zalloc(sizeof(*h));

	h->a = a;
	h->timer = (struct poller_item){
		.fd = -1, .deadline = clock_boot_ms(), .fn = on_timer, .ctx = h};
	poller_add(&a->poller, &h->timer);
	return h;
}

void health_free(struct health *h)
{
	if (h == NULL)
		return;
	child_kill(h->child);
	poller_del(&h->a->poller, &h->timer);
	free(h);
}
