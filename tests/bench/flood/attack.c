/* attack.c - bad claims, as fast as the door lets them in, and new connections, so many a second.
 *
 * Who claims sends more than the listener answers on one connection, and comes back at once.  Who
 * only connects does not wait for the listener: it says nothing, or now and then begins a
 * handshake, and goes when it has made some others. */
#include "flood.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "io/node_server.h"

enum {
	CLAIMERS = 64, /* threads with claims ... */
	MORE = 4,      /* ... that send so many more than are answered, on each connection */
	OPENERS = 4,   /* threads that open connections, ... */
	BEGUN = 64,    /* ... of which each has so many, ... */
	HELLO = 8,     /* ... one of these with TLS: that costs the listener more than us */
	ADDRESSES = 250,
};

struct attack {
	uint16_t port;
	unsigned claims, conns; /* a second, at most */
	int64_t until;
	gnutls_certificate_credentials_t cred;
	atomic_uint_least64_t sent, refused, floods, shown_out, tried, opened;
	atomic_uint n, most; /* most: answers on one connection */
};

static void leave(struct attack *a, struct peer *p)
{
	if (p->fd < 0)
		return;
	if (p->tls != NULL && peer_go_on(p) == 0)
		(void)atomic_fetch_add(&a->opened, 1);
	peer_close(p);
	p->fd = -1;
}

static void *opener(void *arg)
{
	struct attack *a = arg;
	struct peer p[BEGUN];
	int64_t every = 1000 * OPENERS / a->conns;
	unsigned i = 0;

	for (unsigned k = 0; k < BEGUN; k++)
		p[k].fd = -1;
	for (int64_t next = now_ms(); next < a->until; next += every) {
		unsigned n = (unsigned)atomic_fetch_add(&a->tried, 1);
		struct peer *q = &p[i++ % BEGUN];

		leave(a, q);
		if (peer_begin(q, NET_ATTACK + 1 + n % ADDRESSES, a->port,
			       n % HELLO == 0 ? a->cred : NULL) != 0)
			q->fd = -1;
		wait_until(next + every);
	}
	for (i = 0; i < BEGUN; i++)
		leave(a, &p[i]);
	return NULL;
}

static const char claim[] = "POST /v1/claim HTTP/1.1\r\nHost: burstd\r\nAccept: text/plain\r\n"
			    "Content-Length: 107\r\n\r\n"
			    "{\"v\":1,\"claim_id\":\"b-000000000000\",\"claim_secret\":"
			    "\"0123456789abcdef0123456789abcdef0123456789abcdef\",\"n\":1}";

static void flood(struct attack *a, struct peer *p, const char *text, unsigned batch)
{
	unsigned n, most;

	if (peer_send(p, text, batch * (sizeof(claim) - 1)) != 0)
		return;
	(void)atomic_fetch_add(&a->floods, 1);
	(void)atomic_fetch_add(&a->sent, batch);
	n = peer_answers(p, batch, "HTTP/1.1 401");
	(void)atomic_fetch_add(&a->refused, n);
	(void)atomic_fetch_add(&a->shown_out, n == NODE_REFUSED_MAX);
	most = atomic_load(&a->most);
	while (n > most && !atomic_compare_exchange_weak(&a->most, &most, n))
		;
}

/* A batch, its answers until the listener has enough, and the next on another connection. */
static void *claimer(void *arg)
{
	struct attack *a = arg;
	const unsigned batch = NODE_REFUSED_MAX + MORE;
	unsigned i = atomic_fetch_add(&a->n, 1);
	int64_t every = 1000 * CLAIMERS * (int64_t)batch / a->claims;
	char *text = mem_zalloc(batch * (sizeof(claim) - 1) + 1);

	for (unsigned k = 0; k < batch; k++)
		memcpy(text + k * (sizeof(claim) - 1), claim, sizeof(claim) - 1);
	for (int64_t next = now_ms(); next < a->until; next = now_ms()) {
		struct peer p;

		if (peer_open(&p, NET_ATTACK + 1 + ADDRESSES + i, a->port, a->cred) == 0) {
			flood(a, &p, text, batch);
			peer_close(&p);
		}
		wait_until(next + every);
	}
	free(text);
	return NULL;
}

static void report(const struct attack *a, int64_t ms)
{
	double s = (double)ms / 1000;

	(void)printf("{\"claims_per_s\":%.0f,\"refused_per_s\":%.0f,\"tried_per_s\":%.0f,"
		     "\"opened_per_s\":%.0f,",
		     (double)a->sent / s, (double)a->refused / s, (double)a->tried / s,
		     (double)a->opened / s);
	(void)printf("\"sent\":%llu,\"refused\":%llu,\"floods\":%llu,\"shown_out\":%llu,"
		     "\"most\":%u,\"ms\":%lld}\n",
		     (unsigned long long)a->sent, (unsigned long long)a->refused,
		     (unsigned long long)a->floods, (unsigned long long)a->shown_out, a->most,
		     (long long)ms);
}

int attack(char **argv)
{
	struct attack a = {.port = (uint16_t)strtoul(argv[0], NULL, 10),
			   .claims = (unsigned)strtoul(argv[1], NULL, 10),
			   .conns = (unsigned)strtoul(argv[2], NULL, 10)};
	pthread_t t[CLAIMERS + OPENERS];
	int64_t began = now_ms();

	a.until = began + strtol(argv[3], NULL, 10) * 1000;
	(void)signal(SIGPIPE, SIG_IGN);
	if (gnutls_certificate_allocate_credentials(&a.cred) != 0)
		return 1;
	for (int i = 0; i < CLAIMERS + OPENERS; i++)
		if (pthread_create(&t[i], NULL, i < CLAIMERS ? claimer : opener, &a) != 0)
			return 1;
	for (int i = 0; i < CLAIMERS + OPENERS; i++)
		(void)pthread_join(t[i], NULL);
	report(&a, now_ms() - began);
	return 0;
}
