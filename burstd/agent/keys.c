/* keys.c - follows a rotation of the cluster's keys: runs keys_command to fetch them, and to switch
 * to munge's new key when burstd says. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/agent.h"
#include "agent/child.h"
#include "base/clock.h"
#include "base/mem.h"

enum {
	KEYS_AGAIN_MS = 65000,    /* burstd gives a node its keys once a minute */
	KEYS_TIMEOUT_MS = 150000, /* includes a restart of munged */
	KEYS_LATE_MS = 600000,    /* an order that is older is ignored */
};

struct keys {
	struct agent *a;
	struct poller_item timer; /* when to switch */
	struct child *child;
	bool switching; /* the command is a switch */
	bool back;      /* it switched, but was called off: fetch the key that all others use */
	bool for_back;  /* the command is that fetch; one begun before may have an older answer */
	int64_t again;  /* do not fetch before */
	int64_t order, done; /* burstd's switch_ms: the one ordered, 0: none; the one done */
	char version[64];    /* that burstd wants */
};

static void begin(struct keys *k, bool switching);

static void on_end(void *ctx, const struct child_end *end)
{
	struct keys *k = ctx;
	const char *what =
		k->switching ? "munge's key was not switched" : "the keys were not fetched";

	if (end->status != 0) {
		k->again = clock_boot_ms() + KEYS_AGAIN_MS;
		agent_complain(k->a, what, end->status < 0 ? end->e.msg : k->a->conf.keys_command);
	} else {
		log_write(k->a->log, LOG_INFO,
			  k->switching ? "munge's new key is in use" : "the keys were fetched",
			  "version", k->version, NULL);
		if (k->switching) {
			k->done = k->order;
		} else {
			k->again = clock_boot_ms() + KEYS_AGAIN_MS;
			k->back = k->back && !k->for_back;
		}
	}
	agent_look(k->a);
}

/* Replace "%k" by the word. */
static void fill(const struct keys *k, const char *word, struct str *out)
{
	for (const char *p = k->a->conf.keys_command; *p != '\0'; p++)
		if (p[0] == '%' && p[1] == 'k') {
			str_adds(out, word);
			p++;
		} else {
			str_add(out, p, 1);
		}
}

static void begin(struct keys *k, bool switching)
{
	struct child_call call = {.vars = {.node = k->a->conf.node},
				  .timeout_ms = KEYS_TIMEOUT_MS,
				  .done = on_end,
				  .ctx = k};
	struct err e = {0};
	struct str text;

	str_init(&text, 2 * AGENT_TEXT_MAX);
	fill(k, switching ? "switch" : "stage", &text);
	call.command = text.p;
	k->switching = switching;
	k->for_back = k->back;
	if (child_start(&k->child, &k->a->poller, &call, &e) != 0) {
		k->again = clock_boot_ms() + KEYS_AGAIN_MS;
		agent_complain(k->a, "keys_command", e.msg);
	}
	str_fini(&text);
}

static void on_timer(struct poller_item *it, short got, int64_t now)
{
	struct keys *k = it->ctx;

	(void)got;
	it->deadline = POLLER_NEVER;
	if (k->child != NULL)
		it->deadline = now + 100; /* the fetch still runs */
	else if (k->order != k->done)
		begin(k, true);
}

struct keys *keys_new(struct agent *a)
{
	struct keys *k = mem_zalloc(sizeof(*k));

	k->a = a;
	k->timer =
		(struct poller_item){.fd = -1, .deadline = POLLER_NEVER, .fn = on_timer, .ctx = k};
	poller_add(&a->poller, &k->timer);
	return k;
}

void keys_free(struct keys *k)
{
	if (k == NULL)
		return;
	child_leave(k->child); /* let it end by itself: a switch must not stop halfway */
	poller_del(&k->a->poller, &k->timer);
	free(k);
}

/* Call the switch off.  If it is done already, or under way, fetch again: burstd's answer says
 * which key it is. */
static void call_off(struct keys *k)
{
	bool switches = k->child != NULL && k->switching;

	k->back = k->back || switches || (k->order != 0 && k->order == k->done);
	k->order = 0;
	k->timer.deadline = POLLER_NEVER;
}

void keys_told(struct keys *k, const char *version, int64_t switch_ms, int64_t offset)
{
	int64_t now = clock_boot_ms(), left = switch_ms - (clock_wall_ms() + offset);

	if (k->a->conf.keys_command[0] == '\0' || version[0] == '\0')
		return;
	(void)snprintf(k->version, sizeof(k->version), "%s", version);
	if (switch_ms == 0) {
		call_off(k);
	} else if (switch_ms > 0 && switch_ms != k->done && left > -KEYS_LATE_MS) {
		k->order = switch_ms;
		k->timer.deadline = now + (left > 0 ? left : 0);
	}
	if ((strcmp(k->a->key_version, version) != 0 || k->back) && k->child == NULL &&
	    now >= k->again)
		begin(k, false);
}
