#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/hostlist.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/table.h"
#include "core/hops.h"
#include "core/node.h"

enum {
	PAGES_MAX = 100000, /* of one list: more than there can be nodes */
	STATES_MAX = 256,   /* bytes of their names */
};

struct nodes_args {
	const char *pool, *state;
	bool all;
};

static const struct nodes_args nodes_initial = {NULL, NULL, false};

static const struct opt nodes_opts[] = {
	{"pool", 'p', OPT_TEXT, "POOL", "only nodes of this pool",
	 offsetof(struct nodes_args, pool), 0, 0},
	{"state", 's', OPT_TEXT, "STATE", "only nodes in this state",
	 offsetof(struct nodes_args, state), 0, 0},
	{"all", 'a', OPT_FLAG, NULL, "also nodes that are off", offsetof(struct nodes_args, all), 0,
	 0},
};

static enum out_style style_of(const char *state)
{
	static const struct {
		const char *state;
		enum out_style style;
	} styles[] = {
		{"ready", OUT_GOOD},   {"wanted", OUT_BUSY},     {"creating", OUT_BUSY},
		{"booting", OUT_BUSY}, {"draining", OUT_BUSY},   {"indoubt", OUT_BAD},
		{"deleting", OUT_DIM}, {"quarantined", OUT_BAD}, {"gone", OUT_DIM},
		{"none", OUT_DIM},
	};

	for (size_t i = 0; i < sizeof(styles) / sizeof(styles[0]); i++)
		if (strcmp(styles[i].state, state) == 0)
			return styles[i].style;
	return OUT_PLAIN;
}

static bool is_off(const json_t *node)
{
	const char *state = cli_text(node, "state");

	return strcmp(state, "none") == 0 || strcmp(state, "gone") == 0;
}

/* A phrase for a reason's word; a newer burstd may know words that we do not. */
static const char *phrase(const char *word)
{
	int reason = word[0] != '\0' ? node_reason_parse(word) : -1;

	return reason > 0 ? node_reason_text((enum node_reason)reason) : word;
}

/* Why a node, or one generation of it, was let go. */
static const char *reason_of(const json_t *row)
{
	const char *text = cli_text(row, "reason_text"); /* an older burstd has none */

	return text[0] != '\0' ? text : phrase(cli_text(row, "reason"));
}

/* Why the node was refused.  If it was let go for the same reason, more is known of that. */
static const char *refusal_of(const json_t *row)
{
	const char *refused = cli_text(row, "refused");

	return strcmp(refused, cli_text(row, "reason")) == 0 ? reason_of(row) : phrase(refused);
}

/* --- nodes ---------------------------------------------------------------------------------------
 */

/* All pages in one answer: the first, with the rows of the others added. */
static int ask_all(const struct cli *c, json_t **reply)
{
	char *after = mem_strdup("");
	int rc = CLI_OK;

	*reply = NULL;
	for (unsigned i = 0; i < PAGES_MAX && rc == CLI_OK && (i == 0 || after[0] != '\0'); i++) {
		json_t *page;

		rc = cli_ask_loudly(c, json_pack("{s:s, s:s}", "op", "nodes", "after", after),
				    &page);
		if (rc != CLI_OK)
			break;
		free(after);
		after = mem_strdup(cli_text(page, "next"));
		if (*reply == NULL) {
			*reply = page;
			(void)json_object_del(page, "next");
			continue;
		}
		(void)json_array_extend(json_object_get(*reply, "nodes"),
					json_object_get(page, "nodes"));
		json_decref(page);
	}
	free(after);
	if (rc != CLI_OK) {
		json_decref(*reply);
		*reply = NULL;
	}
	return rc;
}

/* Keep the nodes that match.  Returns how many the named pool has, in any state: at least one, if
 * it exists. */
static size_t keep_matching(json_t *reply, const struct nodes_args *a)
{
	json_t *kept = json_array();
	const json_t *node;
	size_t n = 0;

	for (size_t i = 0; (node = cli_row(reply, "nodes", i)) != NULL; i++) {
		if (a->pool != NULL && strcmp(cli_text(node, "pool"), a->pool) != 0)
			continue;
		n++;
		if (a->state != NULL && strcmp(cli_text(node, "state"), a->state) != 0)
			continue;
		(void)json_array_append(kept, (json_t *)(uintptr_t)node);
	}
	(void)json_object_set_new(reply, "nodes", kept);
	return n;
}

/* In the words that burstd has for `pause`. */
static int no_such_pool(const char *pool)
{
	char text[160];

	(void)snprintf(text, sizeof(text), "no pool is named \"%.60s\"", pool);
	return cli_complain(CLI_FAILED, text);
}

static int no_such_state(void)
{
	struct str s;
	int rc;

	str_init(&s, STATES_MAX);
	str_adds(&s, "--state: no such state; they are ");
	for (int i = 0; i < NODE_NSTATES; i++)
		str_addf(&s, "%s, ", node_state_str((enum node_state)i));
	str_adds(&s, "none");
	rc = cli_complain(CLI_USAGE, s.p);
	str_fini(&s);
	return rc;
}

static void add_note(struct table *t, const json_t *node)
{
	const char *refused = cli_text(node, "refused"), *told = cli_text(node, "told");
	const char *weak = cli_text(json_object_get(node, "boot"), "attest");
	char text[240], older[40];

	if (told[0] == '\0')
		told = reason_of(node);
	(void)snprintf(older, sizeof(older), "%d older being deleted", (int)cli_int(node, "older"));
	if (cli_int(node, "older") > 0)
		told = older;
	if (refused[0] != '\0')
		(void)snprintf(text, sizeof(text), "refused: %s", refusal_of(node));
	else if (weak[0] != '\0') /* nothing but its address was proved, or nothing */
		(void)snprintf(text, sizeof(text), "attest=%s%s%s", weak,
			       told[0] != '\0' ? "; " : "", told);
	else
		(void)snprintf(text, sizeof(text), "%s", told);
	table_add(t, refused[0] != '\0' ? OUT_BAD : OUT_PLAIN, text);
}

static void add_node(struct table *t, const json_t *node, int64_t now)
{
	const char *state = cli_text(node, "state");
	char age[OUT_AGO_SIZE], rate[OUT_MONEY_SIZE];

	table_add(t, OUT_BOLD, cli_text(node, "name"));
	table_add(t, style_of(state), state);
	table_add(t, OUT_PLAIN, out_age(age, cli_int(node, "since_ms"), now));
	table_add(t, OUT_PLAIN, cli_text(node, "pool"));
	/* Empty if the node is off: the instance would look as if it were there.  "node show" has
	 * it. */
	table_add(t, OUT_PLAIN, is_off(node) ? "" : cli_text(node, "instance"));
	table_add(t, OUT_PLAIN, is_off(node) ? "" : cli_text(node, "address"));
	table_add(t, OUT_PLAIN, is_off(node) ? "" : out_money(rate, cli_text(node, "rate")));
	table_add(t, OUT_PLAIN, cli_text(node, "slurm"));
	add_note(t, node);
}

struct summary {
	size_t shown, off, refused;
	size_t count[NODE_NSTATES];
	int64_t rate;
};

/* " (4 ready, 1 booting, 2 refused)" */
static void print_counts(const struct out *o, const struct summary *s)
{
	const char *sep = " (";

	for (int i = 0; i < NODE_NSTATES; i++) {
		if (s->count[i] == 0)
			continue;
		(void)fprintf(o->f, "%s%zu %s", sep, s->count[i],
			      i == NODE_GONE ? "off" : node_state_str((enum node_state)i));
		sep = ", ";
	}
	if (s->refused > 0)
		(void)fprintf(o->f, "%s%zu refused", sep, s->refused);
	if (s->refused > 0 || sep[0] == ',')
		(void)fputc(')', o->f);
}

static void count(struct summary *s, const json_t *node)
{
	const char *state = cli_text(node, "state");
	int i = is_off(node) ? NODE_GONE : node_state_parse(state);

	s->shown++;
	if (is_off(node) && cli_text(node, "refused")[0] != '\0')
		s->refused++;
	else if (i >= 0) /* -1: of a newer burstd */
		s->count[i]++;
}

static void print_summary(const struct out *o, const struct summary *s, const char *currency)
{
	char rate[FMT_MONEY_SIZE], money[OUT_MONEY_SIZE];

	if (s->shown == 0 && s->off > 0) {
		(void)fprintf(o->f, "all %zu nodes are off (--all shows them)\n", s->off);
		return;
	}
	(void)fprintf(o->f, "%zu %s", s->shown, s->shown == 1 ? "node" : "nodes");
	if (s->shown > 0)
		print_counts(o, s);
	if (s->rate > 0) {
		(void)fprintf(o->f, ", %s ", out_money(money, fmt_money(rate, s->rate)));
		out_text(o, OUT_PLAIN, currency);
		(void)fputs(" per hour", o->f);
	}
	if (s->off > 0)
		(void)fprintf(o->f, "; %zu more %s off (--all shows %s)", s->off,
			      s->off == 1 ? "is" : "are", s->off == 1 ? "it" : "them");
	(void)fputc('\n', o->f);
}

static void print_nodes(const struct out *o, const json_t *reply, bool all)
{
	static const struct table_column columns[] = {
		{"NODE", false},    {"STATE", false},    {"FOR", true},
		{"POOL", false},    {"INSTANCE", false}, {"ADDRESS", false},
		{"PER HOUR", true}, {"SLURM", false},    {"NOTE", false},
	};
	struct summary s = {.shown = 0};
	const json_t *node;
	struct table t;

	table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; (node = cli_row(reply, "nodes", i)) != NULL; i++) {
		int64_t rate = 0;

		if (!all && is_off(node) && cli_text(node, "refused")[0] == '\0') {
			s.off++;
			continue;
		}
		count(&s, node);
		if (fmt_money_parse(cli_text(node, "rate"), &rate, NULL) == 0)
			s.rate += rate;
		add_node(&t, node, cli_int(reply, "now_ms"));
	}
	if (s.shown > 0) {
		table_print(&t, o, 0);
		(void)fputc('\n', o->f);
	}
	print_summary(o, &s, cli_text(reply, "currency"));
	table_fini(&t);
}

static int run_nodes(const struct cli *c, const void *args, char **operands)
{
	const struct nodes_args *a = args;
	json_t *r;
	int rc;

	(void)operands;
	if (a->state != NULL && strcmp(a->state, "none") != 0 && node_state_parse(a->state) < 0)
		return no_such_state();
	rc = ask_all(c, &r);
	if (rc != CLI_OK)
		return rc;
	if (keep_matching(r, a) == 0 && a->pool != NULL)
		rc = no_such_pool(a->pool);
	else if (c->json)
		cli_print_json(c, r);
	else
		print_nodes(&c->out, r, a->all || a->state != NULL);
	json_decref(r);
	return rc;
}

const struct cli_command cmd_nodes = {
	.name = "nodes",
	.operands = "",
	.summary = "list nodes, with their states and how long they have been in them",
	.about = "Nodes that are off are only counted, unless --all or --state asks for "
		 "them.\nStates: wanted, creating, indoubt, booting, ready, draining, "
		 "deleting, quarantined; and for nodes that are off gone (was bought "
		 "before) or none (never).",
	.example = "burstctl nodes --pool h100 --state ready",
	.opts = nodes_opts,
	.nopts = sizeof(nodes_opts) / sizeof(nodes_opts[0]),
	.initial = &nodes_initial,
	.size = sizeof(nodes_initial),
	.folds = true,
	.run = run_nodes,
};

/* --- node show -----------------------------------------------------------------------------------
 */

static void print_field(const struct out *o, const char *label, const char *value, const char *unit)
{
	if (value[0] == '\0')
		return;
	(void)fputs("  ", o->f);
	out_text(o, OUT_DIM, label);
	(void)fprintf(o->f, "%*s", 12 - (int)strlen(label), "");
	out_text(o, OUT_PLAIN, value);
	out_text(o, OUT_PLAIN, unit[0] != '\0' ? " " : "");
	out_text(o, OUT_PLAIN, unit);
	(void)fputc('\n', o->f);
}

/* How the node got its keys, and its last heartbeat. */
static void print_boot(const struct out *o, const json_t *boot, int64_t now)
{
	char text[200], age[OUT_AGO_SIZE], took[FMT_DUR_SIZE];
	const char *why = cli_text(boot, "claim_why"), *weak = cli_text(boot, "attest");

	if (boot == NULL)
		return;
	(void)snprintf(text, sizeof(text), "%s%s%s%s%s", cli_text(boot, "claim"),
		       why[0] != '\0' ? ": " : "", why, weak[0] != '\0' ? ", attest=" : "", weak);
	print_field(o, "claim", text, "");
	if (cli_int(boot, "key_version") > 0) {
		(void)snprintf(
			text, sizeof(text), "version %" PRId64 "%s", cli_int(boot, "key_version"),
			json_is_true(json_object_get(boot, "old_keys")) ? ", not the current" : "");
		print_field(o, "keys", text, "");
	}
	if (cli_int(boot, "took_ms") > 0)
		print_field(o, "booted in", fmt_duration(took, cli_int(boot, "took_ms")), "");
	if (cli_int(boot, "heartbeat_ms") > 0) {
		(void)snprintf(text, sizeof(text), "%s ago%s",
			       out_age(age, cli_int(boot, "heartbeat_ms"), now),
			       json_is_true(json_object_get(boot, "faulty")) ? ", faulty" : "");
		print_field(o, "heartbeat", text, "");
	}
}

/* How close together the job's machines are, as far as it is known. */
static void print_placement(const struct out *o, const json_t *r)
{
	char text[HOPS_TEXT_SIZE + 64], far[HOPS_TEXT_SIZE];

	print_field(o, "switches", cli_text(r, "path"), "");
	if (cli_int(r, "job_placed") == 0)
		return;
	(void)snprintf(text, sizeof(text), "%" PRId64 " of its machines %s",
		       cli_int(r, "job_placed"), hops_text(far, (int)cli_int(r, "job_hops")));
	print_field(o, "placement", text, "");
}

static void print_head(const struct out *o, const json_t *r)
{
	char since[OUT_TIME_SIZE], rate[OUT_MONEY_SIZE], unit[16], job[FMT_U64_SIZE];
	const char *state = cli_text(r, "state");

	(void)snprintf(unit, sizeof(unit), "%.3s per hour", cli_text(r, "currency"));
	out_text(o, OUT_BOLD, cli_text(r, "name"));
	(void)fputs("  ", o->f);
	out_text(o, style_of(state), state);
	(void)fputs("\n  ", o->f);
	out_text(o, OUT_PLAIN, cli_text(r, "why"));
	(void)fputs("\n\n", o->f);
	print_field(o, "pool", cli_text(r, "pool"), "");
	if (cli_int(r, "unit") > 0)
		print_field(o, "unit", fmt_i64(job, cli_int(r, "unit")), "");
	print_field(o, "fabric", cli_text(r, "fabric"), "");
	print_field(o, "instance", cli_text(r, "instance"), "");
	print_field(o, "image", cli_text(r, "image"), "");
	print_field(o, "address", cli_text(r, "address"), "");
	print_field(o, "in Slurm", cli_text(r, "slurm"), "");
	if (cli_int(r, "job") > 0)
		print_field(o, "for job", fmt_i64(job, cli_int(r, "job")), "");
	print_placement(o, r);
	if (cli_int(r, "since_ms") != 0)
		print_field(o, "since", out_time(since, cli_int(r, "since_ms")), "");
	if (!is_off(r))
		print_field(o, "rate", out_money(rate, cli_text(r, "rate")), unit);
	print_boot(o, json_object_get(r, "boot"), cli_int(r, "now_ms"));
}

static void print_generations(const struct out *o, const json_t *r)
{
	static const struct table_column columns[] = {
		{"GENERATION", true}, {"STATE", false}, {"INSTANCE", false}, {"WANTED AT", false},
		{"BILLED FOR", true}, {"COST", true},   {"REASON", false},
	};
	char all[OUT_MONEY_SIZE];
	struct table t;
	const json_t *g;

	table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; (g = cli_row(r, "generations", i)) != NULL; i++) {
		int64_t end = cli_int(g, "end_ms"), wanted;
		char gen[FMT_U64_SIZE], at[OUT_TIME_SIZE], billed[OUT_AGO_SIZE],
			cost[OUT_MONEY_SIZE];

		table_add(&t, OUT_PLAIN, fmt_i64(gen, cli_int(g, "generation")));
		table_add(&t, style_of(cli_text(g, "state")), cli_text(g, "state"));
		table_add(&t, OUT_PLAIN, cli_text(g, "instance"));
		wanted = cli_int(g, "wanted_ms"); /* a bill has only the time when it began */
		table_add(&t, OUT_PLAIN,
			  out_time(at, wanted != 0 ? wanted : cli_int(g, "start_ms")));
		table_add(&t, OUT_PLAIN,
			  out_age(billed, cli_int(g, "start_ms"),
				  end != 0 ? end : cli_int(r, "now_ms")));
		table_add(&t, OUT_PLAIN, out_money(cost, cli_text(g, "cost")));
		table_add(&t, OUT_PLAIN, reason_of(g));
	}
	if (t.n > 0) {
		(void)fputc('\n', o->f);
		table_print(&t, o, 2);
	}
	table_fini(&t);
	if (cli_int(r, "left_out") > 0)
		(void)fprintf(o->f, "  and %" PRId64 " older, that cost %s %s together\n",
			      cli_int(r, "left_out"), out_money(all, cli_text(r, "left_out_cost")),
			      cli_text(r, "currency"));
}

static void print_events(const struct out *o, const json_t *r)
{
	static const struct table_column columns[] = {
		{"TIME", false}, {"GENERATION", true}, {"EVENT", false}, {"DETAIL", false}};
	struct table t;
	const json_t *ev;

	table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; (ev = cli_row(r, "events", i)) != NULL; i++) {
		char at[OUT_TIME_SIZE], gen[FMT_U64_SIZE];
		char *detail = out_people(cli_text(ev, "detail"));

		table_add(&t, OUT_PLAIN, out_time(at, cli_int(ev, "at_ms")));
		table_add(&t, OUT_PLAIN, fmt_i64(gen, cli_int(ev, "generation")));
		table_add(&t, OUT_PLAIN, cli_text(ev, "type"));
		table_add(&t, OUT_PLAIN, detail);
		free(detail);
	}
	if (t.n > 0) {
		(void)fputc('\n', o->f);
		table_print(&t, o, 2);
	}
	table_fini(&t);
}

/* What the last machine of it that did not boot wrote to its console. */
static void print_console(const struct out *o, const json_t *console)
{
	char *text = mem_strdup(cli_text(console, "text"));
	char at[OUT_TIME_SIZE], gen[FMT_U64_SIZE];

	if (text[0] == '\0') {
		free(text);
		return;
	}
	(void)fprintf(o->f, "\n  last lines on the console of generation %s, ",
		      fmt_i64(gen, cli_int(console, "generation")));
	out_text(o, OUT_PLAIN, cli_text(console, "instance"));
	(void)fprintf(o->f, ", at %s:\n", out_time(at, cli_int(console, "at_ms")));
	for (char *line = text; *line != '\0';) {
		size_t n = strcspn(line, "\n"), end = line[n] == '\n';

		line[n] = '\0';
		(void)fputs("    ", o->f);
		out_text(o, OUT_DIM, line);
		(void)fputc('\n', o->f);
		line += n + end;
	}
	free(text);
}

static void print_node(const struct cli *c, const json_t *r)
{
	print_head(&c->out, r);
	print_generations(&c->out, r);
	print_console(&c->out, json_object_get(r, "console"));
	print_events(&c->out, r);
}

static int run_node_show(const struct cli *c, const void *args, char **operands)
{
	(void)args;
	if (!hostlist_is_name(operands[0]))
		return cli_complain(CLI_USAGE, "that is not the name of a node");
	return cli_show(c, json_pack("{s:s, s:s}", "op", "node", "name", operands[0]), print_node);
}

const struct cli_command cmd_node_show = {
	.name = "node show",
	.operands = "NAME",
	.min = 1,
	.max = 1,
	.summary = "show one node: why it is in its state, what it cost, its events",
	.about = "\"burstctl node NAME\" is the same.  Of the last machine that did not boot it "
		 "shows the\nlast lines of the console, to operators, if the provider has them and "
		 "until burstd ends.",
	.example = "burstctl node show h100-1",
	.folds = true,
	.run = run_node_show,
};
