/* attack.c - bad claims, a batch on each connection for as long as it is left open, and new
 * connections, so many a second. */
#include "flood.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum {
	KEPT = 16,     /* connections with claims */
	ROUND_MS = 20, /* between two batches on each */
	OPENERS = 16,  /* threads that open connections */
	ADDRESSES = 250,
};

struct attack {
	uint16_t port;
	unsigned claims, conns; /* a second */
	int64_t until;
	gnutls_certificate_credentials_t cred;
	atomic_uint_least64_t sent, refused, tried, opened;
};

static void *opener(void *arg)
{
	struct attack *a = arg;
	int64_t every = 1000 * OPENERS / a->conns;

	for (int64_t next = now_ms(); next < a->until; next += every) {
		struct peer p;
		unsigned n = (unsigned)atomic_fetch_add(&a->tried, 1);

		if (peer_open(&p, NET_ATTACK + 1 + n % ADDRESSES, a->port, a->cred) == 0) {
			(void)atomic_fetch_add(&a->opened, 1);
			peer_close(&p);
		}
		wait_until(next + every);
	}
	return NULL;
}

static const char claim[] = "POST /v1/claim HTTP/1.1\r\nHost: burstd\r\nAccept: text/plain\r\n"
			    "Content-Length: 107\r\n\r\n"
			    "{\"v\":1,\"claim_id\":\"b-000000000000\",\"claim_secret\":"
			    "\"0123456789abcdef0123456789abcdef0123456789abcdef\",\"n\":1}";

/* The listener closes it after some refusals; whoever wants more makes another. */
static bool is_up(struct attack *a, struct peer *p, unsigned i)
{
	if (p->fd < 0 && peer_open(p, NET_ATTACK + 1 + ADDRESSES / 2 + i, a->port, a->cred) != 0)
		p->fd = -1;
	return p->fd >= 0;
}

static void hear(struct attack *a, struct peer *p, unsigned batch)
{
	unsigned n = peer_answers(p, batch, "HTTP/1.1 401");

	(void)atomic_fetch_add(&a->refused, n);
	if (n == batch)
		return;
	peer_close(p);
	p->fd = -1;
}

/* A batch on every connection, then all the answers, then the next. */
static void claims(struct attack *a)
{
	static struct peer p[KEPT];
	unsigned batch = (a->claims * ROUND_MS + 1000 * KEPT - 1) / (1000 * KEPT);
	size_t len = sizeof(claim) - 1;
	char *text = mem_zalloc(batch * len + 1);

	for (unsigned i = 0; i < batch; i++)
		memcpy(text + i * len, claim, len);
	for (unsigned i = 0; i < KEPT; i++)
		p[i].fd = -1;
	for (int64_t round = now_ms(); round < a->until; round += ROUND_MS) {
		wait_until(round);
		for (unsigned i = 0; i < KEPT; i++)
			if (is_up(a, &p[i], i) && peer_send(&p[i], text, batch * len) == 0)
				(void)atomic_fetch_add(&a->sent, batch);
		for (unsigned i = 0; i < KEPT; i++)
			if (p[i].fd >= 0)
				hear(a, &p[i], batch);
	}
	free(text);
}

int attack(char **argv)
{
	struct attack a = {.port = (uint16_t)strtoul(argv[0], NULL, 10),
			   .claims = (unsigned)strtoul(argv[1], NULL, 10),
			   .conns = (unsigned)strtoul(argv[2], NULL, 10)};
	pthread_t t[OPENERS];
	int64_t began = now_ms();
	double s;

	a.until = began + strtol(argv[3], NULL, 10) * 1000;
	(void)signal(SIGPIPE, SIG_IGN);
	if (gnutls_certificate_allocate_credentials(&a.cred) != 0)
		return 1;
	for (int i = 0; i < OPENERS; i++)
		if (pthread_create(&t[i], NULL, opener, &a) != 0)
			return 1;
	claims(&a);
	for (int i = 0; i < OPENERS; i++)
		(void)pthread_join(t[i], NULL);
	s = (double)(now_ms() - began) / 1000;
	(void)printf("{\"claims_per_s\":%.0f,\"refused_per_s\":%.0f,\"tried_per_s\":%.0f,"
		     "\"opened_per_s\":%.0f}\n",
		     (double)a.sent / s, (double)a.refused / s, (double)a.tried / s,
		     (double)a.opened / s);
	return 0;
}
