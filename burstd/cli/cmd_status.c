#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/table.h"

enum {
	STATES_MAX = 256,      /* bytes of "4 ready, 1 booting, ..." */
	FLOW_MAX = 512,        /* bytes of a line about requests */
	THROTTLED_MS = 300000, /* a throttle is shown for so long */
};

static void print_head(const struct out *o, const json_t *r)
{
	char up[OUT_AGO_SIZE];

	(void)out_age(up, 1, cli_int(r, "uptime_ms") + 1);
	out_text(o, OUT_BOLD, "burstd ");
	out_text(o, OUT_BOLD, cli_text(r, "version"));
	(void)fputs(" on cluster ", o->f);
	out_text(o, OUT_BOLD, cli_text(r, "cluster"));
	(void)fprintf(o->f, ", up %s\n\n", up);
}

static bool is_silent(const json_t *src)
{
	return src != NULL && cli_int(src, "ok_ms") == 0 && cli_int(src, "failed_ms") == 0;
}

/* Is it too early to say that all is well, since one of them has not answered yet?  slurmctld is
 * asked what slurm.conf says after its first answer; if it does not say, that is a problem. */
static bool is_early(const json_t *r)
{
	bool early = is_silent(json_object_get(r, "slurm")) ||
		     is_silent(json_object_get(r, "secrets")) ||
		     json_object_get(r, "slurm_conf") == NULL;
	const json_t *p;

	for (size_t i = 0; (p = cli_row(r, "providers", i)) != NULL; i++)
		early = early || is_silent(p);
	return early;
}

static void print_problems(const struct out *o, const json_t *r)
{
	size_t n = json_array_size(json_object_get(r, "problems"));
	const json_t *p;

	if (n == 0 && is_early(r)) {
		out_text(
			o, OUT_BUSY,
			"Not known yet: slurmctld, a provider or the secret store has not answered "
			"since the start.");
		(void)fputs("\n\n", o->f);
		return;
	}
	if (n == 0) {
		out_text(o, OUT_GOOD, "All is well.");
		(void)fputs("\n\n", o->f);
		return;
	}
	out_text(o, OUT_BAD, n == 1 ? "1 problem" : "Problems");
	(void)fputs(":\n", o->f);
	for (size_t i = 0; (p = cli_row(r, "problems", i)) != NULL; i++) {
		char *text = out_people(json_string_value(p) != NULL ? json_string_value(p) : "");

		out_text(o, OUT_BAD, "  ! ");
		out_text(o, OUT_PLAIN, text);
		(void)fputc('\n', o->f);
		free(text);
	}
	(void)fputc('\n', o->f);
}

static void add_source(struct table *t, const json_t *src, const char *name, int64_t now)
{
	bool ok = json_is_true(json_object_get(src, "ok"));
	bool off = json_is_true(json_object_get(src, "off"));
	bool silent = cli_int(src, "ok_ms") == 0 && cli_int(src, "failed_ms") == 0;
	char age[OUT_AGO_SIZE], ago[OUT_AGO_SIZE + 4];

	(void)out_age(age, cli_int(src, "ok_ms"), now);
	(void)snprintf(ago, sizeof(ago), "%s%s", age, cli_int(src, "ok_ms") != 0 ? " ago" : "");
	table_add(t, OUT_PLAIN, name);
	table_add(t,
		  ok       ? OUT_GOOD
		  : off    ? OUT_BAD
		  : silent ? OUT_BUSY
			   : OUT_BAD,
		  ok       ? "ok"
		  : off    ? "off"
		  : silent ? "not asked yet"
			   : "failing");
	table_add(t, OUT_PLAIN, ago);
}

static void print_sources(const struct out *o, const json_t *r)
{
	static const struct table_column columns[] = {
		{"TALKS TO", false}, {"STATE", false}, {"LAST ANSWER", false}};
	struct table t;
	const json_t *p;

	table_init(&t, columns, 3);
	add_source(&t, json_object_get(r, "slurm"), "slurmctld", cli_int(r, "now_ms"));
	for (size_t i = 0; (p = cli_row(r, "providers", i)) != NULL; i++)
		add_source(&t, p, cli_text(p, "name"), cli_int(r, "now_ms"));
	p = json_object_get(r, "secrets");
	if (p != NULL)
		add_source(&t, p, "secret store", cli_int(r, "now_ms"));
	table_print(&t, o, 0);
	table_fini(&t);
	(void)fputc('\n', o->f);
}

/* --- requests that a provider does not let through -----------------------------------------------
 */

static bool is_held_back(const json_t *flow, int64_t now)
{
	int64_t throttled_ms = cli_int(flow, "throttled_ms");

	return cli_int(flow, "queued") > 0 ||
	       (throttled_ms != 0 && now - throttled_ms < THROTTLED_MS);
}

/* "3 nodes wait, the oldest for 2m10s" */
static void add_queued(struct str *s, const json_t *flow, int64_t now)
{
	const char *op = cli_text(flow, "operation");
	const char *what = strcmp(op, "create") == 0   ? "node"
			   : strcmp(op, "delete") == 0 ? "instance"
						       : "request";
	int64_t n = cli_int(flow, "queued");
	char age[OUT_AGO_SIZE];

	if (n == 0)
		str_adds(s, "none waits");
	else
		str_addf(s, "%" PRId64 " %s%s, the oldest for %s", n, what,
			 n == 1 ? " waits" : "s wait",
			 out_age(age, cli_int(flow, "oldest_ms"), now));
}

/* "0.50 a second may go, as its answers show" */
static void add_allowed(struct str *s, const json_t *flow, int64_t now)
{
	static const struct {
		const char *by, *words;
	} all[] = {{"rate", "of all operations together, as \"rate\" says"},
		   {"all", "of all operations together, as the provider documents"},
		   {"kind", "as the provider documents"},
		   {"answers", "as its answers show"},
		   {"shared", "together with others that its answers slow down"}};
	int64_t until_ms = cli_int(flow, "paused_until_ms");
	char rate[OUT_MONEY_SIZE], pause[OUT_AGO_SIZE];

	if (until_ms > now)
		str_addf(s, "; none may go for %s", out_age(pause, now, until_ms));
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (strcmp(cli_text(flow, "allowed_by"), all[i].by) == 0)
			str_addf(s, "%s %s a second%s, %s", until_ms > now ? ", then" : ";",
				 out_money(rate, cli_text(flow, "allowed")),
				 until_ms > now ? "" : " may go", all[i].words);
}

static void print_flow(const struct out *o, const char *provider, const json_t *flow, int64_t now)
{
	int64_t throttled = cli_int(flow, "throttled");
	char ago[OUT_AGO_SIZE];
	struct str s;

	str_init(&s, FLOW_MAX);
	str_addf(&s, "  %s, %s: ", provider, cli_text(flow, "operation"));
	add_queued(&s, flow, now);
	add_allowed(&s, flow, now);
	if (throttled > 0)
		str_addf(&s, "; of %" PRId64 " sent %" PRId64 " %s throttled, the last %s ago",
			 cli_int(flow, "sent"), throttled, throttled == 1 ? "was" : "were",
			 out_age(ago, cli_int(flow, "throttled_ms"), now));
	out_text(o, OUT_BUSY, s.p);
	(void)fputc('\n', o->f);
	str_fini(&s);
}

static void print_flows(const struct out *o, const json_t *r)
{
	int64_t now = cli_int(r, "now_ms");
	const json_t *p, *flow;
	bool any = false;

	for (size_t i = 0; (p = cli_row(r, "providers", i)) != NULL; i++)
		for (size_t k = 0; (flow = cli_row(p, "requests", k)) != NULL; k++) {
			if (!is_held_back(flow, now))
				continue;
			if (!any)
				(void)fputs("Requests that wait for a provider, or were throttled "
					    "in the last 5m:\n",
					    o->f);
			any = true;
			print_flow(o, cli_text(p, "name"), flow, now);
		}
	if (any)
		(void)fputc('\n', o->f);
}

/* --- pools ---------------------------------------------------------------------------------------
 */

static void add_limited(struct table *t, const char *have, const char *max)
{
	char text[2 * OUT_MONEY_SIZE + 4];

	(void)snprintf(text, sizeof(text), "%s of %s", have, max);
	table_add(t, OUT_PLAIN, text);
}

/* Is nothing bought for the pool? */
static bool is_stopped(const json_t *pool)
{
	return json_is_true(json_object_get(pool, "paused")) ||
	       cli_text(pool, "blocked")[0] != '\0';
}

static void add_stop(struct str *s, const json_t *pool)
{
	if (s->len == 0)
		str_adds(s, "all off");
	if (json_is_true(json_object_get(pool, "removed")))
		str_adds(s, "; removed");
	else if (is_stopped(pool))
		str_adds(s,
			 json_is_true(json_object_get(pool, "paused")) ? "; paused" : "; blocked");
}

/* What stays up without a job, and costs money: "; 2 of 3 warm, 1 paid for" */
static void add_warm(struct str *s, const json_t *pool)
{
	bool warm = json_object_get(pool, "warm_wanted") != NULL;

	if (warm)
		str_addf(s, "; %" PRId64 " of %" PRId64 " warm", cli_int(pool, "warm"),
			 cli_int(pool, "warm_wanted"));
	if (cli_int(pool, "paid") > 0)
		str_addf(s, "%s%" PRId64 " paid for", warm ? ", " : "; ", cli_int(pool, "paid"));
}

/* "4 ready, 1 booting; paused; 2 of 3 warm" */
static void add_states(struct table *t, const json_t *pool)
{
	bool stopped = is_stopped(pool), dim;
	const json_t *states = json_object_get(pool, "states");
	struct str s;
	void *i;

	str_init(&s, STATES_MAX);
	for (i = json_object_iter((json_t *)(uintptr_t)states); i != NULL;
	     i = json_object_iter_next((json_t *)(uintptr_t)states, i))
		str_addf(&s, "%s%" JSON_INTEGER_FORMAT " %s", s.len > 0 ? ", " : "",
			 json_integer_value(json_object_iter_value(i)), json_object_iter_key(i));
	dim = s.len == 0 && !stopped;
	add_stop(&s, pool);
	add_warm(&s, pool);
	table_add(t, dim ? OUT_DIM : stopped ? OUT_BAD : OUT_PLAIN, s.p);
	str_fini(&s);
}

static void add_pool(struct table *t, const json_t *p)
{
	char nodes[FMT_U64_SIZE], max_nodes[FMT_U64_SIZE];
	char rate[OUT_MONEY_SIZE], max_rate[OUT_MONEY_SIZE], spent[OUT_MONEY_SIZE];

	table_add(t, OUT_BOLD, cli_text(p, "name"));
	add_limited(t, fmt_i64(nodes, cli_int(p, "nodes")),
		    fmt_i64(max_nodes, cli_int(p, "max_nodes")));
	add_limited(t, out_money(rate, cli_text(p, "rate")),
		    out_money(max_rate, cli_text(p, "max_rate")));
	table_add(t, OUT_PLAIN, out_money(spent, cli_text(p, "spent")));
	add_states(t, p);
}

static void print_pools(const struct out *o, const json_t *r)
{
	char rate[32], spent[32];
	const struct table_column columns[] = {
		{"POOL", false}, {"NODES", true}, {rate, true}, {spent, true}, {"STATES", false}};
	struct table t;
	const json_t *p;

	(void)snprintf(rate, sizeof(rate), "%.3s PER HOUR", cli_text(r, "currency"));
	(void)snprintf(spent, sizeof(spent), "%.3s SPENT", cli_text(r, "currency"));
	table_init(&t, columns, 5);
	for (size_t i = 0; (p = cli_row(r, "pools", i)) != NULL; i++)
		add_pool(&t, p);
	table_print(&t, o, 0);
	table_fini(&t);
}

static void print_status(const struct cli *c, const json_t *r)
{
	print_head(&c->out, r);
	print_problems(&c->out, r);
	print_sources(&c->out, r);
	print_flows(&c->out, r);
	print_pools(&c->out, r);
}

static int run_status(const struct cli *c, const void *args, char **operands)
{
	(void)args;
	(void)operands;
	return cli_show(c, json_pack("{s:s}", "op", "status"), print_status);
}

const struct cli_command cmd_status = {
	.name = "status",
	.operands = "",
	.summary = "show pools, limits, spending, and problems that need attention",
	.about = "Problems come first, each in one sentence that says what happens "
		 "next; also problems of slurm.conf, except advice, which \"burstctl "
		 "check\" shows. Requests that a provider does not let through are shown by "
		 "operation: what waits, how much may go and who says so; --json has these "
		 "figures of all operations.",
	.example = "burstctl status",
	.folds = true,
	.run = run_status,
};
