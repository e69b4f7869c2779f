/* Somebody at the site knows that a machine will be taken away. */
#include <inttypes.h>
#include <string.h>

#include "base/fmt.h"
#include "cli/cli.h"
#include "core/reclaim.h"

#define IN_MAX_MS (INT64_C(30) * 86400000)

struct notice_args {
	const char *kind, *at, *reason;
	int64_t in_ms; /* -1: not said */
};

static const struct notice_args notice_initial = {.in_ms = -1};

static int print(const struct cli *c, const json_t *r)
{
	const char *result = cli_text(r, "result"), *node = cli_text(r, "node");

	if (strcmp(result, "taken") == 0)
		(void)fprintf(c->out.f,
			      "node %s gets no more jobs, and goes: \"burstctl node show %s\"\n",
			      node, node);
	else if (strcmp(result, "ignored") == 0)
		(void)fprintf(c->out.f,
			      "noted: its pool, or who has drained it, wants nothing done about "
			      "that\n");
	else
		(void)fprintf(c->out.f,
			      "nothing to do: node %s has no instance, or one that "
			      "leaves already\n",
			      node);
	return CLI_OK;
}

/* The request, or NULL: a time is none, and that was said. */
static json_t *request(const struct notice_args *a, const char *machine)
{
	json_t *rq =
		json_pack("{s:s, s:s, s:s}", "op", "notice", "machine", machine, "kind", a->kind);
	struct err e = {0};
	int64_t at;

	if (a->in_ms >= 0)
		(void)json_object_set_new(rq, "in_ms", json_integer(a->in_ms));
	if (a->reason != NULL)
		(void)json_object_set_new(rq, "reason", json_string(a->reason));
	if (a->at == NULL)
		return rq;
	if (fmt_time_parse(a->at, &at, &e) == 0) {
		(void)json_object_set_new(rq, "at_ms", json_integer(at));
		return rq;
	}
	(void)cli_complain(CLI_USAGE, e.msg);
	json_decref(rq);
	return NULL;
}

static int run_notice(const struct cli *c, const void *args, char **operands)
{
	const struct notice_args *a = args;
	json_t *rq, *r;
	int rc;

	if (a->kind == NULL || reclaim_kind_parse(a->kind) < 0)
		return cli_complain(CLI_USAGE,
				    "say --kind reclaim, rebalance, maintenance or faulty");
	if (a->at != NULL && a->in_ms >= 0)
		return cli_complain(CLI_USAGE, "say --in or --at, not both");
	rq = request(a, operands[0]);
	if (rq == NULL)
		return CLI_USAGE;
	rc = cli_ask_loudly(c, rq, &r);
	if (rc != CLI_OK)
		return rc;
	if (c->json)
		cli_print_json(c, r);
	else
		rc = print(c, r);
	json_decref(r);
	return rc;
}

#define AT(field) offsetof(struct notice_args, field)

static const struct opt notice_opts[] = {
	{"kind", 'k', OPT_TEXT, "KIND", "reclaim, rebalance, maintenance or faulty", AT(kind), 0,
	 0},
	{"in", 0, OPT_DURATION, "TIME", "it happens in so long, such as 120s", AT(in_ms), 0,
	 IN_MAX_MS},
	{"at", 0, OPT_TEXT, "TIME", "it happens then, such as 2026-01-02T03:04:05Z", AT(at), 0, 0},
	{"reason", 0, OPT_TEXT, "TEXT", "for the events", AT(reason), 0, 0},
};

#undef AT

const struct cli_command cmd_notice = {
	.name = "notice",
	.operands = "NODE | INSTANCE",
	.min = 1,
	.max = 1,
	.summary = "say that a node's machine will be taken away, or is broken",
	.about = "The node gets no more jobs at once.  reclaim: its jobs are requeued, or told to "
		 "save their\n"
		 "work first, as its pool says.  rebalance (it may be reclaimed) and maintenance: "
		 "they may\n"
		 "end by themselves until then.  faulty: they are requeued, and another machine "
		 "may be the\n"
		 "node at once.  Of several notices the earliest end and the worst kind count.",
	.example = "burstctl notice h100-3 --kind reclaim --in 120s",
	.opts = notice_opts,
	.nopts = sizeof(notice_opts) / sizeof(notice_opts[0]),
	.initial = &notice_initial,
	.size = sizeof(notice_initial),
	.run = run_notice,
};
