#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/fmt.h"
#include "base/hostlist.h"
#include "cli/cli.h"
#include "io/ctl_server.h"

enum {
	FOLLOW_MS = 500,   /* between two questions, where burstd does not wait */
	TAIL_DEFAULT = 20, /* events that fit a terminal */
	TAIL_MAX = 1000,   /* what burstd gives in one answer */
};

struct events_args {
	bool follow;
	const char *node, *since;
	int64_t tail; /* -1: not given */
};

static const struct events_args events_initial = {false, NULL, NULL, -1};

static const struct opt events_opts[] = {
	{"follow", 'f', OPT_FLAG, NULL, "go on with new events as they happen",
	 offsetof(struct events_args, follow), 0, 0},
	{"node", 'N', OPT_TEXT, "NODE", "only of this node", offsetof(struct events_args, node), 0,
	 0},
	{"since", 0, OPT_TEXT, "SEQ", "all events after this number, that of the first column",
	 offsetof(struct events_args, since), 0, 0},
	{"tail", 'n', OPT_NUMBER, "COUNT", "the last COUNT events (default: 20)",
	 offsetof(struct events_args, tail), 0, TAIL_MAX},
};

/* Widths are fixed: with -f the next events are not known yet. */
static void print_event(const struct cli *c, const json_t *ev)
{
	char at[OUT_TIME_SIZE], seq[FMT_U64_SIZE], node[96], *detail;
	int64_t gen = cli_int(ev, "generation");

	if (c->json) {
		(void)json_dumpf(ev, c->out.f, JSON_COMPACT);
		(void)fputc('\n', c->out.f);
		return;
	}
	if (gen > 0)
		(void)snprintf(node, sizeof(node), "%.63s#%" PRId64, cli_text(ev, "node"), gen);
	else
		(void)snprintf(node, sizeof(node), "%.63s", cli_text(ev, "node"));
	(void)snprintf(seq, sizeof(seq), "%6" PRId64, cli_int(ev, "seq"));
	detail = out_people(cli_text(ev, "detail"));
	out_column(&c->out, OUT_DIM, seq, 6);
	out_column(&c->out, OUT_PLAIN, out_time(at, cli_int(ev, "at_ms")), OUT_TIME_WIDTH);
	out_column(&c->out, OUT_BOLD, node, 14);
	out_column(&c->out, OUT_PLAIN, cli_text(ev, "type"), 15);
	out_text(&c->out, OUT_PLAIN, detail);
	(void)fputc('\n', c->out.f);
	free(detail);
}

static json_t *request(const struct events_args *a, int64_t since, bool wait)
{
	json_t *rq = json_pack("{s:s}", "op", "events");

	if (since >= 0)
		(void)json_object_set_new(rq, "since", json_integer(since));
	else
		(void)json_object_set_new(rq, "tail",
					  json_integer(a->tail >= 0 ? a->tail : TAIL_DEFAULT));
	if (a->node != NULL)
		(void)json_object_set_new(rq, "node", json_string(a->node));
	if (wait)
		(void)json_object_set_new(rq, "wait", json_true());
	return rq; /* the name is one: run_events() */
}

struct shown {
	int64_t since; /* where to go on; -1: with the last ones */
	bool any;
};

/* Show pages until there is no more.  wait: until there is something, if burstd can. */
static int show(const struct cli *c, const struct events_args *a, struct shown *s, bool wait,
		struct err *e)
{
	bool more = true;

	while (more) {
		int64_t asked = s->since;
		const json_t *ev;
		json_t *r;
		int rc = cli_ask(c, request(a, asked, wait), &r, e);

		if (rc != CLI_OK)
			return rc;
		for (size_t i = 0; (ev = cli_row(r, "events", i)) != NULL; i++) {
			print_event(c, ev);
			s->any = true;
		}
		s->since = cli_int(r, "last");
		/* A page that goes nowhere is the last, whatever burstd says: never ask for ever.
		 */
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

/* Until somebody stops us, or there is nobody to write to.  burstd keeps the question until there
 * is something to tell; where it does not, we must not ask without end.  It may restart meanwhile:
 * say so once. */
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

/* Else an empty screen could mean anything. */
static void say_none(const struct cli *c, const struct events_args *a)
{
	const char *after = a->since != NULL ? " after " : "";
	const char *since = a->since != NULL ? a->since : "";

	if (a->node != NULL)
		(void)fprintf(
			c->out.f,
			"no events of node %s%s%s: \"burstctl node show %s\" says how it is\n",
			a->node, after, since, a->node);
	else
		(void)fprintf(c->out.f, "no events%s%s\n", after, since);
}

static int run_events(const struct cli *c, const void *args, char **operands)
{
	const struct events_args *a = args;
	struct shown s = {a->since != NULL ? cli_seq("--since", a->since) : -1, false};
	struct err e = {0};
	int rc;

	(void)operands;
	if (a->since != NULL && s.since < 0)
		return CLI_USAGE;
	if (a->since != NULL && a->tail >= 0)
		return cli_complain(CLI_USAGE, "--since and --tail: only one of them");
	if (a->node != NULL && !hostlist_is_name(a->node))
		return cli_complain(CLI_USAGE, "--node: not the name of a node");
	rc = show(c, a, &s, false, &e);
	if (rc != CLI_OK)
		return cli_complain(rc, e.msg);
	if (a->follow)
		return follow(c, a, &s);
	if (!s.any && !c->json && a->tail != 0)
		say_none(c, a);
	return CLI_OK;
}

const struct cli_command cmd_events = {
	.name = "events",
	.operands = "",
	.summary = "what happened, and what happens",
	.about = "With --json each event is one line.  NODE#3 is the third time that NODE was "
		 "bought.",
	.example = "burstctl events -f --node h100-1",
	.opts = events_opts,
	.nopts = sizeof(events_opts) / sizeof(events_opts[0]),
	.initial = &events_initial,
	.size = sizeof(events_initial),
	.run = run_events,
};
