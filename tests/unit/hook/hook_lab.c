#include "tests/unit/hook/hook_lab.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/frame.h"

static char hook_dir[512];

int64_t lab_now_ms(clockid_t id)
{
	struct timespec ts;

	assert_int_equal(clock_gettime(id, &ts), 0);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* --- one run of the hook ---------------------------------------------------------------------- */

static void hostile_signals(void)
{
	sigset_t all;

	(void)sigfillset(&all);
	(void)sigdelset(&all, SIGTRAP); /* it stops a traced hook at its start */
	(void)sigprocmask(SIG_SETMASK, &all, NULL);
	(void)signal(SIGALRM, SIG_IGN);
	(void)signal(SIGTERM, SIG_IGN);
	(void)signal(SIGPIPE, SIG_DFL);
}

static void fill(int pipe)
{
	int flags = fcntl(pipe, F_GETFL);
	char bytes[4096] = "";

	(void)fcntl(pipe, F_SETFL, flags | O_NONBLOCK);
	while (write(pipe, bytes, sizeof(bytes)) > 0) {
	}
	(void)fcntl(pipe, F_SETFL, flags);
}

static _Noreturn void become_hook(const struct lab_opts *o, const int out[2], const int err[2])
{
	char path[600], env[300];
	char *argv[] = {(char *)(uintptr_t)o->name, (char *)(uintptr_t)o->list, NULL};
	/* The leak checker of a sanitized build cannot work in a traced process. */
	char asan[] = "ASAN_OPTIONS=detect_leaks=0";
	char *envp[] = {NULL, NULL, NULL};
	int n = 0;

	if (o->file != NULL)
		envp[n++] = env;
	if (o->traced)
		envp[n++] = asan;
	(void)snprintf(path, sizeof(path), "%s/%s", hook_dir, o->name);
	(void)snprintf(env, sizeof(env), "SLURM_RESUME_FILE=%s", o->file != NULL ? o->file : "");
	(void)dup2(out[1], STDOUT_FILENO);
	(void)dup2(err[1], STDERR_FILENO);
	if (o->full_stderr)
		fill(STDERR_FILENO);
	if (o->lone_stderr) {
		int end[2];

		if (pipe(end) != 0)
			_exit(98);
		(void)dup2(end[1], STDERR_FILENO);
		(void)close(end[0]);
		(void)close(end[1]);
	}
	if (o->hostile_signals)
		hostile_signals();
	if (o->traced && ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
		_exit(LAB_NO_TRACE);
	for (int fd = 0; o->closed_fds && fd < 3; fd++)
		(void)close(fd);
	(void)execve(path, argv, o->env != NULL ? o->env : envp);
	_exit(127);
}

void lab_start(struct lab_proc *p, const struct lab_opts *o)
{
	int out[2], err[2];

	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	assert_int_equal(pipe2(err, O_CLOEXEC), 0);
	p->started = lab_now_ms(CLOCK_MONOTONIC);
	p->limit_ms = o->limit_ms != 0 ? o->limit_ms : LAB_LIMIT_MS;
	p->pid = fork();
	assert_true(p->pid >= 0);
	if (p->pid == 0)
		become_hook(o, out, err);
	(void)close(out[1]);
	(void)close(err[1]);
	p->out = out[0];
	p->err = err[0];
}

void lab_slurp(int fd, char *to, size_t size)
{
	size_t have = 0;
	ssize_t n;

	while (have + 1 < size && (n = read(fd, to + have, size - 1 - have)) > 0)
		have += (size_t)n;
	to[have] = '\0';
	(void)close(fd);
}

void lab_finish_ended(struct lab_proc *p, int status, struct lab_result *r)
{
	r->ms = lab_now_ms(CLOCK_MONOTONIC) - p->started;
	r->code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
	lab_slurp(p->out, r->out, sizeof(r->out));
	lab_slurp(p->err, r->err, sizeof(r->err));
	assert_string_equal(r->out, "");
	assert_true(r->ms <= (int64_t)p->limit_ms * LAB_PATIENCE);
}

void lab_finish(struct lab_proc *p, struct lab_result *r)
{
	int status = 0;
	pid_t got;

	while ((got = waitpid(p->pid, &status, WNOHANG)) == 0) {
		if (lab_now_ms(CLOCK_MONOTONIC) - p->started >
		    (int64_t)p->limit_ms * LAB_PATIENCE + LAB_GUARD_MS)
			(void)kill(p->pid, SIGKILL);
		(void)poll(NULL, 0, 1);
	}
	assert_int_equal(got, p->pid);
	lab_finish_ended(p, status, r);
}

struct lab_result lab_run(const struct lab_opts *o)
{
	struct lab_result r;
	struct lab_proc p;

	lab_start(&p, o);
	lab_finish(&p, &r);
	return r;
}

/* --- the spool -------------------------------------------------------------------------------- */

int lab_spool_names(char names[][LAB_NAME], int max)
{
	struct dirent **list;
	int n = scandir(PATHS_SPOOL, &list, NULL, alphasort), kept = 0;

	for (int i = 0; i < n; i++) {
		if (strcmp(list[i]->d_name, ".") != 0 && strcmp(list[i]->d_name, "..") != 0 &&
		    kept < max)
			(void)snprintf(names[kept++], LAB_NAME, "%s", list[i]->d_name);
		free(list[i]);
	}
	if (n >= 0)
		free(list);
	return kept;
}

void lab_call_read(struct lab_call *c, const char *name)
{
	char path[400], chunk[65536];
	struct stat st;
	ssize_t n;
	int fd;

	*c = (struct lab_call){.whole = false};
	(void)snprintf(c->name, sizeof(c->name), "%s", name);
	str_init(&c->bytes, CALL_LIST_MAX + CALL_FILE_MAX + CALL_END);
	(void)snprintf(path, sizeof(path), PATHS_SPOOL "/%.255s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	while ((n = read(fd, chunk, sizeof(chunk))) > 0)
		str_add(&c->bytes, chunk, (size_t)n);
	(void)close(fd);
	assert_false(c->bytes.full);
	c->whole = call_end_read(&c->end, c->bytes.p, c->bytes.len);
}

void lab_call_take(struct lab_call *c)
{
	char names[4][LAB_NAME];

	assert_int_equal(lab_spool_names(names, 4), 1);
	assert_int_not_equal(names[0][0], '.');
	lab_call_read(c, names[0]);
	assert_true(c->whole);
	lab_spool_clear();
}

void lab_call_fini(struct lab_call *c)
{
	str_fini(&c->bytes);
}

void lab_assert_list(const struct lab_call *c, const char *list)
{
	assert_int_equal(c->end.list_len, strlen(list));
	assert_memory_equal(c->bytes.p, list, c->end.list_len);
}

void lab_assert_file(const struct lab_call *c, enum call_file state, size_t len)
{
	const char *p = c->bytes.p + c->end.list_len;

	assert_int_equal(c->end.file, state);
	assert_int_equal(c->end.file_len, len);
	for (size_t k = 0; k < len; k++)
		if (p[k] != (char)('a' + k % 4096 % 23))
			fail_msg("byte %zu is wrong", k);
}

void lab_spool_clear(void)
{
	char names[LAB_NAMES_MAX][LAB_NAME], path[400];
	int n = lab_spool_names(names, LAB_NAMES_MAX);

	for (int i = 0; i < n; i++) {
		(void)snprintf(path, sizeof(path), PATHS_SPOOL "/%.255s", names[i]);
		(void)unlink(path);
	}
}

void lab_assert_spool_empty(void)
{
	char names[4][LAB_NAME];

	assert_int_equal(lab_spool_names(names, 4), 0);
}

/* --- syslog ----------------------------------------------------------------------------------- */

int lab_log_listen(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX, .sun_path = "/dev/log"};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	(void)unlink(a.sun_path);
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

void lab_log_close(int fd)
{
	(void)close(fd);
	(void)unlink("/dev/log");
}

const char *lab_log_next(int fd)
{
	static char line[512];
	ssize_t n = recv(fd, line, sizeof(line) - 1, 0);

	line[n > 0 ? n : 0] = '\0';
	return line;
}

void lab_assert_complaint(int log, const struct lab_result *r, const char *why)
{
	const char *line = lab_log_next(log);
	char want[512];

	assert_int_equal(strncmp(line, "<27>burst-hook: ", 16), 0);
	assert_non_null(strstr(line, why));
	assert_null(strchr(line, '\n'));
	(void)snprintf(want, sizeof(want), "%s\n", line + 4);
	assert_string_equal(r->err, want);
	assert_string_equal(lab_log_next(log), "");
}

/* --- the server ------------------------------------------------------------------------------- */

int lab_server_listen(int backlog)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX, .sun_path = PATHS_SOCKET};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)unlink(PATHS_SOCKET);
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(fd, backlog), 0);
	return fd;
}

void lab_server_close(int fd)
{
	(void)close(fd);
	(void)unlink(PATHS_SOCKET);
}

int lab_server_accept(int lfd)
{
	struct pollfd p = {.fd = lfd, .events = POLLIN};

	assert_int_equal(poll(&p, 1, LAB_LIMIT_MS), 1);
	return accept4(lfd, NULL, NULL, SOCK_CLOEXEC);
}

void lab_server_answer(int fd, const struct lab_answer *a)
{
	unsigned char frame[512];
	size_t n = strlen(a->text);

	frame_header(frame, (uint32_t)(a->len != 0 ? a->len : n));
	if (a->type != 0)
		frame[0] = (unsigned char)a->type;
	memcpy(frame + FRAME_HEADER, a->text, n);
	n += FRAME_HEADER;
	assert_int_equal(send(fd, frame, n, MSG_NOSIGNAL), n);
}

/* --- the resume file -------------------------------------------------------------------------- */

int lab_memfd_of(size_t size, char path[64])
{
	int fd = memfd_create("resume", MFD_CLOEXEC);
	char chunk[4096];

	assert_true(fd >= 0);
	for (size_t i = 0; i < sizeof(chunk); i++)
		chunk[i] = (char)('a' + i % 23);
	for (size_t left = size; left > 0;) {
		ssize_t n = write(fd, chunk, left < sizeof(chunk) ? left : sizeof(chunk));

		assert_true(n > 0);
		left -= (size_t)n;
	}
	(void)snprintf(path, 64, "/proc/%d/fd/%d", (int)getpid(), fd);
	return fd;
}

/* --- a world of its own ----------------------------------------------------------------------- */

static int put_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int rc = fd >= 0 && write(fd, text, strlen(text)) > 0 ? 0 : -1;

	if (fd >= 0)
		(void)close(fd);
	return rc;
}

static int enter_namespace(void)
{
	char uid[64], gid[64];

	(void)snprintf(uid, sizeof(uid), "0 %u 1", (unsigned)getuid());
	(void)snprintf(gid, sizeof(gid), "0 %u 1", (unsigned)getgid());
	if (unshare(CLONE_NEWNS) == 0)
		return 0;
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
		return -1;
	(void)put_file("/proc/self/setgroups", "deny");
	return put_file("/proc/self/uid_map", uid) == 0 ? put_file("/proc/self/gid_map", gid) : -1;
}

/* /run, /var/spool, /etc and /dev are ours; the only thing in /dev is null. */
static int make_world(void)
{
	char null[64];
	int fd = open("/dev/null", O_PATH | O_CLOEXEC), file;

	if (fd < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("run", "/run", "tmpfs", 0, NULL) != 0 || mkdir(PATHS_RUN, 0755) != 0 ||
	    mount("spool", "/var/spool", "tmpfs", 0, NULL) != 0 || mkdir(PATHS_SPOOL, 0700) != 0 ||
	    mount("spool", PATHS_SPOOL, "tmpfs", 0, "mode=700") != 0 ||
	    mount("etc", "/etc", "tmpfs", 0, NULL) != 0 || mkdir("/etc/burstd", 0755) != 0 ||
	    mount("dev", "/dev", "tmpfs", 0, NULL) != 0)
		return -1;
	file = open("/dev/null", O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (file < 0)
		return -1;
	(void)close(file);
	(void)snprintf(null, sizeof(null), "/proc/self/fd/%d", fd);
	return mount(null, "/dev/null", NULL, MS_BIND, NULL);
}

/* build/MODE/tests/unit/hook/test_hook.t: the programs are in build/bin or in build/MODE/bin. */
static int find_hook(void)
{
	static const char *const places[] = {"../../../bin", "../../../../bin"};
	const char *given = getenv("BURST_HOOK");
	char self[256] = "", path[sizeof(hook_dir) + 16];

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0 || strrchr(self, '/') == NULL)
		return -1;
	*strrchr(self, '/') = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		(void)snprintf(hook_dir, sizeof(hook_dir), "%s/%s", self, places[i]);
		if (given != NULL)
			(void)snprintf(hook_dir, sizeof(hook_dir), "%s", given);
		(void)snprintf(path, sizeof(path), "%s/burst-hook", hook_dir);
		if (access(path, X_OK) == 0)
			return 0;
	}
	return -1;
}

bool lab_enter(int *status)
{
	*status = 0;
	if (find_hook() != 0) {
		(void)fprintf(stderr, "build burst-hook first, or say BURST_HOOK=DIRECTORY\n");
		*status = 1;
		return false;
	}
	if (enter_namespace() != 0 || make_world() != 0) {
		(void)printf("1..0 # SKIP no mount namespace of our own: %s\n", strerror(errno));
		return false;
	}
	return true;
}
