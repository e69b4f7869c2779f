/* beat.c - nodes that are up: a connection each, with a certificate each, and heartbeats. */
#include "flood.h"

#include <gnutls/x509.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

enum {
	THREADS = 8,
	PER_S = 180, /* connections: the listener takes 200 */
	EVERY_MS = 30000,
	PER_KEY = 4, /* nodes with one key: making keys is slow */
	DAY_S = 86400,
};

struct node {
	struct peer p; /* fd -1: not connected */
	int64_t due;
	bool waiting; /* for an answer, which is read when the next heartbeat is due */
};

struct beat {
	uint16_t port;
	unsigned n;
	gnutls_x509_crt_t ca;
	gnutls_x509_privkey_t ca_key;
	int64_t began;
	atomic_int_least64_t until;
	atomic_uint up, connected;
	atomic_uint_least64_t beats;
	atomic_uint_least64_t refused, lost, again; /* not 200; closed; connections made anew */
};

struct part { /* a thread's: every THREADS-th node */
	struct beat *b;
	pthread_t thread;
	unsigned first, n, opened, next;
	struct node *node;
	gnutls_x509_privkey_t *key;
};

static void need(int rc, const char *what)
{
	if (rc >= 0)
		return;
	(void)fprintf(stderr, "flood: %s: %s\n", what, gnutls_strerror(rc));
	exit(1);
}

static void sign(const struct beat *b, gnutls_x509_crt_t crt, gnutls_x509_privkey_t key, unsigned i)
{
	unsigned char serial[5] = {1, (unsigned char)(i >> 24), (unsigned char)(i >> 16),
				   (unsigned char)(i >> 8), (unsigned char)i};
	char cn[32], urn[64];
	time_t now = time(NULL);

	(void)snprintf(cn, sizeof(cn), "c%u", i + 1);
	(void)snprintf(urn, sizeof(urn), "urn:burst:node:%s:1", cn);
	need(gnutls_x509_crt_set_key(crt, key), "key");
	need(gnutls_x509_crt_set_version(crt, 3), "version");
	need(gnutls_x509_crt_set_serial(crt, serial, sizeof(serial)), "serial");
	need(gnutls_x509_crt_set_activation_time(crt, now - 60), "time");
	need(gnutls_x509_crt_set_expiration_time(crt, now + DAY_S), "time");
	need(gnutls_x509_crt_set_dn_by_oid(crt, GNUTLS_OID_X520_COMMON_NAME, 0, cn,
					   (unsigned)strlen(cn)),
	     "name");
	need(gnutls_x509_crt_set_subject_alt_name(crt, GNUTLS_SAN_URI, urn, (unsigned)strlen(urn),
						  GNUTLS_FSAN_SET),
	     "urn");
	need(gnutls_x509_crt_set_key_purpose_oid(crt, GNUTLS_KP_TLS_WWW_CLIENT, 0), "purpose");
	need(gnutls_x509_crt_sign2(crt, b->ca, b->ca_key, GNUTLS_DIG_SHA256, 0), "sign");
}

static gnutls_certificate_credentials_t credentials(struct part *t, unsigned i)
{
	gnutls_x509_privkey_t *key = &t->key[i / THREADS / PER_KEY];
	gnutls_certificate_credentials_t cred;
	gnutls_x509_crt_t crt;

	if (*key == NULL) {
		need(gnutls_x509_privkey_init(key), "key");
		need(gnutls_x509_privkey_generate(*key, GNUTLS_PK_ECDSA,
						  GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1),
						  0),
		     "key");
	}
	need(gnutls_x509_crt_init(&crt), "certificate");
	sign(t->b, crt, *key, i);
	need(gnutls_certificate_allocate_credentials(&cred), "credentials");
	need(gnutls_certificate_set_x509_key(cred, &crt, 1, *key), "credentials");
	gnutls_x509_crt_deinit(crt);
	return cred;
}

static void give_up(struct beat *b, struct node *n)
{
	peer_close(&n->p);
	n->p.fd = -1;
	n->waiting = false;
	(void)atomic_fetch_add(&b->lost, 1);
	(void)atomic_fetch_sub(&b->connected, 1);
}

static void say(struct beat *b, struct node *n, unsigned i)
{
	char body[512], text[1024];

	(void)snprintf(
		body, sizeof(body),
		"{\"v\":1,\"node\":\"c%u\",\"generation\":1,\"boot_id\":\"0f7c\",\"agent\":"
		"\"0.1\",\"seq\":2,\"load_milli\":1250,\"uptime_s\":4711,\"cert_until\":%lld,"
		"\"faulty\":false,\"clock_wrong\":false,\"now_ms\":%lld,\"busy\":true,"
		"\"jobs\":[4711]}",
		i + 1, (long long)time(NULL) + DAY_S, (long long)time(NULL) * 1000);
	(void)snprintf(text, sizeof(text),
		       "POST /v1/node/heartbeat HTTP/1.1\r\nHost: burstd\r\nUser-Agent: "
		       "burst-agent/0.1\r\nContent-Type: application/json\r\nContent-Length: "
		       "%zu\r\n\r\n%s",
		       strlen(body), body);
	if (peer_send(&n->p, text, strlen(text)) != 0) {
		give_up(b, n);
		return;
	}
	n->waiting = true;
	(void)atomic_fetch_add(&b->beats, 1);
}

static void come(struct part *t, unsigned at)
{
	struct node *n = &t->node[at];
	unsigned i = t->first + at * THREADS;
	gnutls_certificate_credentials_t cred = credentials(t, i);

	if (peer_open(&n->p, NET_NODES + 1 + i, t->b->port, cred) == 0) {
		(void)atomic_fetch_add(&t->b->connected, 1);
		say(t->b, n, i);
	} else {
		n->p.fd = -1;
	}
	gnutls_certificate_free_credentials(cred);
}

static void first(struct part *t)
{
	t->node[t->opened].due = now_ms() + EVERY_MS;
	come(t, t->opened++);
	if (t->opened == t->n)
		(void)atomic_fetch_add(&t->b->up, 1);
}

static void beat(struct part *t)
{
	unsigned at = t->next;
	struct node *n = &t->node[at];
	int status = n->waiting ? peer_status(&n->p) : 200;

	t->next = (at + 1) % t->n;
	n->due += EVERY_MS;
	n->waiting = false;
	if (status < 0)
		give_up(t->b, n);
	else if (status != 200)
		(void)atomic_fetch_add(&t->b->refused, 1);
	if (n->p.fd >= 0) {
		say(t->b, n, t->first + at * THREADS);
	} else {
		(void)atomic_fetch_add(&t->b->again, 1);
		come(t, at);
	}
}

/* Both happen in the order of the nodes. */
static void *run(void *arg)
{
	struct part *t = arg;
	struct beat *b = t->b;

	while (now_ms() < b->until) {
		int64_t open = t->opened < t->n
				       ? b->began + (int64_t)(t->first + t->opened * THREADS) *
							    1000 / PER_S
				       : INT64_MAX;
		int64_t due = t->next < t->opened ? t->node[t->next].due : INT64_MAX;

		wait_until(open < due ? open : due);
		if (open < due)
			first(t);
		else
			beat(t);
	}
	return NULL;
}

static double cpu_us(void)
{
	struct rusage u;

	(void)getrusage(RUSAGE_SELF, &u);
	return 1e6 * (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static void load_ca(struct beat *b, const char *path)
{
	char pem[PEM_MAX];
	gnutls_datum_t d = {.data = (unsigned char *)pem};

	read_pem(pem, path);
	d.size = (unsigned)strlen(pem);
	need(gnutls_x509_crt_init(&b->ca), "CA");
	need(gnutls_x509_crt_import(b->ca, &d, GNUTLS_X509_FMT_PEM), "CA");
	need(gnutls_x509_privkey_init(&b->ca_key), "CA");
	need(gnutls_x509_privkey_import2(b->ca_key, &d, GNUTLS_X509_FMT_PEM, NULL, 0), "CA");
	explicit_bzero(pem, sizeof(pem));
}

static void start(struct beat *b, struct part *t)
{
	b->began = now_ms();
	for (unsigned i = 0; i < THREADS; i++) {
		t[i] = (struct part){.b = b, .first = i, .n = (b->n + THREADS - 1 - i) / THREADS};
		t[i].key = mem_zalloc((t[i].n / PER_KEY + 1) * sizeof(*t[i].key));
		t[i].node = mem_zalloc((t[i].n + 1) * sizeof(struct node));
		if (pthread_create(&t[i].thread, NULL, run, &t[i]) != 0)
			die("threads");
	}
}

int nodes_beat(char **argv)
{
	struct beat b = {.port = (uint16_t)strtoul(argv[0], NULL, 10),
			 .n = (unsigned)strtoul(argv[2], NULL, 10),
			 .until = INT64_MAX};
	int64_t for_ms = strtol(argv[3], NULL, 10) * 1000;
	struct rlimit r;
	struct part t[THREADS];
	uint64_t beats;
	double cpu;

	(void)signal(SIGPIPE, SIG_IGN);
	if (b.n < THREADS || getrlimit(RLIMIT_NOFILE, &r) != 0)
		return 2;
	r.rlim_cur = r.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &r);
	load_ca(&b, argv[1]);
	start(&b, t);
	while (b.up < THREADS)
		(void)usleep(100000);
	(void)printf("up\n");
	(void)fflush(stdout);
	cpu = cpu_us();
	beats = b.beats;
	b.until = now_ms() + for_ms;
	wait_until(b.until);
	cpu = cpu_us() - cpu;
	beats = b.beats - beats;
	(void)printf("{\"connected\":%u,\"beats\":%llu,\"refused\":%llu,\"lost\":%llu,\"again\":%"
		     "llu,\"cpu_us_per_beat\":%.1f}\n",
		     b.connected, (unsigned long long)beats, (unsigned long long)b.refused,
		     (unsigned long long)b.lost, (unsigned long long)b.again,
		     beats > 0 ? cpu / (double)beats : 0.0);
	(void)fflush(stdout);
	_exit(0); /* ten thousand goodbyes would be a load of their own */
}
