#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/ladder.h"

enum { PAGES_MAX = 1000, RULES_MAX = 4096, RULE_COLUMNS = 77 };

/* All pages in one answer: the last, which has the cooldowns, with the rows of those before it. */
static int ask_all(const struct cli *c, const char *pool, json_t **reply)
{
	char *after = mem_strdup("");
	json_t *rows = json_array();
	int rc = CLI_OK;

	*reply = NULL;
	for (unsigned i = 0; i < PAGES_MAX && (i == 0 || after[0] != '\0'); i++) {
		json_t *rq = json_pack("{s:s, s:s}", "op", "pools", "after", after);

		if (pool != NULL)
			(void)json_object_set_new(rq, "pool", json_string(pool));
		json_decref(*reply);
		rc = cli_ask_loudly(c, rq, reply);
		if (rc != CLI_OK)
			break;
		free(after);
		after = mem_strdup(cli_text(*reply, "next"));
		(void)json_array_extend(rows, json_object_get(*reply, "pools"));
	}
	free(after);
	if (rc == CLI_OK) {
		(void)json_object_set(*reply, "pools", rows);
		(void)json_object_del(*reply, "next");
	}
	json_decref(rows);
	return rc;
}

static void print_head(const struct out *o, const json_t *p, const char *currency)
{
	char rate[OUT_MONEY_SIZE], most[OUT_MONEY_SIZE + 4];

	out_text(o, OUT_BOLD, cli_text(p, "name"));
	(void)fprintf(o->f, "  %" PRId64 " of %" PRId64 " nodes, %s of ", cli_int(p, "nodes"),
		      cli_int(p, "max_nodes"), out_money(rate, cli_text(p, "rate")));
	out_text(o, OUT_PLAIN, ladder_money(most, p, "max_rate", currency));
	(void)fputs(" per hour\n", o->f);
}

/* Append a rule, on a line of its own if there is no room. */
static void add_rule(struct str *s, const char *text)
{
	const char *line = strrchr(s->p, '\n');
	size_t len = line != NULL ? strlen(line + 1) : s->len;

	if (s->len > 0)
		str_adds(s, len + strlen(text) + 2 > RULE_COLUMNS ? ",\n" : ", ");
	str_adds(s, text);
}

static void add_fallback(struct str *s, const json_t *p)
{
	int64_t refusals = cli_int(p, "fallback_refusals"), ms = cli_int(p, "fallback_ms");
	char text[100], time[FMT_DUR_SIZE];

	if (refusals == 0 && ms == 0)
		return;
	(void)snprintf(text, sizeof(text), "on-demand after ");
	if (refusals > 0)
		(void)snprintf(text + strlen(text), sizeof(text) - strlen(text), "%" PRId64 " %s%s",
			       refusals, refusals == 1 ? "refusal" : "refusals",
			       ms > 0 ? " or " : "");
	if (ms > 0)
		(void)snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s",
			       fmt_duration(time, ms));
	add_rule(s, text);
}

static void add_share(struct str *s, const json_t *p)
{
	char text[100];

	if (json_object_get(p, "spot_share") == NULL || cli_int(p, "spot_share") >= 100)
		return;
	(void)snprintf(text, sizeof(text),
		       "%" PRId64 " %% of the nodes spot at most (%" PRId64 " of %" PRId64 " are)",
		       cli_int(p, "spot_share"), cli_int(p, "spot"), cli_int(p, "nodes"));
	add_rule(s, text);
}

static void add_jurisdictions(struct str *s, const json_t *p)
{
	const json_t *list = json_object_get(p, "jurisdictions");
	struct str text;

	str_init(&text, RULES_MAX / 2);
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *code = json_string_value(json_array_get(list, i));

		str_addf(&text, "%s%s", i > 0 ? " or " : "only in ", code != NULL ? code : "");
	}
	if (text.len > 0)
		add_rule(s, text.p);
	str_fini(&text);
}

static void print_lines(const struct out *o, char *text)
{
	for (char *next; text != NULL; text = next) {
		next = strchr(text, '\n');
		if (next != NULL)
			*next++ = '\0';
		(void)fputs("  ", o->f);
		out_text(o, OUT_PLAIN, text);
		(void)fputc('\n', o->f);
	}
}

/* Print the rules by which offers are chosen, unless they are the defaults. */
static void print_rules(const struct out *o, const json_t *p)
{
	char money[OUT_MONEY_SIZE], text[OUT_MONEY_SIZE + 16];
	struct str s;

	str_init(&s, RULES_MAX);
	if (strcmp(cli_text(p, "policy"), "cheapest") == 0)
		add_rule(&s, "cheapest first");
	if (cli_text(p, "max_price")[0] != '\0') {
		(void)snprintf(text, sizeof(text), "max_price %s",
			       out_money(money, cli_text(p, "max_price")));
		add_rule(&s, text);
	}
	add_share(&s, p);
	add_fallback(&s, p);
	add_jurisdictions(&s, p);
	if (strcmp(cli_text(p, "gang"), "best_effort") == 0)
		add_rule(&s, "gang best_effort");
	if (s.len > 0)
		print_lines(o, s.p);
	str_fini(&s);
}

static void print_pool(const struct out *o, const json_t *p, const json_t *reply)
{
	print_head(o, p, cli_text(reply, "currency"));
	print_rules(o, p);
	if (cli_text(p, "blocked")[0] != '\0') {
		(void)fputs("  ", o->f);
		out_text(o, OUT_BAD, "nothing is bought: ");
		out_text(o, OUT_PLAIN, cli_text(p, "blocked"));
		(void)fputc('\n', o->f);
	}
	(void)fputc('\n', o->f);
	ladder_print(o, p);
	ladder_print_refusals(o, p, cli_int(reply, "now_ms"));
}

static int run_pools(const struct cli *c, const void *args, char **operands)
{
	const json_t *p;
	json_t *r;
	int rc = ask_all(c, operands[0], &r);

	(void)args;
	if (rc != CLI_OK)
		return rc;
	if (c->json)
		cli_print_json(c, r);
	for (size_t i = 0; !c->json && (p = cli_row(r, "pools", i)) != NULL; i++) {
		if (i > 0)
			(void)fputc('\n', c->out.f);
		print_pool(&c->out, p, r);
	}
	json_decref(r);
	return CLI_OK;
}

const struct cli_command cmd_pools = {
	.name = "pools",
	.operands = "[POOL]",
	.max = 1,
	.summary = "list the offers of pools, with prices, and why they are not tried",
	.about = "The offers of each pool in the order in which a new job without "
		 "wishes would try them, those that are left out last; below them the "
		 "reasons, and the last refusals.",
	.example = "burstctl pools h100",
	.folds = true,
	.run = run_pools,
};
