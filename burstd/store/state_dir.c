#include "store/state_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/own_file.h"
#include "store/journal.h"

enum { UUID_LEN = STATE_DIR_UUID_SIZE - 1 };

static int fail(struct err *e, const char *path, const char *file)
{
	return err_set(e, err_of_errno(errno), "%.180s/%s: %s", path, file, strerror(errno));
}

/* Sync the directory's entry in its parent, even if this process did not make it: a burstd that was
 * killed in between may have. */
static int sync_parent(const char *path)
{
	char *copy = mem_strdup(path);
	int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = fd < 0 ? -1 : fsync(fd), saved = errno;

	if (fd >= 0)
		(void)close(fd);
	free(copy);
	errno = saved;
	return rc;
}

static int check_owned(int fd, const char *path, const char *file, struct err *e)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return fail(e, path, file);
	if (st.st_uid != geteuid() || (st.st_mode & 022) != 0)
		return err_set(e, ERR_AUTH,
			       "%.120s/%s: must be owned by uid %u and writable by nobody else "
			       "(owner uid %u, "
			       "mode %04o)",
			       path, file, (unsigned)geteuid(), (unsigned)st.st_uid,
			       (unsigned)st.st_mode & 07777);
	return 0;
}

static int open_dir(const char *path, struct err *e)
{
	const bool made = mkdir(path, 0700) == 0;
	int fd;

	/* Its file system may be mounted later; until then the mount point is root's. */
	if (!made && errno != EEXIST)
		return err_set(
			e, ERR_IO,
			"%.150s: does not exist, and uid %u cannot create it (%s): mount its "
			"file system, or create it for that user",
			path, (unsigned)geteuid(), strerror(errno));
	/* If we may not read the parent, whoever made the directory there must have synced it. */
	if (sync_parent(path) < 0 && (made || errno != EACCES))
		return fail(e, path, "..");
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == EACCES)
		return err_set(e, ERR_AUTH, "%.180s: uid %u may not open it", path,
			       (unsigned)geteuid());
	if (fd < 0)
		return err_set(e, err_of_errno(errno),
			       "%.180s: not a directory, or a link to one (%s)", path,
			       strerror(errno));
	if (check_owned(fd, path, ".", e) == 0) {
		if (faccessat(fd, ".", W_OK | X_OK, 0) == 0)
			return fd;
		(void)fail(e, path, ".");
	}
	(void)close(fd);
	return -1;
}

/* --- the lock ----------------------------------------------------------------------------------
 */

static int held_by_other(int fd, const char *path, struct err *e)
{
	char pid[24] = "";
	ssize_t n = pread(fd, pid, sizeof(pid) - 1, 0);

	pid[n > 0 ? n : 0] = '\0';
	pid[strspn(pid, "0123456789")] = '\0';
	return err_set(e, ERR_LIMIT, "%.150s: another burstd is using it (pid %s)", path,
		       pid[0] != '\0' ? pid : "unknown");
}

static int write_pid(int fd)
{
	char pid[24];
	int n = snprintf(pid, sizeof(pid), "%" PRIdMAX "\n", (intmax_t)getpid());

	/* In this order it works on a full disk: no block is freed first. */
	return pwrite(fd, pid, (size_t)n, 0) == n ? ftruncate(fd, n) : -1;
}

/* Use flock(): it ends with the process, whatever ends that, and belongs to the descriptor, so that
 * no close elsewhere in the process releases it. */
static int lock(int dir, const char *path, struct err *e)
{
	int fd = openat(dir, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);

	if (fd < 0)
		return fail(e, path, "lock");
	if (check_owned(fd, path, "lock", e) < 0)
		goto fail;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		(void)(errno == EWOULDBLOCK ? held_by_other(fd, path, e) : fail(e, path, "lock"));
		goto fail;
	}
	if (write_pid(fd) < 0) {
		(void)fail(e, path, "lock");
		goto fail;
	}
	return fd;
fail:
	(void)close(fd);
	return -1;
}

/* --- the uuid ----------------------------------------------------------------------------------
 */

static bool is_uuid(const char *text)
{
	for (int i = 0; i < UUID_LEN; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (dash ? text[i] != '-' : text[i] == '\0' || !strchr("0123456789abcdef", text[i]))
			return false;
	}
	return text[UUID_LEN] == '\0';
}

static int make_uuid(char *out)
{
	unsigned char b[16];

	if (getrandom(b, sizeof(b), 0) != (ssize_t)sizeof(b))
		return -1;
	b[6] = (unsigned char)((b[6] & 0x0f) | 0x40); /* version 4: random */
	b[8] = (unsigned char)((b[8] & 0x3f) | 0x80); /* variant of RFC 9562 */
	for (size_t i = 0; i < sizeof(b); i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			*out++ = '-';
		(void)snprintf(out, 3, "%02x", b[i]);
		out += 2;
	}
	return 0;
}

static int write_uuid(int dir, const char *path, const char *uuid, struct err *e)
{
	char line[UUID_LEN + 2];

	(void)snprintf(line, sizeof(line), "%s\n", uuid);
	return own_file_write(dir, "uuid", line, UUID_LEN + 1, OWN_FILE_REPLACE) == 0
		       ? 0
		       : fail(e, path, "uuid");
}

static int read_uuid(int fd, const char *path, char *out, struct err *e)
{
	char text[STATE_DIR_UUID_SIZE + 1] = "";
	ssize_t n;

	if (check_owned(fd, path, "uuid", e) < 0)
		return -1;
	n = read(fd, text, sizeof(text) - 1);
	if (n < 0)
		return fail(e, path, "uuid");
	if (n == UUID_LEN + 1 && text[UUID_LEN] == '\n')
		text[UUID_LEN] = '\0';
	/* Never replace it by a new one: running instances are tagged with the old one. */
	if (!is_uuid(text))
		return err_set(
			e, ERR_INVALID,
			"%.100s/uuid: damaged; write the value of the burstd tag of your instances"
			" into it",
			path);
	memcpy(out, text, STATE_DIR_UUID_SIZE);
	return 0;
}

/* Find a file that only a burstd with a uuid leaves behind: then instances may have that uuid.
 * `static` is burst-static's, which has the machines that are on.  Files named in section secrets
 * do not count: an admin may make them before the first start. */
static const char *trace(int dir)
{
	static const char *const files[] = {
		"journal.db", "journal.db-wal", "journal.db-shm",   "last-batch",      "reserve",
		"claim-key",  "node-ca.pem",    "node-ca-next.pem", "node-ca-old.pem", "static"};
	struct stat st;

	/* If it is not known whether a file is there, assume that it is. */
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (fstatat(dir, files[i], &st, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT)
			return files[i];
	return NULL;
}

static int find_uuid(struct state_dir *d, int dir, const char *path, struct err *e)
{
	int fd = openat(dir, "uuid", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	int rc;

	d->fresh = fd < 0 && errno == ENOENT;
	if (d->fresh && trace(dir) != NULL)
		return err_set(
			e, ERR_INVALID,
			"%.150s/uuid: missing, but %s exists: restore uuid; with a new one all "
			"running instances would be foreign",
			path, trace(dir));
	if (d->fresh) {
		if (make_uuid(d->uuid) < 0)
			return fail(e, path, "uuid");
		return write_uuid(dir, path, d->uuid, e);
	}
	if (fd < 0)
		return fail(e, path, "uuid");
	rc = read_uuid(fd, path, d->uuid, e);
	(void)close(fd);
	return rc;
}

int state_dir_look(const char *path, char out[STATE_DIR_UUID_SIZE], struct err *e)
{
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), fd, rc;

	out[0] = '\0';
	if (dir < 0)
		return errno == ENOENT ? 1 : fail(e, path, ".");
	fd = openat(dir, "uuid", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0)
		rc = read_uuid(fd, path, out, e);
	else
		rc = errno == ENOENT ? 1 : fail(e, path, "uuid");
	if (fd >= 0)
		(void)close(fd);
	(void)close(dir);
	return rc;
}

/* -1: missing or unreadable. */
static int64_t read_last_batch(int dir)
{
	int fd = openat(dir, "last-batch", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char text[24];
	ssize_t n = fd >= 0 ? pread(fd, text, sizeof(text) - 1, 0) : -1;
	char *end = text;
	int64_t batch;

	if (fd >= 0)
		(void)close(fd);
	if (n <= 0)
		return -1;
	text[n] = '\0';
	batch = strtoll(text, &end, 10);
	return end != text && *end == '\n' && batch >= 0 ? batch : -1;
}

int state_dir_open(struct state_dir *d, const char *path, struct err *e)
{
	*d = (struct state_dir){.lock_fd = -1, .dir_fd = open_dir(path, e)};
	if (d->dir_fd < 0)
		return -1;
	d->lock_fd = lock(d->dir_fd, path, e);
	if (d->lock_fd < 0 || find_uuid(d, d->dir_fd, path, e) < 0) {
		state_dir_close(d);
		return -1;
	}
	d->last_batch = read_last_batch(d->dir_fd);
	return 0;
}

void state_dir_close(struct state_dir *d)
{
	if (d->lock_fd >= 0)
		(void)close(d->lock_fd);
	if (d->dir_fd >= 0)
		(void)close(d->dir_fd);
	d->lock_fd = d->dir_fd = -1;
}

/* --- the journal beside it ---------------------------------------------------------------------
 */

/* The first 60 bits of the uuid, as a number that the journal can keep.  Never 0: four of them are
 * the version, 4. */
static int64_t uuid_number(const char *uuid)
{
	char digits[16];
	size_t n = 0;

	for (const char *p = uuid; *p != '\0' && n < sizeof(digits) - 1; p++)
		if (*p != '-')
			digits[n++] = *p;
	digits[n] = '\0';
	return (int64_t)strtoull(digits, NULL, 16);
}

void state_dir_note(struct state_dir *d, int64_t batch)
{
	char text[24];
	int n = snprintf(text, sizeof(text), "%" PRId64 "\n", batch);

	if (batch <= d->last_batch ||
	    own_file_write(d->dir_fd, "last-batch", text, (size_t)n, OWN_FILE_REPLACE) < 0)
		return;
	d->last_batch = batch;
}

/* The time, but never 0. */
static int64_t make_doubt(int64_t now_ms)
{
	return now_ms != 0 ? now_ms : 1;
}

/* Check a journal that has its numbers.  Returns 0; or 2 if it may be an older copy, which lacks
 * what a later burstd did. */
static int go_on(struct state_dir *d, struct journal *j, int64_t now_ms, int64_t *gen_floor,
		 struct err *e)
{
	struct journal_tx *tx;
	int64_t last;

	if (journal_get_number(j, "gen_floor", gen_floor, e) < 0 ||
	    journal_get_number(j, JOURNAL_LAST_BATCH, &last, e) < 0)
		return -1;
	if (d->last_batch >= 0 && last >= d->last_batch)
		return 0;
	tx = journal_begin(j);
	journal_put_number(tx, JOURNAL_DOUBTFUL, make_doubt(now_ms));
	if (journal_commit(tx, e) < 0)
		return -1;
	d->last_batch = -1; /* from now on the file is about this journal */
	state_dir_note(d, last);
	return 2;
}

int state_dir_begin(struct state_dir *d, struct journal *j, int64_t now_ms, int64_t *gen_floor,
		    struct err *e)
{
	struct journal_tx *tx;
	int64_t kept;

	if (journal_get_number(j, "cluster_uuid", &kept, e) < 0)
		return -1;
	if (kept == uuid_number(d->uuid))
		return go_on(d, j, now_ms, gen_floor, e);
	if (kept != 0)
		return err_set(e, ERR_INVALID,
			       "the journal belongs to another cluster uuid: put the file uuid "
			       "beside it back, or "
			       "move the journal away");
	*gen_floor = d->fresh ? 0 : now_ms / 1000;
	tx = journal_begin(j);
	journal_put_number(tx, "gen_floor", *gen_floor);
	journal_put_number(tx, "cluster_uuid", uuid_number(d->uuid));
	journal_put_number(tx, JOURNAL_DOUBTFUL, d->fresh ? 0 : make_doubt(now_ms));
	if (journal_commit(tx, e) < 0)
		return -1;
	d->last_batch = -1;
	state_dir_note(d, 0);
	return 1;
}
