#include "slurm/command.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* For the log; for nodes the state that scontrol takes. */
static const char *const kind_names[COMMAND_NKINDS] = {
	[COMMAND_SET_ADDR] = "address",       [COMMAND_DOWN] = "DOWN",
	[COMMAND_FORCE] = "POWER_DOWN_FORCE", [COMMAND_ASAP] = "POWER_DOWN_ASAP",
	[COMMAND_RESUME] = "RESUME",          [COMMAND_WAKE] = "POWER_UP",
	[COMMAND_KEEP] = "SuspendExcNodes+",  [COMMAND_LET_GO] = "SuspendExcNodes-",
	[COMMAND_CREATE] = "create",          [COMMAND_POSTPONE] = "StartTime",
	[COMMAND_START] = "StartTime",        [COMMAND_CLEAR] = "AdminComment",
	[COMMAND_REQUEUE] = "requeue",        [COMMAND_CANCEL] = "cancel",
	[COMMAND_SIGNAL] = "signal",          [COMMAND_NOTIFY] = "notify"};

static const char *const verbs[COMMAND_NKINDS] = {
	[COMMAND_SET_ADDR] = "address",   [COMMAND_DOWN] = "down",
	[COMMAND_FORCE] = "power-down",   [COMMAND_ASAP] = "drain",
	[COMMAND_RESUME] = "resume",      [COMMAND_WAKE] = "power-up",
	[COMMAND_KEEP] = "keep",          [COMMAND_LET_GO] = "let-go",
	[COMMAND_CREATE] = "create-node", [COMMAND_POSTPONE] = "postpone",
	[COMMAND_START] = "start",        [COMMAND_CLEAR] = "clear",
	[COMMAND_REQUEUE] = "requeue",    [COMMAND_CANCEL] = "cancel",
	[COMMAND_SIGNAL] = "signal",      [COMMAND_NOTIFY] = "notify"};

const char *command_verb(enum command_kind kind)
{
	return verbs[kind];
}

const char *command_what(enum command_kind kind)
{
	return kind_names[kind];
}

bool command_of_jobs(enum command_kind kind)
{
	return kind >= COMMAND_POSTPONE;
}

bool command_verb_of_jobs(const char *verb)
{
	for (int k = 0; k < COMMAND_NKINDS; k++)
		if (command_of_jobs((enum command_kind)k) && strcmp(verbs[k], verb) == 0)
			return true;
	return false;
}

bool command_by_scancel(enum command_kind kind)
{
	return kind == COMMAND_SIGNAL || kind == COMMAND_CANCEL;
}

size_t command_most(enum command_kind kind)
{
	if (kind == COMMAND_NOTIFY)
		return 1;
	return command_by_scancel(kind) || kind == COMMAND_REQUEUE ? SLURM_SIGNAL_MAX
								   : SLURM_BATCH_MAX;
}

void command_free(struct command *c)
{
	if (c == NULL)
		return;
	str_fini(&c->names);
	str_fini(&c->addrs);
	str_fini(&c->hosts);
	str_fini(&c->spec);
	free(c);
}

/* Move the words after the first n, if there are any, to *rest. */
static void cut_words(struct str *words, size_t n, struct str *rest)
{
	char *p = words->p;

	for (size_t i = 0; p != NULL && i < n; i++)
		p = strchr(i > 0 ? p + 1 : p, ',');
	if (p == NULL)
		return;
	str_adds(rest, p + 1);
	*p = '\0';
	words->len = (size_t)(p - words->p);
}

void command_cut(struct command *c, size_t n, struct command *rest)
{
	assert(n > 0 && n < c->n && rest->n == 0);
	rest->kind = c->kind;
	rest->n = c->n - n;
	c->n = n;
	cut_words(&c->names, n, &rest->names);
	cut_words(&c->addrs, n, &rest->addrs);
	cut_words(&c->hosts, n, &rest->hosts);
	memcpy(rest->reason, c->reason, sizeof(rest->reason));
	rest->mark = c->mark;
	rest->made_ms = c->made_ms;
	c->sealed = false;
	c->cut = rest->cut = true;
}

bool command_strike(struct command *c, const char *job)
{
	struct str all = c->names;

	str_init(&c->names, SLURM_ARG_MAX);
	c->n = 0;
	for (char *p = all.p, *end; *p != '\0'; p = end) {
		char was;

		end = p + strcspn(p, ",");
		was = *end;
		*end = '\0';
		if (strcmp(p, job) != 0) {
			str_addf(&c->names, "%s%s", c->n > 0 ? "," : "", p);
			c->n++;
		}
		end += was != '\0';
	}
	str_fini(&all);
	return c->n > 0;
}

/* The argument "name=" with the reason. */
static const char *reason_arg(const struct command *c, fmt_zone_fn zone, const char *name,
			      struct str *arg)
{
	str_addf(arg, "%s%s", name, c->reason);
	fmt_local(arg->p, zone);
	return arg->p;
}

static void make_job_argv(const struct command *c, fmt_zone_fn zone, struct str *args,
			  const char **argv)
{
	size_t n = 0;

	str_addf(&args[0], "jobid=%s", c->names.p);
	argv[n++] = args[0].p;
	if (c->wait[0] != '\0')
		argv[n++] = c->wait;
	if (c->reason[0] != '\0')
		argv[n++] = reason_arg(c, zone, "AdminComment=", &args[2]);
	if (c->kind == COMMAND_CLEAR)
		argv[n++] = "AdminComment=";
	argv[n] = NULL;
}

/* Cut the text at each such byte: an argument for each piece, from argv[n] on.  Returns how many
 * arguments there are. */
static size_t cut_args(char *p, char by, const char **argv, size_t n)
{
	while (p != NULL) {
		assert(n < COMMAND_ARGV - 2); /* the program before, NULL behind */
		argv[n++] = p;
		p = strchr(p, by);
		if (p != NULL)
			*p++ = '\0';
	}
	return n;
}

/* scancel takes no list: make a word for each job. */
static void make_scancel_argv(const struct command *c, struct str *args, const char **argv)
{
	static const char *const to[] = {
		[SLURM_TO_BATCH] = "--batch", [SLURM_TO_STEPS] = NULL, [SLURM_TO_BOTH] = "--full"};
	size_t n = 0;

	if (c->kind == COMMAND_SIGNAL) {
		str_addf(&args[0], "--signal=%s", c->wait);
		argv[n++] = args[0].p;
		if (to[c->arg] != NULL)
			argv[n++] = to[c->arg];
	}
	str_adds(&args[1], c->names.p);
	n = cut_args(args[1].p, ',', argv, n);
	argv[n] = NULL;
}

/* scontrol create takes an argument for each word. */
static void make_create_argv(const struct command *c, struct str *args, const char **argv)
{
	size_t n = 0;

	str_addf(&args[0], "nodename=%s", c->names.p);
	argv[n++] = args[0].p;
	str_adds(&args[1], c->spec.p);
	n = cut_args(args[1].p + 1, ' ', argv, n); /* it begins with a blank */
	argv[n++] = "State=CLOUD";
	argv[n] = NULL;
}

static void make_node_argv(const struct command *c, fmt_zone_fn zone, struct str *args,
			   const char **argv)
{
	size_t n = 0;

	if (c->kind == COMMAND_KEEP || c->kind == COMMAND_LET_GO) {
		str_addf(&args[0], "%s=%s", kind_names[c->kind], c->names.p);
		argv[0] = args[0].p;
		argv[1] = NULL;
		return;
	}
	str_addf(&args[0], "nodename=%s", c->names.p);
	argv[n++] = args[0].p;
	if (c->addrs.len > 0) {
		str_addf(&args[1], "nodeaddr=%s", c->addrs.p);
		str_addf(&args[2], "nodehostname=%s", c->hosts.p);
		argv[n++] = args[1].p;
		argv[n++] = args[2].p;
	}
	if (c->kind != COMMAND_SET_ADDR) {
		str_addf(&args[3], "state=%s", kind_names[c->kind]);
		argv[n++] = args[3].p;
	}
	if (c->reason[0] != '\0')
		argv[n++] = reason_arg(c, zone, "reason=", &args[4]);
	argv[n] = NULL;
}

void command_argv(const struct command *c, fmt_zone_fn zone, const char *program,
		  struct str args[COMMAND_TEXTS], const char *argv[COMMAND_ARGV])
{
	*argv++ = program;
	if (command_by_scancel(c->kind)) {
		make_scancel_argv(c, args, argv);
		return;
	}
	*argv++ = c->kind == COMMAND_REQUEUE  ? "requeue"
		  : c->kind == COMMAND_NOTIFY ? "notify"
		  : c->kind == COMMAND_CREATE ? "create"
					      : "update";
	if (c->kind == COMMAND_REQUEUE || c->kind == COMMAND_NOTIFY) {
		argv[0] = c->names.p;
		argv[1] = c->kind == COMMAND_NOTIFY ? reason_arg(c, zone, "", &args[0]) : NULL;
		argv[2] = NULL;
	} else if (c->kind == COMMAND_CREATE) {
		make_create_argv(c, args, argv);
	} else if (command_of_jobs(c->kind)) {
		make_job_argv(c, zone, args, argv);
	} else {
		make_node_argv(c, zone, args, argv);
	}
}
