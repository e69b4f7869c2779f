#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <libgen.h>
#include <limits.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fmt.h"
#include "base/mem.h"
#include "base/paths.h"
#include "base/plain.h"
#include "base/secret.h"
#include "base/str.h"
#include "check_private.h"
#include "core/conf_option.h"
#include "core/jurisdiction.h"
#include "core/ladder.h"
#include "core/rates.h"
#include "io/conf_file.h"
#include "io/spool.h"
#include "providers/attest/registry.h"
#include "providers/options.h"
#include "providers/secrets/registry.h"
#include "store/journal.h"

void check_say(FILE *to, const char *line)
{
	char *copy = mem_strdup(line);

	plain_make(copy, '?');
	(void)fprintf(to, "%s\n", copy);
	free(copy);
}

json_t *check_plain(const char *text)
{
	char *copy = mem_strdup(text);
	json_t *j;

	plain_make(copy, '?');
	j = mem_check(json_string(copy)); /* it is UTF-8 now */
	free(copy);
	return j;
}

void check_problem(struct check *c, int line, const char *fmt, ...)
{
	char where[16] = "", *text = mem_zalloc(CHECK_PROBLEM_MAX);
	struct str s;
	va_list ap;

	c->problems++;
	if (line > 0)
		(void)snprintf(where, sizeof(where), ":%d", line);
	va_start(ap, fmt);
	(void)vsnprintf(text, CHECK_PROBLEM_MAX, fmt, ap);
	va_end(ap);
	str_init(&s, 2 * CHECK_PROBLEM_MAX);
	str_addf(&s, "%s%s: %s", c->conf->path, where, text);
	if (c->list != NULL)
		(void)json_array_append_new(c->list, check_plain(s.p));
	else
		check_say(stderr, s.p);
	str_fini(&s);
	free(text);
}

bool check_out_of_sight(const char *path)
{
	static const char dir[] = PATHS_CREDENTIALS "/";
	struct str s;

	if (path == NULL || strncmp(path, dir, strlen(dir)) != 0 ||
	    getenv("CREDENTIALS_DIRECTORY") != NULL)
		return false;
	str_init(&s, CHECK_PROBLEM_MAX);
	str_addf(&s,
		 "note: " CONF_CREDENTIAL "%s is not checked: systemd shows it to burstd's service "
		 "alone",
		 path + strlen(dir));
	check_say(stderr, s.p);
	str_fini(&s);
	return true;
}

/* --- who burstd is -----------------------------------------------------------------------------
 */

/* The owner of the directories that burstd keeps for itself alone; root: not known. */
static uid_t burstd_user(const struct conf *conf)
{
	struct stat st;

	if (stat(conf->state_dir, &st) == 0 || stat(PATHS_SPOOL, &st) == 0)
		return st.st_uid;
	return 0;
}

void check_become_burstd(struct check *c)
{
	uid_t uid = geteuid() == 0 ? burstd_user(c->conf) : 0;
	const struct passwd *pw = uid != 0 ? getpwuid(uid) : NULL;

	if (uid == 0)
		return;
	if (pw == NULL || initgroups(pw->pw_name, pw->pw_gid) != 0 ||
	    setresgid(pw->pw_gid, pw->pw_gid, pw->pw_gid) != 0 || setresuid(uid, uid, uid) != 0) {
		check_problem(
			c, c->conf->state_dir_line,
			"state_dir: %s belongs to uid %u, and nothing can be checked as that user",
			c->conf->state_dir, (unsigned)uid);
		return;
	}
	if (faccessat(AT_FDCWD, c->conf->path, R_OK, AT_EACCESS) != 0)
		check_problem(c, 0, "user %s, as which burstd runs, cannot read it: %s",
			      pw->pw_name, strerror(errno));
}

/* --- directories -------------------------------------------------------------------------------
 */

/* burstd creates state_dir but not its parent; the service creates the default one. */
static void check_parent(struct check *c, const char *path)
{
	char *copy = mem_strdup(path), *parent = dirname(copy);

	if (faccessat(AT_FDCWD, parent, strcmp(path, PATHS_STATE) == 0 ? F_OK : W_OK | X_OK,
		      AT_EACCESS) != 0)
		check_problem(c, c->conf->state_dir_line,
			      "state_dir: %s does not exist and cannot be made in %s: %s", path,
			      parent, strerror(errno));
	free(copy);
}

/* Before an older burstd is started it is good to know that it will not. */
static void check_journal(struct check *c)
{
	struct str path;
	struct err e;

	str_init(&path, PATH_MAX);
	str_addf(&path, "%s/journal.db", c->conf->state_dir);
	if (journal_look_at(path.p, &e) != 0)
		check_problem(c, c->conf->state_dir_line, "state_dir: %s", e.msg);
	str_fini(&path);
}

static void check_state_dir(struct check *c)
{
	const char *path = c->conf->state_dir;
	int line = c->conf->state_dir_line;
	struct stat st;

	if (lstat(path, &st) != 0 && errno == ENOENT)
		check_parent(c, path);
	else if (faccessat(AT_FDCWD, path, F_OK, AT_EACCESS) != 0)
		check_problem(c, line, "state_dir: %s: %s", path, strerror(errno));
	else if (!S_ISDIR(st.st_mode))
		check_problem(c, line, "state_dir: %s is not a directory, or a link to one", path);
	else if (st.st_uid != geteuid())
		check_problem(
			c, line,
			"state_dir: %s belongs to uid %u: check as that user, as which burstd must "
			"run, or as root",
			path, (unsigned)st.st_uid);
	else if ((st.st_mode & 022) != 0)
		check_problem(c, line, "state_dir: others may write to %s (mode %04o): chmod go-w",
			      path, (unsigned)st.st_mode & 07777);
	else if (faccessat(AT_FDCWD, path, R_OK | W_OK | X_OK, AT_EACCESS) != 0)
		check_problem(c, line, "state_dir: no right to write to %s: %s", path,
			      strerror(errno));
}

static void check_spool(struct check *c)
{
	const char *note;
	struct err e;
	struct str s;

	if (spool_check(PATHS_SPOOL, &note, &e) != 0) {
		check_problem(c, 0, "the spool, where hooks leave their calls: %s", e.msg);
		return;
	}
	if (note == NULL)
		return;
	str_init(&s, CHECK_PROBLEM_MAX);
	str_addf(&s, "note: the spool " PATHS_SPOOL " %s", note);
	check_say(stderr, s.p);
	str_fini(&s);
}

/* --- what the file names -----------------------------------------------------------------------
 */

static void check_programs(struct check *c)
{
	static const char *const programs[] = {"scontrol", "squeue"};
	const struct conf *conf = c->conf;

	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		struct stat st;
		struct str path;

		str_init(&path, CHECK_PROBLEM_MAX);
		str_addf(&path, "%s/%s", conf->slurm_bin, programs[i]);
		if (faccessat(AT_FDCWD, path.p, X_OK, AT_EACCESS) != 0)
			check_problem(c, conf->slurm_bin_line, "bin_dir: %s: %s", path.p,
				      strerror(errno));
		else if (stat(path.p, &st) != 0 || !S_ISREG(st.st_mode))
			check_problem(c, conf->slurm_bin_line, "bin_dir: %s is not a program",
				      path.p);
		str_fini(&path);
	}
	if (conf->slurm_conf != NULL &&
	    faccessat(AT_FDCWD, conf->slurm_conf, R_OK, AT_EACCESS) != 0)
		check_problem(c, conf->slurm_conf_line, "conf: %s: %s", conf->slurm_conf,
			      strerror(errno));
}

/* --- what keeps a pool from ever buying --------------------------------------------------------
 */

static const char *stands_in(const struct check *c, const struct conf_offer *o)
{
	if (o->jurisdiction != NULL && o->jurisdiction[0] != '\0')
		return o->jurisdiction;
	return jurisdiction_of(c->conf->providers[o->provider_index].driver, o->region);
}

/* A jurisdiction of the site's own is valid if an offer of the pool has it. */
static bool is_jurisdiction(const struct check *c, const struct conf_pool *p, const char *word)
{
	size_t n;
	const struct conf_offer *rungs = conf_rungs(p, &n);

	for (size_t i = 0; i < n; i++)
		if (stands_in(c, &rungs[i]) != NULL && strcmp(stands_in(c, &rungs[i]), word) == 0)
			return true;
	return jurisdiction_is_known(word);
}

/* Is any offer within a jurisdiction that the pool names?  *where lists the offers' regions. */
static bool any_within(const struct check *c, const struct conf_pool *p, struct str *where)
{
	size_t n;
	const struct conf_offer *rungs = conf_rungs(p, &n);

	for (size_t i = 0; i < n; i++) {
		const char *place = stands_in(c, &rungs[i]);

		for (char **code = p->jurisdictions; *code != NULL; code++)
			if (jurisdiction_within(place, *code))
				return true;
		str_addf(where, "%s%s is in %s", i > 0 ? ", " : "", rungs[i].region,
			 place != NULL ? place : "an unknown country");
	}
	return false;
}

static void check_jurisdictions(struct check *c, const struct conf_pool *p)
{
	unsigned before = c->problems;
	struct str where;

	if (p->jurisdictions == NULL)
		return;
	for (char **code = p->jurisdictions; *code != NULL; code++)
		if (!is_jurisdiction(c, p, *code))
			check_problem(
				c, p->line,
				"pool \"%s\": jurisdictions: %s is not a country (two letters as "
				"in ISO 3166), EU or EEA, and no offer of the pool has it",
				p->name, *code);
	str_init(&where, CHECK_PROBLEM_MAX / 2);
	if (!any_within(c, p, &where) && c->problems == before)
		check_problem(c, p->line,
			      "pool \"%s\": jurisdictions: nothing can ever be bought: %s", p->name,
			      where.p);
	str_fini(&where);
}

/* Check against the prices in the file; a running burstd knows more of them (burstctl check). */
static void check_limits(struct check *c, const struct conf_pool *p)
{
	char price[FMT_MONEY_SIZE], most[FMT_MONEY_SIZE];
	const char *option;
	int64_t limit = conf_pool_dearest(p, &option);
	struct ladder_known known[CONF_OFFERS_MAX] = {{.price = 0}}; /* the files have others */
	int64_t least;
	size_t n;
	const struct conf_offer *rungs = conf_rungs(p, &n);

	for (size_t i = 0; i < n; i++)
		known[i].agreed = rates_price(c->conf, &rungs[i], clock_wall_ms());
	least = ladder_cheapest(c->conf, p, known);

	if (p->max_nodes == 0) {
		struct str s;

		str_init(&s, CHECK_PROBLEM_MAX);
		str_addf(&s, "note: %s:%d: pool \"%s\": max_nodes is 0: nothing is bought for it",
			 c->conf->path, p->line, p->name);
		check_say(stderr, s.p);
		str_fini(&s);
	}
	if (least > limit)
		check_problem(c, p->line,
			      "pool \"%s\": %s is %s %s per hour, and its cheapest node costs %s: "
			      "nothing "
			      "can ever be bought",
			      p->name, option, fmt_money(most, limit), c->conf->currency,
			      fmt_money(price, least));
}

/* --- the secret store --------------------------------------------------------------------------
 */

/* A driver's error begins with the name of the option. */
static void bad_secrets(struct check *c, const struct err *e)
{
	char option[32];
	size_t n = strcspn(e->msg, ":, ");

	(void)snprintf(option, sizeof(option), "%.*s", n < sizeof(option) ? (int)n : 0, e->msg);
	check_problem(c, conf_secrets_line(c->conf, option), "secrets: %s", e->msg);
}

static void note_user_data(const struct check *c)
{
	struct str s;

	str_init(&s, CHECK_PROBLEM_MAX);
	str_addf(&s,
		 "note: %s:%d: secrets: release = user-data is weak: whoever reads a machine's "
		 "user-data first gets the cluster's keys",
		 c->conf->path, conf_secrets_line(c->conf, "release"));
	check_say(stderr, s.p);
	str_fini(&s);
}

static void check_store(struct check *c, const struct secret_store_ops *ops, void *self)
{
	const struct conf_secrets *s = &c->conf->secrets;
	unsigned flags = ops->flags(self);
	struct err e = {0};

	if (conf_check_release(s, flags, &e) != 0)
		check_problem(c, conf_secrets_line(c->conf, "release"), "%s", e.msg);
	if (s->credential_file == NULL && (flags & SECRET_RENEWS) != 0)
		check_problem(
			c, s->line,
			"secrets: credential_file is missing: burstd needs it to log in to %s",
			s->driver);
	if ((flags & SECRET_INSECURE) != 0)
		check_say(stderr,
			  "note: the cluster's keys are in a plain file: for development only");
	if (s->release == CONF_USER_DATA)
		note_user_data(c);
}

/* Has somebody begun to fill in the section?  "burstctl config show" writes every option with its
 * default, which does not count. */
static bool is_begun(const struct conf *conf)
{
	struct conf *initial = mem_zalloc(sizeof(*initial));
	bool begun = false;

	for (size_t i = 0; i < conf_noptions && !begun; i++) {
		const struct conf_option *o = &conf_options[i];

		if (strcmp(o->section, "secrets") != 0)
			continue;
		if (!conf_option_is_list(o))
			(void)conf_option_set(o, initial, o->initial, NULL);
		begun = !conf_option_same(o, conf, initial);
		conf_option_fini(o, initial);
	}
	free(initial);
	return begun;
}

static void check_secrets(struct check *c)
{
	const struct conf_secrets *s = &c->conf->secrets;
	const struct secret_store_ops *ops = secrets_find(s->driver);
	struct secret_store_conf sc;
	struct secret *secret = NULL;
	struct err e = {0};
	void *self = NULL;

	if (s->driver[0] == '\0') {
		if (is_begun(c->conf))
			check_problem(c, s->line, "secrets: driver is missing: vault, aws or file");
		return;
	}
	if (ops == NULL) {
		check_problem(c, conf_secrets_line(c->conf, "driver"),
			      "secrets: no driver \"%s\"; there are: aws, file, vault", s->driver);
		return;
	}
	if (s->ca_file != NULL && faccessat(AT_FDCWD, s->ca_file, R_OK, AT_EACCESS) != 0)
		check_problem(c, conf_secrets_line(c->conf, "ca_file"), "secrets: ca_file: %s: %s",
			      s->ca_file, strerror(errno));
	if (check_out_of_sight(s->credential_file))
		return;
	if (s->credential_file != NULL &&
	    faccessat(AT_FDCWD, s->credential_file, F_OK, AT_EACCESS) != 0 && errno == ENOENT &&
	    s->role_name[0] != '\0')
		check_say(stderr, "note: burstd is not enrolled yet: burstctl secrets enroll");
	else if (s->credential_file != NULL && secret_load(&secret, s->credential_file, &e) != 0)
		check_problem(c, conf_secrets_line(c->conf, "credential_file"),
			      "secrets: credential_file: %s", e.msg);
	sc = conf_for_store(s, secret != NULL ? secret_text(secret) : NULL);
	if (ops->open(&self, &sc, &e) == 0) {
		check_store(c, ops, self);
		ops->close(self);
	} else {
		bad_secrets(c, &e);
	}
	secret_free(secret);
}

/* --- nodes -------------------------------------------------------------------------------------
 */

static void check_readable(struct check *c, int line, const char *what, const char *path)
{
	if (path != NULL && path[0] != '\0' && faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) != 0)
		check_problem(c, line, "%s: %s: %s", what, path, strerror(errno));
}

/* --- alerts --------------------------------------------------------------------------------------
 */

/* *out is the caller's; NULL: there is no such file, or a problem was noted. */
static void check_alert_secret(struct check *c, const struct conf_alert *a, const char *option,
			       const char *path, struct secret **out)
{
	struct err e = {0};

	*out = NULL;
	if (path != NULL && !check_out_of_sight(path) && secret_load(out, path, &e) != 0)
		check_problem(c, conf_alert_line(a, option), "alert \"%s\": %s: %s", a->name,
			      option, e.msg);
}

static void check_alert(struct check *c, const struct conf_alert *a)
{
	struct secret *url, *key, *password;
	struct err e = {0};

	check_alert_secret(c, a, "url_file", a->url_file, &url);
	check_alert_secret(c, a, "secret_file", a->secret_file, &key);
	check_alert_secret(c, a, "password_file", a->password_file, &password);
	if (url != NULL &&
	    conf_alert_check_url((enum conf_alert_kind)a->kind, secret_text(url), &e) != 0)
		check_problem(c, conf_alert_line(a, "url_file"),
			      "alert \"%s\": the URL in url_file: %s", a->name, e.msg);
	if (key != NULL && secret_len(key) < CONF_ALERT_KEY_MIN)
		check_problem(c, conf_alert_line(a, "secret_file"),
			      "alert \"%s\": secret_file: a key of less than %d bytes", a->name,
			      CONF_ALERT_KEY_MIN);
	secret_free(url);
	secret_free(key);
	secret_free(password);
	if (a->ca_file != NULL && faccessat(AT_FDCWD, a->ca_file, R_OK, AT_EACCESS) != 0)
		check_problem(c, conf_alert_line(a, "ca_file"), "alert \"%s\": ca_file: %s: %s",
			      a->name, a->ca_file, strerror(errno));
}

static void check_attest(struct check *c, struct conf_provider *p)
{
	static const enum attest_kind kinds[CONF_ATTEST_AUTO + 1] = {[CONF_ATTEST_AWS] = ATTEST_AWS,
								     [CONF_ATTEST_GCP] = ATTEST_GCP,
								     [CONF_ATTEST_AZURE] =
									     ATTEST_AZURE};
	const struct attest_ops *ops = attest_find(kinds[p->attest]);
	struct attest_conf ac = {.trust = NULL};
	struct err e = {0};
	void *self = NULL;

	if (conf_file_load_attest_ca(p, &e) != 0) {
		check_problem(c, p->line, "provider \"%s\": %s", p->name, e.msg);
		return;
	}
	if (ops == NULL)
		return;
	ac.trust = p->attest_ca;
	ac.trust_len = p->attest_ca != NULL ? strlen(p->attest_ca) : 0;
	if (ops->open(&self, &ac, &e) != 0)
		check_problem(c, p->line, "provider \"%s\": attest_ca_file: %s", p->name, e.msg);
	else
		ops->close(self);
}

static void check_nodes(struct check *c, struct conf *conf)
{
	if (conf->nodes.listen[0] == '\0' && conf->secrets.release != CONF_USER_DATA)
		return;
	check_readable(c, conf->nodes.line, "nodes: node_init", conf->nodes.node_init);
	for (size_t i = 0; i < conf->nproviders; i++) {
		struct conf_provider *p = &conf->providers[i];
		struct str s;

		if (p->attest == CONF_ATTEST_OFF)
			continue;
		check_attest(c, p);
		if (p->attest != CONF_ATTEST_ADDRESS)
			continue;
		str_init(&s, CHECK_PROBLEM_MAX);
		str_addf(&s,
			 "note: %s:%d: provider \"%s\": attest = address is weak: whoever can use "
			 "the "
			 "address of a machine that boots gets the cluster's keys",
			 conf->path, p->line, p->name);
		check_say(stderr, s.p);
		str_fini(&s);
	}
}

unsigned check_run(const char *path)
{
	struct check c = {.problems = 0};
	struct conf *conf;
	struct err e;

	if (conf_file_load(&conf, path, provider_options, &e) != 0) {
		check_say(stderr, e.msg);
		return 1;
	}
	c.conf = conf;
	check_become_burstd(&c);
	check_state_dir(&c);
	check_journal(&c);
	check_spool(&c);
	check_programs(&c);
	check_secrets(&c);
	check_nodes(&c, conf);
	for (size_t i = 0; i < conf->npools; i++) {
		check_jurisdictions(&c, &conf->pools[i]);
		check_limits(&c, &conf->pools[i]);
	}
	for (size_t i = 0; i < conf->nalerts; i++)
		check_alert(&c, &conf->alerts[i]);
	for (size_t i = 0; i < conf->nproviders; i++)
		check_provider(&c, &conf->providers[i]);
	conf_free(conf);
	return c.problems;
}
