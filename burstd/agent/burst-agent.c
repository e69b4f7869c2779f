/* burst-agent - runs on every node that was bought: sends burstd heartbeats and notices, and powers
 * the node off when no burstd answers any more. */
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/alarm.h"
#include "agent/child.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/fmt.h"
#include "base/mem.h"
#include "base/opt.h"
#include "io/sd.h"

#define AGENT_CONF "/run/burst/agent.conf"

enum {
	AGENT_POWEROFF_MS = 60000, /* for the command */
	AGENT_HEAP_KEEP = 65536,
};

struct options {
	const char *config, *level;
	bool check, once, json, help, version;
};

static const struct opt table[] = {
	{"config", 'c', OPT_TEXT, "FILE", "configuration (default " AGENT_CONF ")",
	 offsetof(struct options, config), 0, 0},
	{"check", 0, OPT_FLAG, NULL, "check the configuration and exit",
	 offsetof(struct options, check), 0, 0},
	{"once", 0, OPT_FLAG, NULL, "send one heartbeat, print the result and exit",
	 offsetof(struct options, once), 0, 0},
	{"json", 0, OPT_FLAG, NULL, "with --once: print the result as JSON",
	 offsetof(struct options, json), 0, 0},
	{"log-level", 'l', OPT_TEXT, "LEVEL", "debug, info, warn or error (default info)",
	 offsetof(struct options, level), 0, 0},
	{"help", 'h', OPT_FLAG, NULL, "show this help with all keys of the configuration, and exit",
	 offsetof(struct options, help), 0, 0},
	{"version", 'V', OPT_FLAG, NULL, "show the version and exit",
	 offsetof(struct options, version), 0, 0},
};

enum { NOPTS = sizeof(table) / sizeof(table[0]), EXIT_WRONG = 1, EXIT_USAGE = 2 };

static int help(void)
{
	struct str s;

	str_init(&s, 1 << 14);
	str_adds(&s, "usage: burst-agent [OPTION...]\n"
		     "Tells burstd that this node is alive, and when it will be taken away.\n\n");
	opt_help(table, NOPTS, &s);
	str_adds(&s, "\nKeys of the configuration, one \"key = value\" a line:\n");
	agent_conf_help(&s);
	(void)fputs(s.p, stdout);
	str_fini(&s);
	return fflush(stdout) == 0 ? 0 : EXIT_WRONG;
}

/* Protect the key in memory: no core, no ptrace, no /proc/PID/mem. */
static void protect(void)
{
	const struct rlimit none = {0, 0};

	(void)prctl(PR_SET_DUMPABLE, 0);
	(void)setrlimit(RLIMIT_CORE, &none);
}

static int result(const struct options *o, bool ok, const char *why)
{
	struct str s;

	str_init(&s, 4096);
	if (o->json) {
		str_addf(&s, "{\"ok\":%s", ok ? "true" : "false");
		if (!ok) {
			str_adds(&s, ",");
			agent_json_text(&s, "error", why);
		}
		str_adds(&s, "}\n");
	} else if (ok) {
		str_adds(&s, "good\n");
	} else {
		str_addf(&s, "burst-agent: %s\n", why);
	}
	(void)fputs(s.p, ok || o->json ? stdout : stderr);
	str_fini(&s);
	return ok ? 0 : EXIT_WRONG;
}

static void on_poweroff(void *ctx, const struct child_end *end)
{
	struct agent *a = ctx;

	if (end->status != 0)
		agent_complain(a, "power-off failed; will retry",
			       end->status < 0 ? end->e.msg : a->conf.poweroff);
}

static void power_off(struct agent *a)
{
	const struct child_call call = {.command = a->conf.poweroff,
					.vars = {.node = a->conf.node},
					.timeout_ms = AGENT_POWEROFF_MS,
					.done = on_poweroff,
					.ctx = a};
	char silent[FMT_DUR_SIZE];
	struct err e = {0};

	(void)fmt_duration(silent, a->deadman.silent);
	log_write(a->log, LOG_ERROR, "powering off: no burstd has answered", "for", silent, "job",
		  a->facts.job ? "yes" : "no", NULL);
	alarm_raise("powering off %s: no burstd has answered a heartbeat for %s; jobs: %s",
		    a->conf.node, silent, a->facts.job ? "still running" : "none");
	if (a->poweroff == NULL && child_start(&a->poweroff, &a->poller, &call, &e) != 0)
		agent_complain(a, "cannot run poweroff", e.msg);
}

static void turn_deadman(struct agent *a)
{
	if (a->deadman.state == DEADMAN_SILENT)
		agent_look(a);
	switch (deadman_turn(&a->deadman, a->facts.job, clock_boot_ms())) {
	case DEADMAN_NOTHING:
		break;
	case DEADMAN_WARN:
		agent_complain(a, "no burstd answers", "power-off waits for running jobs");
		alarm_raise("no burstd answers; %s powers off when its jobs have ended",
			    a->conf.node);
		break;
	case DEADMAN_POWEROFF:
		power_off(a);
		break;
	}
}

static void on_signal(struct poller_item *it, short got, int64_t now)
{
	struct agent *a = it->ctx;
	struct signalfd_siginfo info;

	(void)got;
	(void)now;
	if (read(it->fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		a->stop = true;
}

static void watch_signals(struct agent *a, struct poller_item *it)
{
	sigset_t set;

	(void)signal(SIGPIPE, SIG_IGN);
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGINT);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	*it = (struct poller_item){.fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK),
				   .want = POLLIN,
				   .deadline = POLLER_NEVER,
				   .fn = on_signal,
				   .ctx = a};
	poller_add(&a->poller, it);
}

static int run_once(struct agent *a, const struct options *o)
{
	const char *why;
	bool ok;

	a->heartbeat = heartbeat_new(a);
	while (!heartbeat_tried(a->heartbeat, &ok, &why) && !a->stop)
		poller_turn(&a->poller);
	return result(o, ok, a->stop ? "stopped" : why);
}

static int run(struct agent *a)
{
	alarm_open();
	deadman_init(&a->deadman, a->conf.deadman, a->conf.deadman_job, clock_boot_ms());
	a->unmount = unmount_new(a);
	a->notices = notices_new(a);
	a->keys = keys_new(a);
	a->heartbeat = heartbeat_new(a);
	a->watch = watch_new(a);
	a->health = health_new(a);
	log_write(a->log, LOG_INFO, "burst-agent runs", "version", BURSTD_VERSION, "node",
		  a->conf.node, NULL);
	while (!a->stop) {
		poller_turn(&a->poller); /* POLLER_WAIT_MS at most: systemd waits longer */
		turn_deadman(a);
		if (sd_watchdog_ms() > 0)
			sd_notify_state("WATCHDOG=1");
	}
	unmount_free(a->unmount);
	watch_free(a->watch);
	health_free(a->health);
	heartbeat_free(a->heartbeat);
	a->unmount = NULL;
	a->watch = NULL;
	a->health = NULL;
	a->heartbeat = NULL;
	goodbye(a);
	return 0;
}

/* Return the memory of a long list of hosts to the system: glibc would keep it for the next one. */
static void stay_small(void)
{
	(void)mallopt(M_MMAP_THRESHOLD, AGENT_HEAP_KEEP);
	(void)mallopt(M_TRIM_THRESHOLD, AGENT_HEAP_KEEP);
}

static int start(const struct options *o)
{
	struct agent *a = mem_zalloc(sizeof(*a));
	int level = o->level != NULL ? log_level_parse(o->level) : LOG_INFO, rc = EXIT_WRONG;
	struct poller_item signals;
	struct tls_files files;
	struct err e = {0};

	a->gpus = -1;
	if (agent_conf_load(&a->conf, o->config, &e) != 0) {
		rc = result(o, false, e.msg);
		goto out;
	}
	files = (struct tls_files){a->conf.ca, a->conf.cert, a->conf.key};
	if (tls_open(&a->tls, &files, &e) != 0) {
		rc = result(o, false, e.msg);
		goto out;
	}
	if (o->check) {
		rc = result(o, true, NULL);
		goto out;
	}
	a->log = log_new(STDERR_FILENO, (enum log_level)level);
	agent_look(a);
	watch_signals(a, &signals);
	rc = o->once ? run_once(a, o) : run(a);
	poller_del(&a->poller, &signals);
	(void)close(signals.fd);
out:
	unmount_free(a->unmount);
	watch_free(a->watch);
	health_free(a->health);
	heartbeat_free(a->heartbeat);
	keys_free(a->keys);
	notices_free(a->notices);
	child_leave(a->poweroff);
	tls_close(a->tls);
	log_free(a->log);
	free(a);
	return rc;
}

int main(int argc, char **argv)
{
	struct options o = {.config = AGENT_CONF};
	const struct opt_set set = {table, NOPTS, &o};
	struct opt_args args = {argv + 1, argc > 0 ? argc - 1 : 0};
	struct err e = {0};

	env_clean();
	protect();
	stay_small();
	if (opt_parse(&set, 1, &args, false, &e) != 0 || args.n > 0 ||
	    (o.level != NULL && log_level_parse(o.level) < 0)) {
		(void)fprintf(stderr, "burst-agent: %s; see --help\n",
			      e.code != ERR_NONE ? e.msg : "invalid arguments");
		return EXIT_USAGE;
	}
	if (o.help)
		return help();
	if (o.version)
		return puts("burst-agent " BURSTD_VERSION) < 0 ? EXIT_WRONG : 0;
	return start(&o);
}
