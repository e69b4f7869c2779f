#include "io/proc.h"

#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "base/mem.h"
#include "base/str.h"
#include "io/loop.h"

enum {
	PROC_TERM_MS = 1000, /* from SIGTERM to SIGKILL */
	PROC_KILL_MS = 1000, /* from SIGKILL to giving up on one that sleeps in the kernel */
	/* From its exit to the end of its output: somebody it left behind may hold the pipe open.
	 */
	PROC_DRAIN_MS = 100,
	PROC_CHUNK = 16384,
};

enum child_pipe { CHILD_IN, CHILD_OUT, CHILD_ERR, CHILD_PIPES };

/* One child.
 *
 *   RUN --exit--> DRAIN --output ends, or time--> DONE
 *    |--deadline, too much output, close--> STOP (SIGTERM, SIGKILL) --exit, or time--> DONE
 *
 * In DONE the owner was told, and it is freed as soon as no handle is left. */
enum child_state { CHILD_RUN, CHILD_DRAIN, CHILD_STOP, CHILD_DONE };

struct child {
	struct child *next, **prevp;
	struct proc *proc;
	enum child_state state;
	uv_process_t process;
	uv_pipe_t pipe[CHILD_PIPES];
	uv_timer_t timer;
	uv_write_t write;
	char *input;
	struct str out, errors;
	bool exited, killed; /* killed: SIGKILL was sent */
	unsigned open;       /* of out and err, not yet at their end */
	unsigned handles;    /* not yet closed */
	int status;
	struct err err; /* why it was stopped */
	uint32_t timeout_ms;
	proc_done_fn done;
	void *ctx;
};

struct proc {
	uv_loop_t *loop;
	struct child *children;
	unsigned n;
	bool closing;
	uv_timer_t gone; /* never started: its close is what frees *proc from the loop */
	char chunk[PROC_CHUNK];
};

static void on_gone(uv_handle_t *h)
{
	free(h->data);
}

static void proc_unref(struct proc *p)
{
	if (p->closing && p->children == NULL)
		uv_close((uv_handle_t *)&p->gone, on_gone);
}

static void child_free(struct child *c)
{
	struct proc *p = c->proc;

	*c->prevp = c->next;
	if (c->next != NULL)
		c->next->prevp = c->prevp;
	p->n--;
	str_fini(&c->out);
	str_fini(&c->errors);
	free(c->input);
	free(c);
	proc_unref(p);
}

static void on_handle_closed(uv_handle_t *h)
{
	struct child *c = h->data;

	if (--c->handles == 0)
		child_free(c);
}

static void close_handle(uv_handle_t *h)
{
	if (!uv_is_closing(h))
		uv_close(h, on_handle_closed);
}

static void close_pipes(struct child *c)
{
	for (int i = 0; i < CHILD_PIPES; i++)
		close_handle((uv_handle_t *)&c->pipe[i]);
}

static void set_timer(struct child *c, uint32_t ms, uv_timer_cb fn)
{
	uv_update_time(c->proc->loop); /* starting a program took time */
	(void)uv_timer_start(&c->timer, fn, ms, 0);
}

/* Tell the owner, and let go of all but a process that has not ended yet. */
static void child_done(struct child *c)
{
	struct proc_reply r = {
		.status = c->status, .out = c->out.p, .len = c->out.len, .errors = c->errors.p};

	assert(c->state != CHILD_DONE);
	c->state = CHILD_DONE;
	close_pipes(c);
	close_handle((uv_handle_t *)&c->timer);
	if (c->exited)
		close_handle((uv_handle_t *)&c->process);
	if (c->err.code != ERR_NONE)
		c->done(c->ctx, NULL, &c->err);
	else
		c->done(c->ctx, &r, NULL);
}

/* kill(0) would be ourselves, and kill(-1) everybody. */
static void kill_group_of(uv_pid_t leader, int sig)
{
	assert(leader > 1);
	(void)kill(-leader, sig);
}

/* The process group, for it may have children of its own.  Only before we know that it ended: its
 * number may then belong to somebody else. */
static void kill_group(struct child *c, int sig)
{
	if (!c->exited)
		kill_group_of(c->process.pid, sig);
	c->killed = c->killed || sig == SIGKILL;
}

static void on_stop_timer(uv_timer_t *h)
{
	struct child *c = h->data;

	if (c->killed) {
		child_done(c);
		return;
	}
	kill_group(c, SIGKILL);
	set_timer(c, PROC_KILL_MS, on_stop_timer);
}

/* c->err says why.  Its output is still read, or what it says while it tidies up would end it by
 * SIGPIPE. */
static void child_stop(struct child *c, int sig)
{
	c->state = CHILD_STOP;
	kill_group(c, sig);
	set_timer(c, PROC_TERM_MS, on_stop_timer);
}

static void on_deadline(uv_timer_t *h)
{
	struct child *c = h->data;

	(void)err_set(&c->err, ERR_NET, "stopped after %u ms", c->timeout_ms);
	child_stop(c, SIGTERM);
}

static void on_drain_timer(uv_timer_t *h)
{
	child_done(h->data);
}

static void maybe_done(struct child *c)
{
	if (c->state == CHILD_DRAIN && c->open == 0)
		child_done(c);
}

static void on_child_exit(uv_process_t *h, int64_t status, int sig)
{
	struct child *c = h->data;

	c->exited = true;
	c->status = sig != 0 ? 128 + sig : (int)status;
	if (c->state == CHILD_RUN) {
		c->state = CHILD_DRAIN;
		set_timer(c, PROC_DRAIN_MS, on_drain_timer);
		maybe_done(c);
		return;
	}
	/* What it started may have ignored SIGTERM.  The group's number is ours as long as one of
	 * it lives, and was until a moment ago if none does. */
	kill_group_of(h->pid, SIGKILL);
	if (c->state == CHILD_STOP)
		child_done(c);
	else
		close_handle((uv_handle_t *)&c->process);
}

static void on_alloc(uv_handle_t *h, size_t want, uv_buf_t *b)
{
	struct child *c = h->data;

	(void)want;
	*b = uv_buf_init(c->proc->chunk, sizeof(c->proc->chunk));
}

static void on_out(struct child *c, const char *data, size_t n)
{
	str_add(&c->out, data, n);
	if (!c->out.full || c->state == CHILD_STOP)
		return;
	(void)err_set(&c->err, ERR_LIMIT, "more than %zu bytes of output", c->out.max);
	if (c->exited)
		child_done(c);
	else
		child_stop(c, SIGKILL);
}

static void on_read(uv_stream_t *s, ssize_t n, const uv_buf_t *b)
{
	struct child *c = s->data;
	size_t room = c->errors.max - c->errors.len;

	if (n < 0) {
		(void)uv_read_stop(s);
		c->open--;
		maybe_done(c);
	} else if (s == (uv_stream_t *)&c->pipe[CHILD_OUT]) {
		on_out(c, b->base, (size_t)n);
	} else {
		str_add(&c->errors, b->base, (size_t)n < room ? (size_t)n : room);
	}
}

/* A program that does not read its input is no error of ours. */
static void on_written(uv_write_t *w, int status)
{
	struct child *c = w->data;

	(void)status;
	close_handle((uv_handle_t *)&c->pipe[CHILD_IN]);
}

static void start_pipes(struct child *c, const struct proc_call *call)
{
	uv_buf_t b;

	c->open = 2;
	(void)uv_read_start((uv_stream_t *)&c->pipe[CHILD_OUT], on_alloc, on_read);
	(void)uv_read_start((uv_stream_t *)&c->pipe[CHILD_ERR], on_alloc, on_read);
	if (call->input == NULL)
		return;
	c->input = mem_zalloc(call->input_len + 1);
	memcpy(c->input, call->input, call->input_len);
	b = uv_buf_init(c->input, (unsigned)call->input_len);
	c->write.data = c;
	if (uv_write(&c->write, (uv_stream_t *)&c->pipe[CHILD_IN], &b, 1, on_written) != 0)
		close_handle((uv_handle_t *)&c->pipe[CHILD_IN]);
}

/* libuv takes the arguments as char **, and does not change them. */
static char **plain(const char *const *list)
{
	union {
		const char *const *in;
		char **out;
	} u = {.in = list};

	return u.out;
}

/* Ours are all closed on exec, but libraries have some that they do not tell us of (libcurl's
 * wake-up socket is one), and libuv passes on whatever is open. */
static void hide_descriptors(void)
{
	DIR *d;
	struct dirent *ent;

#ifdef CLOSE_RANGE_CLOEXEC /* glibc 2.34; Linux 5.11 */
	if (close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC) == 0)
		return;
#endif
	d = opendir("/proc/self/fd");
	while (d != NULL && (ent = readdir(d)) != NULL) {
		long fd = strtol(ent->d_name, NULL, 10); /* "." and ".." are 0 */

		if (fd > STDERR_FILENO)
			(void)fcntl((int)fd, F_SETFD, FD_CLOEXEC);
	}
	if (d != NULL)
		(void)closedir(d);
}

static int spawn(struct child *c, const struct proc_call *call)
{
	uv_stdio_container_t io[CHILD_PIPES] = {{.flags = UV_IGNORE}}; /* that is /dev/null */
	uv_process_options_t o = {.file = call->argv[0],
				  .args = plain(call->argv),
				  .env = plain(call->envp),
				  .cwd = "/",
				  .exit_cb = on_child_exit,
				  .flags = UV_PROCESS_DETACHED,
				  .stdio = io,
				  .stdio_count = CHILD_PIPES};

	for (int i = 0; i < CHILD_PIPES; i++) {
		/* As the child sees it. */
		const uv_stdio_flags way = i == CHILD_IN ? UV_READABLE_PIPE : UV_WRITABLE_PIPE;

		if (i == CHILD_IN && call->input == NULL)
			continue;
		io[i].flags = (uv_stdio_flags)(UV_CREATE_PIPE | way);
		io[i].data.stream = (uv_stream_t *)&c->pipe[i];
	}
	hide_descriptors();
	return uv_spawn(c->proc->loop, &c->process, &o);
}

static struct child *child_new(struct proc *p, const struct proc_call *call)
{
	struct child *c = mem_zalloc(sizeof(*c));

	c->proc = p;
	c->timeout_ms = call->timeout_ms;
	str_init(&c->out, call->max_out);
	str_init(&c->errors, PROC_ERRORS_MAX);
	(void)uv_timer_init(p->loop, &c->timer); /* these cannot fail */
	for (int i = 0; i < CHILD_PIPES; i++) {
		(void)uv_pipe_init(p->loop, &c->pipe[i], 0);
		c->pipe[i].data = c;
	}
	c->process.data = c->timer.data = c;
	c->handles = CHILD_PIPES + 2; /* the timer and the process */
	c->next = p->children;
	c->prevp = &p->children;
	if (c->next != NULL)
		c->next->prevp = &c->next;
	p->children = c;
	p->n++;
	return c;
}

int proc_run(struct proc *p, const struct proc_call *call, proc_done_fn done, void *ctx,
	     struct err *e)
{
	struct child *c;
	int rc;

	assert(!p->closing && call->timeout_ms > 0);
	if (call->argv[0][0] != '/')
		return err_set(e, ERR_NOTSENT, "%s: not an absolute path", call->argv[0]);
	if (p->n >= PROC_MAX)
		return err_set(e, ERR_NOTSENT, "%s: %d programs run already", call->argv[0],
			       PROC_MAX);
	c = child_new(p, call);
	rc = spawn(c, call);
	if (rc != 0) {
		c->state = CHILD_DONE; /* nobody to tell; uv_spawn() made the handle even so */
		c->exited = true;      /* and nothing to kill */
		close_pipes(c);
		close_handle((uv_handle_t *)&c->timer);
		close_handle((uv_handle_t *)&c->process);
		return err_set(e, ERR_NOTSENT, "%s: %s", call->argv[0], uv_strerror(rc));
	}
	c->done = done;
	c->ctx = ctx;
	start_pipes(c, call);
	set_timer(c, call->timeout_ms, on_deadline);
	return 0;
}

struct proc *proc_new(struct loop *l)
{
	struct proc *p = mem_zalloc(sizeof(*p));

	p->loop = loop_uv(l);
	(void)uv_timer_init(p->loop, &p->gone); /* cannot fail */
	p->gone.data = p;
	return p;
}

void proc_close(struct proc *p)
{
	struct child *next;

	if (p == NULL)
		return;
	assert(!p->closing);
	p->closing = true;
	for (struct child *c = p->children; c != NULL; c = next) {
		next = c->next; /* nothing is freed before the loop runs */
		kill_group(c, SIGKILL);
		if (c->state == CHILD_DONE)
			continue;
		(void)err_set(&c->err, ERR_CANCELLED, "cancelled");
		child_done(c);
	}
	proc_unref(p);
}
