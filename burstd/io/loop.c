#include "io/loop.h"

#include <assert.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <uv.h>

#include "base/clock.h"
#include "base/mem.h"

/* libuv's timers follow the monotonic clock, which stands still while the machine is suspended;
 * ours follow the boot clock.  Looking again once a minute bounds the difference. */
enum {
	LOOP_NAP_MS = 60000,
	LOOP_STEP_MS = 500, /* clocks that are read one after the other differ by less */
};

struct watch { /* one loop_on_signal() */
	struct watch *next;
	uv_signal_t sig;
	loop_fn fn;
	void *ctx;
};

struct loop {
	uv_loop_t uv;
	int64_t offset; /* our time less the boot clock */
	int64_t ahead;  /* our time less the wall clock, as of its last step */
	struct watch *watches;
	/* Timers that are due at once wait in `due`.  They do not go through libuv's timers: one of
	 * 0 ms starves I/O (libuv before 1.48), one of 1 ms costs 1 ms.  An active idle handle
	 * makes the next poll not wait, and the check handle runs what is due after that poll, so
	 * I/O has its turn. */
	uv_idle_t idle;
	uv_check_t check;
	struct timer *due;
	unsigned ntimers; /* not yet freed */
};

struct timer {
	uv_timer_t uv;
	struct loop *loop;
	int64_t when;
	struct timer *next, **prevp; /* in due; prevp is NULL when not there */
	loop_fn fn;
	void *ctx;
};

static void due_remove(struct timer *t)
{
	if (t->prevp == NULL)
		return;
	*t->prevp = t->next;
	if (t->next != NULL)
		t->next->prevp = t->prevp;
	t->prevp = NULL;
}

static void due_push(struct timer **head, struct timer *t)
{
	t->next = *head;
	t->prevp = head;
	if (t->next != NULL)
		t->next->prevp = &t->next;
	*head = t;
}

static void on_idle(uv_idle_t *h)
{
	(void)h;
}

/* Run the timers that are due; those that become due meanwhile wait for the next pass. */
static void on_check(uv_check_t *h)
{
	struct loop *l = h->data;
	struct timer *batch = NULL;

	while (l->due != NULL) { /* turns it around: first come, first served */
		struct timer *t = l->due;

		due_remove(t);
		due_push(&batch, t);
	}
	while (batch != NULL) {
		struct timer *t = batch;

		due_remove(t); /* first: t->fn may free t, or set it again */
		t->fn(t->ctx);
	}
	if (l->due == NULL) {
		(void)uv_idle_stop(&l->idle);
		(void)uv_check_stop(&l->check);
	}
}

static void init_handles(struct loop *l)
{
	(void)uv_idle_init(&l->uv, &l->idle); /* these two cannot fail */
	(void)uv_check_init(&l->uv, &l->check);
	l->check.data = l;
}

int loop_new(struct loop **out, struct err *e)
{
	struct loop *l = mem_zalloc(sizeof(*l));
	int rc = uv_loop_init(&l->uv);

	*out = NULL;
	if (rc != 0) {
		free(l);
		return err_set(e, ERR_IO, "event loop: %s", uv_strerror(rc));
	}
	/* A write to a child or a peer that has gone must fail, not end burstd. */
	(void)signal(SIGPIPE, SIG_IGN);
	l->offset = clock_wall_ms() - clock_boot_ms();
	init_handles(l);
	*out = l;
	return 0;
}

static void on_watch_closed(uv_handle_t *h)
{
	free(h->data);
}

/* Run until no handle is left; a late loop_stop() only ends one run. */
static void run_out(struct loop *l)
{
	while (uv_run(&l->uv, UV_RUN_DEFAULT) != 0) {
	}
}

void loop_free(struct loop *l)
{
	if (l == NULL)
		return;
	while (l->watches != NULL) {
		struct watch *w = l->watches;

		l->watches = w->next;
		uv_close((uv_handle_t *)&w->sig, on_watch_closed);
	}
	run_out(l); /* handles that close may need timers, so ours go last */
	assert(l->ntimers == 0);
	uv_close((uv_handle_t *)&l->idle, NULL);
	uv_close((uv_handle_t *)&l->check, NULL);
	run_out(l);
	assert(uv_loop_close(&l->uv) == 0);
	free(l);
}

void loop_run(struct loop *l)
{
	(void)uv_run(&l->uv, UV_RUN_DEFAULT);
}

void loop_stop(struct loop *l)
{
	uv_stop(&l->uv);
}

struct uv_loop_s *loop_uv(struct loop *l)
{
	return &l->uv;
}

int64_t loop_now(const struct loop *l)
{
	return l->offset + clock_boot_ms();
}

/* Slewing changes the boot clock, too: only a step of the wall clock makes a difference. */
int64_t loop_ahead(struct loop *l)
{
	int64_t ahead = loop_now(l) - clock_wall_ms(), by = ahead - l->ahead;

	if (by >= LOOP_STEP_MS || by <= -LOOP_STEP_MS)
		l->ahead = ahead;
	return l->ahead;
}

int64_t loop_wall(struct loop *l)
{
	return loop_now(l) - loop_ahead(l);
}

void loop_resume(struct loop *l, const struct clock_line *was)
{
	assert(l->ntimers == 0);
	l->offset = clock_line_offset(was, clock_boot_id(), clock_boot_ms(), clock_wall_ms());
	l->ahead = was->ahead_ms;
}

void loop_line(struct loop *l, struct clock_line *out)
{
	*out = (struct clock_line){.boot_id = clock_boot_id(),
				   .offset_ms = l->offset,
				   .ahead_ms = loop_ahead(l),
				   .last_ms = loop_now(l)};
}

static void on_signal(uv_signal_t *h, int signum)
{
	struct watch *w = h->data;

	(void)signum;
	w->fn(w->ctx);
}

int loop_on_signal(struct loop *l, int signum, loop_fn fn, void *ctx, struct err *e)
{
	struct watch *w = mem_zalloc(sizeof(*w));
	int rc = uv_signal_init(&l->uv, &w->sig);

	if (rc != 0) {
		free(w);
		return err_set(e, ERR_IO, "signal %d: %s", signum, uv_strerror(rc));
	}
	w->sig.data = w;
	w->fn = fn;
	w->ctx = ctx;
	rc = uv_signal_start(&w->sig, on_signal, signum);
	if (rc != 0) {
		uv_close((uv_handle_t *)&w->sig, on_watch_closed);
		return err_set(e, ERR_IO, "signal %d: %s", signum, uv_strerror(rc));
	}
	uv_unref((uv_handle_t *)&w->sig);
	w->next = l->watches;
	l->watches = w;
	return 0;
}

struct timer *timer_new(struct loop *l, loop_fn fn, void *ctx)
{
	struct timer *t = mem_zalloc(sizeof(*t));

	(void)uv_timer_init(&l->uv, &t->uv); /* cannot fail */
	t->uv.data = t;
	t->loop = l;
	t->fn = fn;
	t->ctx = ctx;
	t->when = INT64_MAX;
	l->ntimers++;
	return t;
}

static void on_timer(uv_timer_t *h);

/* libuv counts from the start of its pass, so its timer may be early; on_timer() looks at our
 * clock. */
static void nap(struct timer *t)
{
	int64_t left = t->when - loop_now(t->loop);

	if (left < 1)
		left = 1;
	if (left > LOOP_NAP_MS)
		left = LOOP_NAP_MS;
	(void)uv_timer_start(&t->uv, on_timer, (uint64_t)left, 0);
}

static void on_timer(uv_timer_t *h)
{
	struct timer *t = h->data;

	if (loop_now(t->loop) < t->when)
		nap(t);
	else
		t->fn(t->ctx); /* may free t */
}

void timer_at(struct timer *t, int64_t when_ms)
{
	struct loop *l = t->loop;

	t->when = when_ms;
	due_remove(t);
	(void)uv_timer_stop(&t->uv);
	if (when_ms == INT64_MAX)
		return;
	if (when_ms > loop_now(l)) {
		nap(t);
		return;
	}
	due_push(&l->due, t);
	(void)uv_idle_start(&l->idle, on_idle);
	(void)uv_check_start(&l->check, on_check);
}

static void on_timer_closed(uv_handle_t *h)
{
	free(h->data);
}

void timer_free(struct timer *t)
{
	if (t == NULL)
		return;
	due_remove(t);
	t->loop->ntimers--;
	uv_close((uv_handle_t *)&t->uv, on_timer_closed);
}
