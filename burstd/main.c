/* main.c - burstd: build every part bottom-up, run the loop, take them down top-first. */
#include <curl/curl.h>
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "api/ctl_api.h"
#include "api/held.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/opt.h"
#include "base/paths.h"
#include "base/secret.h"
#include "burstd.h"
#include "buy/buy_api.h"
#include "check.h"
#include "check_cloud.h"
#include "check_slurm.h"
#include "io/conf_file.h"
#include "io/http_client.h"
#include "io/loop.h"
#include "io/proc.h"
#include "io/sd.h"
#include "io/spool.h"
#include "io/timeline.h"
#include "io/user_name.h"
#include "keys/keys_api.h"
#include "listener.h"
#include "parts/parts.h"
#include "providers/options.h"
#include "providers/registry.h"
#include "providers/secrets/registry.h"
#include "scrape.h"

enum {
	EXIT_USAGE = 2,
	EXIT_SILENT = 69, /* sysexits.h's EX_UNAVAILABLE: slurmctld does not answer --check */
	HEAP_KEEP = 128 << 10,
	FILES_MAX = 65536, /* descriptors, as in burstd.service: more than we ever need */
};

struct options {
	const char *conf, *provider;
	bool check, slurm, json, help, version;
};

static const struct opt table[] = {
	{"config", 'c', OPT_TEXT, "FILE", "configuration (default " PATHS_CONF ")",
	 offsetof(struct options, conf), 0, 0},
	{"check", 0, OPT_FLAG, NULL, "check FILE and what it names, and exit",
	 offsetof(struct options, check), 0, 0},
	{"slurm", 0, OPT_FLAG, NULL, "with --check: ask slurmctld whether slurm.conf is good too",
	 offsetof(struct options, slurm), 0, 0},
	{"provider", 0, OPT_TEXT, "NAME",
	 "with --check: ask this provider, by requests that only look, whether it would serve "
	 "burstd",
	 offsetof(struct options, provider), 0, 0},
	{"json", 0, OPT_FLAG, NULL, "with --slurm or --provider: print the result as JSON",
	 offsetof(struct options, json), 0, 0},
	{"help", 'h', OPT_FLAG, NULL, "show this and exit", offsetof(struct options, help), 0, 0},
	{"version", 'V', OPT_FLAG, NULL, "show the version and exit",
	 offsetof(struct options, version), 0, 0},
};

enum { NTABLE = sizeof(table) / sizeof(table[0]) };

/* --- while it runs -----------------------------------------------------------------------------
 */

static void on_stop(void *ctx)
{
	struct burstd *b = ctx;

	loop_stop(b->loop);
}

static char *on_request(void *ctx, struct ctl_conn *c, const struct ctl_caller *who,
			const char *json, size_t len)
{
	struct burstd *b = ctx;

	return ctl_api_request(&b->api, c, who, json, len);
}

static char *on_expired(void *ctx, void *hold)
{
	struct burstd *b = ctx;

	return held_expired(&b->api, hold);
}

static void on_gone(void *ctx, void *hold)
{
	struct burstd *b = ctx;

	held_gone(&b->api, hold);
}

static void on_turned(void *ctx)
{
	struct burstd *b = ctx;

	b->turned_ms = loop_now(b->loop);
	held_turned(b->api.held);
	state_dir_note(&b->state, (int64_t)engine_last_batch(b->engine));
}

/* A loop that runs while the engine has no turns any more is not alive: it turns every five seconds
 * at least, to look at its spool. */
static void on_watchdog(void *ctx)
{
	struct burstd *b = ctx;

	sd_watchdog_feed(loop_now(b->loop), b->turned_ms);
	timer_at(b->watchdog_timer, loop_now(b->loop) + sd_watchdog_ms());
}

/* Snapshots, lists and bursts take megabytes for a moment.  Fixed thresholds make glibc give them
 * back: by itself it raises both, up to 32 and 64 MiB, at the first large block that is freed. */
static void set_heap(void)
{
	(void)mallopt(M_MMAP_THRESHOLD, HEAP_KEEP);
	(void)mallopt(M_TRIM_THRESHOLD, HEAP_KEEP);
}

/* Keep our memory to ourselves: no core dump, no debugger of the same user. */
static void keep_to_ourselves(void)
{
	const struct rlimit none = {0, 0};

	(void)setrlimit(RLIMIT_CORE, &none);
	(void)prctl(PR_SET_DUMPABLE, 0);
}

/* --- start -------------------------------------------------------------------------------------
 */

static int open_journal(struct burstd *b, const struct conf *conf, int64_t *gen_floor,
			const char **hint, struct err *e)
{
	char path[4096];
	bool existed;
	int rc;

	(void)snprintf(path, sizeof(path), "%s/journal.db", conf->state_dir);
	if (journal_open(&b->journal, path, &existed, e) != 0) {
		*hint = failure_hint_of(e, failure_hint_newer);
		return -1;
	}
	rc = state_dir_begin(&b->state, b->journal, clock_wall_ms(), gen_floor, e);
	if (rc < 0) {
		*hint = failure_hint_of(e, failure_hint_uuid);
		return -1;
	}
	if (timeline_resume(b->loop, b->journal, e) != 0) {
		*hint = failure_hint_of(e, NULL);
		return -1;
	}
	if (rc == 2)
		log_write(b->log, LOG_WARN,
			  "the journal may be an older copy: nothing is bought in a pool before "
			  "all of its providers have listed their instances",
			  "journal", path, NULL);
	if (rc == 1 && !b->state.fresh)
		log_write(b->log, LOG_WARN,
			  "the journal is gone: our instances will be found at the providers",
			  "journal", path, NULL);
	return 0;
}

/* Load one provider's files.  While any of them cannot be had that provider is off, and the others
 * work. */
static int on_files(void *ctx, struct conf_provider *p, size_t i, const char **credential,
		    struct err *e)
{
	struct burstd *b = ctx;

	if (p->credential_file != NULL) {
		secret_free(b->secrets[i]);
		b->secrets[i] = NULL;
		if (secret_load(&b->secrets[i], p->credential_file, e) != 0)
			return err_wrap(e, "credential_file");
		*credential = secret_text(b->secrets[i]);
	}
	if (conf_file_load_user_data(p, e) != 0)
		return -1;
	return conf_file_load_attest_ca(p, e);
}

/* A credential that enrolment is still to bring is no mistake. */
static int load_store_credential(struct burstd *b, const struct conf *conf, struct err *e)
{
	const char *path = conf->secrets.credential_file;

	secret_free(b->store_secret);
	b->store_secret = NULL;
	if (path == NULL || conf->secrets.driver[0] == '\0')
		return 0;
	if (access(path, F_OK) != 0 && errno == ENOENT && conf->secrets.role_name[0] != '\0') {
		log_write(b->log, LOG_WARN, "burstd is not enrolled with the secret store",
			  "credential_file", path, NULL);
		return 0;
	}
	if (secret_load(&b->store_secret, path, e) == 0)
		return 0;
	return err_wrap(e, "%s:%d: secrets: credential_file", conf->path,
			conf_secrets_line(conf, "credential_file"));
}

/* Load the secret store's files.  While any of them cannot be had the store is off, and all else
 * works. */
static int on_store_files(void *ctx, const struct conf *conf, const char **credential,
			  const char **ca, struct err *e)
{
	struct burstd *b = ctx;

	free(b->store_ca);
	b->store_ca = NULL;
	if ((b->nodes != NULL || conf->secrets.release == CONF_USER_DATA) &&
	    conf_file_load_store_ca(conf, &b->store_ca, e) != 0)
		return err_wrap(e, "%s:%d: secrets", conf->path,
				conf_secrets_line(conf, "ca_file"));
	if (load_store_credential(b, conf, e) != 0)
		return -1;
	*ca = b->store_ca;
	*credential = b->store_secret != NULL ? secret_text(b->store_secret) : NULL;
	return 0;
}

static int open_engine(struct burstd *b, struct conf *conf, int64_t gen_floor, struct err *e)
{
	struct engine_deps deps = {.loop = b->loop,
				   .http = b->http,
				   .proc = b->proc,
				   .journal = b->journal,
				   .spool = b->spool,
				   .log = b->log,
				   .uuid = b->state.uuid,
				   .gen_floor = gen_floor,
				   .driver = provider_find,
				   .store = secrets_find,
				   .files = on_files,
				   .store_files = on_store_files,
				   .fatal = failure_on_fatal,
				   .turned = on_turned,
				   .ctx = b,
				   .zone = clock_zone_ms,
				   .report_zone = b->report_zone,
				   .parts = parts_all()};

	deps.door = listener_door(b->nodes);
	return engine_new(&b->engine, &deps, conf, e);
}

/* How many requests may be held, each with a descriptor, mostly jobs that wait for their nodes.  At
 * most half of all, since providers, scontrol and the journal need theirs (F56). */
static unsigned held_max(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) != 0)
		return 1;
	if (r.rlim_cur < FILES_MAX) {
		r.rlim_cur = r.rlim_max < FILES_MAX ? r.rlim_max : FILES_MAX;
		(void)setrlimit(RLIMIT_NOFILE, &r);
		(void)getrlimit(RLIMIT_NOFILE, &r);
	}
	return r.rlim_cur / 2 > CTL_HELD_SLOTS ? CTL_HELD_SLOTS : (unsigned)(r.rlim_cur / 2) + 1;
}

static int open_faces(struct burstd *b, struct err *e)
{
	const struct conf *conf = engine_conf(b->engine);
	const struct ctl_server_opts o = {
		.path = PATHS_SOCKET,
		.people = &conf->people,
		.held_max = held_max(),
		.fd = sd_listen_take_path(&b->sockets, SD_CTL, PATHS_SOCKET),
		.stays = sd_is_there()};
	const struct ctl_handler h = {
		.request = on_request, .expired = on_expired, .gone = on_gone, .ctx = b};

	b->api = (struct api){.engine = b->engine,
			      .journal = b->journal,
			      .log = b->log,
			      .reload = reload_conf,
			      .ctx = b};
	b->names = user_names_new(b->loop, b->proc, NULL);
	b->api.names = b->names;
	b->api.held = held_new(&b->api, b->loop);
	if (scrape_open(&b->scrape, b->loop, &b->api, &b->sockets, e) != 0 ||
	    ctl_server_new(&b->ctl, b->loop, &o, &h, e) != 0)
		return -1;
	if (o.fd == 0)
		sd_keep(SD_CTL, ctl_server_fd(b->ctl));
	b->turned_ms = loop_now(b->loop);
	b->house_timer = timer_new(b->loop, house_on_timer, b);
	timer_at(b->house_timer, loop_now(b->loop));
	b->watchdog_timer = timer_new(b->loop, on_watchdog, b);
	if (sd_watchdog_ms() > 0)
		timer_at(b->watchdog_timer, loop_now(b->loop));
	if (loop_on_signal(b->loop, SIGTERM, on_stop, b, e) != 0 ||
	    loop_on_signal(b->loop, SIGINT, on_stop, b, e) != 0 ||
	    loop_on_signal(b->loop, SIGHUP, reload_on_hup, b, e) != 0)
		return -1;
	return 0;
}

static void look_at_memory(struct burstd *b)
{
	struct err e;

	if (secret_try_lock(&e) != 0)
		log_write(b->log, LOG_WARN, "credentials in memory may be swapped to a disk",
			  "error", e.msg, "hint",
			  "LimitMEMLOCK=64M in burstd.service (ulimit -l), or a machine without "
			  "swap",
			  NULL);
}

static int start(struct burstd *b)
{
	const char *hint = NULL;
	struct conf *conf = NULL;
	int64_t gen_floor = 0;
	struct err e;

	if (sd_listen_init(&b->sockets, &e) != 0)
		goto fail;
	if (conf_file_load(&conf, b->conf_path, provider_options, &e) != 0) {
		e.code = ERR_INVALID; /* whatever failed, a person must see to it */
		goto fail;
	}
	log_set_level(b->log, (enum log_level)conf->log_level);
	b->report_zone = zone_new(conf->report_zone, &e); /* before there are threads */
	if (b->report_zone == NULL)
		goto fail;
	look_at_memory(b);
	if (loop_new(&b->loop, &e) != 0)
		goto fail;
	if (state_dir_open(&b->state, conf->state_dir, &e) != 0) {
		hint = failure_hint_of(&e, failure_hint_uuid);
		goto fail;
	}
	b->locked = true;
	if (open_journal(b, conf, &gen_floor, &hint, &e) != 0 ||
	    http_client_new(&b->http, b->loop, &e) != 0)
		goto fail;
	b->proc = proc_new(b->loop);
	b->spool = spool_new(b->loop, PATHS_SPOOL);
	if (listener_open(&b->nodes, b->loop, b->log, conf, &e) != 0) {
		hint = failure_hint_of(&e, NULL);
		goto fail;
	}
	if (open_engine(b, conf, gen_floor, &e) != 0) {
		if (e.code == ERR_DAMAGED)
			hint = failure_hint_journal; /* a row of the journal is damaged */
		goto fail;
	}
	conf = NULL; /* the engine's now */
	if (open_faces(b, &e) != 0 ||
	    listener_start(b->nodes, b->engine, &b->sockets, &b->api.nodes, &e) != 0)
		goto fail;
	sd_listen_fini(&b->sockets);
	engine_start(b->engine);
	log_write(b->log, LOG_INFO, "ready", "version", BURSTD_VERSION, "cluster",
		  engine_conf(b->engine)->cluster, "uuid", b->state.uuid, NULL);
	sd_notify_state("READY=1");
	return 0;
fail:
	conf_free(conf);
	b->status = failure_end_with(b, "cannot start", hint, &e);
	return -1;
}

/* --- end ---------------------------------------------------------------------------------------
 */

static void on_closed(void *ctx)
{
	(void)ctx;
}

static void stop(struct burstd *b)
{
	bool waits = false;

	sd_notify_state("STOPPING=1");
	if (b->journal != NULL && b->log != NULL)
		house_tell_head(b, true);
	if (b->ctl != NULL)
		ctl_server_close(b->ctl);
	scrape_close(b->scrape);
	listener_stop(b->nodes);
	timer_free(b->house_timer);
	timer_free(b->watchdog_timer);
	held_free(b->api.held);
	b->api.held = NULL;
	user_names_free(b->names);
	if (b->engine != NULL)
		waits = engine_logout(b->engine, on_stop, b);
	engine_free(b->engine);
	b->engine = NULL; /* SIGHUP finds nothing to reload */
	spool_free(b->spool);
	if (b->proc != NULL)
		proc_close(b->proc);
	if (waits)
		loop_run(b->loop); /* or until a second SIGTERM */
	if (b->http != NULL)
		http_client_close(b->http, on_closed, NULL);
	if (b->loop != NULL)
		loop_free(b->loop); /* runs until all of these are closed */
	scrape_free(b->scrape);
	zone_free(b->report_zone);
	listener_free(b->nodes);
	journal_close(b->journal);
	if (b->locked)
		state_dir_close(&b->state);
	for (size_t i = 0; i < CONF_PROVIDERS_MAX; i++)
		secret_free(b->secrets[i]);
	free(b->store_ca);
	secret_free(b->store_secret);
	log_free(b->log);
}

static void help(void)
{
	struct str s;

	str_init(&s, 8192);
	str_adds(&s, "usage: burstd [-c FILE]\n"
		     "       burstd --check [--slurm [--json]] [FILE]\n"
		     "       burstd --check --provider NAME [--json] [FILE]\n\n");
	opt_wrap(&s,
		 "The cloud-bursting daemon for Slurm. Runs in the foreground and logs to standard "
		 "error.",
		 0, 0);
	str_adds(&s, "\nOptions:\n");
	opt_help(table, NTABLE, &s);
	str_adds(&s, "\nExample:\n  burstd --check && systemctl reload burstd\n\n");
	opt_wrap(&s,
		 "\"burstctl check\" is for people: it runs this --check, explains, and looks at "
		 "slurm.conf too. burstd --check is for scripts and units, by its exit code.\n\n"
		 "SIGHUP reloads the configuration, or refuses it and changes nothing.\n\n"
		 "Exit codes: 0 stopped, or nothing wrong; 1 failed, or a problem of slurm.conf or "
		 "the "
		 "provider; 2 "
		 "usage; 69 slurmctld does not answer --check; 78 bad configuration.",
		 0, 0);
	(void)fputs(s.p, stdout);
	str_fini(&s);
}

static int check(const struct options *o, const char *path)
{
	enum check_slurm slurm = CHECK_SLURM_GOOD;
	unsigned problems;
	struct str s;

	if (o->provider != NULL)
		return check_cloud(path, o->provider, o->json) ? EXIT_SUCCESS : EXIT_FAILURE;
	problems = check_run(path);
	if (problems == 0 && !o->json) {
		str_init(&s, strlen(path) + 8);
		str_addf(&s, "ok: %s", path);
		check_say(stdout, s.p);
		str_fini(&s);
	}
	if (o->slurm)
		slurm = check_slurm(path, o->json);
	if (problems > 0)
		return EXIT_CONF;
	return slurm == CHECK_SLURM_GOOD  ? EXIT_SUCCESS
	       : slurm == CHECK_SLURM_BAD ? EXIT_FAILURE
					  : EXIT_SILENT;
}

static bool is_odd(const struct options *o)
{
	const bool asks = o->slurm || o->provider != NULL;

	return (asks && !o->check) || (o->json && !asks) || (o->slurm && o->provider != NULL);
}

int main(int argc, char **argv)
{
	struct options o = {.conf = PATHS_CONF};
	const struct opt_set set = {table, NTABLE, &o};
	struct opt_args args = {argv + 1, argc - 1};
	struct burstd b = {0};
	struct err e;

	env_clean();
	if (opt_parse(&set, 1, &args, false, &e) != 0 ||
	    (args.n > o.check &&
	     err_set(&e, ERR_INVALID, "%s: unexpected", args.v[o.check]) != 0) ||
	    (is_odd(&o) &&
	     err_set(&e, ERR_INVALID,
		     "--slurm or --provider is for --check, and --json for one of these") != 0)) {
		(void)fprintf(stderr, "burstd: %s\nTry `burstd --help`.\n", e.msg);
		return EXIT_USAGE;
	}
	if (o.help || o.version) {
		if (o.help)
			help();
		else
			(void)printf("burstd %s\n", BURSTD_VERSION);
		return EXIT_SUCCESS;
	}
	if (o.check)
		return check(&o, args.n > 0 ? args.v[0] : o.conf);
	set_heap();
	keep_to_ourselves();
	(void)signal(SIGPIPE, SIG_IGN);
	(void)curl_global_init(CURL_GLOBAL_DEFAULT);
	b.conf_path = o.conf;
	b.log = log_new(STDERR_FILENO, LOG_INFO);
	if (start(&b) == 0)
		loop_run(b.loop);
	stop(&b);
	curl_global_cleanup();
	return b.status;
}
