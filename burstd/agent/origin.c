#include "agent/origin.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/poller.h"

static int bad(struct err *e, const char *what)
{
	return err_set(e, ERR_INVALID, "want https://HOST[:PORT]: %s", what);
}

static int take_port(struct origin *p, const char *text, const char *initial, struct err *e)
{
	size_t n = strspn(text, "0123456789");
	unsigned long port;

	if (text[0] == '\0')
		text = initial;
	else if (n == 0 || n > 5 || text[n] != '\0')
		return bad(e, "invalid port");
	port = strtoul(text, NULL, 10);
	if (port == 0 || port > 65535)
		return bad(e, "invalid port");
	(void)snprintf(p->port, sizeof(p->port), "%lu", port);
	return 0;
}

/* Has it only bytes that a name or an address may have? */
static bool is_host(const char *p)
{
	static const char ok[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:";

	return p[0] != '\0' && p[0] != '-' && p[strspn(p, ok)] == '\0';
}

static int look_up(const char *host, const char *port, bool numeric, struct addrinfo **out)
{
	const struct addrinfo hints = {.ai_family = AF_UNSPEC,
				       .ai_socktype = SOCK_STREAM,
				       .ai_flags = AI_NUMERICSERV | (numeric ? AI_NUMERICHOST : 0)};

	return getaddrinfo(host, port, &hints, out);
}

static unsigned take_addresses(struct origin_addr *to, const struct addrinfo *from)
{
	unsigned n = 0;

	for (; from != NULL && n < ORIGIN_ADDR_MAX; from = from->ai_next) {
		memset(&to[n], 0, sizeof(to[n]));
		memcpy(&to[n].sa, from->ai_addr, from->ai_addrlen);
		to[n++].len = from->ai_addrlen;
	}
	return n;
}

static int split(struct origin *p, const char *rest, struct err *e)
{
	const char *end, *port = "";
	size_t n;

	if (rest[0] == '[') {
		end = strchr(++rest, ']');
		if (end == NULL)
			return bad(e, "missing ]");
		n = (size_t)(end - rest);
		end++;
	} else {
		n = strcspn(rest, ":/");
		end = rest + n;
	}
	if (n >= sizeof(p->host))
		return bad(e, "the host is too long");
	memcpy(p->host, rest, n);
	p->host[n] = '\0';
	if (!is_host(p->host))
		return bad(e, "invalid host");
	if (*end == ':')
		port = end + 1;
	else if (*end != '\0')
		return bad(e, "nothing may follow the host and port");
	if (*end == ':' && port[0] == '\0')
		return bad(e, "invalid port");
	return take_port(p, port, p->tls ? "443" : "80", e);
}

int origin_parse(struct origin *p, const char *url, struct err *e)
{
	struct addrinfo *found = NULL;
	const char *rest = NULL;

	memset(p, 0, sizeof(*p));
	p->tls = strncmp(url, "https://", 8) == 0;
	if (p->tls || strncmp(url, "http://", 7) == 0)
		rest = url + (p->tls ? 8 : 7);
	if (rest == NULL || split(p, rest, e) != 0)
		return rest == NULL ? bad(e, "unsupported scheme") : -1;
	(void)snprintf(p->name, sizeof(p->name), strchr(p->host, ':') != NULL ? "[%s]:%s" : "%s:%s",
		       p->host, p->port);
	if (look_up(p->host, p->port, true, &found) == 0) {
		p->numeric = true;
		p->n = take_addresses(p->addr, found);
		freeaddrinfo(found);
	} else if (strchr(p->host, ':') != NULL) {
		return bad(e, "invalid address");
	}
	return 0;
}

bool origin_stale(const struct origin *p, int64_t now)
{
	return !p->numeric && (p->n == 0 || now >= p->good_until);
}

static void answer(const struct origin *p, int fd)
{
	struct origin_addr found[ORIGIN_ADDR_MAX];
	struct addrinfo *list = NULL;
	size_t n = 0;

	if (look_up(p->host, p->port, false, &list) == 0)
		n = take_addresses(found, list);
	_exit(write(fd, found, n * sizeof(found[0])) < 0);
}

int origin_lookup(const struct origin *p, pid_t *child, struct err *e)
{
	sigset_t none;
	int fd[2];

	if (pipe2(fd, O_CLOEXEC | O_NONBLOCK) != 0)
		return err_set(e, ERR_NOTSENT, "pipe: %s", strerror(errno));
	*child = fork();
	if (*child == 0) {
		(void)sigemptyset(&none);
		(void)sigprocmask(SIG_SETMASK, &none, NULL);
		answer(p, fd[1]);
	}
	(void)close(fd[1]);
	if (*child > 0)
		return fd[0];
	(void)close(fd[0]);
	return err_set(e, ERR_NOTSENT, "fork: %s", strerror(errno));
}

int origin_found(struct origin *p, pid_t child, const struct origin_addr *found, size_t n,
		 int64_t now)
{
	size_t count = n / sizeof(found[0]);

	(void)kill(child, SIGKILL); /* nothing more is read from it */
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	if (count > 0) {
		memcpy(p->addr, found, count * sizeof(found[0]));
		p->n = (unsigned)count;
		p->at = 0;
	}
	/* If nothing was found, known addresses stay, but are looked up again soon. */
	p->good_until = now + (count > 0 ? ORIGIN_GOOD_MS : ORIGIN_GOOD_MS / 4);
	return p->n > 0 ? 0 : -1;
}
