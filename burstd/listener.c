#include "listener.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/secret.h"
#include "io/claim_key.h"
#include "io/conf_file.h"
#include "io/ctl_server.h"
#include "io/loop.h"
#include "io/node_ca.h"
#include "io/node_claims.h"
#include "io/node_server.h"
#include "io/sd.h"
#include "io/sd_listen.h"
#include "keys/keys_api.h"
#include "providers/attest/registry.h"

enum {
	TRY_MS = 5000, /* how often to ask for a port that cannot be had */
	DAY_MS = 86400000,
	LEFT_DAYS = 10, /* the certificate, of 30 days, is renewed when so many are left */
};

struct listener {
	struct loop *loop;
	struct log *log;
	struct node_ca *ca;
	struct node_claims *claims;
	unsigned char claim_key[CLAIM_KEY_BYTES];
	struct engine_door door;
	struct engine *engine;
	struct sd_listen *from;
	struct node_server *server;            /* NULL: its port cannot be had */
	const struct node_server **server_out; /* ... and where others look for it */
	char off[256];                         /* why there is none; "": there is one */
	struct timer *roll;
	int64_t until_ms; /* of the certificate */
};

static void on_node(void *ctx, const struct node_request *rq, struct http_answer *an)
{
	struct listener *l = ctx;

	engine_node_request(l->engine, rq, an);
}

static void answer_node(void *ctx, uint64_t ticket, const struct http_answer *an)
{
	struct listener *l = ctx;
	char *body = an->body;

	if (l->server != NULL)
		node_server_answer(l->server, ticket, an);
	else
		secret_wipe(&body);
}

int listener_open(struct listener **out, struct loop *loop, struct log *log,
		  const struct conf *conf, struct err *e)
{
	struct listener *l;

	*out = NULL;
	if (conf->nodes.listen[0] == '\0')
		return 0;
	l = mem_zalloc(sizeof(*l));
	l->loop = loop;
	l->log = log;
	if (claim_key_open(l->claim_key, conf->state_dir, e) != 0 ||
	    node_ca_open(&l->ca, conf->state_dir, conf->cluster, loop_wall(loop), e) != 0)
		goto fail;
	l->claims = node_claims_new();
	l->door = (struct engine_door){.ca = l->ca,
				       .table = l->claims,
				       .verifier = attest_find,
				       .answer = answer_node,
				       .ctx = l,
				       .claim_key = l->claim_key,
				       .uid = geteuid()};
	*out = l;
	return 0;
fail:
	listener_free(l);
	return -1;
}

const struct engine_door *listener_door(const struct listener *l)
{
	return l != NULL ? &l->door : NULL;
}

/* The host or address in "https://HOST[:PORT]" or "ADDRESS:PORT", without brackets. */
static char *host_of(const char *text)
{
	const char *at = strncmp(text, "https://", 8) == 0 ? text + 8 : text;
	size_t n = strcspn(at, ":");
	char *host;

	if (*at == '[')
		n = strcspn(++at, "]");
	host = mem_zalloc(n + 1);
	memcpy(host, at, n);
	return host;
}

/* The listener's certificate is for the names by which machines reach it. */
static int make_certificate(struct listener *l, struct node_ca_server *out, struct err *e)
{
	char *const *urls = engine_conf(l->engine)->nodes.urls;
	char *names[NODE_CA_NAMES_MAX];
	size_t n = 0;
	int rc;

	for (; n < NODE_CA_NAMES_MAX && urls[n] != NULL; n++)
		names[n] = host_of(urls[n]);
	rc = node_ca_serve(l->ca, (const char *const *)names, n, loop_wall(l->loop), out, e);
	if (rc == 0)
		l->until_ms = out->until_ms;
	for (size_t i = 0; i < n; i++)
		free(names[i]);
	return rc;
}

static void roll(struct listener *l)
{
	int64_t now = loop_wall(l->loop);
	struct node_ca_server s = {.until_ms = 0};
	struct err e;
	int rc = node_ca_roll(l->ca, now, &e);

	if (rc == 0 && now < l->until_ms - (int64_t)LEFT_DAYS * DAY_MS)
		return;
	if (rc >= 0)
		rc = make_certificate(l, &s, &e);
	if (rc == 0)
		rc = node_server_renew(l->server, s.pem, s.key, node_ca_trust(l->ca), &e);
	explicit_bzero(&s, sizeof(s));
	if (rc < 0)
		log_write(l->log, LOG_ERROR, "nodes: cannot renew certificates", "error", e.msg,
			  NULL);
	else
		log_write(l->log, LOG_INFO, "nodes: certificates were renewed", NULL);
}

/* The descriptors that remain beside those of jobs that wait on the control socket. */
static uint64_t files_left(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) != 0)
		return 0;
	return r.rlim_cur / 2 > CTL_HELD_SLOTS ? r.rlim_cur - CTL_HELD_SLOTS : r.rlim_cur / 2;
}

static int start(struct listener *l, struct err *e)
{
	const struct conf *conf = engine_conf(l->engine);
	struct node_ca_server s = {.until_ms = 0};
	struct node_server_opts o = {
		.check = node_claims_check,
	};
	char *address;
	int rc;

	o.check_ctx = l->claims;
	node_server_limits(&o, files_left());
	if (make_certificate(l, &s, e) != 0)
		return err_wrap(e, "%s:%d: nodes", conf->path, conf->nodes.line);
	address = host_of(conf->nodes.listen);
	o.address = address;
	o.port = (uint16_t)strtoul(strrchr(conf->nodes.listen, ':') + 1, NULL, 10);
	o.cert_pem = s.pem;
	o.key_pem = s.key;
	o.client_ca_pem = node_ca_trust(l->ca);
	o.fd = sd_listen_take_address(l->from, SD_NODES, address, o.port);
	rc = node_server_start(&l->server, loop_uv(l->loop), &o, on_node, l, e);
	explicit_bzero(&s, sizeof(s));
	free(address);
	if (rc != 0)
		return err_wrap(e, "%s:%d: nodes: listen", conf->path, conf->nodes.line);
	if (o.fd == 0)
		sd_keep(SD_NODES, node_server_fd(l->server));
	*l->server_out = l->server;
	return 0;
}

/* Start the listener, or try again later: another user of this machine may have had the port first,
 * and an address may float.  Other work, deletes above all, must not wait for that. */
static int try(struct listener *l, struct err *e)
{
	char was[sizeof(l->off)];
	int rc = start(l, e);

	if (rc != 0 && e->code == ERR_INVALID)
		return -1;
	memcpy(was, l->off, sizeof(was));
	(void)snprintf(l->off, sizeof(l->off), "%s", rc != 0 ? e->msg : "");
	l->door.off = rc != 0 ? l->off : NULL;
	if (rc != 0 && strcmp(was, l->off) != 0)
		log_write(l->log, LOG_ERROR, "the listener for nodes is off", "error", l->off,
			  NULL);
	else if (rc == 0 && was[0] != '\0')
		log_write(l->log, LOG_INFO, "the listener for nodes is on again", NULL);
	timer_at(l->roll, loop_now(l->loop) + (rc != 0 ? TRY_MS : DAY_MS));
	return 0;
}

static void on_roll(void *ctx)
{
	struct listener *l = ctx;
	struct err e;

	if (l->server == NULL) {
		if (try(l, &e) != 0) /* the option was good at the start */
			timer_at(l->roll, loop_now(l->loop) + TRY_MS);
		return;
	}
	roll(l);
	timer_at(l->roll, loop_now(l->loop) + DAY_MS);
}

int listener_start(struct listener *l, struct engine *engine, struct sd_listen *from,
		   const struct node_server **server, struct err *e)
{
	*server = NULL;
	if (l == NULL)
		return 0;
	l->engine = engine;
	l->from = from;
	l->server_out = server;
	l->roll = timer_new(l->loop, on_roll, l);
	return try(l, e);
}

void listener_stop(struct listener *l)
{
	if (l == NULL)
		return;
	if (l->server != NULL) {
		*l->server_out = NULL;
		node_server_stop(l->server); /* its thread is gone now */
	}
	l->server = NULL;
	timer_free(l->roll);
	l->roll = NULL;
}

void listener_free(struct listener *l)
{
	if (l == NULL)
		return;
	node_claims_free(l->claims);
	node_ca_close(l->ca);
	explicit_bzero(l->claim_key, sizeof(l->claim_key));
	free(l);
}
