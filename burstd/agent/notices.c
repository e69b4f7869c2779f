/* notices.c - sends each notice to all burstds at once, until one of them has taken it. */
#include <malloc.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/agent.h"
#include "agent/child.h"
#include "agent/wire.h"
#include "base/clock.h"
#include "base/mem.h"

enum {
	NOTICES_MAX = 32, /* remembered, taken or not: the same notice is seen at every poll */
	NOTICES_KEY_SIZE = 33,
	NOTICES_BODY_MAX = 2048,
	NOTICES_ANSWER_MAX = 4096,
	NOTICES_TIMEOUT_MS = 1000,  /* of the first rounds; doubled up to 8 s for a slow network */
	NOTICES_QUICK = 10,         /* rounds with a pause of one second */
	NOTICES_NEAR_MS = 900000,   /* a maintenance that is nearer than that ends jobs like a
				      preemption */
	NOTICES_COMMAND_MS = 30000, /* for the local command */
	NOTICES_UNSAID_MS = 20000, /* until the machine goes, if nobody says when: the shortest that
				      a cloud announces is 30 s */
};

struct item {
	bool used, taken, acted;
	struct notice n;
	char key[NOTICES_KEY_SIZE]; /* burstd recognises a repeat by it */
	int64_t since, next;        /* by clock_boot_ms() */
	unsigned rounds;
};

struct slot {
	struct notices *h;
	struct wire *wire;
	bool busy;
};

struct notices {
	struct agent *a;
	struct item items[NOTICES_MAX];
	struct item *now; /* the notice being sent; NULL: none */
	unsigned left;    /* answers still to come */
	struct slot slots[AGENT_URLS_MAX];
	struct poller_item timer;
	struct child *child;
	enum notice_type for_type; /* the command's notice */
	struct err why;            /* the last failure */
};

static void on_timer(struct poller_item *it, short got, int64_t now);

struct notices *notices_new(struct agent *a)
{
	struct notices *h = mem_zalloc(sizeof(*h));

	h->a = a;
	for (size_t i = 0; i < a->conf.nurls; i++) {
		h->slots[i].h = h;
		h->slots[i].wire = wire_new(&a->poller, &a->conf.urls[i], a->tls);
	}
	h->timer =
		(struct poller_item){.fd = -1, .deadline = POLLER_NEVER, .fn = on_timer, .ctx = h};
	poller_add(&a->poller, &h->timer);
	return h;
}

void notices_free(struct notices *h)
{
	if (h == NULL)
		return;
	for (size_t i = 0; i < h->a->conf.nurls; i++)
		wire_free(h->slots[i].wire);
	child_leave(h->child); /* it tells the jobs, whatever becomes of the agent */
	poller_del(&h->a->poller, &h->timer);
	free(h);
}

static bool waits(const struct item *i)
{
	return i->used && !i->taken;
}

bool notices_quiet(const struct notices *h)
{
	for (size_t i = 0; i < NOTICES_MAX; i++)
		if (waits(&h->items[i]))
			return false;
	return true;
}

static struct item *find(struct notices *h, enum notice_type type, const char *id)
{
	for (size_t i = 0; i < NOTICES_MAX; i++)
		if (h->items[i].used && h->items[i].n.type == type &&
		    strcmp(h->items[i].n.id, id) == 0)
			return &h->items[i];
	return NULL;
}

bool notices_taken(const struct notices *h, enum notice_type type, const char *id)
{
	for (size_t i = 0; i < NOTICES_MAX; i++)
		if (h->items[i].used && h->items[i].taken && h->items[i].n.type == type &&
		    strcmp(h->items[i].n.id, id) == 0)
			return true;
	return false;
}

/* Will jobs here end soon because of it? */
static bool urgent(const struct notice *n)
{
	if (n->type == NOTICE_PREEMPT)
		return true;
	return n->type == NOTICE_MAINTENANCE && n->deadline > 0 &&
	       n->deadline - clock_wall_ms() < NOTICES_NEAR_MS;
}

/* Set the timer to the next thing to do. */
static void plan(struct notices *h)
{
	int64_t first = POLLER_NEVER;

	for (size_t i = 0; i < NOTICES_MAX; i++) {
		const struct item *it = &h->items[i];

		if (!waits(it))
			continue;
		if (h->now == NULL && it->next < first)
			first = it->next;
		if (!it->acted && urgent(&it->n) && h->child == NULL &&
		    it->since + h->a->conf.local_after < first)
			first = it->since + h->a->conf.local_after;
	}
	h->timer.deadline = first;
}

/* Return memory to the system: eight handshakes at once take half a megabyte, which is not needed
 * until the next notice. */
static void give_back(void)
{
#ifdef __GLIBC__
	(void)malloc_trim(0);
#endif
}

static void end_round(struct notices *h)
{
	for (size_t i = 0; i < h->a->conf.nurls; i++) {
		wire_drop(h->slots[i].wire);
		h->slots[i].busy = false;
	}
	h->left = 0;
	h->now = NULL;
	give_back();
}

static int64_t pause_ms(const struct item *it)
{
	return it->rounds < NOTICES_QUICK ? 1000 : it->rounds < 3 * NOTICES_QUICK ? 5000 : 30000;
}

static void round_failed(struct notices *h, int64_t now)
{
	struct item *it = h->now;

	if (it->rounds == 1)
		agent_complain(h->a, "no burstd has taken a notice", h->why.msg);
	it->next = now + pause_ms(it);
	end_round(h);
}

/* burstd has fenced the node for it, and tells its jobs. */
static void unmount_after(const struct notices *h, const struct notice *n)
{
	if (n->type == NOTICE_PREEMPT)
		unmount_told(h->a->unmount);
	else if (n->type == NOTICE_MAINTENANCE && n->deadline > 0)
		unmount_by(h->a->unmount, clock_boot_ms() + n->deadline - clock_wall_ms());
}

static void on_answer(void *ctx, const struct answer *a, const struct err *e)
{
	struct slot *s = ctx;
	struct notices *h = s->h;

	s->busy = false;
	h->left--;
	if (a != NULL && (a->status == 200 || a->status == 202 || a->status == 204)) {
		h->now->taken = true;
		log_write(h->a->log, LOG_INFO, "burstd has taken a notice", "type",
			  notice_name(h->now->n.type), "id", h->now->n.id, NULL);
		unmount_after(h, &h->now->n);
		end_round(h);
	} else {
		if (e != NULL)
			h->why = *e;
		else if (a != NULL)
			(void)err_set(&h->why, ERR_INVALID, "status %d", a->status);
		if (h->left == 0)
			round_failed(h, clock_boot_ms());
	}
	plan(h);
}

static void body(const struct notices *h, const struct item *it, struct str *out)
{
	agent_json_begin(h->a, out);
	str_adds(out, ",");
	agent_json_text(out, "type", notice_name(it->n.type));
	if (it->n.deadline > 0)
		str_addf(out, ",\"deadline\":%lld", (long long)(it->n.deadline / 1000));
	str_adds(out, ",");
	agent_json_text(out, "id", it->key);
	str_adds(out, ",");
	agent_json_text(out, "detail", it->n.detail);
	str_addf(out, ",\"age_ms\":%lld}", (long long)(clock_boot_ms() - it->since));
}

static void begin_round(struct notices *h, struct item *it)
{
	char headers[80];
	struct str text;
	struct wire_call call = {.method = "POST",
				 .path = "/v1/node/event",
				 .headers = headers,
				 .answer_max = NOTICES_ANSWER_MAX,
				 .timeout_ms = NOTICES_TIMEOUT_MS};

	call.timeout_ms <<= it->rounds < 3 ? 0 : it->rounds < 6 ? it->rounds - 2 : 3;
	it->rounds++;
	h->now = it;
	str_init(&text, NOTICES_BODY_MAX);
	body(h, it, &text);
	(void)snprintf(headers, sizeof(headers), "Idempotency-Key: %s\r\n", it->key);
	call.body = text.p;
	for (size_t i = 0; i < h->a->conf.nurls; i++) {
		h->slots[i].busy = true;
		h->left++;
		wire_send(h->slots[i].wire, &call, on_answer, &h->slots[i]);
	}
	str_fini(&text);
}

/* The jobs have been told, or there are none.  A maintenance may still be called off. */
static void acted(struct notices *h)
{
	if (h->for_type == NOTICE_PREEMPT)
		unmount_told(h->a->unmount);
}

static void on_command(void *ctx, const struct child_end *end)
{
	struct notices *h = ctx;
	char status[16];

	(void)snprintf(status, sizeof(status), "%d", end->status);
	log_write(h->a->log, end->status == 0 ? LOG_INFO : LOG_ERROR,
		  "ran local_command: burstd did not answer", "status", status, NULL);
	acted(h);
	plan(h);
}

/* Tell the jobs instead of burstd, which does not answer. */
static void act(struct notices *h, struct item *it)
{
	const char *command = h->a->conf.local_command;
	struct child_call call = {
		.command = command, .timeout_ms = NOTICES_COMMAND_MS, .done = on_command, .ctx = h};
	struct err e = {0};

	it->acted = true;
	h->for_type = it->n.type;
	agent_look(h->a);
	call.vars = (struct child_vars){h->a->conf.node, h->a->facts.jobs, h->a->facts.njobs};
	if (command[0] == '\0' || (strstr(command, "%j") != NULL && call.vars.njobs == 0)) {
		acted(h);
		return;
	}
	if (child_start(&h->child, &h->a->poller, &call, &e) != 0)
		agent_complain(h->a, "local_command", e.msg);
}

/* The most urgent notice that is due; of several the oldest. */
static struct item *due(struct notices *h, int64_t now)
{
	struct item *best = NULL;

	for (size_t i = 0; i < NOTICES_MAX; i++) {
		struct item *it = &h->items[i];

		if (!waits(it) || it->next > now)
			continue;
		if (best == NULL || it->n.type < best->n.type ||
		    (it->n.type == best->n.type && it->since < best->since))
			best = it;
	}
	return best;
}

static void on_timer(struct poller_item *t, short got, int64_t now)
{
	struct notices *h = t->ctx;
	struct item *next;

	(void)got;
	for (size_t i = 0; i < NOTICES_MAX && h->child == NULL; i++) {
		struct item *it = &h->items[i];

		if (waits(it) && !it->acted && urgent(&it->n) &&
		    now >= it->since + h->a->conf.local_after)
			act(h, it);
	}
	next = h->now == NULL ? due(h, now) : NULL;
	if (next != NULL)
		begin_round(h, next);
	plan(h);
}

/* Should `it` be dropped rather than `best`?  The oldest taken notice goes first, then a less
 * urgent one. */
static bool goes_before(const struct notices *h, const struct item *it, const struct item *best,
			enum notice_type type)
{
	if (it->taken)
		return best == NULL || !best->taken || it->since < best->since;
	return best == NULL && it->n.type > type && it != h->now;
}

/* A place for one more notice; NULL: none may be dropped for it. */
static struct item *room(struct notices *h, enum notice_type type)
{
	struct item *best = NULL;

	for (size_t i = 0; i < NOTICES_MAX; i++) {
		struct item *it = &h->items[i];

		if (!it->used)
			return it;
		if (goes_before(h, it, best, type))
			best = it;
	}
	return best;
}

static void make_key(const struct agent *a, const struct notice *n, char out[NOTICES_KEY_SIZE])
{
	unsigned char sum[SHA256_DIGEST_LENGTH];
	struct str s;

	str_init(&s, 1024);
	str_addf(&s, "%s\n%lld\n%s\n%s\n%s", a->conf.node, (long long)a->conf.generation,
		 a->facts.boot_id, notice_name(n->type), n->id);
	(void)SHA256((const unsigned char *)s.p, s.len, sum);
	str_fini(&s);
	for (int i = 0; i < (NOTICES_KEY_SIZE - 1) / 2; i++)
		(void)snprintf(out + (size_t)2 * (size_t)i, 3, "%02x", sum[i]);
}

void notices_tell(struct notices *h, const struct notice *n)
{
	struct item *it = find(h, n->type, n->id);
	const int64_t now = clock_boot_ms();

	if (it != NULL)
		return;
	it = room(h, n->type);
	log_write(h->a->log, LOG_WARN, "notice", "type", notice_name(n->type), "what", n->detail,
		  NULL);
	if (it == NULL) {
		agent_complain(h->a, "notice dropped: too many wait for burstd", n->detail);
		return;
	}
	*it = (struct item){.used = true, .n = *n, .since = now, .next = now};
	make_key(h->a, n, it->key);
	if (n->type == NOTICE_PREEMPT)
		unmount_by(h->a->unmount, now + (n->deadline > 0 ? n->deadline - clock_wall_ms()
								 : NOTICES_UNSAID_MS));
	if (h->now != NULL && h->now->n.type > n->type) {
		h->now->next = now;
		end_round(h); /* the one being sent can wait */
	}
	plan(h);
}

void notices_forget(struct notices *h, enum notice_type type, const char *id)
{
	struct item *it = find(h, type, id);

	if (it == NULL)
		return;
	if (it == h->now)
		end_round(h);
	it->used = false;
	plan(h);
}
