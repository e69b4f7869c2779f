#include "cli/budget.h"

#include <inttypes.h>
#include <string.h>

#include "base/clamp.h"
#include "base/fmt.h"
#include "cli/cli.h"
#include "cli/table.h"

enum {
	PAGES_MAX = 1000,
	NOTE_SIZE = 200,
	ID_SIZE = 32,
	BAR_COLUMNS = 10, /* in a table of 80 columns */
	NEARLY = 80,      /* percent */
	WORDS_MAX = 65536,
};

/* --- asking --------------------------------------------------------------------------------------
 */

int budget_ask_all(const struct cli *c, json_t *rq, json_t **reply)
{
	bool more = true;
	int rc = CLI_OK;

	*reply = NULL;
	for (unsigned i = 0; i < PAGES_MAX && more && rc == CLI_OK; i++) {
		json_t *page = NULL;

		rc = cli_ask_loudly(c, json_deep_copy(rq), &page);
		if (rc != CLI_OK)
			break;
		more = cli_text(page, "next")[0] != '\0';
		(void)json_object_set_new(rq, "after", json_string(cli_text(page, "next")));
		(void)json_object_set_new(rq, "after_value",
					  json_string(cli_text(page, "next_value")));
		if (*reply == NULL) {
			*reply = json_incref(page);
			(void)json_object_del(page, "next");
			(void)json_object_del(page, "next_value");
		} else {
			(void)json_array_extend(json_object_get(*reply, "budgets"),
						json_object_get(page, "budgets"));
		}
		json_decref(page);
	}
	json_decref(rq);
	if (rc == CLI_OK)
		return CLI_OK;
	json_decref(*reply);
	*reply = NULL;
	return rc;
}

/* --- amounts -------------------------------------------------------------------------------------
 */

bool budget_has_amount(const json_t *b)
{
	return cli_text(b, "amount")[0] != '\0';
}

/* An amount, maybe below zero; 0: it is none. */
int64_t budget_nano(const json_t *b, const char *key)
{
	const char *text = cli_text(b, key);
	bool minus = text[0] == '-';
	int64_t nano;

	if (fmt_money_parse(text + minus, &nano, NULL) != 0)
		return 0;
	return minus ? -nano : nano;
}

/* How much of the amount that is, in percent, or in other parts of it; rounded down, at least 0. */
static int64_t part_of(const json_t *b, int64_t nano, int64_t parts)
{
	int64_t amount = budget_nano(b, "amount");

	if (nano <= 0)
		return 0;
	if (amount <= 0) /* nothing may be spent */
		return parts;
	if (nano <= INT64_MAX / parts)
		return nano * parts / amount;
	return nano / (amount >= parts ? amount / parts : 1);
}

static int64_t taken(const json_t *b)
{
	return clamp_add(budget_nano(b, "spent"), budget_nano(b, "held"));
}

int64_t budget_percent(const json_t *b)
{
	return part_of(b, taken(b), BUDGET_FULL);
}

enum out_style budget_style(int64_t percent)
{
	return percent >= BUDGET_FULL ? OUT_BAD : percent >= NEARLY ? OUT_BUSY : OUT_GOOD;
}

/* "#####===..": what is spent, what is set aside, what is left. */
const char *budget_draw(char *out, const json_t *b, int64_t columns)
{
	int64_t spent = part_of(b, budget_nano(b, "spent"), columns);
	int64_t all = part_of(b, taken(b), columns);

	for (int64_t i = 0; i < columns; i++)
		out[i] = i < spent ? '#' : i < all ? '=' : '.';
	out[columns] = '\0';
	return out;
}

const char *budget_title(char out[BUDGET_TITLE_SIZE], const json_t *b)
{
	const char *value = cli_text(b, "value");

	(void)snprintf(out, BUDGET_TITLE_SIZE, "%.70s%s%.70s", cli_text(b, "name"),
		       value[0] != '\0' ? "/" : "", value);
	return out;
}

/* --- tables --------------------------------------------------------------------------------------
 */

static void add_money(struct table *t, const json_t *b, const char *key)
{
	char money[OUT_MONEY_SIZE];
	const char *text = cli_text(b, key);

	table_add(t, text[0] == '-' ? OUT_BAD : OUT_PLAIN,
		  text[0] != '\0' ? out_money(money, text) : "");
}

/* Of a range, which is long, its last day: "to 2026-06-30". */
static void add_period(struct table *t, const json_t *b)
{
	const char *name = cli_text(json_object_get(b, "period"), "name");
	const char *dots = strstr(name, "..");
	char text[NOTE_SIZE];

	(void)snprintf(text, sizeof(text), "%s%.60s", dots != NULL ? "to " : "",
		       dots != NULL ? dots + 2 : name);
	table_add(t, OUT_PLAIN, text);
}

static void add_budget(struct table *t, const json_t *b)
{
	char name[BUDGET_TITLE_SIZE];

	table_add(t, OUT_BOLD, budget_title(name, b));
	add_period(t, b);
	add_money(t, b, "amount");
	add_money(t, b, "spent");
	add_money(t, b, "held");
	add_money(t, b, "left");
}

static void add_bar(struct table *t, const json_t *b)
{
	char bar[BAR_COLUMNS + 1], text[BAR_COLUMNS + 32];
	int64_t percent = budget_percent(b);

	if (!budget_has_amount(b)) {
		table_add(t, OUT_PLAIN, "");
		return;
	}
	(void)snprintf(text, sizeof(text), "%s %3" PRId64 "%%", budget_draw(bar, b, BAR_COLUMNS),
		       percent);
	table_add(t, budget_style(percent), text);
}

void budget_print_table(const struct out *o, const json_t *r)
{
	static const struct table_column columns[] = {
		{"BUDGET", false},   {"PERIOD", false}, {"AMOUNT", true}, {"SPENT", true},
		{"SET ASIDE", true}, {"LEFT", true},    {"TAKEN", false}};
	const json_t *b;
	struct table t;

	table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; (b = cli_row(r, "budgets", i)) != NULL; i++) {
		add_budget(&t, b);
		add_bar(&t, b);
	}
	table_print(&t, o, 0);
	table_fini(&t);
}

/* What the table does not say of a budget: "2 jobs wait for money". */
static void add_part(struct str *s, const char *text)
{
	str_addf(s, "%s%s", s->len > 0 ? "; " : "", text);
}

static void add_rate(struct str *s, const json_t *b, const char *currency)
{
	char now[OUT_MONEY_SIZE], most[OUT_MONEY_SIZE], text[NOTE_SIZE];

	if (cli_text(b, "rate_limit")[0] == '\0')
		return;
	(void)snprintf(text, sizeof(text), "%s of %s %.3s per hour in use",
		       out_money(now, cli_text(b, "rate")),
		       out_money(most, cli_text(b, "rate_limit")), currency);
	add_part(s, text);
}

void budget_add_waiting(struct str *s, const json_t *b)
{
	int64_t n = cli_int(b, "waiting");
	char text[NOTE_SIZE];

	if (n == 0)
		return;
	(void)snprintf(text, sizeof(text), "%" PRId64 " %s for money%s%.100s", n,
		       n == 1 ? "job waits" : "jobs wait",
		       cli_text(b, "contact")[0] != '\0' ? ": ask " : "", cli_text(b, "contact"));
	add_part(s, text);
}

void budget_add_set(struct str *s, const json_t *b)
{
	const json_t *set = json_object_get(b, "set");
	char money[OUT_MONEY_SIZE], until[OUT_TIME_SIZE], text[NOTE_SIZE], id[ID_SIZE] = "";
	int64_t end = cli_int(set, "until_ms");

	if (set == NULL)
		return;
	if (cli_int(set, "id") != 0)
		(void)snprintf(id, sizeof(id), ", override %" PRId64, cli_int(set, "id"));
	(void)snprintf(text, sizeof(text), "set to %s%s%.60s%s%s%s",
		       out_money(money, cli_text(set, "amount")),
		       cli_text(set, "by")[0] != '\0' ? " by " : "", cli_text(set, "by"),
		       end != 0 ? " until " : "", end != 0 ? out_time(until, end) : "", id);
	add_part(s, text);
}

static void add_later(struct str *s, const json_t *b)
{
	char money[OUT_MONEY_SIZE], text[NOTE_SIZE];

	if (budget_nano(b, "later") <= 0)
		return;
	(void)snprintf(text, sizeof(text), "%s of the next period set aside",
		       out_money(money, cli_text(b, "later")));
	add_part(s, text);
}

static void add_when(struct str *s, const json_t *b)
{
	const char *when = cli_text(b, "when");

	if (strcmp(when, "over") == 0)
		add_part(s, "its period is over");
	else if (strcmp(when, "not-yet") == 0)
		add_part(s, "its period has not begun");
}

void budget_print_notes(const struct out *o, const json_t *r)
{
	char name[BUDGET_TITLE_SIZE];
	const json_t *b;
	bool first = true;

	for (size_t i = 0; (b = cli_row(r, "budgets", i)) != NULL; i++) {
		struct str s;

		str_init(&s, WORDS_MAX);
		add_when(&s, b);
		budget_add_set(&s, b);
		budget_add_waiting(&s, b);
		add_rate(&s, b, cli_text(r, "currency"));
		add_later(&s, b);
		if (s.len > 0) {
			(void)fputs(first ? "\n" : "", o->f);
			out_text(o, OUT_BOLD, budget_title(name, b));
			(void)fputs(": ", o->f);
			out_text(o, cli_int(b, "waiting") > 0 ? OUT_BUSY : OUT_PLAIN, s.p);
			(void)fputc('\n', o->f);
			first = false;
		}
		str_fini(&s);
	}
}

void budget_print_head(const struct out *o, const json_t *r)
{
	char now[OUT_TIME_SIZE];

	if (cli_text(r, "user")[0] != '\0') {
		(void)fputs("budgets of ", o->f);
		out_text(o, OUT_BOLD, cli_text(r, "user"));
		(void)fputs(", ", o->f);
	}
	(void)fprintf(o->f, "in ");
	out_text(o, OUT_PLAIN, cli_text(r, "currency"));
	(void)fprintf(o->f, ", %s\n\n", out_time(now, cli_int(r, "now_ms")));
}
