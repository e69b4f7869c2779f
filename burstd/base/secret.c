#include "base/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

enum { LOCKED_MAX = 1 << 20 }; /* bytes: keys of 50 providers, and tokens of nodes that wait */

struct secret {
	size_t size, len; /* size: of the mapping */
	char text[];
};

/* Map whole pages, so that locking them and leaving them out of dumps affects no other data. */
static struct secret *map_secret(size_t len)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = sizeof(struct secret) + len + 1;
	struct secret *s;

	size = (size + page - 1) / page * page;
	s = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	(void)mem_check(s == MAP_FAILED ? NULL : s);
	/* Best effort: an admin sets RLIMIT_MEMLOCK, and all other protection works without it. */
	(void)mlock(s, size);
	(void)madvise(s, size, MADV_DONTDUMP);
	s->size = size;
	s->len = len;
	return s;
}

int secret_try_lock(struct err *e)
{
	void *p =
		mmap(NULL, LOCKED_MAX, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int rc;

	(void)mem_check(p == MAP_FAILED ? NULL : p);
	rc = mlock(p, LOCKED_MAX) == 0 ? 0 : err_set(e, ERR_IO, "mlock: %s", strerror(errno));
	(void)munmap(p, LOCKED_MAX);
	return rc;
}

/* Is this a credential that systemd hands to the service (LoadCredential=), in a directory that
 * root makes for it alone?  Since systemd 254 root owns the file, and an ACL gives the service's
 * user access, which stat() shows as a right of the group. */
static bool is_credential(const char *path, const struct stat *st)
{
	const char *dir = getenv("CREDENTIALS_DIRECTORY");
	size_t n = dir != NULL ? strlen(dir) : 0;
	struct stat of;

	if (n == 0 || strncmp(path, dir, n) != 0 || path[n] != '/' ||
	    strchr(path + n + 1, '/') != NULL)
		return false;
	return st->st_uid == 0 && (st->st_mode & 037) == 0 && lstat(dir, &of) == 0 &&
	       S_ISDIR(of.st_mode) && (of.st_uid == 0 || of.st_uid == geteuid()) &&
	       (of.st_mode & 022) == 0;
}

static bool is_private(const struct stat *st)
{
	return (st->st_uid == 0 || st->st_uid == geteuid()) && (st->st_mode & 077) == 0;
}

int secret_load(struct secret **out, const char *path, struct err *e)
{
	struct secret *s = NULL;
	struct stat st;
	ssize_t n;
	int fd;

	*out = NULL;
	/* O_NONBLOCK: opening a FIFO somebody left here must not hang the daemon. */
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) < 0) {
		(void)err_set(e, err_of_errno(errno), "%s: %s", path, strerror(errno));
		goto out;
	}
	if (!S_ISREG(st.st_mode) || (!is_private(&st) && !is_credential(path, &st))) {
		(void)err_set(e, ERR_AUTH,
			      "%s: must be a regular file owned by root or this user, mode 0600",
			      path);
		goto out;
	}
	s = map_secret(SECRET_MAX);
	n = read(fd, s->text, SECRET_MAX);
	while (n > 0 && strchr(" \t\r\n", s->text[n - 1]) != NULL)
		s->text[--n] = '\0';
	if (n <= 0 || n == SECRET_MAX || strlen(s->text) != (size_t)n) {
		(void)err_set(e, ERR_INVALID, "%s: empty, too long, unreadable or not text", path);
		goto out;
	}
	s->len = (size_t)n;
	*out = s;
	s = NULL; /* now the caller's */
out:
	secret_free(s);
	if (fd >= 0)
		(void)close(fd);
	return *out != NULL ? 0 : -1;
}

struct secret *secret_new(const void *bytes, size_t len)
{
	struct secret *s;

	if (len > SECRET_MAX)
		return NULL;
	s = map_secret(len);
	if (len > 0)
		memcpy(s->text, bytes, len);
	return s;
}

struct secret *secret_dup(const struct secret *s)
{
	return s != NULL ? secret_new(s->text, s->len) : NULL;
}

size_t secret_len(const struct secret *s)
{
	return s->len;
}

const char *secret_text(const struct secret *s)
{
	return s->text;
}

void secret_wipe(char **text)
{
	if (*text != NULL)
		explicit_bzero(*text, strlen(*text));
	free(*text);
	*text = NULL;
}

void secret_free(struct secret *s)
{
	if (s == NULL)
		return;
	explicit_bzero(s->text, s->size - sizeof(*s));
	(void)munmap(s, s->size); /* unlocks it, too */
}
