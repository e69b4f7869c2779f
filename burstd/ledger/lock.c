#include "ledger/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"

enum { PATH_MAX_BYTES = 4096, PID_SIZE = 24 };

static int held_by_other(int fd, const char *ledger, struct err *e)
{
	char pid[PID_SIZE] = "";
	const ssize_t n = pread(fd, pid, sizeof(pid) - 1, 0);

	pid[n > 0 ? n : 0] = '\0';
	pid[strspn(pid, "0123456789")] = '\0';
	return err_set(e, ERR_LIMIT, "%.150s: another \"burst-ledger run\" is using it (pid %s)",
		       ledger, pid[0] != '\0' ? pid : "unknown");
}

static int write_pid(int fd)
{
	char pid[PID_SIZE];
	const int n = snprintf(pid, sizeof(pid), "%" PRIdMAX "\n", (intmax_t)getpid());

	return pwrite(fd, pid, (size_t)n, 0) == n ? ftruncate(fd, n) : -1;
}

/* Root, who tried it by hand, must not keep the service out. */
static int give_to_owner(int fd, const char *ledger)
{
	struct stat st;

	if (geteuid() != 0 || stat(ledger, &st) < 0)
		return 0;
	return fchown(fd, st.st_uid, st.st_gid);
}

static int lock(int fd, const char *ledger, const char *path, struct err *e)
{
	const int rc = flock(fd, LOCK_EX | LOCK_NB);

	if (rc < 0 && errno == EWOULDBLOCK)
		return held_by_other(fd, ledger, e);
	if (rc < 0 || give_to_owner(fd, ledger) < 0 || write_pid(fd) < 0)
		return err_set(e, err_of_errno(errno), "%.150s: %s", path, strerror(errno));
	return 0;
}

int lock_take(const char *ledger, struct err *e)
{
	struct str path;
	int fd;

	str_init(&path, PATH_MAX_BYTES);
	str_addf(&path, "%s.lock", ledger);
	fd = open(path.p, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (fd < 0) {
		(void)err_set(e, err_of_errno(errno), "%.150s: %s", path.p, strerror(errno));
	} else if (lock(fd, ledger, path.p, e) < 0) {
		(void)close(fd);
		fd = -1;
	}
	str_fini(&path);
	return fd;
}
