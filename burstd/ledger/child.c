#include "ledger/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

enum {
	READ_SIZE = 65536,
	WAIT_MS = 5,   /* between looks whether it has ended, once its output has */
	LOOK_MS = 500, /* between questions whether to stop */
};

enum { OUT, ERRORS, NFILES };

struct run {
	const struct child_call *call;
	struct str *texts[NFILES];
	int fd[NFILES]; /* the ends that are read; -1: closed */
	pid_t pid;
	int64_t until_ms;
};

static void shut(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

static int spawn(struct run *r, const int to[NFILES], struct err *e)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, usual;
	int rc;

	(void)sigemptyset(&none);
	(void)sigemptyset(&usual);
	(void)sigaddset(&usual, SIGTERM);
	(void)sigaddset(&usual, SIGINT);
	(void)sigaddset(&usual, SIGPIPE);
	(void)posix_spawn_file_actions_init(&files);
	(void)posix_spawnattr_init(&attr);
	(void)posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	(void)posix_spawn_file_actions_adddup2(&files, to[OUT], STDOUT_FILENO);
	(void)posix_spawn_file_actions_adddup2(&files, to[ERRORS], STDERR_FILENO);
	(void)posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
						      POSIX_SPAWN_SETSIGDEF);
	(void)posix_spawnattr_setpgroup(&attr, 0);
	(void)posix_spawnattr_setsigmask(&attr, &none);
	(void)posix_spawnattr_setsigdefault(&attr, &usual);
	/* posix_spawn() takes pointers to char that it does not write to. */
	rc = posix_spawn(&r->pid, r->call->argv[0], &files, &attr,
			 (char *const *)(uintptr_t)r->call->argv,
			 (char *const *)(uintptr_t)r->call->envp);
	(void)posix_spawn_file_actions_destroy(&files);
	(void)posix_spawnattr_destroy(&attr);
	if (rc == 0)
		return 0;
	return err_set(e, ERR_NOTSENT, "%.150s: %s", r->call->argv[0], strerror(rc));
}

static int start(struct run *r, struct err *e)
{
	int pipes[NFILES][2] = {{-1, -1}, {-1, -1}}, to[NFILES], rc = -1;

	if (pipe2(pipes[OUT], O_CLOEXEC) < 0 || pipe2(pipes[ERRORS], O_CLOEXEC) < 0) {
		(void)err_set(e, ERR_NOTSENT, "pipe: %s", strerror(errno));
	} else {
		to[OUT] = pipes[OUT][1];
		to[ERRORS] = pipes[ERRORS][1];
		rc = spawn(r, to, e);
	}
	for (int i = 0; i < NFILES; i++) {
		shut(&pipes[i][1]);
		if (rc < 0)
			shut(&pipes[i][0]);
		r->fd[i] = pipes[i][0];
	}
	return rc;
}

/* What does not fit of standard error is dropped; of the output it is an error. */
static int take(struct run *r, int i, struct err *e)
{
	char bytes[READ_SIZE];
	ssize_t n = read(r->fd[i], bytes, sizeof(bytes));
	size_t room = r->texts[i]->max - r->texts[i]->len;

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	if (n <= 0) {
		shut(&r->fd[i]);
		return 0;
	}
	if (i == OUT && (size_t)n > room)
		return err_set(e, ERR_LIMIT, "%.100s: printed more than %zu bytes",
			       r->call->argv[0], r->texts[i]->max);
	str_add(r->texts[i], bytes, (size_t)n < room ? (size_t)n : room);
	return 0;
}

static int listen_to(struct run *r, struct err *e)
{
	while (r->fd[OUT] >= 0 || r->fd[ERRORS] >= 0) {
		struct pollfd p[NFILES] = {{.fd = r->fd[OUT], .events = POLLIN},
					   {.fd = r->fd[ERRORS], .events = POLLIN}};
		int64_t left = r->until_ms - clock_boot_ms();

		if (r->call->stops != NULL && r->call->stops())
			return err_set(e, ERR_CANCELLED, "%.100s: stopped", r->call->argv[0]);
		if (left <= 0)
			return err_set(e, ERR_NET, "%.100s: stopped after %lld s", r->call->argv[0],
				       (long long)(r->call->timeout_ms / 1000));
		(void)poll(p, NFILES, left < LOOK_MS ? (int)left : LOOK_MS);
		for (int i = 0; i < NFILES; i++)
			if (p[i].revents != 0 && take(r, i, e) < 0)
				return -1;
	}
	return 0;
}

/* It has closed its output, and may still do something else. */
static int await(const struct run *r, struct err *e)
{
	siginfo_t info = {.si_pid = 0};

	for (;;) {
		if (waitid(P_PID, (id_t)r->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 &&
		    errno != EINTR)
			return err_set(e, ERR_IO, "waitid: %s", strerror(errno));
		if (info.si_pid != 0)
			return 0;
		if (clock_boot_ms() >= r->until_ms)
			return err_set(e, ERR_NET, "%.100s: stopped after %lld s", r->call->argv[0],
				       (long long)(r->call->timeout_ms / 1000));
		(void)poll(NULL, 0, WAIT_MS);
	}
}

int child_run(const struct child_call *call, struct str *out, struct str *errors, int *status,
	      struct err *e)
{
	struct run r = {.call = call,
			.texts = {out, errors},
			.until_ms = clock_boot_ms() + call->timeout_ms};
	int rc, how = 0;

	*status = -1;
	if (start(&r, e) < 0)
		return -1;
	rc = listen_to(&r, e);
	if (rc == 0)
		rc = await(&r, e);
	/* Its children, too: also those that it left behind.  It is not reaped yet, so that nobody
	 * else can have its number. */
	(void)kill(-r.pid, SIGKILL);
	for (int i = 0; i < NFILES; i++)
		shut(&r.fd[i]);
	while (waitpid(r.pid, &how, 0) < 0 && errno == EINTR)
		continue;
	*status = WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
	return rc;
}
