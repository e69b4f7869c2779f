/* peer.c - blocking TLS clients. */
#include "flood.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

void die(const char *what)
{
	(void)fprintf(stderr, "flood: %s: %s\n", what, strerror(errno));
	exit(1);
}

int64_t now_ms(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

void wait_until(int64_t at_ms)
{
	int64_t left = at_ms - now_ms();

	if (left > 0)
		(void)usleep((useconds_t)left * 1000);
}

void read_pem(char out[PEM_MAX], const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, out, PEM_MAX - 1);

	if (n < 0)
		die(path);
	out[n] = '\0';
	(void)close(fd);
}

static int dial(uint32_t address, uint16_t port)
{
	struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(address)};
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_port = htons(port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct timeval wait = {.tv_sec = address >= NET_NODES ? NODE_WAITS_S : ATTACKER_WAITS_S};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
	union {
		struct sockaddr_in *in;
		struct sockaddr *any;
	} u = {.in = &from}, v = {.in = &to};

	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (bind(fd, u.any, sizeof(from)) == 0 && connect(fd, v.any, sizeof(to)) == 0)
		return fd;
	(void)close(fd);
	return -1;
}

static void hello(struct peer *p, gnutls_certificate_credentials_t cred)
{
	(void)gnutls_init(&p->tls, GNUTLS_CLIENT | GNUTLS_NO_SIGNAL);
	(void)gnutls_set_default_priority(p->tls);
	(void)gnutls_credentials_set(p->tls, GNUTLS_CRD_CERTIFICATE, cred);
	gnutls_transport_set_int(p->tls, p->fd);
}

static int shake_hands(struct peer *p)
{
	int rc;

	do
		rc = gnutls_handshake(p->tls);
	while (rc < 0 && gnutls_error_is_fatal(rc) == 0 && rc != GNUTLS_E_AGAIN);
	return rc;
}

int peer_open(struct peer *p, uint32_t from, uint16_t port, gnutls_certificate_credentials_t cred)
{
	p->fd = dial(from, port);
	if (p->fd < 0)
		return -1;
	hello(p, cred);
	if (shake_hands(p) == 0)
		return 0;
	peer_close(p);
	return -1;
}

int peer_begin(struct peer *p, uint32_t from, uint16_t port, gnutls_certificate_credentials_t cred)
{
	p->fd = dial(from, port);
	if (p->fd < 0)
		return -1;
	(void)fcntl(p->fd, F_SETFL, O_NONBLOCK);
	p->tls = NULL;
	if (cred == NULL)
		return 0;
	hello(p, cred);
	(void)shake_hands(p);
	return 0;
}

int peer_go_on(struct peer *p)
{
	return shake_hands(p) == 0 ? 0 : -1;
}

void peer_close(struct peer *p)
{
	gnutls_deinit(p->tls);
	(void)close(p->fd);
}

int peer_send(struct peer *p, const char *text, size_t len)
{
	return gnutls_record_send(p->tls, text, len) == (ssize_t)len ? 0 : -1;
}

unsigned peer_answers(struct peer *p, unsigned n, const char *begin)
{
	static _Thread_local char buf[65536];
	unsigned got = 0;

	while (got < n) {
		ssize_t len = gnutls_record_recv(p->tls, buf, sizeof(buf) - 1);

		if (len < 0 && len != GNUTLS_E_AGAIN && gnutls_error_is_fatal((int)len) == 0)
			continue;
		if (len <= 0)
			return got;
		buf[len] = '\0';
		for (const char *q = buf; (q = strstr(q, begin)) != NULL; q++)
			got++;
	}
	return got;
}

static bool whole(const char *text, size_t n)
{
	const char *end = strstr(text, "\r\n\r\n"), *length = strcasestr(text, "Content-Length:");

	return end != NULL && (length == NULL || length > end ||
			       n >= (size_t)(end + 4 - text) + strtoul(length + 15, NULL, 10));
}

int peer_status(struct peer *p)
{
	char buf[4096] = "";
	size_t n = 0;

	while (n + 1 < sizeof(buf) && !whole(buf, n)) {
		ssize_t len = gnutls_record_recv(p->tls, buf + n, sizeof(buf) - 1 - n);

		if (len < 0 && len != GNUTLS_E_AGAIN && gnutls_error_is_fatal((int)len) == 0)
			continue;
		if (len <= 0)
			return -1;
		n += (size_t)len;
		buf[n] = '\0';
	}
	return strncmp(buf, "HTTP/1.1 ", 9) == 0 ? (int)strtol(buf + 9, NULL, 10) : -1;
}
