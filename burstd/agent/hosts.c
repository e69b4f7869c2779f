#include "agent/hosts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

#define HOSTS_BEGIN "# burst: begin\n"
#define HOSTS_END   "# burst: end\n"

static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/* As node-init has it: ^[0-9a-fA-F.:]+( [A-Za-z0-9][A-Za-z0-9._-]*)+$ */
static bool is_line(const char *line, size_t len)
{
	size_t n = strspn(line, "0123456789abcdefABCDEF.:");
	bool named = false;

	if (n == 0 || len > HOSTS_LINE_MAX)
		return false;
	while (n < len) {
		const char *name = line + n + 1;
		size_t k = strspn(name, letters);

		if (line[n] != ' ' || k == 0)
			return false;
		while (strchr("._-", name[k]) != NULL && name[k] != '\0')
			k += 1 + strspn(name + k + 1, letters);
		if (k == 9 && strncasecmp(name, "localhost", 9) == 0)
			return false;
		n += 1 + k;
		named = true;
	}
	return named;
}

int hosts_check(const char *text, struct err *e)
{
	while (*text != '\0') {
		const char *end = strchr(text, '\n');

		if (end == NULL || !is_line(text, (size_t)(end - text)))
			return err_set(e, ERR_INVALID, "the list of hosts has a malformed line");
		text = end + 1;
	}
	return 0;
}

/* Read the present file; the text is the caller's. */
static char *read_old(int fd, size_t *len, struct err *e)
{
	char *text = mem_zalloc(HOSTS_FILE_MAX + 1);
	ssize_t n;

	*len = 0;
	while ((n = read(fd, text + *len, HOSTS_FILE_MAX - *len)) > 0)
		*len += (size_t)n;
	if (n == 0 && *len < HOSTS_FILE_MAX && strlen(text) == *len)
		return text;
	(void)err_set(e, ERR_INVALID, "unreadable, too long or not text");
	free(text);
	return NULL;
}

/* Remove our lines; of a begin mark without an end, only the mark. */
static void strip(char *text)
{
	char *from = text;

	while ((from = strstr(from, HOSTS_BEGIN)) != NULL) {
		char *end = strstr(from, HOSTS_END);
		const char *rest =
			end != NULL ? end + strlen(HOSTS_END) : from + strlen(HOSTS_BEGIN);

		memmove(from, rest, strlen(rest) + 1);
	}
}

static int put(int fd, const char *text)
{
	size_t len = strlen(text);

	while (len > 0) {
		ssize_t n = write(fd, text, len);

		if (n < 0)
			return -1;
		text += n;
		len -= (size_t)n;
	}
	return 0;
}

static int put_all(int fd, const char *others, const char *ours)
{
	size_t n = strlen(others);

	return put(fd, others) == 0 && (n == 0 || others[n - 1] == '\n' || put(fd, "\n") == 0) &&
			       put(fd, HOSTS_BEGIN) == 0 && put(fd, ours) == 0 &&
			       put(fd, HOSTS_END) == 0
		       ? 0
		       : -1;
}

/* Write a file beside it, with its mode and owner, and rename it into its place. */
static int replace(const char *path, const struct stat *st, const char *others, const char *ours)
{
	char beside[4200];
	int fd, rc = -1;

	if ((size_t)snprintf(beside, sizeof(beside), "%s.burst-new", path) >= sizeof(beside)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	(void)unlink(beside);
	fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	if (put_all(fd, others, ours) == 0 && fchown(fd, st->st_uid, st->st_gid) == 0 &&
	    fchmod(fd, st->st_mode & 0777) == 0)
		rc = rename(beside, path);
	if (rc != 0) {
		int saved = errno;

		(void)unlink(beside);
		errno = saved;
	}
	(void)close(fd);
	return rc;
}

/* Overwrite the file, and truncate it only then: if there is no room for more, the old text fits
 * again. */
static int in_place(const char *path, const char *others, const char *ours)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), rc, saved;
	off_t end;

	if (fd < 0)
		return -1;
	rc = put_all(fd, others, ours);
	saved = errno;
	if (rc != 0 && (lseek(fd, 0, SEEK_SET) != 0 || put(fd, others) != 0))
		saved = errno;
	end = lseek(fd, 0, SEEK_CUR);
	if (end < 0 || ftruncate(fd, end) != 0)
		rc = -1;
	else
		errno = saved;
	(void)close(fd);
	return rc;
}

int hosts_write(const char *path, const char *text, struct err *e)
{
	char *real = realpath(path, NULL), *old = NULL;
	int fd = real != NULL ? open(real, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1, rc = -1;
	struct stat st;
	size_t len;

	if (fd < 0 || fstat(fd, &st) != 0) {
		(void)err_set(e, ERR_IO, "%s", strerror(errno));
	} else if (!S_ISREG(st.st_mode)) {
		(void)err_set(e, ERR_INVALID, "not a regular file");
	} else if ((old = read_old(fd, &len, e)) != NULL) {
		strip(old);
		errno = EFBIG;
		if (strlen(old) < HOSTS_MAX)
			rc = replace(real, &st, old, text);
		/* The file is a mount of its own, or its directory is read-only, or not ours. */
		if (rc != 0 && (errno == EBUSY || errno == EXDEV || errno == EROFS ||
				errno == EACCES || errno == EPERM))
			rc = in_place(real, old, text);
		if (rc != 0)
			(void)err_set(e, ERR_IO, "%s", strerror(errno));
	}
	if (fd >= 0)
		(void)close(fd);
	free(old);
	free(real);
	return rc == 0 ? 0 : err_wrap(e, "%s", path);
}
