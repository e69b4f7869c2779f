#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/fmt.h"
#include "base/hostlist.h"
#include "base/map.h"
#include "base/mem.h"
#include "cli/cli.h"
#include "core/node.h"
#include "io/ctl_server.h"

enum {
	FOLLOW_MS = 500,   /* between two requests that burstd does not hold */
	TAIL_DEFAULT = 20, /* events that fit a terminal */
	TAIL_MAX = 1000,   /* what burstd gives in one answer */
	SEQ_WIDTH = 6,
	NODE_WIDTH = 14,
	TYPE_WIDTH = 15,
	DETAIL_AT = SEQ_WIDTH + OUT_TIME_WIDTH + NODE_WIDTH + TYPE_WIDTH + 4 * 2,
	FOLDED_MAX = 1 << 16, /* bytes of a folded list of nodes */
};

struct events_args {
	bool follow;
	const char *node, *pool, *job, *since;
	int64_t tail; /* -1: not given */
};

static const struct events_args events_initial = {.tail = -1};

static const struct opt events_opts[] = {
	{"follow", 'f', OPT_FLAG, NULL, "print new events as they happen",
	 offsetof(struct events_args, follow), 0, 0},
	{"node", 'N', OPT_TEXT, "NODE", "only events of this node",
	 offsetof(struct events_args, node), 0, 0},
	{"pool", 'p', OPT_TEXT, "POOL", "only events of this pool and its nodes",
	 offsetof(struct events_args, pool), 0, 0},
	{"job", 'j', OPT_TEXT, "JOB",
	 "only events of this job and of machines bought for it; without --since all of them",
	 offsetof(struct events_args, job), 0, 0},
	{"since", 0, OPT_TEXT, "TIME",
	 "all events since then: yesterday, 2h (ago), 13:30, 2026-01-02, 2026-01-02T13:30; or "
	 "after a number, that of the first column",
	 offsetof(struct events_args, since), 0, 0},
	{"tail", 'n', OPT_NUMBER, "COUNT", "the last COUNT events (default: 20)",
	 offsetof(struct events_args, tail), 0, TAIL_MAX},
};

/* --- which are shown ---------------------------------------------------------------------------
 */

/* Does text name the job: "job 4711", and not "job 47112"? */
static bool names_job(const char *text, const char *job)
{
	static const char word[] = "job ";
	const size_t len = strlen(job);

	for (const char *p = strstr(text, word); p != NULL; p = strstr(p, word)) {
		p += sizeof(word) - 1;
		if (strncmp(p, job, len) == 0 && !isalnum((unsigned char)p[len]) && p[len] != '_')
			return true;
	}
	return false;
}

enum { NUMBER_SIZE = 24 };

struct shown {
	int64_t since; /* where to go on; -1: from_ms, or, if that is not set, the last ones */
	int64_t from_ms;
	bool any;               /* one was shown */
	struct map *bought;     /* for --job: "NODE#GENERATION" of its machines */
	struct cli_since begin; /* likewise: earlier events are read, but not shown */
	bool learns;            /* likewise: find the job's number, and show nothing */
	char number[NUMBER_SIZE];
};

/* Learn the job's number from "job 4711_3 (job 4712)": its purchases, which were before, have no
 * more. */
static void learn(struct shown *s, const char *job, const json_t *ev)
{
	const char *p = cli_text(ev, "detail");
	char both[96];
	size_t n;

	(void)snprintf(both, sizeof(both), "job %.60s (job ", job);
	p = strstr(p, both);
	if (p == NULL)
		return;
	p += strlen(both);
	n = strspn(p, "0123456789");
	if (n > 0 && p[n] == ')')
		(void)snprintf(s->number, sizeof(s->number), "%.*s", n < 21 ? (int)n : 0, p);
}

static bool names_it(const struct shown *s, const char *job, const json_t *ev)
{
	const char *detail = cli_text(ev, "detail");

	return names_job(detail, job) || (s->number[0] != '\0' && names_job(detail, s->number));
}

static bool is_of_job(struct shown *s, const char *job, const json_t *ev)
{
	char key[96];

	(void)snprintf(key, sizeof(key), "%.63s#%" PRId64, cli_text(ev, "node"),
		       cli_int(ev, "generation"));
	learn(s, job, ev);
	if (s->learns)
		return false;
	if (!names_it(s, job, ev))
		return cli_text(ev, "node")[0] != '\0' && map_get(s->bought, key) != NULL;
	if (strcmp(cli_text(ev, "type"), node_state_str(NODE_WANTED)) == 0 &&
	    map_get(s->bought, key) == NULL)
		map_put(s->bought, key, s);
	return true;
}

static bool is_before(const struct cli_since *begin, const json_t *ev)
{
	return cli_int(ev, "seq") <= begin->seq || cli_int(ev, "at_ms") < begin->ms;
}

/* --- how ---------------------------------------------------------------------------------------
 */

/* Events of several nodes in one second are one line. */
struct line {
	const json_t *last; /* of its events: borrowed from the page */
	const char **nodes;
	size_t n;
};

struct lines { /* of one second */
	const struct cli *c;
	struct line *v;
	size_t n;
};

/* The length of a detail up to the part that each node has of its own. */
static size_t common_len(const char *detail)
{
	const char *own = strstr(detail, ", instance ");

	return own != NULL ? (size_t)(own - detail) : strlen(detail);
}

static bool is_same(const json_t *a, const json_t *b)
{
	const char *da = cli_text(a, "detail"), *db = cli_text(b, "detail");
	size_t len = common_len(da);

	return strcmp(cli_text(a, "type"), cli_text(b, "type")) == 0 && len == common_len(db) &&
	       strncmp(da, db, len) == 0;
}

static int by_name(const void *a, const void *b)
{
	return strverscmp(*(const char *const *)a, *(const char *const *)b);
}

static void print_line(const struct cli *c, const struct line *l)
{
	const char *detail = cli_text(l->last, "detail");
	char at[OUT_TIME_SIZE], seq[FMT_U64_SIZE], *people;
	int64_t gen = cli_int(l->last, "generation");
	struct str nodes, text;

	str_init(&nodes, FOLDED_MAX);
	str_init(&text, FOLDED_MAX);
	if (l->n > 1) { /* they are in the order of the events */
		qsort(l->nodes, l->n, sizeof(*l->nodes), by_name);
		hostlist_fold(&nodes, l->nodes, l->n);
	}
	if (l->n <= 1 || nodes.full)
		str_addf(&nodes, gen > 0 ? "%.63s#%" PRId64 : "%.63s", l->nodes[0], gen);
	str_addf(&text, "%.*s", (int)(l->n > 1 ? common_len(detail) : strlen(detail)), detail);
	if (l->n > 1 && detail[common_len(detail)] != '\0')
		str_addf(&text, ", %zu instances", l->n);
	people = out_people(text.p);
	(void)snprintf(seq, sizeof(seq), "%*" PRId64, SEQ_WIDTH, cli_int(l->last, "seq"));
	out_column(&c->out, OUT_DIM, seq, SEQ_WIDTH);
	out_column(&c->out, OUT_PLAIN, out_time(at, cli_int(l->last, "at_ms")), OUT_TIME_WIDTH);
	out_column(&c->out, OUT_BOLD, nodes.p, NODE_WIDTH);
	out_column(&c->out, OUT_PLAIN, cli_text(l->last, "type"), TYPE_WIDTH);
	out_wrapped(&c->out, OUT_PLAIN, people, DETAIL_AT);
	free(people);
	str_fini(&text);
	str_fini(&nodes);
}

static void print_lines(struct lines *ls)
{
	for (size_t i = 0; i < ls->n; i++) {
		print_line(ls->c, &ls->v[i]);
		free(ls->v[i].nodes);
	}
	free(ls->v);
	ls->v = NULL;
	ls->n = 0;
}

/* The line that the event joins, or a new one.  An event without a node has its own. */
static struct line *line_of(struct lines *ls, const json_t *ev)
{
	for (size_t i = 0; i < ls->n && cli_text(ev, "node")[0] != '\0'; i++)
		if (is_same(ls->v[i].last, ev))
			return &ls->v[i];
	ls->v = mem_realloc(ls->v, (ls->n + 1) * sizeof(*ls->v));
	ls->v[ls->n] = (struct line){.last = ev};
	return &ls->v[ls->n++];
}

static void add_event(struct lines *ls, const json_t *ev)
{
	struct line *l;

	if (ls->c->json) {
		(void)json_dumpf(ev, ls->c->out.f, JSON_COMPACT | JSON_ENSURE_ASCII);
		(void)fputc('\n', ls->c->out.f);
		return;
	}
	if (ls->n > 0 && cli_int(ls->v[0].last, "at_ms") / 1000 != cli_int(ev, "at_ms") / 1000)
		print_lines(ls);
	l = line_of(ls, ev);
	l->last = ev;
	l->nodes = mem_realloc(l->nodes, (l->n + 1) * sizeof(*l->nodes));
	l->nodes[l->n++] = cli_text(ev, "node");
}

/* Widths are fixed: with -f the next events are not known yet. */
static void print_heading(const struct cli *c)
{
	if (c->json)
		return;
	out_column(&c->out, OUT_DIM, "   SEQ", SEQ_WIDTH);
	out_column(&c->out, OUT_DIM, "TIME", OUT_TIME_WIDTH);
	out_column(&c->out, OUT_DIM, "NODES", NODE_WIDTH);
	out_column(&c->out, OUT_DIM, "EVENT", TYPE_WIDTH);
	out_text(&c->out, OUT_DIM, "DETAIL");
	(void)fputc('\n', c->out.f);
}

/* --- asking ------------------------------------------------------------------------------------
 */

static json_t *request(const struct events_args *a, const struct shown *s, bool wait)
{
	json_t *rq = json_pack("{s:s}", "op", "events");

	if (s->since >= 0)
		(void)json_object_set_new(rq, "since", json_integer(s->since));
	else if (s->from_ms > 0)
		(void)json_object_set_new(rq, "since_ms", json_integer(s->from_ms));
	else
		(void)json_object_set_new(rq, "tail",
					  json_integer(a->tail >= 0 ? a->tail : TAIL_DEFAULT));
	if (a->node != NULL)
		(void)json_object_set_new(rq, "node", json_string(a->node));
	if (a->pool != NULL)
		(void)json_object_set_new(rq, "pool", json_string(a->pool));
	if (wait)
		(void)json_object_set_new(rq, "wait", json_true());
	return rq; /* check_args() has checked the names */
}

static void print_page(const struct cli *c, const struct events_args *a, struct shown *s,
		       const json_t *r)
{
	struct lines ls = {.c = c};
	const json_t *ev;

	for (size_t i = 0; (ev = cli_row(r, "events", i)) != NULL; i++) {
		if (a->job != NULL && (!is_of_job(s, a->job, ev) || is_before(&s->begin, ev)))
			continue;
		if (!s->any)
			print_heading(c);
		s->any = true;
		add_event(&ls, ev);
	}
	print_lines(&ls);
}

/* Show pages until there is no more.  wait: burstd may hold the request until there is an event. */
static int show(const struct cli *c, const struct events_args *a, struct shown *s, bool wait,
		struct err *e)
{
	bool more = true;

	while (more) {
		int64_t asked = s->since;
		json_t *r;
		int rc = cli_ask(c, request(a, s, wait), &r, e);

		if (rc != CLI_OK)
			return rc;
		print_page(c, a, s, r);
		s->since = cli_int(r, "last");
		/* Never ask for ever: a page that does not advance is the last. */
		more = json_is_true(json_object_get(r, "more")) && s->since > asked;
		json_decref(r);
	}
	return CLI_OK;
}

static void pause_ms(int64_t ms)
{
	const struct timespec ts = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};

	if (ms > 0)
		(void)nanosleep(&ts, NULL);
}

/* Print events until somebody stops us, or nobody reads.  burstd holds the request until there is
 * an event; if it does not, pause before the next.  burstd may restart meanwhile: say so once. */
static int follow(const struct cli *c, const struct events_args *a, struct shown *s)
{
	struct cli patient = *c;
	bool away = false;

	patient.timeout_ms += CTL_HOLD_MS;
	while (fflush(c->out.f) == 0 && !ferror(c->out.f)) {
		int64_t from = s->since, began = clock_boot_ms();
		struct err e = {0};
		int rc = show(&patient, a, s, true, &e);

		if (rc != CLI_OK && rc != CLI_UNREACHABLE)
			return cli_complain(rc, e.msg);
		if (rc == CLI_UNREACHABLE && !away)
			(void)cli_complain(rc, "burstd went away; waiting for it");
		away = rc == CLI_UNREACHABLE;
		if (away || s->since <= from)
			pause_ms(began + FOLLOW_MS - clock_boot_ms());
	}
	return CLI_FAILED;
}

/* Is the job a task or a component, with a number besides its id? */
static bool is_part(const char *job)
{
	return job != NULL && strpbrk(job, "_+") != NULL;
}

/* Say that there are none: an empty screen could mean anything. */
static void say_none(const struct cli *c, const struct events_args *a, const struct shown *s)
{
	const char *of = a->job != NULL ? "job " : a->node != NULL ? "node " : "pool ";
	const char *name = a->job != NULL ? a->job : a->node != NULL ? a->node : a->pool;

	(void)fprintf(c->out.f, "no events");
	if (name != NULL)
		(void)fprintf(c->out.f, " of %s%s", of, name);
	if (a->since != NULL)
		(void)fprintf(c->out.f, " since %s", a->since);
	if (is_part(a->job) && s->number[0] == '\0')
		(void)fprintf(c->out.f,
			      ": purchases for it are listed by its number, which \"sacct -X -j %s "
			      "-o jobidraw\" shows",
			      a->job);
	if (a->node != NULL)
		(void)fprintf(c->out.f, ": \"burstctl node show %s\" shows its state", a->node);
	(void)fputc('\n', c->out.f);
}

static int check_args(const struct events_args *a)
{
	if (a->since != NULL && a->tail >= 0)
		return cli_complain(CLI_USAGE, "--since and --tail: only one of them");
	if (a->job != NULL && a->tail >= 0)
		return cli_complain(CLI_USAGE, "--job and --tail: only one of them");
	if (a->node != NULL && !hostlist_is_name(a->node))
		return cli_complain(CLI_USAGE, "--node: not the name of a node");
	if (a->job != NULL && strspn(a->job, "0123456789_+") != strlen(a->job))
		return cli_complain(CLI_USAGE, "--job: want a job's id, such as 4711 or 4711_3");
	return CLI_OK;
}

static int run_events(const struct cli *c, const void *args, char **operands)
{
	const struct events_args *a = args;
	struct cli_since from;
	struct map bought;
	struct shown s = {.bought = &bought};
	struct err e = {0};
	int rc = check_args(a);

	(void)operands;
	if (rc == CLI_OK)
		rc = cli_since(a->since, &from);
	if (rc != CLI_OK)
		return rc;
	/* For --job read all events from the first one kept: its machines may have been bought
	 * before --since. */
	s.begin = from;
	s.since = a->job != NULL ? 0 : from.seq;
	s.from_ms = from.ms;
	map_init(&bought);
	if (is_part(a->job)) {
		s.learns = true;
		rc = show(c, a, &s, false, &e);
		s.learns = false;
		s.since = 0;
	}
	if (rc == CLI_OK)
		rc = show(c, a, &s, false, &e);
	if (rc != CLI_OK)
		rc = cli_complain(rc, e.msg);
	else if (a->follow)
		rc = follow(c, a, &s);
	else if (!s.any && !c->json && a->tail != 0)
		say_none(c, a, &s);
	map_fini(&bought);
	return rc;
}

const struct cli_command cmd_events = {
	.name = "events",
	.operands = "",
	.summary = "show what has happened",
	.about = "Events of several nodes in one second are one line.  Times are local, "
		 "as in squeue.  With --json each event is one line, with its time in "
		 "milliseconds UTC.  NODE#3 is the third time that NODE was bought.",
	.example = "burstctl events --job 4711 --since yesterday",
	.opts = events_opts,
	.nopts = sizeof(events_opts) / sizeof(events_opts[0]),
	.initial = &events_initial,
	.size = sizeof(events_initial),
	.folds = true,
	.run = run_events,
};
