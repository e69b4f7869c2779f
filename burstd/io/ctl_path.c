#include "io/ctl_path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"

static int make_address(struct sockaddr_un *sa, const char *path, struct err *e)
{
	*sa = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (strlen(path) >= sizeof(sa->sun_path))
		return err_set(e, ERR_INVALID,
			       "%s: longer than the %zu bytes a socket's path may have", path,
			       sizeof(sa->sun_path) - 1);
	memcpy(sa->sun_path, path, strlen(path));
	return 0;
}

/* Remove the socket of a dead burstd; refuse to touch anything else (F59). */
static int clear_path(const struct sockaddr_un *sa, struct err *e)
{
	const char *path = sa->sun_path;
	struct stat st;
	int fd, rc, saved;

	if (lstat(path, &st) != 0)
		return errno == ENOENT ? 0 : err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
	if (!S_ISSOCK(st.st_mode))
		return err_set(e, ERR_IO, "%s: exists and is not a socket", path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return err_set(e, ERR_IO, "socket: %s", strerror(errno));
	rc = connect(fd, (const struct sockaddr *)sa, sizeof(*sa));
	saved = errno;
	(void)close(fd);
	if (rc == 0 || saved == EAGAIN) /* EAGAIN: its backlog is full */
		return err_set(e, ERR_IO, "%s: another process listens there", path);
	if (saved != ECONNREFUSED)
		return err_set(e, ERR_IO, "%s: %s", path, strerror(saved));
	if (unlink(path) != 0)
		return err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
	return 0;
}

static int bind_at(const struct sockaddr_un *sa, int backlog, struct stat *st, int *out,
		   struct err *e)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return err_set(e, ERR_IO, "socket: %s", strerror(errno));
	if (bind(fd, (const struct sockaddr *)sa, sizeof(*sa)) != 0) {
		(void)err_set(e, ERR_IO, "%s: %s", sa->sun_path, strerror(errno));
		goto fail;
	}
	if (chmod(sa->sun_path, 0666) != 0 || lstat(sa->sun_path, st) != 0 ||
	    listen(fd, backlog) != 0) {
		(void)err_set(e, ERR_IO, "%s: %s", sa->sun_path, strerror(errno));
		(void)unlink(sa->sun_path);
		goto fail;
	}
	*out = fd;
	return 0;
fail:
	(void)close(fd);
	return -1;
}

int ctl_path_listen(struct ctl_path *p, const char *path, int backlog, int *fd, struct err *e)
{
	struct sockaddr_un sa;
	struct stat st = {0};

	*p = (struct ctl_path){.text = NULL};
	*fd = -1;
	if (make_address(&sa, path, e) != 0 || clear_path(&sa, e) != 0 ||
	    bind_at(&sa, backlog, &st, fd, e) != 0)
		return -1;
	*p = (struct ctl_path){.text = mem_strdup(path), .dev = st.st_dev, .ino = st.st_ino};
	return 0;
}

void ctl_path_remove(const struct ctl_path *p)
{
	struct stat st;

	if (p->text == NULL)
		return;
	if (lstat(p->text, &st) == 0 && st.st_dev == p->dev && st.st_ino == p->ino)
		(void)unlink(p->text);
}

void ctl_path_fini(struct ctl_path *p)
{
	free(p->text);
	p->text = NULL;
}
