#include "io/proc.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#include "base/mem.h"
#include "io/loop.h"

enum {
	PROC_TERM_MS = 1000, /* from SIGTERM to SIGKILL */
	PROC_KILL_MS = 1000, /* from SIGKILL to giving up on one that sleeps in the kernel */
	PROC_LOOK_MS = 100,  /* between looks at the size of the output: memory is written fast */
	PROC_NOEXEC_SEAL = 0x8, /* MFD_NOEXEC_SEAL, which older headers lack */
	/* Standard error of a child before it is stopped: only the beginning is read. */
	PROC_ERRORS_FILE = 16 << 20,
};

enum child_file { CHILD_OUT, CHILD_ERR, CHILD_FILES };

/* One child.
 *
 *   RUN --exit--> DONE
 *    |--deadline, too much output, close--> STOP (SIGTERM, SIGKILL) --exit, or time--> DONE
 *
 * In DONE the owner was told; the child is freed when it has ended and no handle is left.
 *
 * Output goes to files in memory and is read once, after the exit: megabytes through a pipe would
 * wake the loop every few kilobytes. */
enum child_state { CHILD_RUN, CHILD_STOP, CHILD_DONE };

struct child {
	struct child *next, **prevp;
	struct proc *proc;
	enum child_state state;
	pid_t pid;
	uv_pipe_t in;
	uv_timer_t timer;
	uv_write_t write;
	char *input;
	int file[CHILD_FILES];
	size_t max_out;
	bool exited, killed; /* killed: SIGKILL was sent */
	unsigned handles;    /* not yet closed */
	int status;
	struct err err; /* why it was stopped */
	uint32_t timeout_ms;
	uint64_t deadline; /* by the clock of the loop */
	proc_done_fn done;
	void *ctx;
};

struct proc {
	uv_loop_t *loop;
	struct child *children;
	unsigned n;
	bool closing;
	uv_signal_t ended; /* at least one child has ended */
	uv_timer_t left;   /* when children that sleep in the kernel are given up */
	unsigned handles;  /* these two, not yet closed; the last frees *proc from the loop */
};

static void on_gone(uv_handle_t *h)
{
	struct proc *p = h->data;

	if (--p->handles == 0)
		free(p);
}

static void proc_unref(struct proc *p)
{
	if (p->children != NULL)
		return;
	(void)uv_signal_stop(&p->ended); /* it would keep the loop running */
	if (!p->closing)
		return;
	uv_close((uv_handle_t *)&p->ended, on_gone);
	uv_close((uv_handle_t *)&p->left, on_gone);
}

static void child_free(struct child *c)
{
	struct proc *p = c->proc;

	*c->prevp = c->next;
	if (c->next != NULL)
		c->next->prevp = c->prevp;
	p->n--;
	free(c->input);
	free(c);
	proc_unref(p);
}

static void child_unref(struct child *c)
{
	if (c->handles == 0 && c->exited)
		child_free(c);
}

static void on_handle_closed(uv_handle_t *h)
{
	struct child *c = h->data;

	c->handles--;
	child_unref(c);
}

static void close_handle(uv_handle_t *h)
{
	if (!uv_is_closing(h))
		uv_close(h, on_handle_closed);
}

/* A file in memory; -1: errno. */
static int make_file(const char *name)
{
	/* Some systems refuse a file that could be run; kernels before 6.3 do not know the flag. */
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | PROC_NOEXEC_SEAL);

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	/* Else a program that opens /dev/stdout anew would overwrite the beginning. */
	if (fd >= 0)
		(void)fcntl(fd, F_SETFL, O_APPEND);
	return fd;
}

static int make_files(int *file)
{
	int saved;

	file[CHILD_OUT] = make_file("output");
	if (file[CHILD_OUT] < 0)
		return -1;
	file[CHILD_ERR] = make_file("errors");
	if (file[CHILD_ERR] >= 0)
		return 0;
	saved = errno;
	(void)close(file[CHILD_OUT]);
	errno = saved;
	return -1;
}

static void close_files(struct child *c)
{
	for (int i = 0; i < CHILD_FILES; i++)
		(void)close(c->file[i]);
}

static size_t file_size(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 ? (size_t)st.st_size : 0;
}

/* Read the beginning, at most size bytes; returns how many.  The file may get shorter meanwhile:
 * processes that the program left behind may still have it. */
static size_t file_read(int fd, char *to, size_t size)
{
	size_t len = 0;

	while (len < size) {
		ssize_t n = pread(fd, to + len, size - len, (off_t)len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	return len;
}

/* Has the child written more than it may?  Then c->err is set. */
static bool said_too_much(struct child *c)
{
	if (file_size(c->file[CHILD_OUT]) > c->max_out)
		(void)err_set(&c->err, ERR_LIMIT, "more than %zu bytes of output", c->max_out);
	else if (file_size(c->file[CHILD_ERR]) > PROC_ERRORS_FILE)
		(void)err_set(&c->err, ERR_LIMIT, "more than %d bytes of errors", PROC_ERRORS_FILE);
	return c->err.code != ERR_NONE;
}

static void set_timer(struct child *c, uint32_t ms, uv_timer_cb fn)
{
	(void)uv_timer_start(&c->timer, fn, ms, 0);
}

/* Map all of the output, NUL-terminated, without copying megabytes; NULL: *e.  It is sealed,
 * because processes that the program left behind may still have the file: they can no longer change
 * or shorten it. */
static char *map_output(struct child *c, size_t *len, struct err *e)
{
	int fd = c->file[CHILD_OUT];
	void *p = MAP_FAILED;

	if (fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK) != 0)
		goto fail;
	*len = file_size(fd);
	if (ftruncate(fd, (off_t)(*len + 1)) != 0) /* the NUL */
		goto fail;
	p = mmap(NULL, *len + 1, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	if (p != MAP_FAILED)
		return p;
fail:
	(void)err_set(e, ERR_IO, "its output cannot be read: %s", strerror(errno));
	return NULL;
}

static void tell(struct child *c)
{
	char errors[PROC_ERRORS_MAX + 1];
	bool kept = false;
	struct proc_reply r = {.status = c->status, .errors = errors, .kept = &kept};
	char *out = map_output(c, &r.len, &c->err);

	errors[file_read(c->file[CHILD_ERR], errors, PROC_ERRORS_MAX)] = '\0';
	close_files(c);
	if (out != NULL && r.len > c->max_out) /* processes that it left behind wrote more */
		(void)err_set(&c->err, ERR_LIMIT, "more than %zu bytes of output", c->max_out);
	r.out = out;
	c->done(c->ctx, c->err.code == ERR_NONE ? &r : NULL,
		c->err.code == ERR_NONE ? NULL : &c->err);
	if (out != NULL && !kept)
		(void)munmap(out, r.len + 1);
}

void proc_drop(const char *out, size_t len)
{
	union { /* munmap() does not take what is const */
		const char *in;
		void *out;
	} u = {.in = out};

	(void)munmap(u.out, len + 1);
}

/* Tell the owner, and release all but a process that has not ended yet. */
static void child_done(struct child *c)
{
	assert(c->state != CHILD_DONE);
	c->state = CHILD_DONE;
	close_handle((uv_handle_t *)&c->in);
	close_handle((uv_handle_t *)&c->timer);
	if (c->err.code == ERR_NONE) {
		tell(c);
	} else {
		close_files(c);
		c->done(c->ctx, NULL, &c->err);
	}
}

/* kill(0) would be ourselves, and kill(-1) everybody. */
static void kill_group_of(pid_t leader, int sig)
{
	assert(leader > 1);
	(void)kill(-leader, sig);
}

/* Signal the process group, for the child may have children of its own.  Only before we know that
 * it ended: its number may then belong to somebody else. */
static void kill_group(struct child *c, int sig)
{
	if (!c->exited)
		kill_group_of(c->pid, sig);
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

/* c->err says why. */
static void child_stop(struct child *c, int sig)
{
	c->state = CHILD_STOP;
	kill_group(c, sig);
	set_timer(c, PROC_TERM_MS, on_stop_timer);
}

static void on_look(uv_timer_t *h)
{
	struct child *c = h->data;
	uint64_t now = uv_now(c->proc->loop);

	if (said_too_much(c)) {
		child_stop(c, SIGKILL);
	} else if (now >= c->deadline) {
		(void)err_set(&c->err, ERR_NET, "stopped after %u ms", c->timeout_ms);
		child_stop(c, SIGTERM);
	} else {
		uint64_t left = c->deadline - now;

		(void)uv_timer_start(h, on_look, left < PROC_LOOK_MS ? left : PROC_LOOK_MS, 0);
	}
}

static void child_exited(struct child *c, int status)
{
	c->exited = true;
	c->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	if (c->state == CHILD_RUN && !said_too_much(c)) {
		child_done(c);
		return;
	}
	/* Its children may have ignored SIGTERM.  The group's number stays ours as long as one of
	 * it lives, and was ours until a moment ago if none does. */
	kill_group_of(c->pid, SIGKILL);
	if (c->state != CHILD_DONE)
		child_done(c);
	else
		child_unref(c);
}

/* Children that end together may send one signal only. */
static void on_ended(uv_signal_t *h, int sig)
{
	struct proc *p = h->data;
	struct child *next;

	(void)sig;
	for (struct child *c = p->children; c != NULL; c = next) {
		int status;

		next = c->next; /* done() may add some, before the first */
		if (!c->exited && waitpid(c->pid, &status, WNOHANG) == c->pid)
			child_exited(c, status);
	}
}

/* Give up children that were killed and reported as cancelled: init reaps them when the kernel lets
 * them go. */
static void on_left(uv_timer_t *h)
{
	struct proc *p = h->data;
	struct child *next;

	for (struct child *c = p->children; c != NULL; c = next) {
		next = c->next; /* the last one may free p */
		c->exited = true;
		child_unref(c);
	}
}

/* A program that does not read its input is no error of ours. */
static void on_written(uv_write_t *w, int status)
{
	struct child *c = w->data;

	(void)status;
	close_handle((uv_handle_t *)&c->in);
}

static void start_input(struct child *c, const struct proc_call *call)
{
	uv_buf_t b;

	if (call->input == NULL)
		return;
	c->input = mem_zalloc(call->input_len + 1);
	memcpy(c->input, call->input, call->input_len);
	b = uv_buf_init(c->input, (unsigned)call->input_len);
	c->write.data = c;
	if (uv_write(&c->write, (uv_stream_t *)&c->in, &b, 1, on_written) != 0)
		close_handle((uv_handle_t *)&c->in);
}

/* posix_spawn() takes the arguments as char **, and does not change them. */
static char **plain(const char *const *list)
{
	union {
		const char *const *in;
		char **out;
	} u = {.in = list};

	return u.out;
}

/* Hide all other descriptors from the child.  Ours are closed on exec, but libraries have some that
 * they do not tell us of, such as libcurl's wake-up socket. */
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

/* The end of a pipe that the child reads; 0: none, it reads /dev/null.  -1: errno. */
static int make_input(struct child *c, const struct proc_call *call)
{
	int end[2];

	if (call->input == NULL)
		return 0;
	if (pipe2(end, O_CLOEXEC) != 0)
		return -1;
	if (uv_pipe_open(&c->in, end[1]) == 0)
		return end[0];
	(void)close(end[0]);
	(void)close(end[1]);
	errno = EMFILE;
	return -1;
}

/* The child has standard input, output and error, and nothing else; no signal is ignored or
 * blocked. */
static int describe(posix_spawn_file_actions_t *a, posix_spawnattr_t *attr, const struct child *c,
		    int in)
{
	short flags = POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;
	sigset_t all, none;
	int rc;

	(void)sigfillset(&all);
	(void)sigemptyset(&none);
	rc = in > 0 ? posix_spawn_file_actions_adddup2(a, in, STDIN_FILENO)
		    : posix_spawn_file_actions_addopen(a, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(a, c->file[CHILD_OUT], STDOUT_FILENO);
	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(a, c->file[CHILD_ERR], STDERR_FILENO);
	if (rc == 0)
		rc = posix_spawn_file_actions_addchdir_np(a, "/");
	if (rc == 0)
		rc = posix_spawnattr_setsigdefault(attr, &all);
	if (rc == 0)
		rc = posix_spawnattr_setsigmask(attr, &none);
	return rc != 0 ? rc : posix_spawnattr_setflags(attr, flags);
}

/* Start the program.  Not by uv_spawn(): that forks, which copies all our page tables while the
 * loop waits.  Returns 0 or an errno. */
static int spawn(struct child *c, const struct proc_call *call)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	int in = make_input(c, call), rc;

	if (in < 0)
		return errno;
	hide_descriptors();
	(void)posix_spawn_file_actions_init(&actions); /* glibc's cannot fail */
	(void)posix_spawnattr_init(&attr);
	rc = describe(&actions, &attr, c, in);
	if (rc == 0)
		rc = posix_spawn(&c->pid, call->argv[0], &actions, &attr, plain(call->argv),
				 plain(call->envp));
	(void)posix_spawnattr_destroy(&attr);
	(void)posix_spawn_file_actions_destroy(&actions);
	if (in > 0)
		(void)close(in);
	return rc;
}

static struct child *child_new(struct proc *p, const struct proc_call *call, const int *file)
{
	struct child *c = mem_zalloc(sizeof(*c));

	c->proc = p;
	c->timeout_ms = call->timeout_ms;
	c->max_out = call->max_out;
	memcpy(c->file, file, sizeof(c->file));
	(void)uv_timer_init(p->loop, &c->timer); /* these cannot fail */
	(void)uv_pipe_init(p->loop, &c->in, 0);
	c->timer.data = c->in.data = c;
	c->handles = 2; /* the timer and the input */
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
	int file[CHILD_FILES], rc;
	struct child *c;

	assert(!p->closing && call->timeout_ms > 0);
	if (call->argv[0][0] != '/')
		return err_set(e, ERR_NOTSENT, "%s: not an absolute path", call->argv[0]);
	if (p->n >= PROC_MAX)
		return err_set(e, ERR_NOTSENT, "%s: %d programs run already", call->argv[0],
			       PROC_MAX);
	if (make_files(file) != 0)
		return err_set(e, ERR_NOTSENT, "%s: no file for its output: %s", call->argv[0],
			       strerror(errno));
	c = child_new(p, call, file);
	(void)uv_signal_start(&p->ended, on_ended, SIGCHLD); /* before a child can end */
	rc = spawn(c, call);
	if (rc != 0) {
		c->state = CHILD_DONE; /* nobody to tell */
		c->exited = true;      /* and nothing to kill */
		close_files(c);
		close_handle((uv_handle_t *)&c->in);
		close_handle((uv_handle_t *)&c->timer);
		return err_set(e, ERR_NOTSENT, "%s: %s", call->argv[0], strerror(rc));
	}
	c->done = done;
	c->ctx = ctx;
	start_input(c, call);
	uv_update_time(p->loop); /* starting a program took time */
	c->deadline = uv_now(p->loop) + call->timeout_ms;
	on_look(&c->timer);
	return 0;
}

struct proc *proc_new(struct loop *l)
{
	struct proc *p = mem_zalloc(sizeof(*p));

	p->loop = loop_uv(l);
	/* It needs no new descriptor: its pipe was made with the loop. */
	(void)mem_check(uv_signal_init(p->loop, &p->ended) == 0 ? p : NULL);
	(void)uv_timer_init(p->loop, &p->left);
	p->ended.data = p->left.data = p;
	p->handles = 2;
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
	uv_update_time(p->loop);
	(void)uv_timer_start(&p->left, on_left, PROC_KILL_MS, 0);
	proc_unref(p);
}
