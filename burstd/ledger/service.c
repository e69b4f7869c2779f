/* The commands that write. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/paths.h"
#include "base/str.h"
#include "core/conf.h"
#include "io/sd.h"
#include "ledger/command.h"
#include "ledger/desk.h"
#include "ledger/lock.h"
#include "ledger/pass.h"

enum {
	INTERVAL_MS = 60000,
	KEY_MAX = 256,
	DESK_START_MS = 30000, /* it reads its configuration, and looks for its file */
};

struct service {
	struct site site;
	int lock;      /* of run; -1: it is not taken */
	bool gives_up; /* another start would end as this one */
	pid_t desk;    /* the process that answers questions; 0: there is none */
	struct ledger *ledger;
	struct calendar calendar;
	struct log *log;
	struct pass pass;
	char *currency; /* of facts that name none */
};

static void all_stops(sigset_t *set)
{
	(void)sigemptyset(set);
	(void)sigaddset(set, SIGTERM);
	(void)sigaddset(set, SIGINT);
}

/* Have SIGALRM say when to feed systemd's watchdog.  A pass asks all the time whether to stop, and
 * one that does no more is not alive, whatever its timers do. */
static void begin_watch(void)
{
	const int64_t ms = sd_watchdog_ms();
	const struct timeval tv = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGALRM);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	(void)setitimer(ITIMER_REAL, &(struct itimerval){tv, tv}, NULL);
}

/* The signals are blocked, and wait here until they are asked for. */
static bool stops(void)
{
	static const struct timespec at_once = {0};
	sigset_t waiting, due;

	if (sigpending(&waiting) != 0)
		return false;
	(void)sigemptyset(&due);
	(void)sigaddset(&due, SIGALRM);
	if (sigismember(&waiting, SIGALRM) == 1 && sigtimedwait(&due, NULL, &at_once) == SIGALRM)
		sd_notify_state("WATCHDOG=1");
	return sigismember(&waiting, SIGTERM) == 1 || sigismember(&waiting, SIGINT) == 1;
}

/* Until the next pass.  false: somebody wants to stop. */
static bool rest(int64_t ms)
{
	const int64_t until = clock_boot_ms() + ms;
	sigset_t set;

	all_stops(&set);
	(void)sigaddset(&set, SIGALRM);
	for (int64_t left = ms; left > 0 && !stops(); left = until - clock_boot_ms()) {
		const struct timespec pause = {.tv_sec = left / 1000,
					       .tv_nsec = left % 1000 * 1000000};
		const int got = sigtimedwait(&set, NULL, &pause);

		if (got == SIGALRM)
			sd_notify_state("WATCHDOG=1");
		else if (got > 0)
			return false;
	}
	return !stops();
}

/* Is the ledger about this?  A new one is, from now on. */
static int claim(struct ledger *l, const char *key, const char *text, struct err *e)
{
	char *had = NULL;
	int rc = ledger_note(l, key, &had, e);

	if (rc == 0 && had[0] == '\0')
		rc = ledger_put_note(l, key, text, e);
	else if (rc == 0 && strcmp(had, text) != 0)
		rc = err_set(e, ERR_INVALID, "the ledger is of %s \"%.60s\", not \"%.60s\"", key,
			     had, text);
	free(had);
	return rc;
}

/* The first that there was: bills that are computed again have the same. */
static int take_currency(struct service *sv, struct err *e)
{
	if (ledger_note(sv->ledger, LEDGER_CURRENCY, &sv->currency, e) < 0)
		return -1;
	if (sv->currency[0] != '\0')
		return 0;
	free(sv->currency);
	sv->currency = mem_strdup(sv->site.conf->currency);
	return ledger_put_note(sv->ledger, LEDGER_CURRENCY, sv->currency, e);
}

/* Names of providers are the admin's; how they bill is known by their drivers. */
static int put_drivers(struct service *sv, struct err *e)
{
	const struct conf *c = sv->site.conf;
	struct str key;
	int rc = 0;

	str_init(&key, KEY_MAX);
	for (size_t i = 0; i < c->nproviders && rc == 0; i++) {
		char *account = site_account(&c->providers[i]);

		str_clear(&key);
		str_addf(&key, "%s%s", LEDGER_DRIVER, c->providers[i].name);
		rc = ledger_put_note(sv->ledger, key.p, c->providers[i].driver, e);
		str_clear(&key);
		str_addf(&key, "%s%s", LEDGER_ACCOUNT, c->providers[i].name);
		if (rc == 0)
			rc = ledger_put_note(sv->ledger, key.p, account, e);
		free(account);
	}
	str_fini(&key);
	return rc;
}

static int claim_all(struct service *sv, const char *zone, struct err *e)
{
	if (ledger_begin(sv->ledger, e) < 0)
		return -1;
	if (claim(sv->ledger, LEDGER_CLUSTER, sv->site.conf->cluster, e) == 0 &&
	    claim(sv->ledger, LEDGER_ZONE, zone, e) == 0 && take_currency(sv, e) == 0 &&
	    put_drivers(sv, e) == 0)
		return ledger_commit(sv->ledger, e);
	ledger_rollback(sv->ledger);
	return -1;
}

static int open_all(struct service *sv, const struct settings *s, bool once, struct err *e)
{
	const struct conf *c;

	if (site_init(&sv->site, s, true, e) < 0)
		return -1;
	c = sv->site.conf;
	if (calendar_init(&sv->calendar, c->report_zone, e) < 0)
		return -1;
	if (!once && (sv->lock = lock_take(sv->site.ledger, e)) < 0)
		return -1;
	sv->log = log_new(STDERR_FILENO, (enum log_level)c->log_level);
	if (ledger_open(&sv->ledger, sv->site.ledger, e) < 0) {
		sv->gives_up = e->code == ERR_INVALID || e->code == ERR_DAMAGED;
		return -1;
	}
	if (claim_all(sv, c->report_zone, e) < 0)
		return -1;
	sv->pass = (struct pass){.ledger = sv->ledger,
				 .calendar = &sv->calendar,
				 .log = sv->log,
				 .journal = sv->site.journal,
				 .currency = sv->currency,
				 .jobs = {.ledger = sv->ledger,
					  .log = sv->log,
					  .slurm_bin = c->slurm_bin,
					  .slurm_conf = c->slurm_conf,
					  .stops = stops},
				 .stops = stops};
	return 0;
}

static void close_all(struct service *sv)
{
	ledger_close(sv->ledger);
	log_free(sv->log);
	free(sv->currency);
	calendar_fini(&sv->calendar);
	site_fini(&sv->site);
	if (sv->lock >= 0)
		(void)close(sv->lock);
}

/* One that fails leaves the rest to the next. */
static int pass(const struct service *sv)
{
	struct err e = {0};

	if (pass_run(&sv->pass, clock_wall_ms(), &e) == 0)
		return 0;
	if (e.code != ERR_CANCELLED)
		log_write(sv->log, LOG_ERROR, "a pass failed", "why", e.msg, NULL);
	return COMMAND_WRONG;
}

/* --- the desk ---------------------------------------------------------------------------------
 */

static void be_desk(const struct service *sv, const struct settings *s, pid_t parent, int ready)
{
	const char *const argv[] = {"burst-ledger",
				    "desk",
				    "--ledger",
				    sv->site.ledger,
				    "--config",
				    s->config != NULL ? s->config : PATHS_CONF,
				    "--socket",
				    s->socket != NULL ? s->socket : PATHS_LEDGER_SOCKET,
				    NULL};
	sigset_t set;

	all_stops(&set);
	(void)sigaddset(&set, SIGALRM);
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	(void)sigprocmask(SIG_UNBLOCK, &set, NULL);
	if (getppid() == parent && dup2(ready, STDOUT_FILENO) >= 0)
		(void)execv("/proc/self/exe", (char *const *)(uintptr_t)argv);
	_exit(COMMAND_WRONG);
}

/* Start it, and wait until it can be asked, which it says by a byte, or has ended. */
static int start_desk(struct service *sv, const struct settings *s)
{
	const pid_t parent = getpid();
	int ready[2];

	if (pipe2(ready, O_CLOEXEC) != 0)
		return -1;
	sv->desk = fork();
	if (sv->desk == 0)
		be_desk(sv, s, parent, ready[1]);
	(void)close(ready[1]);
	if (sv->desk > 0)
		(void)poll(&(struct pollfd){.fd = ready[0], .events = POLLIN}, 1, DESK_START_MS);
	(void)close(ready[0]);
	return sv->desk > 0 ? 0 : -1;
}

/* Start it, or again if it has ended: passes go on without it. */
static void keep_desk(struct service *sv, const struct settings *s)
{
	if (sv->desk > 0 && waitpid(sv->desk, NULL, WNOHANG) == 0)
		return;
	if (start_desk(sv, s) != 0)
		log_write(sv->log, LOG_ERROR, "burstctl cannot ask for reports", "error",
			  strerror(errno), NULL);
	sd_notify_state("READY=1");
}

static void stop_desk(struct service *sv)
{
	if (sv->desk <= 0)
		return;
	(void)kill(sv->desk, SIGTERM);
	(void)waitpid(sv->desk, NULL, 0);
	sv->desk = 0;
}

static int run_desk(const struct site *site, const struct settings *s)
{
	struct log *log = log_new(STDERR_FILENO, (enum log_level)site->conf->log_level);
	const struct desk_opts o = {.socket = s->socket != NULL ? s->socket : PATHS_LEDGER_SOCKET,
				    .ledger = site->ledger,
				    .config = s->config != NULL ? s->config : PATHS_CONF,
				    .people = &site->conf->people,
				    .log = log};
	struct err e = {0};
	int rc = desk_run(&o, &e);

	if (rc != 0)
		log_write(log, LOG_ERROR, "burstctl cannot ask for reports", "error", e.msg, NULL);
	log_free(log);
	return rc == 0 ? 0 : COMMAND_WRONG;
}

int command_desk(const struct settings *s)
{
	struct site site;
	struct err e = {0};
	int rc = site_init(&site, s, true, &e) == 0 ? run_desk(&site, s) : complain(&e);

	site_fini(&site);
	return rc;
}

static int serve(const struct settings *s, bool once)
{
	const int64_t ms = s->interval_ms > 0 ? s->interval_ms : INTERVAL_MS;
	struct service sv = {.lock = -1};
	struct err e = {0};
	sigset_t set;
	int rc = 0;

	all_stops(&set);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	(void)signal(SIGPIPE, SIG_IGN);
	if (open_all(&sv, s, once, &e) < 0) {
		rc = complain(&e);
		if (sv.gives_up && !once)
			rc = COMMAND_GIVE_UP;
	} else if (once) {
		rc = pass(&sv);
	} else {
		log_write(sv.log, LOG_INFO, "started", "ledger", sv.site.ledger, "journal",
			  sv.site.journal, NULL);
		begin_watch();
		do {
			keep_desk(&sv, s);
			(void)pass(&sv);
		} while (rest(ms));
		stop_desk(&sv);
		log_write(sv.log, LOG_INFO, "stopped", NULL);
	}
	close_all(&sv);
	return rc;
}

int command_run(const struct settings *s)
{
	return serve(s, false);
}

int command_once(const struct settings *s)
{
	return serve(s, true);
}
