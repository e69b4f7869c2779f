/* Alerts of budgets: what was told, to whom, and a test of one receiver. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/str.h"
#include "cli/cli.h"
#include "cli/table.h"

enum {
	TAIL_DEFAULT = 20,
	TAIL_MAX = 200, /* what burstd gives in one answer */
	TITLE_SIZE = 160,
	NOTE_SIZE = 320,
	SENT_MAX = 4096, /* bytes: of 16 receivers */
	LOOK_EVERY_MS = 200,
	LOOKS = 350, /* 70 seconds: a mail server may take a minute */
};

struct alerts_args {
	int64_t tail; /* -1: not given */
};

static const struct alerts_args alerts_initial = {.tail = -1};

static const struct opt alerts_opts[] = {
	{"tail", 'n', OPT_NUMBER, "COUNT", "the last COUNT alerts (default: 20)",
	 offsetof(struct alerts_args, tail), 0, TAIL_MAX},
};

/* --- the list ------------------------------------------------------------------------------------
 */

static enum out_style style_of(const json_t *x)
{
	if (cli_int(x, "failed") > 0)
		return OUT_BAD;
	return cli_int(x, "pending") > 0 || cli_text(x, "error")[0] != '\0' ? OUT_BUSY : OUT_GOOD;
}

static void print_receivers(const struct cli *c, const json_t *r)
{
	static const struct table_column columns[] = {{"ALERT", false},  {"KIND", false},
						      {"WAITING", true}, {"GIVEN UP", true},
						      {"TAKEN", false},  {"LAST ERROR", false}};
	const json_t *x;
	struct table t;

	table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; (x = cli_row(r, "receivers", i)) != NULL; i++) {
		char pending[24], failed[24], at[OUT_TIME_SIZE];

		(void)snprintf(pending, sizeof(pending), "%" PRId64, cli_int(x, "pending"));
		(void)snprintf(failed, sizeof(failed), "%" PRId64, cli_int(x, "failed"));
		table_add(&t, OUT_BOLD, cli_text(x, "name"));
		table_add(&t, OUT_PLAIN, cli_text(x, "kind"));
		table_add(&t, style_of(x), pending);
		table_add(&t, style_of(x), failed);
		table_add(&t, OUT_PLAIN, out_time(at, cli_int(x, "ok_ms")));
		table_add(&t, style_of(x), cli_text(x, "error"));
	}
	table_print(&t, &c->out, 0);
	table_fini(&t);
}

/* "80 % used up" */
static const char *what(char out[NOTE_SIZE], const json_t *a)
{
	const char *kind = cli_text(a, "kind");

	if (strcmp(kind, "used") == 0)
		(void)snprintf(out, NOTE_SIZE, "%" PRId64 " %% used up", cli_int(a, "percent"));
	else if (strcmp(kind, "stop") == 0)
		(void)snprintf(out, NOTE_SIZE, "%" PRId64 " %%: no new jobs",
			       cli_int(a, "percent"));
	else if (strcmp(kind, "beyond") == 0)
		(void)snprintf(out, NOTE_SIZE, "may be exceeded");
	else
		(void)snprintf(out, NOTE_SIZE, "%.60s", kind);
	return out;
}

/* "ops delivered, chat pending (3 tries)" */
static enum out_style sent(struct str *s, const json_t *a)
{
	enum out_style style = OUT_GOOD;
	const json_t *m;

	for (size_t i = 0; (m = cli_row(a, "messages", i)) != NULL; i++) {
		const char *state = cli_text(m, "state");
		int64_t tries = cli_int(m, "attempts");

		str_addf(s, "%s%s %s", i > 0 ? ", " : "", cli_text(m, "to"), state);
		if (strcmp(state, "delivered") == 0)
			continue;
		if (tries > 0)
			str_addf(s, " (%" PRId64 " %s)", tries, tries == 1 ? "try" : "tries");
		if (style != OUT_BAD)
			style = strcmp(state, "failed") == 0 ? OUT_BAD : OUT_BUSY;
	}
	return style;
}

static void add_alert(struct table *t, const json_t *a)
{
	const char *value = cli_text(a, "value");
	char name[TITLE_SIZE], text[NOTE_SIZE], at[OUT_TIME_SIZE];
	enum out_style style;
	struct str s;

	(void)snprintf(name, sizeof(name), "%.70s%s%.70s", cli_text(a, "budget"),
		       value[0] != '\0' ? "/" : "", value);
	str_init(&s, SENT_MAX);
	style = sent(&s, a);
	(void)snprintf(text, sizeof(text), "%" PRId64, cli_int(a, "number"));
	table_add(t, OUT_DIM, text);
	table_add(t, OUT_PLAIN, out_time(at, cli_int(a, "at_ms")));
	table_add(t, OUT_BOLD, name);
	table_add(t, OUT_PLAIN, cli_text(a, "period"));
	table_add(t, OUT_PLAIN, what(text, a));
	table_add(t, style, s.p);
	str_fini(&s);
}

static void show(const struct cli *c, const json_t *r)
{
	static const struct table_column columns[] = {{"NUMBER", true},  {"TIME", false},
						      {"BUDGET", false}, {"PERIOD", false},
						      {"WHAT", false},   {"MESSAGES", false}};
	size_t n = json_array_size(json_object_get(r, "alerts"));
	struct table t;

	if (cli_row(r, "receivers", 0) == NULL)
		(void)fputs("nobody is told: burstd.conf has no section alert\n", c->out.f);
	else
		print_receivers(c, r);
	if (n == 0) {
		(void)fputs("\nno budget has passed a limit yet\n", c->out.f);
		return;
	}
	(void)fputc('\n', c->out.f);
	table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
	while (n > 0) /* the newest comes last, as in other lists */
		add_alert(&t, cli_row(r, "alerts", --n));
	table_print(&t, &c->out, 0);
	table_fini(&t);
}

static int run_alerts(const struct cli *c, const void *args, char **operands)
{
	const struct alerts_args *a = args;

	(void)operands;
	return cli_show(c,
			json_pack("{s:s, s:I}", "op", "alerts", "count",
				  (json_int_t)(a->tail >= 0 ? a->tail : TAIL_DEFAULT)),
			show);
}

/* --- a test --------------------------------------------------------------------------------------
 */

/* The receiver of that name; NULL: it is gone. */
static const json_t *receiver(const json_t *r, const char *name)
{
	const json_t *x = NULL;

	for (size_t i = 0; (x = cli_row(r, "receivers", i)) != NULL; i++)
		if (strcmp(cli_text(x, "name"), name) == 0)
			return x;
	return NULL;
}

static int say_end(const struct cli *c, const json_t *x, const char *name)
{
	char text[NOTE_SIZE];

	if (strcmp(cli_text(x, "test"), "delivered") != 0) {
		(void)snprintf(text, sizeof(text),
			       "alert %.70s: the test was not delivered: %.200s", name,
			       cli_text(x, "test_error"));
		return cli_complain(CLI_FAILED, text);
	}
	if (c->json)
		(void)fputs("{\"test\": \"delivered\"}\n", c->out.f);
	else
		(void)fprintf(c->out.f, "alert %s: the test was delivered\n", name);
	return CLI_OK;
}

static int run_test(const struct cli *c, const void *args, char **operands)
{
	const struct timespec pause = {0, LOOK_EVERY_MS * 1000000L};
	json_t *r, *rq = json_pack("{s:s}", "op", "alert-test");
	int rc;

	(void)args;
	if (json_object_set_new(rq, "alert", json_string(operands[0])) != 0) {
		json_decref(rq);
		return cli_complain(CLI_USAGE, "the name is not UTF-8");
	}
	rc = cli_ask_loudly(c, rq, &r);
	json_decref(r);
	for (int i = 0; rc == CLI_OK && i < LOOKS; i++) {
		const json_t *x;

		rc = cli_ask_loudly(c, json_pack("{s:s, s:i}", "op", "alerts", "count", 0), &r);
		if (rc != CLI_OK)
			return rc;
		x = receiver(r, operands[0]);
		if (x == NULL || strcmp(cli_text(x, "test"), "busy") != 0) {
			rc = x != NULL ? say_end(c, x, operands[0])
				       : cli_complain(CLI_FAILED, "the alert is gone: a reload");
			json_decref(r);
			return rc;
		}
		json_decref(r);
		(void)nanosleep(&pause, NULL);
	}
	return rc != CLI_OK
		       ? rc
		       : cli_complain(CLI_FAILED,
				      "the test has no end yet: see \"burstctl budget alerts\"");
}

const struct cli_command cmd_budget_alerts = {
	.name = "budget alerts",
	.operands = "",
	.summary = "list alerts of budgets, and what became of their messages",
	.about =
		"Above, those who are told: the sections alert of burstd.conf.  A message is tried "
		"for a day; one that was given up is among the problems of \"burstctl status\" for "
		"a week.",
	.example = "burstctl budget alerts -n 50",
	.opts = alerts_opts,
	.nopts = sizeof(alerts_opts) / sizeof(alerts_opts[0]),
	.initial = &alerts_initial,
	.size = sizeof(alerts_initial),
	.folds = true,
	.run = run_alerts,
};

const struct cli_command cmd_budget_alert_test = {
	.name = "budget alert-test",
	.operands = "ALERT",
	.min = 1,
	.max = 1,
	.summary = "send a test message by a section alert, and say whether it was taken",
	.about = "The message says that it is a test.  It is tried once.",
	.example = "burstctl budget alert-test ops",
	.run = run_test,
};
