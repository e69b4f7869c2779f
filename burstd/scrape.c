#include "scrape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/pages.h"
#include "base/mem.h"
#include "io/http_server.h"
#include "io/loop.h"
#include "io/sd.h"
#include "io/sd_listen.h"

enum {
	TRY_MS = 5000,
	IDLE_S = 10,
	CONNS_MAX = 64,  /* a scraper or two and somebody with curl, among any number of others */
	ASKS_MAX = 100,  /* on one connection: a scraper opens another after some 25 minutes */
	BODY_MAX = 1024, /* bytes of a request's */
};

struct scrape {
	struct loop *loop;
	struct api *api;
	struct sd_listen *from;
	struct pages pages;
	char address[64];
	uint16_t port;
	struct http_server *server; /* NULL: its port cannot be had */
	char off[256];              /* why there is none; "": there is one */
	struct timer *again;
};

/* "127.0.0.1:9818", "[::1]:9818" */
static int read_address(struct scrape *s, const char *listen, struct err *e)
{
	const char *colon = strrchr(listen, ':');
	size_t n = colon != NULL ? (size_t)(colon - listen) : 0;

	if (colon == NULL || n == 0 || n >= sizeof(s->address))
		return err_set(e, ERR_INVALID, "listen = \"%s\": want ADDRESS:PORT", listen);
	if (listen[0] == '[' && listen[n - 1] == ']')
		(void)snprintf(s->address, sizeof(s->address), "%.*s", (int)(n - 2), listen + 1);
	else
		(void)snprintf(s->address, sizeof(s->address), "%.*s", (int)n, listen);
	s->port = (uint16_t)strtoul(colon + 1, NULL, 10);
	return 0;
}

static int try(struct scrape *s, struct err *e)
{
	const int fd = sd_listen_take_address(s->from, SD_METRICS, s->address, s->port);
	const struct http_server_opts o = {.address = s->address,
					   .port = s->port,
					   .fd = fd,
					   .idle_s = IDLE_S,
					   .max_conns = CONNS_MAX,
					   .max_asks = ASKS_MAX,
					   .max_body = BODY_MAX};
	int rc = http_server_start(&s->server, loop_uv(s->loop), &o, pages_handle, &s->pages, e);

	if (rc != 0 && e->code == ERR_INVALID)
		return -1;
	if (rc == 0 && fd == 0)
		sd_keep(SD_METRICS, http_server_fd(s->server));
	if (rc != 0 && strcmp(s->off, e->msg) != 0)
		log_write(s->api->log, LOG_ERROR, "the listener of /metrics is off", "error",
			  e->msg, NULL);
	else if (rc == 0 && s->off[0] != '\0')
		log_write(s->api->log, LOG_INFO, "the listener of /metrics is on again", NULL);
	(void)snprintf(s->off, sizeof(s->off), "%s", rc != 0 ? e->msg : "");
	s->api->unscraped = rc != 0 ? s->off : NULL;
	timer_at(s->again, rc != 0 ? loop_now(s->loop) + TRY_MS : INT64_MAX);
	return 0;
}

static void on_again(void *ctx)
{
	struct err e;

	(void)try(ctx, &e); /* the option was good at the start */
}

int scrape_open(struct scrape **out, struct loop *loop, struct api *api, struct sd_listen *from,
		struct err *e)
{
	const char *listen = engine_conf(api->engine)->listen;
	struct scrape *s;

	*out = NULL;
	if (listen[0] == '\0')
		return 0;
	s = mem_zalloc(sizeof(*s));
	s->loop = loop;
	s->api = api;
	s->from = from;
	s->pages = (struct pages){.metrics.api = api};
	s->again = timer_new(loop, on_again, s);
	*out = s;
	return read_address(s, listen, e) != 0 ? -1 : try(s, e);
}

void scrape_close(struct scrape *s)
{
	if (s == NULL)
		return;
	if (s->server != NULL)
		http_server_stop(s->server);
	s->server = NULL;
	timer_free(s->again);
	s->again = NULL;
	s->api->unscraped = NULL;
}

void scrape_free(struct scrape *s)
{
	if (s == NULL)
		return;
	pages_fini(&s->pages);
	free(s);
}
