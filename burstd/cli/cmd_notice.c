/* Notices by an admin that machines will be taken away, or are broken. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "cli/cli.h"
#include "core/reclaim.h"

enum {
	MACHINES_MAX = 100000, /* on one command line */
	MACHINE_MAX = 300,     /* bytes of one */
	PART_MAX = 1000,       /* in one request: CTL_API_MACHINES_MAX */
	PART_BYTES = 100000,   /* likewise, with CTL_REQUEST_MAX in mind */
};

#define IN_MAX_MS (INT64_C(30) * 86400000)

struct notice_args {
	const char *kind, *at, *reason;
	int64_t in_ms; /* -1: not said */
};

static const struct notice_args notice_initial = {.in_ms = -1};

/* --- the machines ------------------------------------------------------------------------------
 */

/* where: "line 7", for people. */
static int add_machine(json_t *all, const char *name, const char *where)
{
	json_t *text = json_string(name);
	char why[120];

	if (text != NULL && strlen(name) <= MACHINE_MAX) {
		(void)json_array_append_new(all, text);
		return CLI_OK;
	}
	(void)snprintf(why, sizeof(why), "%s: not a node or an instance: %s", where,
		       text == NULL ? "not UTF-8" : "too long");
	json_decref(text);
	return cli_complain(CLI_USAGE, why);
}

/* One machine a line; blanks around it, and empty lines, are skipped. */
static int read_machines(json_t *all, FILE *in)
{
	char *line = NULL, where[40];
	size_t size = 0, n = 0;
	int rc = CLI_OK;

	while (rc == CLI_OK && getline(&line, &size, in) >= 0) {
		char *name = line + strspn(line, " \t\r\n");

		n++;
		for (size_t end = strlen(name); end > 0 && strchr(" \t\r\n", name[end - 1]); end--)
			name[end - 1] = '\0';
		(void)snprintf(where, sizeof(where), "line %zu", n);
		if (name[0] != '\0')
			rc = add_machine(all, name, where);
	}
	free(line);
	if (rc == CLI_OK && ferror(in))
		return cli_complain(CLI_FAILED, "cannot read standard input");
	return rc;
}

static int gather(json_t *all, char **operands)
{
	int rc = CLI_OK;

	for (size_t i = 0; rc == CLI_OK && operands[i] != NULL; i++) {
		char where[40];

		(void)snprintf(where, sizeof(where), "argument %zu", i + 1);
		rc = strcmp(operands[i], "-") == 0 ? read_machines(all, stdin)
						   : add_machine(all, operands[i], where);
	}
	return rc == CLI_OK && json_array_size(all) == 0
		       ? cli_complain(CLI_USAGE, "standard input names no node and no instance")
		       : rc;
}

/* --- what is answered --------------------------------------------------------------------------
 */

static bool is_nobody(const json_t *row)
{
	const char *result = cli_text(row, "result");

	return strcmp(result, "unknown") == 0 || strcmp(result, "several") == 0;
}

static int print(const struct cli *c, const json_t *row, bool many)
{
	const char *result = cli_text(row, "result"), *node = cli_text(row, "node"),
		   *machine = cli_text(row, "machine");
	char text[MACHINE_MAX + 80];

	if (is_nobody(row)) {
		(void)snprintf(text, sizeof(text),
			       strcmp(result, "unknown") == 0
				       ? "no node and no instance of ours is named \"%s\""
				       : "instances of several providers have the id \"%s\": "
					 "name the node",
			       machine);
		return cli_complain(CLI_FAILED, text);
	}
	if (many) {
		out_text(&c->out, OUT_PLAIN, machine);
		(void)fputs(": ", c->out.f);
	}
	if (strcmp(result, "taken") == 0)
		(void)fprintf(c->out.f,
			      "node %s gets no more jobs and will be removed: \"burstctl node show "
			      "%s\"\n",
			      node, node);
	else if (strcmp(result, "ignored") == 0)
		(void)fprintf(c->out.f, "noted; nothing is done: the pool ignores such notices, or "
					"an admin drained the node\n");
	else
		(void)fprintf(
			c->out.f,
			"nothing to do: node %s has no instance, or one that is already leaving\n",
			node);
	return CLI_OK;
}

static int print_all(const struct cli *c, json_t *results)
{
	int rc = CLI_OK;

	for (size_t i = 0; i < json_array_size(results); i++) {
		const json_t *row = json_array_get(results, i);

		if (c->json)
			rc = is_nobody(row) ? CLI_FAILED : rc;
		else if (print(c, row, json_array_size(results) > 1) != CLI_OK)
			rc = CLI_FAILED;
	}
	if (c->json) {
		json_t *all = json_pack("{s:O}", "results", results);

		cli_print_json(c, all);
		json_decref(all);
	}
	return rc;
}

/* --- what is asked -----------------------------------------------------------------------------
 */

/* The request without its machines; NULL: --at is no time, and that was said. */
static json_t *request(const struct notice_args *a)
{
	json_t *rq = json_pack("{s:s, s:s}", "op", "notice", "kind", a->kind);
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

/* As many as one request takes, from *at on. */
static json_t *next_part(const json_t *all, size_t *at)
{
	json_t *part = json_array();
	size_t bytes = 0;

	while (*at < json_array_size(all) && json_array_size(part) < PART_MAX) {
		json_t *name = json_array_get(all, *at);

		bytes += json_string_length(name) + 3;
		if (bytes > PART_BYTES && json_array_size(part) > 0)
			break;
		(void)json_array_append(part, name);
		(*at)++;
	}
	return part;
}

/* Send all parts.  What was answered is printed, even if the next part fails. */
static int tell(const struct cli *c, json_t *head, const json_t *all)
{
	json_t *results = json_array(), *r;
	size_t at = 0;
	int rc = CLI_OK, printed;

	while (rc == CLI_OK && at < json_array_size(all)) {
		json_t *rq = json_copy(head);

		(void)json_object_set_new(rq, "machines", next_part(all, &at));
		rc = cli_ask_loudly(c, rq, &r);
		if (rc != CLI_OK)
			break;
		(void)json_array_extend(results, json_object_get(r, "results"));
		json_decref(r);
	}
	printed = json_array_size(results) > 0 ? print_all(c, results) : CLI_OK;
	json_decref(results);
	return rc != CLI_OK ? rc : printed;
}

static int run_notice(const struct cli *c, const void *args, char **operands)
{
	const struct notice_args *a = args;
	json_t *rq, *all;
	int rc;

	if (a->kind == NULL || reclaim_kind_parse(a->kind) < 0)
		return cli_complain(CLI_USAGE,
				    "say --kind reclaim, rebalance, maintenance or faulty");
	if (a->at != NULL && a->in_ms >= 0)
		return cli_complain(CLI_USAGE, "--in and --at: only one of them");
	rq = request(a);
	if (rq == NULL)
		return CLI_USAGE;
	all = json_array();
	rc = gather(all, operands);
	if (rc == CLI_OK)
		rc = tell(c, rq, all);
	json_decref(all);
	json_decref(rq);
	return rc;
}

#define AT(field) offsetof(struct notice_args, field)

static const struct opt notice_opts[] = {
	{"kind", 'k', OPT_TEXT, "KIND", "reclaim, rebalance, maintenance or faulty", AT(kind), 0,
	 0},
	{"in", 0, OPT_DURATION, "TIME", "when it happens, from now, such as 120s", AT(in_ms), 0,
	 IN_MAX_MS},
	{"at", 0, OPT_TEXT, "TIME", "when it happens, such as 2026-01-02T03:04:05Z", AT(at), 0, 0},
	{"reason", 0, OPT_TEXT, "TEXT", "text for the events", AT(reason), 0, 0},
};

#undef AT

const struct cli_command cmd_notice = {
	.name = "notice",
	.operands = "NODE ... | -",
	.min = 1,
	.max = MACHINES_MAX,
	.summary = "give notice that machines will be taken away, or are broken",
	.about = "NODE may be the id of an instance.  \"-\": read them from standard "
		 "input, one a line; a thousand are one request.\nThe node gets no more "
		 "jobs at once.  reclaim: its jobs are requeued, or told to save their "
		 "work first, as its pool says.  rebalance (it may be reclaimed) and "
		 "maintenance: its jobs may end by themselves until then.  faulty: its "
		 "jobs are requeued, and another machine may become the node at once.  "
		 "Of several notices the earliest end and the worst kind count.",
	.example = "burstctl notice h100-3 --kind reclaim --in 120s",
	.opts = notice_opts,
	.nopts = sizeof(notice_opts) / sizeof(notice_opts[0]),
	.initial = &notice_initial,
	.size = sizeof(notice_initial),
	.run = run_notice,
};
