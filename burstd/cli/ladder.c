#include "cli/ladder.h"

#include <inttypes.h>
#include <string.h>

#include "base/fmt.h"
#include "cli/cli.h"
#include "cli/table.h"
#include "core/conf.h"
#include "core/terms.h"

enum { PLACE_SIZE = 160, NAME_SIZE = 80, TERMS_SIZE = 400 };

char *ladder_money(char *out, const json_t *object, const char *key, const char *currency)
{
	char money[OUT_MONEY_SIZE];

	(void)snprintf(out, OUT_MONEY_SIZE + 4, "%s %.3s", out_money(money, cli_text(object, key)),
		       currency);
	return out;
}

/* "2nd" */
static void add_turn(struct table *t, int64_t n)
{
	static const char *const ends[] = {"th", "st", "nd", "rd"};
	bool teen = n % 100 >= 11 && n % 100 <= 13;
	char text[FMT_U64_SIZE + 2];

	(void)snprintf(text, sizeof(text), "%" PRId64 "%s", n,
		       ends[!teen && n % 10 <= 3 ? n % 10 : 0]);
	table_add(t, n == 1 ? OUT_GOOD : OUT_PLAIN, n > 0 ? text : "");
}

/* The name of a zone has that of its region in it, as a rule. */
static void add_place(struct table *t, const json_t *rung)
{
	const char *region = cli_text(rung, "region"), *zone = cli_text(rung, "zone");
	bool within = strncmp(zone, region, strlen(region)) == 0;
	char text[PLACE_SIZE];

	(void)snprintf(text, sizeof(text), "%.70s%s%.70s", within ? "" : region,
		       within || zone[0] == '\0' ? "" : "/", zone);
	table_add(t, OUT_PLAIN, text);
}

static void add_rung(struct table *t, const json_t *rung)
{
	char nodes[FMT_U64_SIZE], price[OUT_MONEY_SIZE];
	const char *nano = cli_text(rung, "price");

	add_turn(t, cli_int(rung, "place"));
	table_add(t, OUT_BOLD, cli_text(rung, "offer"));
	table_add(t, OUT_PLAIN, cli_text(rung, "provider"));
	table_add(t, OUT_PLAIN, cli_text(rung, "type"));
	add_place(t, rung);
	table_add(t, OUT_PLAIN, cli_text(rung, "market"));
	table_add(t, OUT_PLAIN, nano[0] != '\0' ? out_money(price, nano) : "?");
	table_add(t, OUT_PLAIN, fmt_i64(nodes, cli_int(rung, "nodes")));
}

/* "  spot-a: " */
static void print_name(const struct out *o, const json_t *rung)
{
	(void)fputs("  ", o->f);
	out_text(o, OUT_BOLD, cli_text(rung, "offer"));
	(void)fputs(cli_text(rung, "offer")[0] != '\0' ? ": " : "", o->f);
}

static void print_why(const struct out *o, const json_t *rung)
{
	const char *why = cli_text(rung, "why");
	bool half = strcmp(cli_text(rung, "state"), "half-open") == 0;

	if (why[0] == '\0' && half)
		why = "cooled down: one purchase at a time is tried";
	if (why[0] == '\0')
		return;
	print_name(o, rung);
	out_text(o, OUT_PLAIN, why);
	(void)fputc('\n', o->f);
}

static void print_fabric(const struct out *o, const json_t *rung)
{
	const char *fabric = cli_text(rung, "fabric");

	if (fabric[0] == '\0')
		return;
	print_name(o, rung);
	if (strcmp(fabric, CONF_FABRIC_JOB) == 0) {
		(void)fputs("a fabric for each job of several nodes\n", o->f);
	} else if (strcmp(fabric, CONF_FABRIC_UNIT) == 0) {
		(void)fputs("a fabric for each placement unit\n", o->f);
	} else {
		(void)fputs("all on fabric ", o->f);
		out_text(o, OUT_PLAIN, fabric);
		(void)fputc('\n', o->f);
	}
}

/* What an admin would choose an offer by; that it takes user-data is the rule. */
static void print_terms(const struct out *o, const json_t *rung)
{
	const bool none = strcmp(cli_text(rung, "user_data"), "none") == 0;
	struct provider_terms t = {.quantum_ms = cli_int(rung, "quantum_ms"),
				   .minimum_ms = cli_int(rung, "minimum_ms"),
				   .data = none ? PROVIDER_DATA_NONE : PROVIDER_DATA_UNSAID};
	struct str s;

	if (t.minimum_ms == 0 && json_object_get(rung, "minimum_ms") != NULL)
		t.minimum_ms = PROVIDER_NO_MINIMUM;
	(void)snprintf(t.interconnect, sizeof(t.interconnect), "%s",
		       cli_text(rung, "interconnect"));
	str_init(&s, TERMS_SIZE);
	terms_print(&t, &s);
	if (s.len > 0) {
		print_name(o, rung);
		out_text(o, OUT_PLAIN, s.p + strlen("; "));
		(void)fputc('\n', o->f);
	}
	str_fini(&s);
}

void ladder_print(const struct out *o, const json_t *pool)
{
	static const struct table_column columns[] = {
		{"TRY", true},    {"OFFER", false},  {"PROVIDER", false}, {"TYPE", false},
		{"PLACE", false}, {"MARKET", false}, {"PER HOUR", true},  {"NODES", true},
	};
	struct table t;
	const json_t *rung;

	table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; (rung = cli_row(pool, "offers", i)) != NULL; i++)
		add_rung(&t, rung);
	table_print(&t, o, 2);
	table_fini(&t);
	for (size_t i = 0; (rung = cli_row(pool, "offers", i)) != NULL; i++)
		print_fabric(o, rung);
	for (size_t i = 0; (rung = cli_row(pool, "offers", i)) != NULL; i++)
		print_terms(o, rung);
	for (size_t i = 0; (rung = cli_row(pool, "offers", i)) != NULL; i++)
		print_why(o, rung);
	if (cli_int(pool, "others") > 0)
		(void)fprintf(o->f,
			      "  %" PRId64 " more nodes are of offers that the configuration does "
			      "not have any more\n",
			      cli_int(pool, "others"));
	if (cli_text(pool, "probes")[0] != '\0') {
		(void)fputs("  ", o->f);
		out_text(o, OUT_BUSY, cli_text(pool, "probes"));
		(void)fputc('\n', o->f);
	}
	if (json_is_false(json_object_get(pool, "listed")))
		(void)fputs("  nothing is bought before each of its providers has listed its "
			    "instances\n",
			    o->f);
}

static void print_title(const struct out *o, const char *title)
{
	(void)fputs("\n  ", o->f);
	out_text(o, OUT_DIM, title);
	(void)fputc('\n', o->f);
}

static void print_refusal(const struct out *o, const json_t *rung, const json_t *said,
			  int64_t now_ms)
{
	char ago[OUT_AGO_SIZE];
	int64_t n = cli_int(said, "nodes");
	const char *words = cli_text(said, "words");

	print_name(o, rung);
	(void)fprintf(o->f,
		      "%s ago, %" PRId64 " %s: ", out_age(ago, cli_int(said, "at_ms"), now_ms), n,
		      n == 1 ? "node" : "nodes");
	out_text(o, OUT_PLAIN, cli_text(said, "reason"));
	(void)fputs(words[0] != '\0' ? ": " : "", o->f);
	out_text(o, OUT_PLAIN, words);
	(void)fputc('\n', o->f);
}

void ladder_print_refusals(const struct out *o, const json_t *pool, int64_t now_ms)
{
	const json_t *rung, *said;
	bool any = false;

	for (size_t i = 0; (rung = cli_row(pool, "offers", i)) != NULL; i++)
		for (size_t k = 0; (said = cli_row(rung, "refusals", k)) != NULL; k++) {
			if (!any)
				print_title(o, "refused lately");
			any = true;
			print_refusal(o, rung, said, now_ms);
		}
}
