#include "providers/simcloud/boot.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#include "base/mem.h"

enum { PATH_SIZE = 1024, ENV_SIZE = 1200, ENV_N = 9 };

struct child {
	pid_t pid;
	uint32_t row;
};

struct boot {
	uv_signal_t sigchld;
	char *program, *run_dir, *metadata;
	struct child *children;
	unsigned n, cap;
	boot_exited_fn fn;
	void *ctx;
};

static void reap(uv_signal_t *h, int sig);

static void on_closed(uv_handle_t *h)
{
	struct boot *b = h->data;

	free(b->children);
	free(b->program);
	free(b->run_dir);
	free(b->metadata);
	free(b);
}

int boot_open(struct boot **out, struct uv_loop_s *loop, const char *program, const char *run_dir,
	      const char *metadata, struct err *e)
{
	struct boot *b;

	*out = NULL;
	if (program[0] != '/' || access(program, X_OK) != 0)
		return err_set(e, ERR_INVALID, "%s: want the absolute path of a program", program);
	if (run_dir[0] != '/' || strlen(run_dir) > PATH_SIZE / 2)
		return err_set(e, ERR_INVALID, "%s: want an absolute path", run_dir);
	if (mkdir(run_dir, 0755) != 0 && errno != EEXIST)
		return err_set(e, ERR_IO, "%s: %s", run_dir, strerror(errno));
	b = mem_zalloc(sizeof(*b));
	b->program = mem_strdup(program);
	b->run_dir = mem_strdup(run_dir);
	b->metadata = mem_strdup(metadata != NULL ? metadata : "");
	(void)uv_signal_init(loop, &b->sigchld);
	b->sigchld.data = b;
	(void)uv_signal_start(&b->sigchld, reap, SIGCHLD);
	*out = b;
	return 0;
}

void boot_on_exit(struct boot *b, boot_exited_fn fn, void *ctx)
{
	b->fn = fn;
	b->ctx = ctx;
}

/* --- the child's side of fork: nothing here may allocate or return -----------------------------
 */

static void redirect(const char *dir)
{
	int in = open("/dev/null", O_RDONLY), out;

	if (chdir(dir) != 0)
		_exit(126);
	out = open("console.log", O_WRONLY | O_CREAT | O_APPEND, 0644);
	if (in < 0 || out < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0)
		_exit(126);
	(void)syscall(__NR_close_range, 3, ~0U, 0); /* glibc has it from 2.34 on */
}

/* Every signal is blocked here until the handlers, which belong to the parent's loop, are off. */
static void reset_signals(void)
{
	sigset_t none;

	for (int sig = 1; sig < SIGRTMIN; sig++)
		(void)signal(sig, SIG_DFL);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

static void become(const struct boot *b, pid_t parent, const char *dir, char *const env[])
{
	(void)setsid();
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(126); /* the parent died before prctl() */
	reset_signals();
	redirect(dir);
	(void)execle(b->program, b->program, (char *)NULL, env);
	(void)dprintf(2, "simcloud: %s: %s\n", b->program, strerror(errno));
	_exit(127);
}

/* ---------------------------------------------------------------------------------------------- */

static void set_env(char text[ENV_N][ENV_SIZE], char *env[ENV_N + 1], const struct boot *b,
		    const struct boot_instance *i)
{
	(void)snprintf(text[0], ENV_SIZE,
		       "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
	(void)snprintf(text[1], ENV_SIZE, "SIMCLOUD_ID=%s", i->id);
	(void)snprintf(text[2], ENV_SIZE, "SIMCLOUD_NODE=%s", i->node);
	(void)snprintf(text[3], ENV_SIZE, "SIMCLOUD_ADDR=%s", i->addr);
	(void)snprintf(text[4], ENV_SIZE, "SIMCLOUD_TYPE=%s", i->type);
	(void)snprintf(text[5], ENV_SIZE, "SIMCLOUD_HOSTS=%s/hosts", b->run_dir);
	(void)snprintf(text[6], ENV_SIZE, "SIMCLOUD_DIR=%s/%s", b->run_dir, i->id);
	(void)snprintf(text[7], ENV_SIZE, "SIMCLOUD_METADATA=%s", b->metadata);
	(void)snprintf(text[8], ENV_SIZE, "SIMCLOUD_USER_DATA=%s%s%s%s",
		       i->user_data != NULL ? b->run_dir : "", i->user_data != NULL ? "/" : "",
		       i->user_data != NULL ? i->id : "", i->user_data != NULL ? "/user-data" : "");
	for (int k = 0; k < ENV_N; k++)
		env[k] = text[k];
	env[ENV_N] = NULL;
}

static void add_child(struct boot *b, pid_t pid, uint32_t row)
{
	if (b->n == b->cap) {
		b->cap = b->cap == 0 ? 16 : 2 * b->cap;
		b->children = mem_realloc(b->children, b->cap * sizeof(*b->children));
	}
	b->children[b->n++] = (struct child){.pid = pid, .row = row};
}

/* Only root may read the file: on a real cloud others get user-data only by the metadata
 * service. */
static int write_user_data(const char *dir, const struct boot_instance *i, struct err *e)
{
	char path[PATH_SIZE + 16];
	ssize_t n;
	int fd;

	if (i->user_data == NULL)
		return 0;
	(void)snprintf(path, sizeof(path), "%s/user-data", dir);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	n = fd < 0 ? -1 : write(fd, i->user_data, i->user_data_len);
	if (fd >= 0)
		(void)close(fd);
	if (n == (ssize_t)i->user_data_len)
		return 0;
	return err_set(e, ERR_IO, "%.200s: %s", path, strerror(n < 0 ? errno : ENOSPC));
}

int boot_start(struct boot *b, const struct boot_instance *i, struct err *e)
{
	char text[ENV_N][ENV_SIZE], dir[PATH_SIZE], *env[ENV_N + 1];
	pid_t parent = getpid(), pid;
	sigset_t all, before;

	(void)snprintf(dir, sizeof(dir), "%s/%s", b->run_dir, i->id);
	if (mkdir(dir, 0755) != 0)
		return err_set(e, ERR_IO, "%s: %s", dir, strerror(errno));
	if (write_user_data(dir, i, e) != 0)
		return -1;
	set_env(text, env, b, i);
	(void)sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (pid == 0)
		become(b, parent, dir, env);
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	if (pid < 0)
		return err_set(e, ERR_IO, "fork: %s", strerror(errno));
	add_child(b, pid, i->row);
	return 0;
}

void boot_kill(struct boot *b, uint32_t row)
{
	for (unsigned k = 0; k < b->n; k++)
		if (b->children[k].row == row) {
			(void)kill(b->children[k].pid, SIGKILL); /* if it has no session yet */
			(void)kill(-b->children[k].pid, SIGKILL);
			return;
		}
}

void boot_console(const struct boot *b, const char *id, char *out, size_t size)
{
	char path[PATH_SIZE + 16];
	struct stat st;
	ssize_t n = -1;
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s/console.log", b->run_dir, id);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd >= 0 && fstat(fd, &st) == 0)
		n = pread(fd, out, size - 1,
			  st.st_size > (off_t)size - 1 ? st.st_size - (off_t)size + 1 : 0);
	if (fd >= 0)
		(void)close(fd);
	n = n > 0 ? n : 0;
	out[n] = '\0';
	for (ssize_t k = 0; k < n; k++)
		if (out[k] == '\0')
			out[k] = '?';
}

unsigned boot_count(const struct boot *b)
{
	return b->n;
}

/* Kill the child's group before it is reaped: until then its pid cannot be used again. */
static void bury(struct boot *b, pid_t pid)
{
	unsigned k = 0;
	uint32_t row;

	while (k < b->n && b->children[k].pid != pid)
		k++;
	if (k == b->n) { /* not ours: left to us as init or subreaper */
		(void)waitpid(pid, NULL, 0);
		return;
	}
	(void)kill(-pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	row = b->children[k].row;
	b->children[k] = b->children[--b->n];
	if (b->fn != NULL)
		b->fn(b->ctx, row);
}

static void reap(uv_signal_t *h, int sig)
{
	siginfo_t si = {0};

	(void)sig;
	while (waitid(P_ALL, 0, &si, WEXITED | WNOHANG | WNOWAIT) == 0 && si.si_pid != 0) {
		bury(h->data, si.si_pid);
		si.si_pid = 0;
	}
}

void boot_close(struct boot *b)
{
	for (unsigned k = 0; k < b->n; k++)
		(void)kill(-b->children[k].pid, SIGKILL);
	b->n = 0;
	uv_close((uv_handle_t *)&b->sigchld, on_closed);
}
