#include "providers/simcloud/fetch.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

enum { FETCH_MAX = 1 << 30, CHUNK = 1 << 16, TIMEOUT_S = 60, HOST_SIZE = 64 };

static int read_all(int fd, struct str *s, const char *what, struct err *e)
{
	char *buf = mem_zalloc(CHUNK);
	ssize_t n;

	while ((n = read(fd, buf, CHUNK)) > 0 || (n < 0 && errno == EINTR))
		if (n > 0)
			str_add(s, buf, (size_t)n);
	free(buf);
	if (n < 0)
		return err_set(e, ERR_IO, "%s: %s", what, strerror(errno));
	return s->full ? err_set(e, ERR_LIMIT, "%s: longer than 1 GiB", what) : 0;
}

/* "http://ADDR:PORT/path": host and port copied out, *path points into url. */
static int split(const char *url, char host[HOST_SIZE], char port[8], const char **path)
{
	const char *p = url + strlen("http://"), *end = p + strcspn(p, "/");
	const char *colon = memrchr(p, ':', (size_t)(end - p));
	const char *stop;

	if (colon == NULL || end - colon > 6 || end - colon < 2)
		return -1;
	*path = *end == '/' ? end : "/";
	stop = colon;
	if (*p == '[' && stop[-1] == ']') {
		p++;
		stop--;
	}
	if (stop - p >= HOST_SIZE)
		return -1;
	(void)snprintf(host, HOST_SIZE, "%.*s", (int)(stop - p), p);
	(void)snprintf(port, 8, "%.*s", (int)(end - colon - 1), colon + 1);
	return 0;
}

static int dial(const char *host, const char *port, struct err *e)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST}, *ai;
	struct timeval limit = {.tv_sec = TIMEOUT_S};
	int fd, rc;

	if (getaddrinfo(host, port, &hints, &ai) != 0)
		return err_set(e, ERR_INVALID, "want a numeric address, not %s", host);
	fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0) {
		(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
		(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	}
	rc = fd >= 0 ? connect(fd, ai->ai_addr, ai->ai_addrlen) : -1;
	freeaddrinfo(ai);
	if (rc == 0)
		return fd;
	(void)err_set(e, ERR_NET, "%s port %s: %s", host, port, strerror(errno));
	if (fd >= 0)
		(void)close(fd);
	return -1;
}

static int ask(int fd, const char *host, const char *path, const char *token, struct err *e)
{
	struct str s;
	int rc = 0;

	str_init(&s, CHUNK);
	str_addf(&s, "GET %s HTTP/1.0\r\nHost: %s\r\n", path, host);
	if (token != NULL)
		str_addf(&s, "Authorization: Bearer %s\r\n", token);
	str_adds(&s, "\r\n");
	if (write(fd, s.p, s.len) != (ssize_t)s.len)
		rc = err_set(e, ERR_NET, "%s", strerror(errno));
	explicit_bzero(s.p, s.len);
	str_fini(&s);
	return rc;
}

static int get(struct str *s, const char *url, const char *token, struct err *e)
{
	char host[HOST_SIZE], port[8];
	const char *path, *body;
	int fd, rc;

	if (split(url, host, port, &path) != 0)
		return err_set(e, ERR_INVALID, "%s: want http://ADDR:PORT/path", url);
	fd = dial(host, port, e);
	if (fd < 0)
		return -1;
	rc = ask(fd, host, path, token, e) == 0 ? read_all(fd, s, url, e) : -1;
	(void)close(fd);
	if (rc != 0)
		return -1;
	body = strstr(s->p, "\r\n\r\n");
	if (body == NULL || strncmp(s->p, "HTTP/1.", 7) != 0 || strncmp(s->p + 8, " 200", 4) != 0)
		return err_set(e, ERR_NET, "%s: answered %.40s", url,
			       s->len > 9 ? s->p + 9 : "nothing");
	s->len -= (size_t)(body + 4 - s->p);
	memmove(s->p, body + 4, s->len + 1);
	return 0;
}

int fetch(char **out, size_t *len, const char *what, const char *token, struct err *e)
{
	struct str s;
	int fd, rc;

	*out = NULL;
	str_init(&s, FETCH_MAX);
	if (strncmp(what, "http://", 7) == 0) {
		rc = get(&s, what, token, e);
	} else {
		fd = strcmp(what, "-") == 0 ? dup(0) : open(what, O_RDONLY | O_CLOEXEC);
		rc = fd >= 0 ? read_all(fd, &s, what, e)
			     : err_set(e, ERR_IO, "%s: %s", what, strerror(errno));
		if (fd >= 0)
			(void)close(fd);
	}
	*len = s.len;
	if (rc == 0)
		*out = str_take(&s);
	str_fini(&s);
	return rc;
}
