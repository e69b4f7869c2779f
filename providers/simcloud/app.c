#include "providers/simcloud/app.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <uv.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/secret.h"
#include "io/http_server.h"
#include "providers/simcloud/admin.h"
#include "providers/simcloud/boot.h"
#include "providers/simcloud/cloud.h"
#include "providers/simcloud/ec2.h"
#include "providers/simcloud/fetch.h"
#include "providers/simcloud/front.h"
#include "providers/simcloud/hosts.h"
#include "providers/simcloud/identity.h"
#include "providers/simcloud/imds.h"
#include "providers/simcloud/options.h"

enum {
	BODY_MAX = 64 << 20, /* a create of 1000 instances has about 100 KiB, plus user-data */
	CONNS_MAX = 16384,
	IDLE_S = 120,
	ALIVE_MS = 10000, /* between two marks in the state file while something is billed */
	STOP_MS = 5000,   /* at the end, for killed instances to go */
	HOSTS_PATH = 1024,
	METADATA_BODY_MAX = 4096, /* a list of events that may begin */
	METADATA_HOPS = 1,        /* EC2's default: no reply gets past a router */
};

struct app {
	struct options o;
	struct settings conf;
	struct meter *meter;
	struct events events;
	struct cloud cloud;
	struct front front;
	struct admin admin;
	struct secret *token, *admin_token;
	struct ec2_key *ec2_key;
	struct boot *boot;
	struct hosts *hosts;
	struct log *log;
	struct http_server *server, *metadata;
	struct identity *identity;
	struct imds imds;
	uv_loop_t loop;
	uv_timer_t timer;
	uv_signal_t sigterm, sigint;
	int64_t wall0, boot0; /* one reading of both clocks: billed time never jumps */
	int64_t armed_at, alive_at, stop_by;
	bool stopping, closed;
};

static int64_t now_of(const struct app *a)
{
	return a->wall0 + clock_boot_ms() - a->boot0;
}

/* --- the host side of instances --------------------------------------------------------------- */

static bool on_start(void *ctx, const struct cloud_instance *i)
{
	struct app *a = ctx;
	const struct meter_row *row = &a->meter->rows[i->row];
	char id[METER_ID_SIZE], addr[ADDR_TEXT_SIZE];
	struct boot_instance b = {.row = i->row,
				  .id = meter_id(id, i->row),
				  .node = row->node,
				  .addr = addr_text(addr, i->addr),
				  .type = row->type};
	struct err e;

	if (i->user_data != NULL) {
		b.user_data = i->user_data->bytes;
		b.user_data_len = i->user_data->len;
	}

	if (boot_start(a->boot, &b, &e) == 0)
		return true;
	log_write(a->log, LOG_ERROR, "cannot boot", "id", id, "node", row->node, "error", e.msg,
		  NULL);
	return false;
}

static void on_kill(void *ctx, const struct cloud_instance *i)
{
	struct app *a = ctx;

	boot_kill(a->boot, i->row);
}

static void on_named(void *ctx, const struct cloud_instance *i, bool live)
{
	struct app *a = ctx;

	hosts_set(a->hosts, a->meter->rows[i->row].node, i->row, live ? i->addr : 0);
}

static char *on_console(void *ctx, const struct cloud_instance *i)
{
	struct app *a = ctx;
	char id[METER_ID_SIZE], *log = mem_zalloc(CLOUD_CONSOLE_MAX + 1);

	boot_console(a->boot, meter_id(id, i->row), log, CLOUD_CONSOLE_MAX + 1);
	return log;
}

/* --- time ------------------------------------------------------------------------------------- */

static void on_timer(uv_timer_t *t);
static void stop(struct app *a);

/* Set the timer for what is due next.  Called after everything that may have changed that. */
static void arm(struct app *a, int64_t now)
{
	int64_t next = cloud_next(&a->cloud), other = front_next(&a->front);

	if (other < next)
		next = other;
	if (imds_next(&a->imds) < next)
		next = imds_next(&a->imds);
	if (a->alive_at < next && a->meter->fd >= 0 && a->cloud.live > 0)
		next = a->alive_at;
	if (a->stopping && a->stop_by < next)
		next = a->stop_by;
	if (next == a->armed_at || a->closed)
		return;
	a->armed_at = next;
	if (next == INT64_MAX)
		(void)uv_timer_stop(&a->timer);
	else
		(void)uv_timer_start(&a->timer, on_timer, next > now ? (uint64_t)(next - now) : 1,
				     0);
}

static void work(struct app *a)
{
	int64_t now = now_of(a);

	cloud_tick(&a->cloud, now);
	front_tick(&a->front, now);
	imds_tick(&a->imds, now);
	if (now >= a->alive_at && a->meter->fd >= 0 && a->cloud.live > 0)
		meter_alive(a->meter, now);
	if (now >= a->alive_at)
		a->alive_at = now + ALIVE_MS;
	if (a->stopping)
		stop(a);
	a->armed_at = -1;
	arm(a, now);
}

static void on_timer(uv_timer_t *t)
{
	/* Due by libuv's time, that of the start of this loop iteration, but perhaps not yet by
	 * ours. */
	work(t->data);
}

static void on_exited(void *ctx, uint32_t row)
{
	struct app *a = ctx;

	cloud_exited(&a->cloud, row, now_of(a));
	work(a);
}

static void on_request(void *ctx, const struct http_request *rq, struct http_answer *an)
{
	struct app *a = ctx;
	int64_t now = now_of(a);

	/* First do what was due before this request arrived. */
	if (cloud_next(&a->cloud) <= now)
		cloud_tick(&a->cloud, now);
	if (strncmp(rq->path, "/admin/", 7) == 0)
		admin_handle(&a->admin, rq, an, now);
	else
		front_handle(&a->front, rq, an, now);
	arm(a, now);
}

static void on_metadata(void *ctx, const struct http_request *rq, struct http_answer *an)
{
	struct app *a = ctx;
	int64_t now = now_of(a);

	imds_handle(&a->imds, rq, an, now);
	arm(a, now); /* an event may begin now, and a waiting request has a deadline */
}

static void on_metadata_later(void *ctx, uint64_t ticket, const struct http_answer *an)
{
	struct app *a = ctx;

	if (!a->closed)
		http_server_answer(a->metadata, ticket, an);
	else
		free(an->body);
}

/* --- the end ---------------------------------------------------------------------------------- */

static void close_all(struct app *a)
{
	if (a->closed)
		return;
	a->closed = true;
	if (a->server != NULL)
		http_server_stop(a->server);
	if (a->metadata != NULL)
		http_server_stop(a->metadata);
	if (a->boot != NULL)
		boot_close(a->boot);
	uv_close((uv_handle_t *)&a->timer, NULL);
	uv_close((uv_handle_t *)&a->sigterm, NULL);
	uv_close((uv_handle_t *)&a->sigint, NULL);
}

static void stop(struct app *a)
{
	if (a->boot == NULL || boot_count(a->boot) == 0 || now_of(a) >= a->stop_by)
		close_all(a);
}

static void on_signal(uv_signal_t *h, int sig)
{
	struct app *a = h->data;

	(void)sig;
	if (a->stopping)
		return;
	a->stopping = true;
	a->stop_by = now_of(a) + STOP_MS;
	cloud_end_all(&a->cloud, now_of(a));
	work(a);
}

/* --- the beginning ---------------------------------------------------------------------------- */

static int load_config(struct app *a, struct err *e)
{
	json_error_t je;
	char *text;
	size_t len;
	json_t *doc;
	int rc;

	if (fetch(&text, &len, a->o.config, NULL, e) != 0)
		return -1;
	doc = json_loadb(text, len, JSON_REJECT_DUPLICATES, &je);
	free(text);
	if (doc == NULL)
		return err_set(e, ERR_INVALID, "%s:%d: %s", a->o.config, je.line, je.text);
	rc = settings_merge(&a->conf, doc, e);
	json_decref(doc);
	return rc == 0 ? 0 : err_wrap(e, "%s", a->o.config);
}

static int open_boot(struct app *a, struct err *e)
{
	char path[HOSTS_PATH], id[METER_ID_SIZE];

	if (a->o.boot == NULL)
		return 0;
	(void)snprintf(path, sizeof(path), "%s/%s", a->o.run_dir, meter_id(id, a->meter->n));
	if (access(path, F_OK) == 0)
		return err_set(e, ERR_INVALID, "%s is of an earlier run: want an empty directory",
			       a->o.run_dir);
	if (boot_open(&a->boot, &a->loop, a->o.boot, a->o.run_dir, a->o.metadata, e) != 0)
		return -1;
	boot_on_exit(a->boot, on_exited, a);
	(void)snprintf(path, sizeof(path), "%s/hosts", a->o.run_dir);
	if (hosts_open(&a->hosts, path, a->o.hosts_extra, e) != 0)
		return -1;
	a->cloud.host = (struct cloud_host){.ctx = a,
					    .start = on_start,
					    .kill = on_kill,
					    .named = on_named,
					    .console = on_console};
	return 0;
}

static int listen_on(struct app *a, struct err *e)
{
	struct http_server_opts so = {.address = a->o.address,
				      .port = a->o.port,
				      .idle_s = IDLE_S,
				      .max_conns = CONNS_MAX,
				      .max_body = BODY_MAX};
	bool six = strchr(a->o.address, ':') != NULL;

	if (http_server_start(&a->server, &a->loop, &so, on_request, a, e) != 0)
		return -1;
	a->front.server = a->server;
	if (printf("http://%s%s%s:%u\n", six ? "[" : "", a->o.address, six ? "]" : "",
		   (unsigned)http_server_port(a->server)) < 0 ||
	    fflush(stdout) != 0)
		return err_set(e, ERR_IO, "cannot write to standard output");
	return 0;
}

static int open_metadata(struct app *a, struct err *e)
{
	struct http_server_opts so = {.address = a->o.metadata_address,
				      .port = a->o.metadata_port,
				      .idle_s = IDLE_S,
				      .max_conns = CONNS_MAX,
				      .max_body = METADATA_BODY_MAX,
				      .hops = METADATA_HOPS};

	if (a->o.metadata == NULL)
		return 0;
	if (identity_open(&a->identity, a->o.metadata_as, a->o.identity, e) != 0)
		return -1;
	a->imds = (struct imds){
		.cloud = &a->cloud, .identity = a->identity, .later = on_metadata_later, .ctx = a};
	if (http_server_start(&a->metadata, &a->loop, &so, on_metadata, a, e) != 0)
		return err_wrap(e, "--metadata");
	return 0;
}

static int set_up(struct app *a, struct err *e)
{
	struct cloud_opts co = {.conf = &a->conf,
				.meter = a->meter,
				.events = &a->events,
				.subnet = a->o.subnet,
				.seed = a->o.seed,
				.start_ms = a->wall0};

	if (a->o.token_file != NULL && secret_load(&a->token, a->o.token_file, e) != 0)
		return -1;
	if (a->o.admin_token_file != NULL &&
	    secret_load(&a->admin_token, a->o.admin_token_file, e) != 0)
		return -1;
	if (a->o.aws_key_file != NULL && ec2_key_load(&a->ec2_key, a->o.aws_key_file, e) != 0)
		return -1;
	if (a->o.config != NULL && load_config(a, e) != 0)
		return -1;
	if (a->o.state != NULL && meter_attach(a->meter, a->o.state, e) != 0)
		return -1;
	if (cloud_init(&a->cloud, &co, e) != 0)
		return -1;
	front_init(&a->front, &a->cloud, &a->conf, a->o.seed);
	a->front.keys.token = a->token != NULL ? secret_text(a->token) : NULL;
	a->front.keys.ec2 = a->ec2_key;
	a->admin = (struct admin){.front = &a->front,
				  .token = a->admin_token != NULL ? secret_text(a->admin_token)
								  : NULL};
	if (open_metadata(a, e) != 0 || open_boot(a, e) != 0)
		return -1;
	return listen_on(a, e);
}

/* Make the handles first: close_all() closes them even if set_up() fails. */
static void init(struct app *a)
{
	struct rlimit files;

	a->log = log_new(2, LOG_INFO);
	a->wall0 = clock_wall_ms();
	a->boot0 = clock_boot_ms();
	a->armed_at = -1;
	settings_init(&a->conf);
	a->meter = meter_new();
	events_init(&a->events);
	/* Each connection takes a descriptor. */
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &files);
	}
	(void)signal(SIGPIPE, SIG_IGN);
	(void)uv_loop_init(&a->loop);
	(void)uv_timer_init(&a->loop, &a->timer);
	(void)uv_signal_init(&a->loop, &a->sigterm);
	(void)uv_signal_init(&a->loop, &a->sigint);
	a->timer.data = a->sigterm.data = a->sigint.data = a;
	(void)uv_signal_start(&a->sigterm, on_signal, SIGTERM);
	(void)uv_signal_start(&a->sigint, on_signal, SIGINT);
}

static void fini(struct app *a)
{
	(void)uv_loop_close(&a->loop);
	front_fini(&a->front);
	cloud_fini(&a->cloud);
	hosts_close(a->hosts);
	events_fini(&a->events);
	meter_free(a->meter);
	settings_fini(&a->conf);
	secret_free(a->token);
	secret_free(a->admin_token);
	ec2_key_free(a->ec2_key);
	imds_fini(&a->imds);
	identity_close(a->identity);
	log_free(a->log);
}

static int serve(const struct options *o)
{
	struct app *a = mem_zalloc(sizeof(*a));
	struct err e = {0};
	int rc;

	a->o = *o;
	init(a);
	rc = set_up(a, &e);
	if (rc != 0) {
		(void)fprintf(stderr, "simcloud: %s\n", e.msg);
		close_all(a);
	}
	(void)uv_run(&a->loop, UV_RUN_DEFAULT);
	fini(a);
	free(a);
	return rc == 0 ? 0 : 2;
}

int app_main(int argc, char **argv)
{
	struct options o;
	struct err e = {0};

	if (argc > 1 && strcmp(argv[1], "audit") == 0)
		return app_audit(argc - 1, argv + 1);
	if (options_parse(&o, argc, argv, &e) != 0) {
		(void)fprintf(stderr, "simcloud: %s\n", e.msg);
		return 2;
	}
	if (o.help || o.version) {
		(void)fputs(o.help ? options_help : "simcloud " BURSTD_VERSION "\n", stdout);
		return 0;
	}
	return serve(&o);
}
