#include "base/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

enum { SECRET_MAX = 16384 }; /* an RSA key in PEM is about 3 KiB */

struct secret {
	char text[SECRET_MAX + 1];
};

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
		(void)err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
		goto out;
	}
	if (!S_ISREG(st.st_mode) || (st.st_uid != 0 && st.st_uid != geteuid()) ||
	    (st.st_mode & 077) != 0) {
		(void)err_set(e, ERR_AUTH, "%s: want a plain file of our own, mode 0600", path);
		goto out;
	}
	s = mem_zalloc(sizeof(*s));
	n = read(fd, s->text, SECRET_MAX);
	while (n > 0 && strchr(" \t\r\n", s->text[n - 1]) != NULL)
		s->text[--n] = '\0';
	if (n <= 0 || n == SECRET_MAX || strlen(s->text) != (size_t)n) {
		(void)err_set(e, ERR_INVALID, "%s: empty, too long, unreadable or not text", path);
		goto out;
	}
	*out = s;
	s = NULL; /* now the caller's */
out:
	secret_free(s);
	if (fd >= 0)
		(void)close(fd);
	return *out != NULL ? 0 : -1;
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
	explicit_bzero(s, sizeof(*s));
	free(s);
}
