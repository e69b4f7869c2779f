#include "base/secret_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/own_file.h"

static int refuse(const char *path, const char *what, struct err *e)
{
	return err_set(e, ERR_AUTH, "%.150s: must be a %s owned by root or this user, mode %s",
		       path, what, what[0] == 'd' ? "0700" : "0600");
}

static bool is_ours(const struct stat *st)
{
	return (st->st_uid == 0 || st->st_uid == geteuid()) && (st->st_mode & 077) == 0;
}

/* Open the directory of path; *name: what is behind the last slash. */
static int open_dir(const char *path, const char **name, struct err *e)
{
	char *dir = own_file_split(path, name);
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0) {
		(void)err_set(e, ERR_IO, "%.150s: %s", dir, strerror(errno));
	} else if (!is_ours(&st)) {
		(void)refuse(dir, "directory", e);
	} else {
		free(dir);
		return fd;
	}
	if (fd >= 0)
		(void)close(fd);
	free(dir);
	return -1;
}

static int open_file(int dir, const char *name, const char *path, struct stat *st, struct err *e)
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0 && errno == ENOENT)
		return -2;
	if (fd < 0 || fstat(fd, st) < 0) {
		(void)err_set(e, ERR_IO, "%.150s: %s", path, strerror(errno));
	} else if (!S_ISREG(st->st_mode) || !is_ours(st)) {
		(void)refuse(path, "regular file", e);
	} else {
		return fd;
	}
	if (fd >= 0)
		(void)close(fd);
	return -1;
}

/* Refuse a word that is too long: two words that are cut may look the same. */
static int take_word(const char *text, char out[SECRET_FILE_VERSION_SIZE])
{
	size_t len = strcspn(text, " \t\r\n");

	if (len == 0 || len >= SECRET_FILE_VERSION_SIZE)
		return -1;
	for (size_t i = 0; i < len; i++)
		if (text[i] < ' ' || text[i] > '~')
			return -1;
	(void)snprintf(out, SECRET_FILE_VERSION_SIZE, "%.*s", (int)len, text);
	return 0;
}

static int read_version(int dir, const char *name, const struct stat *of,
			char out[SECRET_FILE_VERSION_SIZE], struct err *e)
{
	char beside[300], text[SECRET_FILE_VERSION_SIZE + 1] = ""; /* one more shows a longer
								      word */
	struct stat st;
	ssize_t n;
	int fd;

	(void)snprintf(beside, sizeof(beside), "%.250s.version", name);
	fd = open_file(dir, beside, beside, &st, e);
	if (fd == -2) {
		(void)snprintf(out, SECRET_FILE_VERSION_SIZE, "%" PRIx64 ".%09ld",
			       (uint64_t)of->st_mtim.tv_sec, of->st_mtim.tv_nsec);
		return 0;
	}
	if (fd < 0)
		return -1;
	n = read(fd, text, sizeof(text) - 1);
	(void)close(fd);
	if (n > 0)
		text[n] = '\0';
	return take_word(text, out) == 0
		       ? 0
		       : err_set(e, ERR_INVALID, "%.150s: want one word of at most %d bytes",
				 beside, SECRET_FILE_VERSION_SIZE - 1);
}

static struct secret *read_all(int fd)
{
	struct secret *s = NULL;
	char *buf = mem_zalloc(SECRET_MAX + 1);
	size_t len = 0;
	ssize_t n;

	while ((n = read(fd, buf + len, SECRET_MAX + 1 - len)) > 0)
		len += (size_t)n;
	if (n == 0 && len > 0)
		s = secret_new(buf, len); /* NULL: too long */
	explicit_bzero(buf, SECRET_MAX + 1);
	free(buf);
	return s;
}

int secret_file_read(const char *path, struct secret **out, char version[SECRET_FILE_VERSION_SIZE],
		     struct err *e)
{
	const char *name;
	struct stat st;
	int dir = open_dir(path, &name, e), fd, rc = -1;

	*out = NULL;
	version[0] = '\0';
	if (dir < 0)
		return -1;
	fd = open_file(dir, name, path, &st, e);
	if (fd == -2) {
		rc = 1;
	} else if (fd >= 0) {
		*out = read_all(fd);
		rc = *out != NULL ? read_version(dir, name, &st, version, e)
				  : err_set(e, ERR_INVALID, "%.150s: empty, too long or unreadable",
					    path);
		(void)close(fd);
	}
	(void)close(dir);
	if (rc < 0) {
		secret_free(*out);
		*out = NULL;
	}
	return rc;
}

int secret_file_write(const char *path, const void *bytes, size_t len, const char *version,
		      struct err *e)
{
	const char *name;
	int dir = open_dir(path, &name, e), rc;
	char beside[300];

	if (dir < 0)
		return -1;
	(void)snprintf(beside, sizeof(beside), "%.250s.version", name);
	/* Write the bytes first: an old version with new bytes is only asked for once more, but a
	 * new version with old bytes would be believed. */
	rc = own_file_write(dir, name, bytes, len, OWN_FILE_REPLACE);
	if (rc == 0 && version != NULL)
		rc = own_file_write(dir, beside, version, strlen(version), OWN_FILE_REPLACE);
	if (rc != 0)
		(void)err_set(e, ERR_IO, "%.150s: %s", path, strerror(errno));
	(void)close(dir);
	return rc;
}
