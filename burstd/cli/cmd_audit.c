#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/str.h"
#include "cli/cli.h"

enum {
	TAIL_DEFAULT = 20,
	TAIL_MAX = 1000,
	SEQ_WIDTH = 6,
	ACTOR_WIDTH = 10,
	VERB_WIDTH = 12,
	TARGET_WIDTH = 9,
	OBJECT_WIDTH = 14,
	REASON_AT = SEQ_WIDTH + OUT_TIME_WIDTH + ACTOR_WIDTH + VERB_WIDTH + TARGET_WIDTH +
		    OBJECT_WIDTH + 6 * 2,
	TEXT_MAX = 1 << 20, /* bytes: as long as an answer may be */
};

/* --- audit --------------------------------------------------------------------------------------
 */

struct audit_args {
	const char *since, *job, *pool;
	int64_t tail; /* -1: not given */
};

static const struct audit_args audit_initial = {.tail = -1};

static const struct opt audit_opts[] = {
	{"job", 'j', OPT_TEXT, "JOB", "only requests about this job",
	 offsetof(struct audit_args, job), 0, 0},
	{"pool", 'p', OPT_TEXT, "POOL", "only requests about nodes of this pool",
	 offsetof(struct audit_args, pool), 0, 0},
	{"since", 0, OPT_TEXT, "TIME",
	 "all records since then: yesterday, 2h (ago), 13:30, 2026-01-02, 2026-01-02T13:30; or "
	 "after a number, that of the first column",
	 offsetof(struct audit_args, since), 0, 0},
	{"tail", 'n', OPT_NUMBER, "COUNT", "the last COUNT records (default: 20)",
	 offsetof(struct audit_args, tail), 0, TAIL_MAX},
};

/* The reason without "burstd: ", which tells slurmctld's users whose it is: here all are
 * burstd's. */
static const char *bare(const char *reason)
{
	static const char name[] = "burstd: ";

	return strncmp(reason, name, sizeof(name) - 1) == 0 ? reason + sizeof(name) - 1 : reason;
}

/* Do not pad the object where the reason has a line of its own: blanks would make an empty line. */
static void put_object(const struct cli *c, enum out_style style, const char *object)
{
	if (c->out.columns > 0 && c->out.columns < REASON_AT)
		out_text(&c->out, style, object);
	else
		out_column(&c->out, style, object, OBJECT_WIDTH);
}

/* The request comes last: it may be a thousand instances. */
static void print_record(const struct cli *c, const json_t *a)
{
	const char *object = cli_text(a, "object");
	char at[OUT_TIME_SIZE], seq[FMT_U64_SIZE], *actor;
	struct str text, about;

	if (c->json) {
		(void)json_dumpf(a, c->out.f, JSON_COMPACT | JSON_ENSURE_ASCII);
		(void)fputc('\n', c->out.f);
		return;
	}
	actor = out_people(cli_text(a, "actor"));
	str_init(&text, TEXT_MAX);
	str_adds(&text, bare(cli_text(a, "reason")));
	if (cli_text(a, "request")[0] != '\0')
		str_addf(&text, " (%s)", cli_text(a, "request"));
	(void)snprintf(seq, sizeof(seq), "%*" PRId64, SEQ_WIDTH, cli_int(a, "seq"));
	out_column(&c->out, OUT_DIM, seq, SEQ_WIDTH);
	out_column(&c->out, OUT_PLAIN, out_time(at, cli_int(a, "at_ms")), OUT_TIME_WIDTH);
	out_column(&c->out, OUT_PLAIN, actor, ACTOR_WIDTH);
	str_init(&about, TEXT_MAX);
	if (json_is_true(json_object_get(a, "jobs")))
		str_adds(&about, strchr(object, ',') != NULL ? "jobs " : "job ");
	str_adds(&about, object);
	out_column(&c->out, OUT_PLAIN, cli_text(a, "verb"), VERB_WIDTH);
	out_column(&c->out, OUT_PLAIN, cli_text(a, "target"), TARGET_WIDTH);
	put_object(c, OUT_BOLD, about.p);
	out_wrapped(&c->out, OUT_PLAIN, text.p, REASON_AT);
	str_fini(&about);
	str_fini(&text);
	free(actor);
}

static void print_heading(const struct cli *c)
{
	out_column(&c->out, OUT_DIM, "   SEQ", SEQ_WIDTH);
	out_column(&c->out, OUT_DIM, "TIME", OUT_TIME_WIDTH);
	out_column(&c->out, OUT_DIM, "BY", ACTOR_WIDTH);
	out_column(&c->out, OUT_DIM, "REQUEST", VERB_WIDTH);
	out_column(&c->out, OUT_DIM, "TO", TARGET_WIDTH);
	put_object(c, OUT_DIM, "ABOUT");
	out_wrapped(&c->out, OUT_DIM, "WHY", REASON_AT);
}

static json_t *request(const struct audit_args *a, int64_t since, int64_t since_ms)
{
	json_t *rq = json_pack("{s:s}", "op", "audit");

	if (since >= 0)
		(void)json_object_set_new(rq, "since", json_integer(since));
	else if (since_ms > 0)
		(void)json_object_set_new(rq, "since_ms", json_integer(since_ms));
	else
		(void)json_object_set_new(rq, "tail",
					  json_integer(a->tail >= 0 ? a->tail : TAIL_DEFAULT));
	if (a->job != NULL)
		(void)json_object_set_new(rq, "job", json_string(a->job));
	if (a->pool != NULL)
		(void)json_object_set_new(rq, "pool", json_string(a->pool));
	return rq;
}

static int run_audit(const struct cli *c, const void *args, char **operands)
{
	const struct audit_args *a = args;
	struct cli_since from;
	bool more = true, any = false;
	int rc = cli_since(a->since, &from);

	(void)operands;
	if (rc == CLI_OK && a->since != NULL && a->tail >= 0)
		rc = cli_complain(CLI_USAGE, "--since and --tail: only one of them");
	/* With --job or --pool all records are read, unless it is said which. */
	if ((a->job != NULL || a->pool != NULL) && a->since == NULL && a->tail < 0)
		from.seq = 0;
	while (rc == CLI_OK && more) {
		const json_t *row;
		int64_t asked;
		json_t *r;

		rc = cli_ask_loudly(c, request(a, from.seq, from.ms), &r);
		if (rc != CLI_OK)
			return rc;
		for (size_t i = 0; (row = cli_row(r, "records", i)) != NULL; i++) {
			if (!any && !c->json)
				print_heading(c);
			any = true;
			print_record(c, row);
		}
		asked = from.seq;
		from.seq = cli_int(r, "last");
		/* Never ask for ever: a page that does not advance is the last. */
		more = json_is_true(json_object_get(r, "more")) && from.seq > asked;
		json_decref(r);
	}
	if (rc == CLI_OK && !any && !c->json && a->tail != 0)
		(void)fputs("no records\n", c->out.f);
	return rc;
}

const struct cli_command cmd_audit = {
	.name = "audit",
	.operands = "",
	.summary = "list requests to providers and slurmctld, with who caused them and why",
	.about = "Each record is written before its request is sent.  With --json each "
		 "record is one line.  `burstctl audit verify` proves that no record "
		 "was changed.",
	.example = "burstctl audit -n 5",
	.opts = audit_opts,
	.nopts = sizeof(audit_opts) / sizeof(audit_opts[0]),
	.initial = &audit_initial,
	.size = sizeof(audit_initial),
	.folds = true,
	.run = run_audit,
};

/* --- audit verify -------------------------------------------------------------------------------
 */

struct verify_args {
	const char *head;
};

static const struct verify_args verify_initial = {NULL};

static const struct opt verify_opts[] = {
	{"head", 0, OPT_TEXT, "SEQ:HASH", "last record as burstd's log gave it: compare it, too",
	 offsetof(struct verify_args, head), 0, 0},
};

struct verdict {
	int64_t records, at, bad;
	bool head; /* compared with one that was given */
	char hash[65];
	char what[16];
};

static int set_known(json_t *rq, const char *head)
{
	char *end;
	long long seq = strtoll(head, &end, 10);

	if (end == head || *end != ':' || seq < 1 || strlen(end + 1) != 64 ||
	    strspn(end + 1, "0123456789abcdef") != 64)
		return cli_complain(
			CLI_USAGE,
			"--head: want SEQ:HASH as in the log, HASH of 64 hexadecimal digits");
	(void)json_object_set_new(rq, "known", json_integer(seq));
	(void)json_object_set_new(rq, "known_hash", json_string(end + 1));
	return CLI_OK;
}

/* Verify one part of the log; *more: another follows. */
static int verify_some(const struct cli *c, const struct verify_args *a, struct verdict *v,
		       bool begun, bool *more)
{
	json_t *rq = json_pack("{s:s}", "op", "audit-verify"), *r;
	int64_t from = v->at;
	int rc = CLI_OK;

	if (begun) {
		(void)json_object_set_new(rq, "after", json_integer(v->at));
		(void)json_object_set_new(rq, "hash", json_string(v->hash));
	}
	if (a->head != NULL)
		rc = set_known(rq, a->head);
	if (rc != CLI_OK) {
		json_decref(rq);
		return rc;
	}
	rc = cli_ask_loudly(c, rq, &r);
	if (rc != CLI_OK)
		return rc;
	v->records += cli_int(r, "records");
	v->at = cli_int(r, "after");
	v->bad = cli_int(r, "bad");
	(void)snprintf(v->hash, sizeof(v->hash), "%.64s", cli_text(r, "hash"));
	(void)snprintf(v->what, sizeof(v->what), "%.15s", cli_text(r, "what"));
	*more = json_is_true(json_object_get(r, "more"));
	json_decref(r);
	if (*more && begun && v->at <= from)
		return cli_complain(CLI_FAILED, "burstd did not verify the whole log");
	return CLI_OK;
}

static void print_verdict(const struct cli *c, const struct verdict *v)
{
	if (c->json) {
		json_t *o = json_pack("{s:I,s:I,s:s,s:I,s:s}", "records", (json_int_t)v->records,
				      "last", (json_int_t)v->at, "hash", v->hash, "bad",
				      (json_int_t)v->bad, "what", v->what);

		(void)json_dumpf(o, c->out.f, JSON_COMPACT | JSON_ENSURE_ASCII);
		json_decref(o);
	} else if (v->bad != 0) {
		(void)fprintf(c->out.f, "record %" PRId64 ": ", v->bad);
		out_text(&c->out, OUT_BAD, v->what);
		if (v->head)
			(void)fputs(" (or --head is of another journal)", c->out.f);
	} else if (v->records == 0 && v->at == 0) {
		(void)fputs("no records: the journal is new, or was lost; --head shows which",
			    c->out.f);
	} else {
		(void)fprintf(c->out.f,
			      "%" PRId64 " records from %" PRId64
			      " on, all as they were written; the last is %" PRId64 ":%s",
			      v->records, v->at - v->records + 1, v->at, v->hash);
	}
	(void)fputc('\n', c->out.f);
}

static int run_verify(const struct cli *c, const void *args, char **operands)
{
	struct verdict v = {.head = ((const struct verify_args *)args)->head != NULL};
	bool more = true;

	(void)operands;
	for (bool begun = false; more; begun = true) {
		int rc = verify_some(c, args, &v, begun, &more);

		if (rc != CLI_OK)
			return rc;
	}
	print_verdict(c, &v);
	return v.bad == 0 ? CLI_OK : CLI_FAILED;
}

const struct cli_command cmd_audit_verify = {
	.name = "audit verify",
	.operands = "",
	.summary = "prove that no audit record was changed",
	.about = "Names the first record that was changed, removed, moved, inserted or "
		 "cut off.  Whoever can write the journal can also make a new chain: "
		 "--head compares it with the last record as burstd's log, perhaps on "
		 "another machine, gave it in a line \"audit log head=SEQ:HASH\".",
	.example = "burstctl audit verify",
	.opts = verify_opts,
	.nopts = sizeof(verify_opts) / sizeof(verify_opts[0]),
	.initial = &verify_initial,
	.size = sizeof(verify_initial),
	.run = run_verify,
};
