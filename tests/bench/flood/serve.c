/* serve.c - the node-facing listener and the control socket on one loop, with burstd's limits. */
#include "flood.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/paths.h"
#include "io/ctl_server.h"
#include "io/loop.h"
#include "io/node_claims.h"
#include "io/node_server.h"

struct serve {
	struct loop *loop;
	struct ctl_server *ctl;
	struct node_server *nodes;
	struct node_claims *claims;
	uint64_t handled;
	uint32_t accepts_per_s; /* as the listener has it */
	int fd;
};

static char *on_request(void *ctx, struct ctl_conn *c, const struct ctl_caller *who,
			const char *json, size_t len)
{
	struct serve *s = ctx;

	(void)c;
	(void)who;
	if (write(s->fd, json, len) < 0 || fdatasync(s->fd) != 0)
		return mem_strdup("{\"ok\":false}");
	return mem_strdup("{\"ok\":true}");
}

static void on_node(void *ctx, const struct node_request *rq, struct http_answer *an)
{
	struct serve *s = ctx;

	(void)rq;
	s->handled++;
	an->status = 200;
}

static void on_end(void *ctx)
{
	struct serve *s = ctx;
	struct node_server_stats st;

	node_server_stats(s->nodes, &st);
	(void)printf("{\"accepted\":%llu,\"over_rate\":%llu,\"over_number\":%llu,\"ousted\":%llu,"
		     "\"requests\":%llu,\"refused\":%llu,\"loop\":%llu,",
		     (unsigned long long)st.accepted, (unsigned long long)st.over_rate,
		     (unsigned long long)st.over_number, (unsigned long long)st.ousted,
		     (unsigned long long)st.requests, (unsigned long long)st.refused,
		     (unsigned long long)s->handled);
	(void)printf("\"accepts_per_s\":%u}\n", s->accepts_per_s);
	node_server_stop(s->nodes);
	if (s->ctl != NULL)
		ctl_server_close(s->ctl);
	loop_stop(s->loop);
}

static void know_good_claim(struct node_claims *t)
{
	uint8_t hash[EVP_MAX_MD_SIZE];

	if (EVP_Digest(GOOD_SECRET, strlen(GOOD_SECRET), hash, NULL, EVP_sha256(), NULL) != 1 ||
	    node_claims_put(t, GOOD_CLAIM, hash) != 0)
		die("claims");
}

/* As many as burstd would have. */
static uint64_t descriptors(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) != 0)
		die("descriptors");
	r.rlim_cur = r.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &r);
	return r.rlim_cur;
}

int serve(const char *cert_path, const char *key_path, bool alone)
{
	struct serve s = {.claims = node_claims_new()};
	const struct ctl_server_opts co = {.path = PATHS_SOCKET};
	const struct ctl_handler h = {.request = on_request, .ctx = &s};
	char cert[PEM_MAX], key[PEM_MAX];
	struct node_server_opts no = {
		.address = "127.0.0.1",
		.cert_pem = cert,
		.key_pem = key,
		.client_ca_pem = cert,
		.check = node_claims_check,
		.check_ctx = s.claims,
	};
	struct err e = {0};

	know_good_claim(s.claims);
	node_server_limits(&no, descriptors());
	s.accepts_per_s = no.gate.accepts_per_s;
	read_pem(cert, cert_path);
	read_pem(key, key_path);
	s.fd = open("/run/burstd/asked", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (s.fd < 0)
		die("/run/burstd/asked");
	if (loop_new(&s.loop, &e) != 0 ||
	    (!alone && ctl_server_new(&s.ctl, s.loop, &co, &h, &e) != 0) ||
	    node_server_start(&s.nodes, loop_uv(s.loop), &no, on_node, &s, &e) != 0 ||
	    loop_on_signal(s.loop, SIGTERM, on_end, &s, &e) != 0) {
		(void)fprintf(stderr, "flood: %s\n", e.msg);
		return 1;
	}
	(void)printf("%u\n", (unsigned)node_server_port(s.nodes));
	(void)fflush(stdout);
	loop_run(s.loop);
	loop_free(s.loop);
	node_claims_free(s.claims);
	return 0;
}
