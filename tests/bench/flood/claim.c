/* claim.c - nodes with good claims, as stage0 makes them. */
#include "flood.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { TRIES_MAX = 12 };

struct claimer {
	pthread_t thread;
	uint16_t port;
	unsigned n;
	int64_t begin;
	gnutls_certificate_credentials_t cred;
	unsigned tries; /* 0: it did not get in */
	int64_t took_ms;
};

static const char claim[] =
	"POST /v1/claim HTTP/1.1\r\nHost: burstd\r\nAccept: text/plain\r\nConnection: close\r\n"
	"Content-Length: 101\r\n\r\n"
	"{\"v\":1,\"claim_id\":\"" GOOD_CLAIM "\",\"claim_secret\":\"" GOOD_SECRET "\"}";

static bool once(const struct claimer *c)
{
	struct peer p;
	bool good;

	if (peer_open(&p, NET_NODES + 1 + c->n, c->port, c->cred) != 0)
		return false;
	good = peer_send(&p, claim, sizeof(claim) - 1) == 0 &&
	       peer_answers(&p, 1, "HTTP/1.1 200") == 1;
	peer_close(&p);
	return good;
}

/* stage0 waits 2, 4, 8, then 15 s. */
static void *claimer(void *arg)
{
	struct claimer *c = arg;
	int64_t pause = 2000;

	wait_until(c->begin);
	for (unsigned i = 1; i <= TRIES_MAX; i++) {
		if (once(c)) {
			c->tries = i;
			c->took_ms = now_ms() - c->begin;
			return NULL;
		}
		wait_until(now_ms() + pause);
		pause = pause < 8000 ? 2 * pause : 15000;
	}
	return NULL;
}

static int by_time(const void *a, const void *b)
{
	const struct claimer *x = a, *y = b;

	return (x->took_ms > y->took_ms) - (x->took_ms < y->took_ms);
}

int nodes_claim(char **argv)
{
	uint16_t port = (uint16_t)strtoul(argv[0], NULL, 10);
	unsigned n = (unsigned)strtoul(argv[1], NULL, 10), in = 0, at_once = 0;
	int64_t began = now_ms(), over_ms = strtol(argv[2], NULL, 10) * 1000;
	struct claimer *c = mem_zalloc(n * sizeof(*c));
	gnutls_certificate_credentials_t cred;

	(void)signal(SIGPIPE, SIG_IGN);
	if (n == 0 || gnutls_certificate_allocate_credentials(&cred) != 0)
		return 1;
	for (unsigned i = 0; i < n; i++) {
		c[i] = (struct claimer){
			.port = port, .n = i, .begin = began + over_ms * i / n, .cred = cred};
		if (pthread_create(&c[i].thread, NULL, claimer, &c[i]) != 0)
			die("threads");
	}
	for (unsigned i = 0; i < n; i++)
		(void)pthread_join(c[i].thread, NULL);
	for (unsigned i = 0; i < n; i++) {
		in += c[i].tries > 0;
		at_once += c[i].tries == 1;
	}
	qsort(c, n, sizeof(*c), by_time);
	(void)printf("{\"nodes\":%u,\"in\":%u,\"at_once\":%u,\"p50_ms\":%lld,\"max_ms\":%lld}\n", n,
		     in, at_once, (long long)c[n / 2].took_ms, (long long)c[n - 1].took_ms);
	free(c);
	return 0;
}
