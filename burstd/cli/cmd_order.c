/* An admin's orders: drain, terminate, pause, resume and retry. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hostlist.h"
#include "cli/cli.h"

/* --- nodes -------------------------------------------------------------------------------------
 */

struct order_args {
	bool all, yes;
};

static const struct order_args order_initial = {false, false};

static const char *nodes_word(int64_t n)
{
	return n == 1 ? "node" : "nodes";
}

/* "; 2 were off already" */
static void print_off(const struct cli *c, int64_t off)
{
	if (off > 0)
		(void)fprintf(c->out.f, "; %" PRId64 " %s off already", off,
			      off == 1 ? "was" : "were");
}

/* ", 2 of them with jobs" */
static void print_busy(FILE *f, const json_t *r)
{
	int64_t n = cli_int(r, "nodes"), busy = cli_int(r, "busy");

	if (n == 1)
		(void)fputs(busy == 1 ? ", with a job" : ", without a job", f);
	else if (n > 0)
		(void)fprintf(f, ", %" PRId64 " of them with jobs", busy);
}

static void print_order(const struct cli *c, const json_t *r, bool drain, bool listed)
{
	int64_t n = cli_int(r, "nodes");

	if (n == 0) {
		(void)fputs(cli_int(r, "off") == 1 ? "nothing to do: the node is off\n"
						   : "nothing to do: all of these nodes are off\n",
			    c->out.f);
		return;
	}
	(void)fprintf(c->out.f, "%" PRId64 " %s will be %s", n, nodes_word(n),
		      drain ? "drained" : "terminated");
	print_busy(c->out.f, r);
	if (listed)
		print_off(c, cli_int(r, "off"));
	(void)fputc('\n', c->out.f);
}

static int send(const struct cli *c, const char *op, const char *list, bool look, json_t **r)
{
	json_t *rq = json_pack("{s:s}", "op", op);

	if (list != NULL)
		(void)json_object_set_new(rq, "nodes", json_string(list));
	else
		(void)json_object_set_new(rq, "all", json_true());
	if (look)
		(void)json_object_set_new(rq, "look", json_true());
	return cli_ask_loudly(c, rq, r);
}

/* How many nodes a list names; -1: it is no list, and that was said. */
static int64_t count_nodes(const char *list)
{
	struct hostlist *h;
	struct err e = {0};
	int64_t n;

	if (hostlist_parse(&h, list, strlen(list), &e) != 0) {
		(void)cli_complain(CLI_USAGE, e.msg);
		return -1;
	}
	n = (int64_t)h->n;
	hostlist_free(h);
	return n;
}

static bool say_yes(void)
{
	char line[16];

	(void)fflush(stderr);
	return fgets(line, sizeof(line), stdin) != NULL &&
	       (strcmp(line, "y\n") == 0 || strcmp(line, "Y\n") == 0 || strcmp(line, "yes\n") == 0);
}

/* Ask burstd how many nodes it would be, and the user to confirm. */
static int confirm(const struct cli *c, const char *list)
{
	bool tty = isatty(STDIN_FILENO);
	int64_t n;
	json_t *r;
	int rc = send(c, "terminate", list, true, &r);

	if (rc != CLI_OK)
		return rc;
	n = cli_int(r, "nodes");
	if (n > 0) {
		(void)fprintf(stderr, "%sterminate %" PRId64 " %s", tty ? "" : "burstctl: ", n,
			      nodes_word(n));
		print_busy(stderr, r);
		(void)fputs(tty ? "? [y/N] " : ": say --yes\n", stderr);
	}
	json_decref(r);
	if (n == 0)
		return CLI_OK;
	if (!tty)
		return CLI_USAGE;
	return say_yes() ? CLI_OK : cli_complain(CLI_FAILED, "nothing was done");
}

static int order(const struct cli *c, const char *op, const char *list)
{
	json_t *r;
	int rc = send(c, op, list, false, &r);

	if (rc != CLI_OK)
		return rc;
	if (c->json)
		cli_print_json(c, r);
	else
		print_order(c, r, strcmp(op, "drain") == 0, list != NULL);
	json_decref(r);
	return CLI_OK;
}

static int run_drain(const struct cli *c, const void *args, char **operands)
{
	(void)args;
	return count_nodes(operands[0]) < 0 ? CLI_USAGE : order(c, "drain", operands[0]);
}

static int run_terminate(const struct cli *c, const void *args, char **operands)
{
	const struct order_args *a = args;
	int64_t n = 2; /* --all is many */
	int rc;

	if (a->all == (operands[0] != NULL))
		return cli_complain(CLI_USAGE, "name nodes, or say --all");
	if (operands[0] != NULL)
		n = count_nodes(operands[0]);
	if (n < 0)
		return CLI_USAGE;
	rc = n > 1 && !a->yes ? confirm(c, operands[0]) : CLI_OK;
	return rc == CLI_OK ? order(c, "terminate", operands[0]) : rc;
}

static const struct opt terminate_opts[] = {
	{"all", 0, OPT_FLAG, NULL, "every node that exists", offsetof(struct order_args, all), 0,
	 0},
	{"yes", 'y', OPT_FLAG, NULL, "do not ask", offsetof(struct order_args, yes), 0, 0},
};

const struct cli_command cmd_drain = {
	.name = "drain",
	.operands = "NODES",
	.min = 1,
	.max = 1,
	.summary = "let nodes finish their jobs, give them no new ones, then delete them",
	.about = "NODES is a list as Slurm writes it, such as h100-[1-4,7].  Nodes that "
		 "are gone can be bought again; \"burstctl pause\" prevents that.",
	.example = "burstctl drain h100-[1-4]",
	.run = run_drain,
};

const struct cli_command cmd_terminate = {
	.name = "terminate",
	.operands = "NODES | --all",
	.max = 1,
	.summary = "delete nodes now; their jobs are requeued, or end",
	.about = "Jobs of sbatch go back into the queue; those of srun, salloc and "
		 "sbatch --no-requeue end.\nFor more than one node it asks first; "
		 "without a terminal it needs --yes.",
	.example = "burstctl terminate h100-3",
	.opts = terminate_opts,
	.nopts = sizeof(terminate_opts) / sizeof(terminate_opts[0]),
	.initial = &order_initial,
	.size = sizeof(order_initial),
	.run = run_terminate,
};

/* --- pools -------------------------------------------------------------------------------------
 */

static void print_each(const struct cli *c, const json_t *r, const char *key, const char *what)
{
	const json_t *name;

	for (size_t i = 0; (name = cli_row(r, key, i)) != NULL; i++) {
		(void)fputs("pool ", c->out.f);
		out_text(&c->out, OUT_BOLD, json_is_string(name) ? json_string_value(name) : "?");
		(void)fprintf(c->out.f, " %s\n", what);
	}
}

static int set_paused(const struct cli *c, const char *pool, bool paused)
{
	static const char waiters[] = "Jobs that were refused start at their next try, in 15 min "
				      "at most; \"scontrol update JobId=JOB StartTime=now\" does "
				      "not wait for it.\n";
	json_t *r, *rq = json_pack("{s:s}", "op", paused ? "pause" : "resume");
	int rc;

	if (pool != NULL)
		(void)json_object_set_new(rq, "pool", json_string(pool));
	rc = cli_ask_loudly(c, rq, &r);
	if (rc != CLI_OK)
		return rc;
	if (c->json) {
		cli_print_json(c, r);
	} else {
		print_each(c, r, "changed",
			   paused ? "is paused: nothing is bought for it; its nodes run on, and "
				    "are deleted when they are idle, as always"
				  : "is resumed: its nodes are bought again");
		print_each(c, r, "unchanged", paused ? "was paused already" : "was not paused");
		if (!paused && cli_row(r, "changed", 0) != NULL)
			(void)fputs(waiters, c->out.f);
	}
	json_decref(r);
	return CLI_OK;
}

static int run_pause(const struct cli *c, const void *args, char **operands)
{
	(void)args;
	return set_paused(c, operands[0], true);
}

static int run_resume(const struct cli *c, const void *args, char **operands)
{
	(void)args;
	return set_paused(c, operands[0], false);
}

const struct cli_command cmd_pause = {
	.name = "pause",
	.operands = "[POOL]",
	.max = 1,
	.summary = "stop buying in a pool, or in all of them",
	.about = "Nodes that exist run jobs, and are deleted when idle, as usual.  Jobs "
		 "that need more nodes go back into the queue and wait.  A restart of "
		 "burstd does not end the pause.",
	.example = "burstctl pause h100",
	.run = run_pause,
};

const struct cli_command cmd_resume = {
	.name = "resume",
	.operands = "[POOL]",
	.max = 1,
	.summary = "go on buying in a pool, or in all of them",
	.about = "Also closes the circuit of a pool whose nodes came up wrong.",
	.example = "burstctl resume h100",
	.run = run_resume,
};

/* --- places ------------------------------------------------------------------------------------
 */

static int run_retry(const struct cli *c, const void *args, char **operands)
{
	json_t *r, *rq = json_pack("{s:s}", "op", "retry");
	int64_t n;
	int rc;

	(void)args;
	if (operands[0] != NULL)
		(void)json_object_set_new(rq, "what", json_string(operands[0]));
	rc = cli_ask_loudly(c, rq, &r);
	if (rc != CLI_OK)
		return rc;
	n = cli_int(r, "places");
	if (c->json)
		cli_print_json(c, r);
	else if (n == 0)
		(void)fputs("nothing to do: no cooldown is active there (\"burstctl resume\" lets "
			    "a blocked pool buy again)\n",
			    c->out.f);
	else
		(void)fprintf(c->out.f,
			      "%" PRId64 " %s\nJobs that were refused start at their next try; "
			      "\"scontrol update JobId=JOB StartTime=now\" does not wait for it.\n",
			      n, n == 1 ? "cooldown is forgotten" : "cooldowns are forgotten");
	json_decref(r);
	return CLI_OK;
}

const struct cli_command cmd_retry = {
	.name = "retry",
	.operands = "[POOL | PROVIDER]",
	.max = 1,
	.summary = "try again now where nothing could be bought",
	.about = "Use it after a quota was raised, or a bill was paid: burstd forgets "
		 "the refusals of all places of a pool, of a provider, or of all.  "
		 "Otherwise each place is tried again at its own time (burstctl pools).",
	.example = "burstctl retry h100",
	.run = run_retry,
};
