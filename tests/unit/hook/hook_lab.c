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

const struct lab_answer lab_ack = {LAB_ANSWER, "{\"ok\":true,\"seq\":7}", 0, 0};

static char hook_dir[512];

int64_t lab_now_ms(void)
{
	struct timespec ts;

	assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &ts), 0);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* --- one run of the hook ---------------------------------------------------------------------- */

static void hostile_signals(void)
{
	sigset_t all;

	(void)sigfillset(&all);
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
	char *envp[] = {o->file != NULL ? env : o->traced ? asan : NULL, NULL};

	(void)snprintf(path, sizeof(path), "%s/%s", hook_dir, o->name);
	(void)snprintf(env, sizeof(env), "SLURM_RESUME_FILE=%s", o->file != NULL ? o->file : "");
	(void)dup2(out[1], STDOUT_FILENO);
	(void)dup2(err[1], STDERR_FILENO);
	if (o->full_stderr)
		fill(STDERR_FILENO);
	if (o->lone_stderr) {
		int end[2];

		if (pipe(end) != 0)
			_exit(99);
		(void)dup2(end[1], STDERR_FILENO);
		(void)close(end[0]);
		(void)close(end[1]);
	}
	if (o->hostile_signals)
		hostile_signals();
	if (o->traced)
		(void)ptrace(PTRACE_TRACEME, 0, NULL, NULL);
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
	p->started = lab_now_ms();
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

void lab_finish(struct lab_proc *p, struct lab_result *r)
{
	int status = 0;
	pid_t got;

	while ((got = waitpid(p->pid, &status, WNOHANG)) == 0) {
		if (lab_now_ms() - p->started > p->limit_ms + LAB_GUARD_MS)
			(void)kill(p->pid, SIGKILL);
		(void)poll(NULL, 0, 1);
	}
	r->ms = lab_now_ms() - p->started;
	assert_int_equal(got, p->pid);
	r->code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
	lab_slurp(p->out, r->out, sizeof(r->out));
	lab_slurp(p->err, r->err, sizeof(r->err));
	assert_string_equal(r->out, "");
	assert_true(r->ms <= p->limit_ms);
}

struct lab_result lab_run(const struct lab_opts *o)
{
	struct lab_result r;
	struct lab_proc p;

	lab_start(&p, o);
	lab_finish(&p, &r);
	return r;
}

/* --- what arrived ----------------------------------------------------------------------------- */

void lab_seen_init(struct lab_seen *s)
{
	*s = (struct lab_seen){.done = false};
	str_init(&s->head, LAB_MIB);
	str_init(&s->list, LAB_MIB);
	str_init(&s->file, LAB_BYTES_MAX);
	str_init(&s->order, LAB_MIB);
	str_init(&s->bytes, LAB_BYTES_MAX);
	frame_reader_init(&s->reader);
}

void lab_seen_fini(struct lab_seen *s)
{
	str_fini(&s->head);
	str_fini(&s->list);
	str_fini(&s->file);
	str_fini(&s->order);
	str_fini(&s->bytes);
	frame_reader_fini(&s->reader);
}

static int on_frame(void *ctx, enum frame_type type, const char *data, size_t len, struct err *e)
{
	struct lab_seen *s = ctx;
	const char letter = (char)type;

	(void)e;
	assert_false(s->done);
	assert_true(len <= FRAME_CHUNK);
	if (s->order.len == 0 || s->order.p[s->order.len - 1] != letter)
		str_add(&s->order, &letter, 1);
	if (type == FRAME_JSON)
		str_add(&s->head, data, len);
	else if (type == FRAME_LIST)
		str_add(&s->list, data, len);
	else if (type == FRAME_FILE)
		str_add(&s->file, data, len);
	else
		(void)snprintf(s->end, sizeof(s->end), "%.*s", (int)len, data);
	s->done = type == FRAME_END;
	return 0;
}

static void seen_feed(struct lab_seen *s, const char *p, size_t n)
{
	str_add(&s->bytes, p, n);
	assert_int_equal(frame_reader_feed(&s->reader, p, n, on_frame, s, NULL), 0);
}

/* --- the spool -------------------------------------------------------------------------------- */

int lab_spool_names(char names[][256], int max)
{
	struct dirent **list;
	int n = scandir(PATHS_SPOOL, &list, NULL, alphasort), kept = 0;

	for (int i = 0; i < n; i++) {
		if (strcmp(list[i]->d_name, ".") != 0 && strcmp(list[i]->d_name, "..") != 0 &&
		    kept < max)
			(void)snprintf(names[kept++], 256, "%s", list[i]->d_name);
		free(list[i]);
	}
	if (n >= 0)
		free(list);
	return kept;
}

void lab_spool_read(const char *name, struct lab_seen *s)
{
	char path[400], chunk[65536];
	struct stat st;
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof(path), PATHS_SPOOL "/%.255s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	while ((n = read(fd, chunk, sizeof(chunk))) > 0)
		seen_feed(s, chunk, (size_t)n);
	(void)close(fd);
}

void lab_spool_clear(void)
{
	char names[LAB_NAMES_MAX][256], path[400];
	int n = lab_spool_names(names, LAB_NAMES_MAX);

	for (int i = 0; i < n; i++) {
		(void)snprintf(path, sizeof(path), PATHS_SPOOL "/%.255s", names[i]);
		(void)unlink(path);
	}
}

void lab_assert_spooled(const struct lab_seen *want)
{
	char names[4][256];
	struct lab_seen s;

	assert_int_equal(lab_spool_names(names, 4), 1);
	assert_int_not_equal(names[0][0], '.');
	lab_seen_init(&s);
	lab_spool_read(names[0], &s);
	assert_true(s.done && frame_reader_at_rest(&s.reader));
	if (want != NULL && want->done) {
		assert_int_equal(s.bytes.len, want->bytes.len);
		assert_memory_equal(s.bytes.p, want->bytes.p, s.bytes.len);
	}
	lab_seen_fini(&s);
}

void lab_assert_not_spooled(void)
{
	char names[4][256];

	assert_int_equal(lab_spool_names(names, 4), 0);
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

void lab_server_read(int fd, struct lab_seen *s, size_t max)
{
	char chunk[65536];

	while (!s->done && s->bytes.len < max) {
		size_t want = max - s->bytes.len;
		ssize_t n = read(fd, chunk, want < sizeof(chunk) ? want : sizeof(chunk));

		if (n <= 0)
			return;
		seen_feed(s, chunk, (size_t)n);
	}
}

static void trickle(int fd, struct lab_seen *s)
{
	struct pollfd p = {.fd = fd, .events = POLLRDHUP};
	char c;

	while (poll(&p, 1, s->bytes.len % 64 == 0 ? 1 : 0) == 0 && read(fd, &c, 1) == 1)
		seen_feed(s, &c, 1);
}

static void wait_gone(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLRDHUP};

	assert_int_equal(poll(&p, 1, LAB_GUARD_MS), 1);
}

void lab_server_answer(int fd, const struct lab_answer *a)
{
	unsigned char frame[512];
	size_t n = strlen(a->text);

	frame_header(frame, a->type != 0 ? (enum frame_type)a->type : FRAME_JSON,
		     (uint32_t)(a->len != 0 ? a->len : n));
	memcpy(frame + FRAME_HEADER, a->text, n);
	n += FRAME_HEADER;
	if (a->how == LAB_ANSWER) {
		assert_int_equal(send(fd, frame, n, MSG_NOSIGNAL), n);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(send(fd, frame + i, 1, MSG_NOSIGNAL), 1);
		(void)poll(NULL, 0, 5);
	}
}

void lab_serve(int lfd, const struct lab_answer *a, struct lab_seen *s)
{
	int fd;

	if (a->how == LAB_NO_ACCEPT)
		return;
	fd = lab_server_accept(lfd);
	assert_true(fd >= 0);
	if (a->how == LAB_TRICKLE)
		trickle(fd, s);
	else if (a->how == LAB_CLOSE_MIDWAY)
		lab_server_read(fd, s, 70);
	else if (a->how != LAB_CLOSE_AT_ONCE)
		lab_server_read(fd, s, LAB_BYTES_MAX);
	if (a->how == LAB_ANSWER || a->how == LAB_ANSWER_SLOWLY)
		lab_server_answer(fd, a);
	if (a->how == LAB_SILENT || (a->how == LAB_ANSWER && a->len > strlen(a->text)))
		wait_gone(fd);
	(void)close(fd);
}

struct lab_result lab_run_served(const struct lab_opts *o, const struct lab_answer *a,
				 struct lab_seen *s)
{
	int lfd = lab_server_listen(8);
	struct lab_result r;
	struct lab_proc p;

	lab_start(&p, o);
	lab_serve(lfd, a, s);
	lab_finish(&p, &r);
	lab_server_close(lfd);
	return r;
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

void lab_assert_head(const struct lab_seen *s, const char *kind, const char *file)
{
	char want[128];
	struct timespec now;
	long long at = 0;
	int n = 0;

	(void)snprintf(
		want, sizeof(want),
		"{\"v\":1,\"op\":\"call\",\"kind\":\"%s\",\"at_ms\":%%lld,\"file\":\"%s\"}%%n",
		kind, file);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	assert_int_equal(sscanf(s->head.p, want, &at, &n), 1);
#pragma GCC diagnostic pop
	assert_int_equal(n, s->head.len);
	/* Not time(): its clock is a tick behind, and the call may seem to come from the future. */
	assert_int_equal(clock_gettime(CLOCK_REALTIME, &now), 0);
	assert_in_range(now.tv_sec - at / 1000, 0, 10);
}

/* --- a world of its own ------------------------------------------------------------------------
 */

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
