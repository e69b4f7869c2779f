#include "io/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/frame.h"
#include "base/mem.h"

enum {
	SPOOL_CHUNK = 65536,
	SPOOL_BAD_TRIES = 100, /* NAME.bad, NAME.1.bad, ... for names that come again */
};

struct name {
	char text[NAME_MAX + 1];
};

struct pass { /* over one directory */
	int fd;
	const char *dir;
	spool_fn fn;
	void *ctx;
	size_t bytes; /* read so far */
	int taken;
	const char *unread; /* the last file that the disk could not read */
	size_t n;           /* names, the oldest, in order */
	struct name names[SPOOL_PASS_MAX];
	char chunk[SPOOL_CHUNK];
};

/* What became of one file. */
enum fate { FATE_TAKEN, FATE_BAD, FATE_LATER, FATE_UNREADABLE, FATE_FAILED };

static bool is_trusted(const struct stat *st)
{
	return (st->st_uid == 0 || st->st_uid == geteuid()) &&
	       (st->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

static int open_dir(struct pass *p, struct err *e)
{
	struct stat st;

	p->fd = open(p->dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (p->fd < 0 && errno == ENOENT)
		return 0;
	if (p->fd < 0 || fstat(p->fd, &st) != 0)
		return err_set(e, ERR_IO, "%s: %s", p->dir, strerror(errno));
	if (!is_trusted(&st))
		return err_set(e, ERR_AUTH, "%s: others than root and we can write to it", p->dir);
	return 0;
}

/* Keep the SPOOL_PASS_MAX first names, in order: a directory of any size takes the same memory. */
static void keep_name(struct pass *p, const char *text)
{
	size_t at = p->n, moved;

	while (at > 0 && strcmp(p->names[at - 1].text, text) > 0)
		at--;
	if (at == SPOOL_PASS_MAX)
		return;
	if (p->n < SPOOL_PASS_MAX)
		p->n++;
	moved = p->n - 1 - at;
	memmove(&p->names[at + 1], &p->names[at], moved * sizeof(p->names[0]));
	(void)snprintf(p->names[at].text, sizeof(p->names[at].text), "%s", text);
}

static bool is_stale(const struct pass *p, const char *name)
{
	struct stat st;

	return fstatat(p->fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       clock_wall_ms() - (int64_t)st.st_mtim.tv_sec * 1000 > SPOOL_STALE_MS;
}

static bool is_offered(const struct pass *p, const char *name)
{
	size_t len = strlen(name);

	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return false;
	if (len >= 4 && strcmp(name + len - 4, ".bad") == 0)
		return false;
	return name[0] != '.' || is_stale(p, name);
}

static int list_names(struct pass *p, struct err *e)
{
	int fd = openat(p->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *ent;

	if (d == NULL) {
		(void)err_set(e, ERR_IO, "%s: %s", p->dir, strerror(errno));
		if (fd >= 0)
			(void)close(fd);
		return -1;
	}
	while ((ent = readdir(d)) != NULL)
		if (is_offered(p, ent->d_name))
			keep_name(p, ent->d_name);
	(void)closedir(d);
	return 0;
}

static int on_frame(void *ctx, enum frame_type type, const char *data, size_t len, struct err *e)
{
	return ctl_collect_frame(ctx, (int)type, data, len, e);
}

/* FATE_TAKEN: c holds a whole call. */
static enum fate read_call(struct pass *p, int fd, struct ctl_collect *c, struct err *e)
{
	struct frame_reader r;
	size_t total = 0;
	ssize_t n;
	int rc = 0, errnum;

	frame_reader_init(&r);
	while (rc == 0 && total <= SPOOL_FILE_MAX) {
		n = read(fd, p->chunk, sizeof(p->chunk));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		total += (size_t)n;
		rc = frame_reader_feed(&r, p->chunk, (size_t)n, on_frame, c, NULL);
	}
	errnum = errno;
	p->bytes += total;
	rc = rc == 0 && frame_reader_at_rest(&r) && ctl_collect_done(c) ? 0 : -1;
	frame_reader_fini(&r);
	if (n < 0) {
		(void)err_set(e, ERR_IO, "read: %s", strerror(errnum));
		return errnum == EIO ? FATE_UNREADABLE : FATE_FAILED;
	}
	return rc == 0 ? FATE_TAKEN : FATE_BAD;
}

static enum fate offer_call(struct pass *p, int fd, struct err *e)
{
	struct ctl_collect *c = ctl_collect_new(FRAME_FILE_MAX);
	enum fate fate = read_call(p, fd, c, e);
	struct ctl_call call;
	struct err own = {0};

	if (fate == FATE_TAKEN) {
		ctl_collect_get(c, &call);
		if (p->fn(p->ctx, &call, &own) != 0) {
			fate = own.code == ERR_INVALID ? FATE_BAD : FATE_FAILED;
			if (e != NULL)
				*e = own;
		}
	}
	ctl_collect_free(c);
	return fate;
}

/* A hard link could be a file of somebody else, a FIFO would hold us. */
static bool is_plain(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1 && is_trusted(&st);
}

static enum fate open_failed(int errnum, struct err *e)
{
	if (errnum == ENOENT)
		return FATE_LATER; /* somebody was faster */
	if (errnum != EMFILE && errnum != ENFILE && errnum != ENOMEM && errnum != EIO &&
	    errnum != EINTR)
		return FATE_BAD; /* a link, a socket, not ours to read: it would be so for ever */
	(void)err_set(e, ERR_IO, "open: %s", strerror(errnum));
	return errnum == EIO ? FATE_UNREADABLE : FATE_FAILED;
}

static enum fate offer_file(struct pass *p, const char *name, struct err *e)
{
	int fd = openat(p->fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	enum fate fate;

	if (fd < 0)
		return open_failed(errno, e);
	fate = is_plain(fd) ? offer_call(p, fd, e) : FATE_BAD;
	(void)close(fd);
	return fate;
}

/* RENAME_NOREPLACE, for an earlier one of that name is evidence, too. */
static int move_aside(struct pass *p, const char *name, struct err *e)
{
	char to[NAME_MAX + 1];
	int rc = -1;

	errno = EEXIST;
	for (int i = 0; i < SPOOL_BAD_TRIES && rc != 0 && errno == EEXIST; i++) {
		if (i == 0)
			(void)snprintf(to, sizeof(to), "%.230s.bad", name);
		else
			(void)snprintf(to, sizeof(to), "%.230s.%d.bad", name, i);
		rc = renameat2(p->fd, name, p->fd, to, RENAME_NOREPLACE);
	}
	return rc == 0 ? 0 : err_set(e, ERR_IO, "move aside: %s", strerror(errno));
}

static int take_one(struct pass *p, const char *name, struct err *e)
{
	int rc = 0;

	switch (offer_file(p, name, e)) {
	case FATE_LATER:
		return 0;
	case FATE_UNREADABLE: /* the others may be whole */
		p->unread = name;
		return 0;
	case FATE_FAILED:
		return -1;
	case FATE_BAD:
		rc = move_aside(p, name, e);
		break;
	case FATE_TAKEN:
		/* Left behind it would be offered again every few seconds: better say so. */
		if (unlinkat(p->fd, name, 0) != 0)
			rc = err_set(e, ERR_IO, "delete: %s", strerror(errno));
		break;
	}
	if (rc == 0)
		p->taken++;
	return rc;
}

static int run_pass(struct pass *p, struct err *e)
{
	int rc;

	if (list_names(p, e) != 0)
		return -1;
	rc = 0;
	for (size_t i = 0; rc == 0 && i < p->n && p->bytes < SPOOL_PASS_BYTES; i++) {
		rc = take_one(p, p->names[i].text, e);
		if (rc != 0)
			(void)err_wrap(e, "%s/%s", p->dir, p->names[i].text);
	}
	if (p->taken > 0 && fsync(p->fd) != 0 && rc == 0)
		rc = err_set(e, ERR_IO, "%s: fsync: %s", p->dir, strerror(errno));
	if (rc == 0 && p->unread != NULL)
		rc = err_set(e, ERR_IO, "%s/%s: %s", p->dir, p->unread, strerror(EIO));
	return rc == 0 ? p->taken : -1;
}

int spool_drain(const char *dir, spool_fn fn, void *ctx, struct err *e)
{
	struct pass *p = mem_zalloc(sizeof(*p)); /* 80 KiB: too much for a stack */
	int rc;

	p->dir = dir;
	p->fn = fn;
	p->ctx = ctx;
	rc = open_dir(p, e);
	if (rc == 0 && p->fd >= 0)
		rc = run_pass(p, e);
	if (p->fd >= 0)
		(void)close(p->fd);
	free(p);
	return rc;
}
