#include "agent/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/poller.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"

enum {
	CHILD_LOOK_MS = 100, /* between checks for its end: its children may keep the output open */
	CHILD_TERM_MS = 2000,   /* from SIGTERM to SIGKILL, and from that until it is given up */
	CHILD_KILL_LOOKS = 100, /* for its end once it is killed, each after CHILD_KILL_MS */
	CHILD_KILL_MS = 10,
	CHILD_READS_MAX = 64, /* in one turn */
	CHILD_LINE_MAX = 8192
};

#define CHILD_PATH "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

struct child {
	struct child **owner;
	struct poller *poller;
	struct poller_item it;
	pid_t pid;
	bool ended, stopped, killed, given_up;
	int64_t deadline;
	child_done_fn done;
	void *ctx;
	struct child_end end;
};

struct words {
	char *v[CHILD_WORDS_MAX + 1];
	size_t n;
	struct str line; /* each word, and a NUL */
	size_t at[CHILD_WORDS_MAX];
};

static void word(struct words *w, const char *p, size_t len)
{
	if (w->n == CHILD_WORDS_MAX) {
		w->line.full = true;
		return;
	}
	w->at[w->n++] = w->line.len;
	str_add(&w->line, p, len);
	str_add(&w->line, "", 1);
}

/* Add a word; %n in it is the node. */
static void named_word(struct words *w, const char *p, size_t len, const struct child_vars *vars)
{
	struct str s;
	size_t i = 0;

	str_init(&s, CHILD_LINE_MAX);
	while (i < len) {
		if (p[i] == '%' && i + 1 < len && p[i + 1] == 'n') {
			str_adds(&s, vars->node);
			i += 2;
		} else {
			str_add(&s, p + i++, 1);
		}
	}
	word(w, s.p, s.len);
	str_fini(&s);
}

static int split(struct words *w, const char *command, const struct child_vars *vars)
{
	char id[16];

	while (*command != '\0') {
		size_t n = strcspn(command, " \t");

		if (n == 2 && memcmp(command, "%j", 2) == 0) {
			for (size_t i = 0; i < vars->njobs; i++) {
				int len = snprintf(id, sizeof(id), "%u", vars->jobs[i]);

				word(w, id, (size_t)len);
			}
		} else if (n > 0) {
			named_word(w, command, n, vars);
		}
		command += n;
		command += strspn(command, " \t");
	}
	for (size_t i = 0; i < w->n; i++)
		w->v[i] = w->line.p + w->at[i];
	return w->n > 0 && !w->line.full ? 0 : -1;
}

static void set_attributes(posix_spawnattr_t *attr)
{
	sigset_t none, all;

	(void)sigemptyset(&none);
	(void)sigfillset(&all);
	(void)posix_spawnattr_init(attr);
	(void)posix_spawnattr_setsigmask(attr, &none);
	(void)posix_spawnattr_setsigdefault(attr, &all);
	(void)posix_spawnattr_setpgroup(attr, 0);
	(void)posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
						     POSIX_SPAWN_SETPGROUP);
}

static int spawn(struct child *c, char **argv, int out)
{
	static char path[] = CHILD_PATH, locale[] = "LC_ALL=C";
	const char *conf = getenv("SLURM_CONF");
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	struct str slurm;
	char *envp[4] = {path, locale, NULL, NULL};
	int rc;

	str_init(&slurm, CHILD_LINE_MAX);
	if (conf != NULL) {
		str_addf(&slurm, "SLURM_CONF=%s", conf);
		envp[2] = slurm.p;
	}
	set_attributes(&attr);
	(void)posix_spawn_file_actions_init(&files);
	(void)posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	(void)posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
	rc = posix_spawnp(&c->pid, argv[0], &files, &attr, argv, envp);
	(void)posix_spawn_file_actions_destroy(&files);
	(void)posix_spawnattr_destroy(&attr);
	str_fini(&slurm);
	return rc;
}

static void let_go(struct child *c)
{
	poller_del(c->poller, &c->it);
	if (c->it.fd >= 0)
		(void)close(c->it.fd);
	if (c->owner != NULL)
		*c->owner = NULL;
	free(c);
}

static bool has_ended(struct child *c)
{
	int status;
	pid_t pid;

	if (c->ended)
		return true;
	pid = waitpid(c->pid, &status, WNOHANG);
	if (pid == 0 || (pid < 0 && errno == EINTR))
		return false;
	c->ended = true;
	if (pid > 0 && !c->stopped)
		c->end.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	return true;
}

/* Read what there is; false: end of file. */
static bool read_output(struct child *c)
{
	char buf[1024];

	for (int i = 0; i < CHILD_READS_MAX && c->it.fd >= 0; i++) {
		ssize_t n = read(c->it.fd, buf, sizeof(buf));
		size_t room = CHILD_OUT_MAX - c->end.len;

		if (n < 0)
			return errno == EAGAIN || errno == EINTR;
		if (n == 0)
			return false;
		memcpy(c->end.out + c->end.len, buf, (size_t)n < room ? (size_t)n : room);
		c->end.len += (size_t)n < room ? (size_t)n : room;
	}
	return true;
}

/* It is out of time: SIGTERM, then SIGKILL.  What waits in the kernel for a driver or a server may
 * never end: then the caller need not wait for it, and we only reap it, should it end. */
static void stop(struct child *c, int64_t now)
{
	struct child_end end;

	c->deadline = now + CHILD_TERM_MS;
	c->end.status = -1;
	if (!c->killed) {
		(void)kill(-c->pid, c->stopped ? SIGKILL : SIGTERM);
		c->killed = c->stopped;
		c->stopped = true;
		(void)err_set(&c->end.e, ERR_NET, "stopped: timed out");
		return;
	}
	c->given_up = true;
	(void)err_set(&c->end.e, ERR_NET, "timed out, and cannot be killed");
	end = c->end;
	if (c->done != NULL)
		c->done(c->ctx, &end);
}

static void on_child(struct poller_item *it, short got, int64_t now)
{
	struct child *c = it->ctx;
	child_done_fn done = c->done;
	void *ctx = c->ctx;
	struct child_end end;

	(void)got;
	if (!read_output(c) && it->fd >= 0) {
		poller_del(c->poller, it); /* a closed pipe stays readable for ever */
		(void)close(it->fd);
		it->fd = -1;
		poller_add(c->poller, it);
	}
	it->deadline = now + CHILD_LOOK_MS;
	if (!has_ended(c)) {
		if (now >= c->deadline && !c->given_up)
			stop(c, now);
		return;
	}
	(void)read_output(c);
	end = c->end;
	if (c->given_up)
		done = NULL; /* it was called then */
	let_go(c);
	if (done != NULL)
		done(ctx, &end);
}

/* Start the process, with a pipe for its output; -1: *e. */
static int begin(struct child *c, const struct child_call *call, int *out, struct err *e)
{
	struct words *w = mem_zalloc(sizeof(*w));
	int fd[2] = {-1, -1}, rc = -1;

	str_init(&w->line, CHILD_LINE_MAX);
	if (split(w, call->command, &call->vars) != 0) {
		(void)err_set(e, ERR_INVALID, "%.80s: no command, or too long", call->command);
	} else if (!poller_room(c->poller, 1) || pipe2(fd, O_CLOEXEC) != 0) {
		(void)err_set(e, ERR_NOTSENT, "%s: too much is open", w->v[0]);
	} else if ((rc = spawn(c, w->v, fd[1])) != 0) {
		(void)err_set(e, ERR_NOTSENT, "%s: %s", w->v[0], strerror(rc));
		(void)close(fd[0]);
	}
	str_fini(&w->line);
	free(w);
	if (fd[1] >= 0)
		(void)close(fd[1]);
	*out = fd[0];
	return rc == 0 ? fcntl(fd[0], F_SETFL, O_NONBLOCK) : -1;
}

int child_start(struct child **out, struct poller *p, const struct child_call *call, struct err *e)
{
	struct child *c = mem_zalloc(sizeof(*c));
	const int64_t now = clock_boot_ms();

	*out = NULL;
	c->poller = p;
	c->it = (struct poller_item){
		.want = POLLIN, .deadline = now + CHILD_LOOK_MS, .fn = on_child, .ctx = c};
	if (begin(c, call, &c->it.fd, e) != 0) {
		free(c);
		return -1;
	}
	c->owner = out;
	c->deadline = now + call->timeout_ms;
	c->done = call->done;
	c->ctx = call->ctx;
	poller_add(p, &c->it);
	*out = c;
	return 0;
}

void child_kill(struct child *c)
{
	if (c == NULL)
		return;
	if (!has_ended(c))
		(void)kill(-c->pid, SIGKILL);
	for (int i = 0; i < CHILD_KILL_LOOKS && !c->given_up && !has_ended(c); i++)
		(void)poll(NULL, 0, CHILD_KILL_MS);
	let_go(c);
}

void child_leave(struct child *c)
{
	if (c != NULL)
		let_go(c);
}
