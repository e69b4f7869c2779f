#include "lab.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/paths.h"
#include "base/str.h"

char lab_dir[] = "/run/labXXXXXX";
bool lab_root;
uid_t lab_uid;
void (*lab_in_child)(void);
static char burstd_path[600];

/* --- files -------------------------------------------------------------------------------------
 */

const char *lab_path(const char *name)
{
	static char paths[4][128];
	static unsigned turn;
	char *path = paths[turn++ % COUNT(paths)];

	(void)snprintf(path, sizeof(paths[0]), "%s/%s", lab_dir, name);
	return path;
}

void lab_write(const char *name, const char *text, mode_t mode)
{
	int fd = open(lab_path(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	assert_int_equal(fchmod(fd, mode), 0);
	(void)close(fd);
}

static const char good[] = "cluster = lab\n"
			   "currency = EUR\n"
			   "state_dir = \"DIR/state\"\n"
			   "slurm { bin_dir = \"DIR/bin\" }\n"
			   "provider sim {\n"
			   "	driver = sim\n"
			   "	url = \"http://127.0.0.1:1\"\n"
			   "	credential_file = \"DIR/token\"\n"
			   "}\n"
			   "pool p { nodes = \"c[1-8]\" provider = sim type = t region = r\n"
			   "	max_nodes = 8 max_rate = \"300\" }\n";

/* `good` with each `from` as `to`, and DIR filled in. */
void lab_write_conf(const char *from, const char *to)
{
	const char *p = good;
	struct str s;

	str_init(&s, LAB_TEXT_SIZE);
	while (*p != '\0') {
		if (from != NULL && strncmp(p, from, strlen(from)) == 0) {
			str_adds(&s, to);
			p += strlen(from);
		} else {
			str_add(&s, p++, 1);
		}
	}
	for (char *d; (d = strstr(s.p, "DIR")) != NULL;) {
		char *rest = mem_strdup(d + 3);

		s.len = (size_t)(d - s.p);
		str_adds(&s, lab_dir);
		str_adds(&s, rest);
		free(rest);
	}
	lab_write("burstd.conf", s.p, 0644);
	str_fini(&s);
}

void lab_make_files(const char *scontrol)
{
	lab_write_conf(NULL, NULL);
	lab_write("token", "secret-one\n", 0600);
	assert_true(mkdir(lab_path("bin"), 0755) == 0 || errno == EEXIST);
	lab_write("bin/scontrol", scontrol, 0755);
	lab_write("bin/squeue", "#!/bin/sh\n", 0755);
}

struct sockaddr_in lab_free_place(void)
{
	struct sockaddr_in sa = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(sa);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&sa, len), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&sa, &len), 0);
	(void)close(fd);
	return sa;
}

/* --- processes ---------------------------------------------------------------------------------
 */

/* By its descriptor: the way to it may be closed to others. */
static void run_burstd(char *const *argv)
{
	const int low = open(burstd_path, O_RDONLY | O_CLOEXEC);
	/* Not among those that systemd hands over. */
	const int fd = fcntl(low, F_DUPFD_CLOEXEC, LAB_FDS);

	if (lab_uid != 0 && (setgroups(0, NULL) != 0 || setresgid(lab_uid, lab_uid, lab_uid) != 0 ||
			     setresuid(lab_uid, lab_uid, lab_uid) != 0))
		return;
	(void)fexecve(fd, argv, environ);
}

void lab_start_args(struct burstd *b, char *const *argv)
{
	int ends[2];

	*b = (struct burstd){.rc = -1};
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	b->pid = fork();
	assert_true(b->pid >= 0);
	if (b->pid == 0) {
		(void)dup2(ends[1], STDERR_FILENO);
		(void)dup2(open(lab_path("out"), O_WRONLY | O_CREAT | O_TRUNC, 0600),
			   STDOUT_FILENO);
		if (lab_in_child != NULL)
			lab_in_child();
		run_burstd(argv);
		_exit(127);
	}
	(void)close(ends[1]);
	b->err = ends[0];
}

void lab_start(struct burstd *b, const char *option, const char *operand)
{
	char *copy =
		operand != NULL ? mem_strdup(operand) : NULL; /* lab_path() will be used again */
	const char *const argv[] = {"burstd", option, copy, NULL};

	lab_start_args(b, (char *const *)(uintptr_t)argv);
	free(copy);
}

bool lab_read_until(struct burstd *b, const char *word)
{
	int64_t until = clock_boot_ms() + LAB_PATIENCE_MS;
	struct pollfd p = {.fd = b->err, .events = POLLIN};

	while (word == NULL || strstr(b->text, word) == NULL) {
		size_t len = strlen(b->text);
		ssize_t n;

		if (clock_boot_ms() > until || poll(&p, 1, LAB_PATIENCE_MS) < 0)
			return false;
		n = read(b->err, b->text + len, LAB_TEXT_SIZE - 1 - len);
		if (n <= 0)
			return word == NULL && n == 0;
	}
	return true;
}

void lab_finish(struct burstd *b)
{
	int64_t until = clock_boot_ms() + LAB_PATIENCE_MS;
	int status = 0;
	pid_t got;

	while ((got = waitpid(b->pid, &status, WNOHANG)) == 0) {
		if (clock_boot_ms() > until)
			(void)kill(b->pid, SIGKILL);
		(void)poll(NULL, 0, 5);
	}
	assert_int_equal(got, b->pid);
	assert_true(lab_read_until(b, NULL));
	(void)close(b->err);
	b->rc = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void lab_stop(struct burstd *b)
{
	assert_int_equal(kill(b->pid, SIGTERM), 0);
	lab_finish(b);
}

void lab_start_ready(struct burstd *b)
{
	lab_start(b, "-c", lab_path("burstd.conf"));
	if (!lab_read_until(b, "msg=ready"))
		print_error("%s\n", b->text);
	assert_non_null(strstr(b->text, "msg=ready"));
}

/* --- a world of its own ------------------------------------------------------------------------
 */

static int put_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		(void)close(fd);
	return ok ? 0 : -1;
}

static int enter_namespace(void)
{
	char uid[40], gid[40];

	(void)snprintf(uid, sizeof(uid), "0 %u 1", (unsigned)getuid());
	(void)snprintf(gid, sizeof(gid), "0 %u 1", (unsigned)getgid());
	lab_root = unshare(CLONE_NEWNS) == 0;
	if (lab_root)
		return 0;
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
		return -1;
	(void)put_file("/proc/self/setgroups", "deny");
	return put_file("/proc/self/uid_map", uid) == 0 ? put_file("/proc/self/gid_map", gid) : -1;
}

static int make_world(void)
{
	if (enter_namespace() != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("run", "/run", "tmpfs", 0, "mode=755") != 0 || mkdir(PATHS_RUN, 0755) != 0 ||
	    mount("spool", "/var/spool", "tmpfs", 0, "mode=755") != 0 ||
	    mkdir(PATHS_SPOOL, 0700) != 0)
		return -1;
	return mkdtemp(lab_dir) != NULL ? 0 : -1;
}

/* build/MODE/tests/unit/daemon/test_x.t: the programs are in build/bin or in build/MODE/bin.
 */
static int find_burstd(void)
{
	static const char *const places[] = {"../../../bin", "../../../../bin"};
	char self[512] = "";

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0 || strrchr(self, '/') == NULL)
		return -1;
	*strrchr(self, '/') = '\0';
	for (size_t i = 0; i < COUNT(places); i++) {
		(void)snprintf(burstd_path, sizeof(burstd_path), "%s/%s/burstd", self, places[i]);
		if (access(burstd_path, X_OK) == 0)
			return 0;
	}
	return -1;
}

bool lab_open(int *rc)
{
	*rc = find_burstd() != 0;
	if (*rc != 0) {
		(void)printf("Bail out! there is no burstd: run make\n");
		return false;
	}
	if (make_world() == 0)
		return true;
	(void)printf("1..0 # SKIP namespaces are refused here: %s\n", strerror(errno));
	return false;
}
