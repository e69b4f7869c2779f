/* Reads, checks, prints, compares and frees values of options, by their types in conf_option.c. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/log.h"
#include "base/mem.h"
#include "core/conf.h"
#include "core/conf_option.h"
#include "core/conf_private.h"
#include "core/conf_text.h"

enum {
	CONF_VALUE_MAX = 64 << 10, /* a list of 10,000 nodes that do not fold */
	CONF_CODES_MAX = 64,       /* jurisdictions */
};

/* Types whose value is one of a few words, in the order of their enums. */
static const struct {
	enum conf_option_type type;
	const char *words[CONF_ATTEST_AUTO + 2];
	const char *want;
} choices[] = {
	{CONF_RELEASE, {"wrap", "broker", "user-data"}, "wrap, broker or user-data"},
	{CONF_AUTH, {"munge", "slurm"}, "munge or slurm"},
	{CONF_ATTEST,
	 {"off", "aws", "gcp", "azure", "callback", "address", "auto"},
	 "aws, gcp, azure, callback, address, off or auto"},
	{CONF_MARKETS, {"on-demand", "spot", "reserved"}, "reserved, spot or on-demand"},
	{CONF_POLICY, {"ordered", "cheapest"}, "ordered or cheapest"},
	{CONF_GANG, {"all_or_nothing", "best_effort"}, "all_or_nothing or best_effort"},
	{CONF_YES, {"false", "true"}, "true or false"},
	{CONF_TO, {"batch", "steps", "full"}, "batch, steps or full"},
	{CONF_REBALANCE, {"ignore", "drain"}, "ignore or drain"},
	{CONF_ANYMARKET,
	 {"on-demand", "spot", "reserved", "any"},
	 "reserved, spot, on-demand or any"},
	{CONF_EACH, {"", "user", "account", "partition"}, "user, account, partition or \"\""},
	{CONF_RESERVE, {"full", "lease", "minimum"}, "full, lease or minimum"},
	{CONF_UNKNOWN, {"refuse", "allow"}, "refuse or allow"},
	{CONF_AWAY, {"start", "requeue"}, "start or requeue"},
	{CONF_ALERT_KIND, {"webhook", "slack", "smtp"}, "webhook, slack or smtp"},
	{CONF_BOOTSTRAP, {"user-data", "image", "ssh"}, "user-data, image or ssh"},
};
static const char *const levels[] = {
	[LOG_DEBUG] = "debug", [LOG_INFO] = "info", [LOG_WARN] = "warn", [LOG_ERROR] = "error"};

static int set_count(const struct conf_option *o, uint32_t *out, const char *text, struct err *e)
{
	const char *p = text;
	int64_t v;

	if (!conf_text_number(&p, o->max, &v) || *p != '\0' || v < o->min)
		return err_set(e, ERR_INVALID,
			       "\"%.40s\": want a number from %" PRId64 " to %" PRId64, text,
			       o->min, o->max);
	*out = (uint32_t)v;
	return 0;
}

static int set_share(const struct conf_option *o, uint32_t *out, const char *text, struct err *e)
{
	const char *p = text;
	int64_t v = 0;

	if (strcmp(text, "none") != 0 &&
	    (!conf_text_number(&p, o->max, &v) || v < o->min || strcmp(p, "%") != 0))
		return err_set(e, ERR_INVALID,
			       "\"%.40s\": want none, or a percent from %" PRId64 "%% to %" PRId64
			       "%%",
			       text, o->min, o->max);
	*out = (uint32_t)v;
	return 0;
}

/* Print so that fmt_duration_parse() reads it back, unlike fmt_duration(). */
static void print_duration(int64_t ms, struct str *out)
{
	if (ms >= CONF_DAY_MS && ms % CONF_DAY_MS == 0)
		str_addf(out, "%" PRId64 "d", ms / CONF_DAY_MS);
	else if (ms >= CONF_HOUR_MS && ms % CONF_HOUR_MS == 0)
		str_addf(out, "%" PRId64 "h", ms / CONF_HOUR_MS);
	else if (ms >= 60000 && ms % 60000 == 0)
		str_addf(out, "%" PRId64 "m", ms / 60000);
	else if (ms % 1000 == 0)
		str_addf(out, "%" PRId64 "s", ms / 1000);
	else
		str_addf(out, "%" PRId64 "ms", ms);
}

static int bad_range(const struct conf_option *o, const char *text, struct err *e)
{
	struct str range;

	str_init(&range, 64);
	print_duration(o->min, &range);
	str_adds(&range, " to ");
	print_duration(o->max, &range);
	(void)err_set(e, ERR_INVALID, "\"%.40s\": want %s", text, range.p);
	str_fini(&range);
	return -1;
}

static int set_duration(const struct conf_option *o, int64_t *out, const char *text, struct err *e)
{
	const char *unit = text + strspn(text, "0123456789");
	bool one = unit > text && (strcmp(unit, "ms") == 0 ||
				   (strlen(unit) == 1 && strchr("smhd", unit[0]) != NULL));
	int64_t v;

	if (unit > text && unit[0] == '\0')
		return err_set(e, ERR_INVALID,
			       "\"%.40s\": want a unit behind the number: ms, s, m, h or d", text);
	if (!one)
		return err_set(e, ERR_INVALID,
			       "\"%.40s\": want one number and one unit, such as 30s, 15m or 24h",
			       text);
	if (fmt_duration_parse(text, &v, NULL) < 0 || v < o->min || v > o->max)
		return bad_range(o, text, e);
	*out = v;
	return 0;
}

static int set_money(const struct conf_option *o, int64_t *out, const char *text, struct err *e)
{
	int64_t v = 0;

	if (text[0] != '\0' && fmt_money_parse(text, &v, e) < 0)
		return -1;
	if (o->type == CONF_LIMIT && text[0] == '\0')
		return err_set(e, ERR_INVALID, "want an amount; \"0\" buys nothing");
	if (o->type == CONF_MONEY && text[0] != '\0' && v == 0)
		return err_set(e, ERR_INVALID, "want more than 0, or \"\"");
	*out = v;
	return 0;
}

/* A day before 1970 would be no time at all. */
static int set_date(int64_t *out, const char *text, struct err *e)
{
	static const char shape[] = "0000-00-00";
	char time[FMT_TIME_SIZE];
	int64_t v = 0;

	for (size_t i = 0; text[0] != '\0' && i < sizeof(shape); i++)
		if (shape[i] == '0' ? text[i] < '0' || text[i] > '9' : text[i] != shape[i])
			return err_set(e, ERR_INVALID, "\"%.40s\": want a day such as 2026-11-01",
				       text);
	(void)snprintf(time, sizeof(time), "%.10sT00:00:00Z", text);
	if (text[0] != '\0' && (fmt_time_parse(time, &v, NULL) < 0 || v <= 0))
		return err_set(e, ERR_INVALID, "\"%.40s\": there is no such day", text);
	*out = v;
	return 0;
}

static void print_date(int64_t ms, struct str *out)
{
	char time[FMT_TIME_SIZE];

	if (ms != 0)
		str_addf(out, "%.10s", fmt_time(time, ms));
}

static int set_level(int *out, const char *text, struct err *e)
{
	int level = log_level_parse(text);

	if (level < 0)
		return err_set(e, ERR_INVALID, "\"%.40s\": want debug, info, warn or error", text);
	*out = level;
	return 0;
}

static int set_market(bool *out, const char *text, struct err *e)
{
	if (strcmp(text, "on-demand") != 0 && strcmp(text, "spot") != 0)
		return err_set(e, ERR_INVALID, "\"%.40s\": want on-demand or spot", text);
	*out = text[0] == 's';
	return 0;
}

static size_t choice_of(enum conf_option_type type)
{
	for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++)
		if (choices[i].type == type)
			return i;
	abort(); /* asked about a type that is no choice */
}

static int set_choice(const struct conf_option *o, int *out, const char *text, struct err *e)
{
	size_t i = choice_of(o->type);

	for (int k = 0; choices[i].words[k] != NULL; k++)
		if (strcmp(choices[i].words[k], text) == 0) {
			*out = k;
			return 0;
		}
	return err_set(e, ERR_INVALID, "\"%.40s\": want %s", text, choices[i].want);
}

static int set_currency(char *out, const char *text, struct err *e)
{
	if (!conf_text_is_currency(text))
		return err_set(e, ERR_INVALID, "\"%.40s\": want three capital letters such as EUR",
			       text);
	memcpy(out, text, 4);
	return 0;
}

static int set_text(const struct conf_option *o, char **out, const char *text, struct err *e)
{
	bool empty = text[0] == '\0' && o->initial != NULL && o->initial[0] == '\0';

	if (!empty && conf_text_check(o->type, text, e) < 0)
		return -1;
	free(*out);
	*out = empty && (o->type == CONF_PATH || o->type == CONF_SECRET) ? NULL : mem_strdup(text);
	return 0;
}

int conf_option_set(const struct conf_option *o, void *object, const char *text, struct err *e)
{
	void *field = (char *)object + o->offset;

	if (strlen(text) > CONF_VALUE_MAX)
		return err_set(e, ERR_LIMIT, "longer than %d bytes", CONF_VALUE_MAX);
	if (!conf_text_is_plain(text))
		return err_set(e, ERR_INVALID,
			       "contains a control character, a quote, a backslash or \"${\"");
	switch (o->type) {
	case CONF_CURRENCY:
		return set_currency(field, text, e);
	case CONF_LEVEL:
		return set_level(field, text, e);
	case CONF_MARKET:
		return set_market(field, text, e);
	case CONF_COUNT:
		return set_count(o, field, text, e);
	case CONF_SHARE:
		return set_share(o, field, text, e);
	case CONF_DURATION:
		return set_duration(o, field, text, e);
	case CONF_DATE:
		return set_date(field, text, e);
	case CONF_MONEY:
	case CONF_LIMIT:
		return set_money(o, field, text, e);
	case CONF_MARKETS:
	case CONF_POLICY:
	case CONF_GANG:
	case CONF_YES:
	case CONF_TO:
	case CONF_REBALANCE:
	case CONF_BOOTSTRAP:
	case CONF_RELEASE:
	case CONF_AUTH:
	case CONF_ATTEST:
	case CONF_EACH:
	case CONF_RESERVE:
	case CONF_UNKNOWN:
	case CONF_AWAY:
	case CONF_ALERT_KIND:
	case CONF_ANYMARKET:
		return set_choice(o, field, text, e);
	case CONF_USERS:
	case CONF_GROUPS:
	case CONF_ARGV:
	case CONF_HOOK:
	case CONF_CODES:
	case CONF_URLS:
	case CONF_HOSTS:
	case CONF_NAMES:
	case CONF_MAILS:
	case CONF_PERCENTS:
		assert(!conf_option_is_list(o));
		return -1;
	default:
		return set_text(o, field, text, e);
	}
}

static void print_ids(const struct conf_ids *ids, struct str *out)
{
	for (size_t i = 0; i < ids->n; i++)
		str_addf(out, "%s\"%" PRIu32 "\"", i > 0 ? ", " : "", ids->v[i]);
}

/* Is each % followed by one of these letters?  A lone one is a mistake. */
static bool is_template(const char *text, const char *letters)
{
	for (const char *p = strchr(text, '%'); p != NULL; p = strchr(p + 2, '%'))
		if (p[1] == '\0' || strchr(letters, p[1]) == NULL)
			return false;
	return true;
}

static int check_arg(const struct conf_option *o, const char *text, size_t n, struct err *e)
{
	bool hook = o->type == CONF_HOOK;

	if (n == CONF_ARGS_MAX || strlen(text) > CONF_ARG_MAX)
		return err_set(e, ERR_LIMIT, "more than %d words, or a word of more than %d bytes",
			       CONF_ARGS_MAX, CONF_ARG_MAX);
	if (n == 0 && text[0] != '/')
		return err_set(e, ERR_INVALID,
			       "\"%.40s\": want the absolute path of a program first", text);
	if (!conf_text_is_plain(text) || text[0] == '\0')
		return err_set(
			e, ERR_INVALID,
			"a word is empty or contains a control character, a quote, a backslash "
			"or \"${\"");
	if (!is_template(text, hook ? "jnd%" : "na%") || (n == 0 && strchr(text, '%') != NULL))
		return err_set(
			e, ERR_INVALID,
			"\"%.40s\": only %s and %%%% are allowed, and none in the program's path",
			text, hook ? "%j, %n, %d" : "%n, %a");
	return 0;
}

/* Check one more member of a list without repeats. */
static int check_member(const struct conf_option *o, char *const *have, const char *text, size_t n,
			struct err *e)
{
	size_t most = o->type == CONF_CODES   ? CONF_CODES_MAX
		      : o->type == CONF_NAMES ? CONF_BUDGET_LIST_MAX
		      : o->type == CONF_MAILS ? CONF_ALERT_TO_MAX
					      : CONF_NODE_URLS_MAX;

	if (n == most)
		return err_set(e, ERR_LIMIT, "more than %zu values", most);
	if (o->type == CONF_CODES ? conf_text_code(text, e) < 0
				  : conf_text_check(o->type, text, e) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (strcmp(have[i], text) == 0)
			return err_set(e, ERR_INVALID, "%s is listed twice", text);
	return 0;
}

static int add_percent(const struct conf_option *o, struct conf_percents *out, const char *text,
		       struct err *e)
{
	uint32_t v = 0;

	if (out->n == CONF_NOTIFY_MAX)
		return err_set(e, ERR_LIMIT, "more than %d values", CONF_NOTIFY_MAX);
	if (set_count(o, &v, text, e) < 0)
		return -1;
	if (out->n > 0 && v <= out->at[out->n - 1])
		return err_set(e, ERR_INVALID, "%" PRIu32 " behind %" PRIu32 ": want them to grow",
			       v, out->at[out->n - 1]);
	out->at[out->n++] = v;
	return 0;
}

int conf_option_add_arg(const struct conf_option *o, void *object, const char *text, struct err *e)
{
	char ***field = (char ***)(void *)((char *)object + o->offset);
	size_t n = 0;

	assert(conf_option_is_list(o) && o->type != CONF_USERS && o->type != CONF_GROUPS);
	if (o->type == CONF_PERCENTS)
		return add_percent(o, (struct conf_percents *)(void *)field, text, e);
	while (*field != NULL && (*field)[n] != NULL)
		n++;
	if (o->type == CONF_ARGV || o->type == CONF_HOOK ? check_arg(o, text, n, e) < 0
							 : check_member(o, *field, text, n, e) < 0)
		return -1;
	*field = mem_realloc(*field, (n + 2) * sizeof(**field));
	(*field)[n] = mem_strdup(text);
	(*field)[n + 1] = NULL;
	return 0;
}

static void print_argv(char *const *argv, struct str *out)
{
	for (size_t i = 0; argv != NULL && argv[i] != NULL; i++)
		str_addf(out, "%s\"%s\"", i > 0 ? ", " : "", argv[i]);
}

static void print_percents(const struct conf_percents *p, struct str *out)
{
	for (size_t i = 0; i < p->n; i++)
		str_addf(out, "%s\"%" PRIu32 "\"", i > 0 ? ", " : "", p->at[i]);
}

static void print_share(uint32_t share, struct str *out)
{
	if (share == 0)
		str_adds(out, "none");
	else
		str_addf(out, "%" PRIu32 "%%", share);
}

static void free_argv(char **argv)
{
	for (size_t i = 0; argv != NULL && argv[i] != NULL; i++)
		free(argv[i]);
	free(argv);
}

void conf_option_print(const struct conf_option *o, const void *object, struct str *out)
{
	const void *field = (const char *)object + o->offset;
	char money[FMT_MONEY_SIZE];
	int64_t v;

	switch (o->type) {
	case CONF_CURRENCY:
		str_adds(out, field);
		return;
	case CONF_LEVEL:
		str_adds(out, levels[*(const int *)field]);
		return;
	case CONF_MARKET:
		str_adds(out, *(const bool *)field ? "spot" : "on-demand");
		return;
	case CONF_COUNT:
		str_addf(out, "%" PRIu32, *(const uint32_t *)field);
		return;
	case CONF_SHARE:
		print_share(*(const uint32_t *)field, out);
		return;
	case CONF_PERCENTS:
		print_percents(field, out);
		return;
	case CONF_DURATION:
		print_duration(*(const int64_t *)field, out);
		return;
	case CONF_DATE:
		print_date(*(const int64_t *)field, out);
		return;
	case CONF_MONEY:
	case CONF_LIMIT:
		v = *(const int64_t *)field;
		str_adds(out, v == 0 && o->type == CONF_MONEY ? "" : fmt_money(money, v));
		return;
	case CONF_USERS:
	case CONF_GROUPS:
		print_ids(field, out);
		return;
	case CONF_ARGV:
	case CONF_HOOK:
	case CONF_CODES:
	case CONF_URLS:
	case CONF_HOSTS:
	case CONF_NAMES:
	case CONF_MAILS:
		print_argv(*(char *const *const *)field, out);
		return;
	case CONF_MARKETS:
	case CONF_POLICY:
	case CONF_GANG:
	case CONF_YES:
	case CONF_TO:
	case CONF_REBALANCE:
	case CONF_BOOTSTRAP:
	case CONF_RELEASE:
	case CONF_AUTH:
	case CONF_ATTEST:
	case CONF_EACH:
	case CONF_RESERVE:
	case CONF_UNKNOWN:
	case CONF_AWAY:
	case CONF_ALERT_KIND:
	case CONF_ANYMARKET:
		str_adds(out, choices[choice_of(o->type)].words[*(const int *)field]);
		return;
	default:
		str_adds(out, *(char *const *)field != NULL ? *(char *const *)field : "");
	}
}

bool conf_option_same(const struct conf_option *o, const void *a, const void *b)
{
	struct str x, y;
	bool same;

	str_init(&x, 2 * CONF_VALUE_MAX);
	str_init(&y, 2 * CONF_VALUE_MAX);
	conf_option_print(o, a, &x);
	conf_option_print(o, b, &y);
	same = strcmp(x.p, y.p) == 0;
	str_fini(&x);
	str_fini(&y);
	return same;
}

void conf_option_fini(const struct conf_option *o, void *object)
{
	void *field = (char *)object + o->offset;

	switch (o->type) {
	case CONF_NAME:
	case CONF_WORD:
	case CONF_TEXT:
	case CONF_PHRASE:
	case CONF_PATH:
	case CONF_SECRET:
	case CONF_PROGRAM:
	case CONF_URL:
	case CONF_LISTEN:
	case CONF_BIND:
	case CONF_FILE:
	case CONF_LINE:
	case CONF_NODES:
	case CONF_CODE:
	case CONF_LINKS:
	case CONF_HARDWARE:
	case CONF_GRES:
	case CONF_SIGNAL:
	case CONF_ZONE:
	case CONF_PERIOD:
	case CONF_CONTACT:
	case CONF_MAIL:
		free(*(char **)field);
		*(char **)field = NULL;
		return;
	case CONF_USERS:
	case CONF_GROUPS:
		free(((struct conf_ids *)field)->v);
		*(struct conf_ids *)field = (struct conf_ids){0};
		return;
	case CONF_ARGV:
	case CONF_HOOK:
	case CONF_CODES:
	case CONF_URLS:
	case CONF_HOSTS:
	case CONF_NAMES:
	case CONF_MAILS:
		free_argv(*(char ***)field);
		*(char ***)field = NULL;
		return;
	default:
		return;
	}
}
