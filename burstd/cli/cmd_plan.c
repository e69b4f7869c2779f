#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/hostlist.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/text_file.h"
#include "cli/cli.h"
#include "cli/cost.h"
#include "cli/ladder.h"
#include "cli/sbatch.h"
#include "cli/table.h"
#include "core/hops.h"
#include "io/ctl_server.h"

enum { SPEC_MAX = 4096 };

struct plan_args {
	const char *spec, *pool, *partition, *list, *constraint, *jurisdiction, *max_price;
	const char *time, *comment;
	const char *job; /* its id */
	int64_t nodes;   /* 0: not said */
};

static const struct plan_args plan_initial = {.nodes = 0};

#define AT(field) offsetof(struct plan_args, field)

static const struct opt plan_opts[] = {
	{"nodes", 'n', OPT_NUMBER, "COUNT", "number of nodes (default: 1)", AT(nodes), 1,
	 HOSTLIST_NAMES_MAX},
	{"list", 'w', OPT_TEXT, "NODES", "these nodes, whatever their pools", AT(list), 0, 0},
	{"pool", 'p', OPT_TEXT, "POOL", "nodes of this pool", AT(pool), 0, 0},
	{"partition", 'P', OPT_TEXT, "PART", "nodes of any pool in this partition", AT(partition),
	 0, 0},
	{"constraint", 'C', OPT_TEXT, "WORDS", "as the job's --constraint", AT(constraint), 0, 0},
	{"jurisdiction", 0, OPT_TEXT, "CODES", "only in these places, such as EU,CH",
	 AT(jurisdiction), 0, 0},
	{"max-price", 0, OPT_TEXT, "AMOUNT", "most that one node may cost per hour", AT(max_price),
	 0, 0},
	{"time", 't', OPT_TEXT, "TIME", "as the job's --time: what it costs until then", AT(time),
	 0, 0},
	{"job", 'j', OPT_TEXT, "JOB", "for this job, by its id, or as nodes=4,constraint=spot",
	 AT(spec), 0, 0},
};

/* --- what is asked -----------------------------------------------------------------------------
 */

static const struct {
	const char *word;
	size_t at;
} words[] = {
	{"pool", AT(pool)},
	{"partition", AT(partition)},
	{"list", AT(list)},
	{"constraint", AT(constraint)},
	{"jurisdiction", AT(jurisdiction)},
	{"max_price", AT(max_price)},
};

#undef AT

static int bad_spec(const char *word)
{
	char text[200];

	(void)snprintf(text, sizeof(text),
		       "--job: \"%.60s\": want the id of a job, or words such as "
		       "nodes=4,pool=h100,constraint=spot,jurisdiction=EU,max_price=20",
		       word);
	return cli_complain(CLI_USAGE, text);
}

static const char **value_of(struct plan_args *a, const char *word)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i].word, word) == 0)
			return (const char **)(void *)((char *)a + words[i].at);
	return NULL;
}

static int take_word(struct plan_args *a, char *word)
{
	char *value = strchr(word, '='), *end;
	const char **field;

	if (value == NULL)
		return bad_spec(word);
	*value++ = '\0';
	if (strcmp(word, "nodes") == 0) {
		errno = 0;
		a->nodes = strtoll(value, &end, 10);
		return *end == '\0' && errno == 0 && a->nodes >= 1 && a->nodes <= HOSTLIST_NAMES_MAX
			       ? CLI_OK
			       : bad_spec(value);
	}
	field = value_of(a, word);
	if (field == NULL)
		return bad_spec(word);
	*field = value;
	return CLI_OK;
}

/* The next "word=" behind a comma, or the end; other commas are a value's. */
static char *next_word(char *from)
{
	char *at = from;

	while ((at = strchr(at, ',')) != NULL) {
		size_t n = strspn(++at, "abcdefghijklmnopqrstuvwxyz_");

		if (n > 0 && at[n] == '=')
			return at;
	}
	return from + strlen(from);
}

/* Parse spec into a, which borrows the pieces that spec is cut into. */
static int take_spec(struct plan_args *a, char *spec)
{
	int rc = CLI_OK;

	if (strlen(spec) > SPEC_MAX)
		return cli_complain(CLI_USAGE, "--job: too long");
	while (*spec != '\0' && rc == CLI_OK) {
		char *next = next_word(spec);

		if (*next != '\0')
			next[-1] = '\0';
		rc = take_word(a, spec);
		spec = next;
	}
	return rc;
}

static bool is_id(const char *spec)
{
	return spec[0] >= '0' && spec[0] <= '9' && spec[strspn(spec, "0123456789_+")] == '\0';
}

/* An existing job says itself what it needs: refuse any other option. */
static int take_job(struct plan_args *a)
{
	const char *given[] = {a->pool,         a->partition, a->list, a->constraint,
			       a->jurisdiction, a->max_price, a->time};
	bool any = a->nodes > 0;

	for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++)
		any = any || given[i] != NULL;
	if (any)
		return cli_complain(
			CLI_USAGE,
			"--job: the id of an existing job cannot be combined with other options");
	a->job = a->spec;
	return CLI_OK;
}

static json_t *request(const struct plan_args *a)
{
	const struct {
		const char *key, *value;
	} texts[] = {{"job", a->job},
		     {"pool", a->pool},
		     {"partition", a->partition},
		     {"list", a->list},
		     {"constraint", a->constraint},
		     {"jurisdictions", a->jurisdiction},
		     {"max_price", a->max_price},
		     {"comment", a->comment}};
	json_t *rq = json_pack("{s:s}", "op", "plan");

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (texts[i].value != NULL)
			(void)json_object_set_new(rq, texts[i].key, json_string(texts[i].value));
	if (a->nodes > 0)
		(void)json_object_set_new(rq, "nodes", json_integer(a->nodes));
	return rq;
}

/* --- what is answered --------------------------------------------------------------------------
 */

static bool is_verdict(const json_t *plan, const char *verdict)
{
	return strcmp(cli_text(plan, "verdict"), verdict) == 0;
}

static const char *nodes_word(int64_t n)
{
	return n == 1 ? "node" : "nodes";
}

/* "4 nodes of pool h100 from offer spot", and below "31.46 USD per hour each, 125.84 together" */
static void print_purchase(const struct out *o, const json_t *p, const char *currency)
{
	char money[OUT_MONEY_SIZE + 4];
	int64_t n = cli_int(p, "new");

	out_text(o, OUT_GOOD, "would be bought: ");
	(void)fprintf(o->f, "%" PRId64 " %s of pool ", n, nodes_word(n));
	out_text(o, OUT_BOLD, cli_text(p, "name"));
	if (cli_text(p, "offer")[0] != '\0') {
		(void)fputs(" from offer ", o->f);
		out_text(o, OUT_BOLD, cli_text(p, "offer"));
	}
	(void)fputs("\n  ", o->f);
	out_text(o, OUT_PLAIN, ladder_money(money, p, "price", currency));
	(void)fputs(n > 1 ? " per hour each, " : " per hour", o->f);
	if (n > 1) {
		out_text(o, OUT_PLAIN, ladder_money(money, p, "total", currency));
		(void)fputs(" together", o->f);
	}
	if (cli_int(p, "units") > 0)
		(void)fprintf(o->f, "\n  in %" PRId64 " placement unit%s of %" PRId64 " nodes",
			      cli_int(p, "units"), cli_int(p, "units") == 1 ? "" : "s",
			      cli_int(p, "unit"));
	(void)fputc('\n', o->f);
}

/* How close together the job's nodes are that are up. */
static void print_placed(const struct out *o, const json_t *plan)
{
	char far[HOPS_TEXT_SIZE];

	if (cli_int(plan, "placed") > 1)
		(void)fprintf(o->f, "  %" PRId64 " of its nodes are up, %s\n",
			      cli_int(plan, "placed"), hops_text(far, (int)cli_int(plan, "hops")));
}

static void print_why(const struct out *o, enum out_style style, const char *head, const char *why)
{
	char *text = out_people(why);

	out_text(o, style, head);
	out_text(o, OUT_PLAIN, text);
	(void)fputc('\n', o->f);
	free(text);
}

static void print_again(const struct out *o, int64_t again_ms, int64_t now_ms)
{
	char in[OUT_AGO_SIZE], at[OUT_TIME_SIZE];

	if (again_ms == 0)
		return;
	(void)fprintf(o->f, "  the job would be tried again in %s (%s)\n",
		      out_age(in, now_ms, again_ms), out_time(at, again_ms));
}

/* Where every offer is left out, say that: each has its reason below. */
static void print_refused(const struct out *o, const json_t *plan)
{
	bool short_of = json_is_true(json_object_get(plan, "no_offer")) &&
			cli_row(plan, "pools", 1) == NULL;
	char text[160];

	(void)snprintf(text, sizeof(text), "pool %.60s has no offer for it now",
		       cli_text(cli_row(plan, "pools", 0), "name"));
	print_why(o, OUT_BAD, "would be refused: ", short_of ? text : cli_text(plan, "why"));
}

/* "would be set aside: 118.08 EUR for the job, 130.00 for its machines" */
static void print_aside(const struct out *o, const json_t *plan, const char *currency)
{
	static const char *const keys[] = {"aside_job", "aside_machines"},
				 *const whats[] = {" for the job", " for its machines"};
	char money[OUT_MONEY_SIZE + 4];
	bool any = false;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		int64_t nano;

		if (fmt_money_parse(cli_text(plan, keys[i]), &nano, NULL) != 0 || nano == 0)
			continue;
		(void)fputs(any ? ", " : "  budgets would set aside ", o->f);
		out_text(o, OUT_PLAIN, ladder_money(money, plan, keys[i], currency));
		(void)fputs(whats[i], o->f);
		any = true;
	}
	(void)fputs(any ? "\n" : "", o->f);
}

static void print_verdict(const struct out *o, const json_t *plan, const json_t *r)
{
	int64_t have = cli_int(plan, "have");
	const json_t *p;

	if (is_verdict(plan, "buy"))
		for (size_t i = 0; (p = cli_row(plan, "pools", i)) != NULL; i++)
			print_purchase(o, p, cli_text(r, "currency"));
	else if (is_verdict(plan, "wait"))
		print_why(o, OUT_BUSY, "would wait: ", cli_text(plan, "why"));
	else if (is_verdict(plan, "have"))
		print_why(o, OUT_GOOD,
			  "nothing to buy: ", "all of these nodes are there, or are being bought");
	else
		print_refused(o, plan);
	print_aside(o, plan, cli_text(r, "currency"));
	print_again(o, cli_int(plan, "again_ms"), cli_int(r, "now_ms"));
	print_placed(o, plan);
	if (have > 0 && !is_verdict(plan, "have"))
		(void)fprintf(o->f, "  %" PRId64 " of the %s there, or being bought\n", have,
			      have == 1 ? "nodes is" : "nodes are");
}

static void add_money(struct table *t, const json_t *p, const char *key)
{
	char money[OUT_MONEY_SIZE];

	table_add(t, OUT_PLAIN, out_money(money, cli_text(p, key)));
}

static void add_count(struct table *t, const json_t *p, const char *key)
{
	char n[FMT_U64_SIZE];

	table_add(t, OUT_PLAIN, fmt_i64(n, cli_int(p, key)));
}

static void print_limits(const struct out *o, const json_t *p, const char *currency)
{
	static const struct table_column columns[] = {
		{"LIMIT", false}, {"NOW", true}, {"THEN", true}, {"AT MOST", true}};
	char rate[32];
	struct table t;

	(void)snprintf(rate, sizeof(rate), "%.3s per hour", currency);
	table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
	table_add(&t, OUT_PLAIN, "nodes");
	add_count(&t, p, "nodes");
	add_count(&t, p, "nodes_then");
	add_count(&t, p, "max_nodes");
	table_add(&t, OUT_PLAIN, rate);
	add_money(&t, p, "rate");
	add_money(&t, p, "rate_then");
	add_money(&t, p, "max_rate");
	table_print(&t, o, 2);
	table_fini(&t);
}

static void print_plan(const struct out *o, const json_t *plan, const json_t *r)
{
	const json_t *p;

	print_verdict(o, plan, r);
	if (cli_text(plan, "note")[0] != '\0')
		print_why(o, OUT_BUSY, "  ", cli_text(plan, "note"));
	for (size_t i = 0; (p = cli_row(plan, "pools", i)) != NULL; i++) {
		(void)fputs("\n  pool ", o->f);
		out_text(o, OUT_BOLD, cli_text(p, "name"));
		(void)fputc('\n', o->f);
		ladder_print(o, p);
		(void)fputc('\n', o->f);
		print_limits(o, p, cli_text(r, "currency"));
		cost_print(o, p, r);
	}
}

/* "job 7 is PENDING (Resources): 4 nodes in partition cloud, constraint spot" */
static void print_job(const struct out *o, const json_t *job, int64_t now_ms)
{
	static const struct {
		const char *before, *key;
	} texts[] = {{" in partition ", "partition"},
		     {", constraint ", "constraint"},
		     {"; of pools: ", "list"}};
	int64_t n = cli_int(job, "nodes");

	(void)fputs("job ", o->f);
	out_text(o, OUT_BOLD, cli_text(job, "id"));
	(void)fputs(" is ", o->f);
	out_text(o, OUT_PLAIN, cli_text(job, "state"));
	if (cli_text(job, "reason")[0] != '\0' && strcmp(cli_text(job, "reason"), "None") != 0) {
		(void)fputs(" (", o->f);
		out_text(o, OUT_PLAIN, cli_text(job, "reason"));
		(void)fputc(')', o->f);
	}
	(void)fprintf(o->f, ": %" PRId64 " %s", n, nodes_word(n));
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (cli_text(job, texts[i].key)[0] != '\0') {
			(void)fputs(texts[i].before, o->f);
			out_text(o, OUT_PLAIN, cli_text(job, texts[i].key));
		}
	(void)fputc('\n', o->f);
	if (cli_int(job, "others") > 0)
		(void)fprintf(o->f, "  and %" PRId64 " more of the same job, each by its own id\n",
			      cli_int(job, "others"));
	if (cli_int(job, "refusals") > 0)
		(void)fprintf(o->f, "  refused %" PRId64 " %s so far\n", cli_int(job, "refusals"),
			      cli_int(job, "refusals") == 1 ? "time" : "times");
	if (cli_int(job, "until_ms") > 0)
		print_again(o, cli_int(job, "until_ms"), now_ms);
}

static void print_plans(const struct out *o, const json_t *r)
{
	const json_t *plan;

	if (json_object_get(r, "job") != NULL)
		print_job(o, json_object_get(r, "job"), cli_int(r, "now_ms"));
	for (size_t i = 0; (plan = cli_row(r, "plans", i)) != NULL; i++) {
		if (i > 0)
			(void)fputs("\nor ", o->f);
		print_plan(o, plan, r);
	}
	if (cli_int(r, "left_out") > 0)
		(void)fprintf(o->f, "\n%" PRId64 " more pools: ask for each of them by --pool\n",
			      cli_int(r, "left_out"));
	if (json_is_true(json_object_get(r, "budgets_left_out")))
		(void)fputs("\nBudgets are not asked without a job: \"burstctl balance\" shows "
			    "what is left.\n",
			    o->f);
}

/* --- a batch script ----------------------------------------------------------------------------
 */

static int read_script(const char *path, struct sbatch *s)
{
	struct err e = {0};
	char *text;
	size_t len;
	int rc;

	if (text_file_read(path, SBATCH_FILE_MAX, &text, &len, &e) != 0)
		return cli_complain(CLI_FAILED, e.msg);
	rc = sbatch_parse(s, text, len, &e);
	free(text);
	if (rc != 0)
		(void)err_wrap(&e, "%.200s", path);
	return rc == 0 ? CLI_OK : cli_complain(CLI_FAILED, e.msg);
}

static bool is_said(const char *text)
{
	return text != NULL && text[0] != '\0';
}

/* What the command line says goes before what the script does, as with sbatch. */
static int take_script(struct plan_args *a, const struct sbatch *s)
{
	if (is_said(a->spec))
		return cli_complain(CLI_USAGE, "--job cannot be combined with a script");
	if (a->nodes == 0)
		a->nodes = s->nodes;
	if (a->constraint == NULL)
		a->constraint = s->constraint;
	if (a->partition == NULL && a->pool == NULL && a->list == NULL)
		a->partition = s->partition;
	a->comment = s->comment;
	return CLI_OK;
}

static int take_time(const struct plan_args *a, int64_t *limit_ms)
{
	char text[160];

	if (a->time == NULL || sbatch_time(a->time, limit_ms) == 0)
		return CLI_OK;
	(void)snprintf(text, sizeof(text),
		       "--time: \"%.40s\": want a time as of sbatch, such as 90, 1:30:00 or 2-12",
		       a->time);
	return cli_complain(CLI_USAGE, text);
}

static void print_script(const struct out *o, const struct sbatch *s, int64_t limit_ms)
{
	static const char *const heads[] = {" in partition ", ", account ", ", gpus "};
	const char *const texts[] = {s->partition, s->account, s->gpus};
	char time[FMT_DUR_SIZE];
	int64_t n = s->nodes > 0 ? s->nodes : 1;

	(void)fprintf(o->f, "the script asks for %" PRId64 " %s", n, nodes_word(n));
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		(void)fputs(texts[i] != NULL ? heads[i] : "", o->f);
		out_text(o, OUT_BOLD, texts[i] != NULL ? texts[i] : "");
	}
	if (limit_ms > 0)
		(void)fprintf(o->f, ", for %s\n", fmt_duration(time, limit_ms));
	else
		(void)fprintf(o->f, "; %s, so its cost is not known\n",
			      limit_ms == SBATCH_UNLIMITED ? "its time is not limited"
							   : "it says no --time");
	if (s->more)
		(void)fputs("  it is a heterogeneous job, and this is its first part\n", o->f);
	if (s->gpus != NULL)
		(void)fputs("  which pools have such GPUs Slurm decides: choose one by --pool\n",
			    o->f);
	(void)fputc('\n', o->f);
}

/* --- the command -------------------------------------------------------------------------------
 */

static int show_plans(const struct cli *c, json_t *r)
{
	const json_t *plan;
	bool any = false;

	for (size_t i = 0; (plan = cli_row(r, "plans", i)) != NULL; i++)
		any = any || is_verdict(plan, "buy") || is_verdict(plan, "have");
	if (c->json)
		cli_print_json(c, r);
	else
		print_plans(&c->out, r);
	return any ? CLI_OK : CLI_FAILED;
}

static int ask_and_show(const struct cli *c, struct plan_args *a, const struct sbatch *s)
{
	int64_t limit_ms = s != NULL ? s->limit_ms : SBATCH_NOT_SAID;
	struct cli patient = *c;
	json_t *r = NULL;
	int rc = take_time(a, &limit_ms);

	if (rc == CLI_OK && s != NULL)
		rc = take_script(a, s);
	if (a->job != NULL) /* slurmctld is asked, too */
		patient.timeout_ms += CTL_HOLD_MS;
	if (rc == CLI_OK)
		rc = cli_ask_loudly(&patient, request(a), &r);
	if (rc != CLI_OK)
		return rc;
	if (a->job != NULL)
		limit_ms = cli_int(json_object_get(r, "job"), "limit_ms");
	if (limit_ms > 0)
		cost_add(r, limit_ms);
	if (s != NULL && !c->json)
		print_script(&c->out, s, limit_ms);
	rc = show_plans(c, r);
	json_decref(r);
	return rc;
}

static int run_plan(const struct cli *c, const void *args, char **operands)
{
	struct plan_args a = *(const struct plan_args *)args;
	char *spec = mem_strdup(a.spec != NULL ? a.spec : "");
	struct sbatch s = {.nodes = 0};
	int rc = is_id(spec) ? take_job(&a) : take_spec(&a, spec);

	if (rc == CLI_OK && operands[0] != NULL)
		rc = read_script(operands[0], &s);
	if (rc == CLI_OK)
		rc = ask_and_show(c, &a, operands[0] != NULL ? &s : NULL);
	sbatch_fini(&s);
	free(spec);
	return rc;
}

const struct cli_command cmd_plan = {
	.name = "plan",
	.operands = "[FILE]",
	.max = 1,
	.summary = "show what burstd would buy for a job, and why not elsewhere",
	.about = "FILE is a batch script: its #SBATCH lines say what it asks for, unless the "
		 "command line does, and the plan shows what it would cost until its time "
		 "limit, by offer.  Whether "
		 "budgets have room is told with --job only.\nShows the offer, the price, the "
		 "limits, and when the job would "
		 "be "
		 "tried again.\nNothing is bought and no provider is asked: the plan is "
		 "made from what burstd knows now.  For a job in slurmctld's queue "
		 "(--job 4711) slurmctld is asked what it needs and wishes.\nWithout "
		 "--job, --pool, --partition and --list there is a plan for each pool.  "
		 "Exit code 0: burstd would buy, in at least one pool; 1: it would not.",
	.example = "burstctl plan --pool h100 --nodes 4 --constraint spot",
	.opts = plan_opts,
	.nopts = sizeof(plan_opts) / sizeof(plan_opts[0]),
	.initial = &plan_initial,
	.size = sizeof(plan_initial),
	.folds = true,
	.run = run_plan,
};
