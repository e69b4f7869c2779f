/* sim_proc.c - io/proc.h with two programs only, scontrol and squeue, of the simulated
 * slurmctld. */
#include "io/proc.h"

#include <stdlib.h>
#include <string.h>

#include "base/hostlist.h"
#include "base/mem.h"
#include "sim_journal.h"
#include "sim_rotate.h"
#include "sim_slurm.h"
#include "slurm/slurm.h"
#include "world.h"

enum {
	OUT_MAX = 1 << 20,
	ARGS_MAX = JOBS_MAX + 8,
	COMMANDS_PER_MINUTE = 180,
	GATES_PER_MINUTE = 240
};

enum query {
	SHOW_NODES,
	UPDATE,
	CREATE,
	REQUEUE,
	SIGNAL,
	CANCEL,
	NOTIFY,
	SQUEUE,
	DETAILS,
	WHO,
	WORDS,
	SETTINGS,
	SWITCH
};

struct child {
	struct child *next;
	proc_done_fn done; /* NULL: nobody waits any more */
	void *ctx;
	enum query query;
	char *args[ARGS_MAX + 1];
	struct str out;
	struct err error; /* code set: it was stopped at its deadline */
	int status;
	const char *errors;
	uint32_t timeout_ms;
	int64_t asked_at;
	int64_t run_at; /* what it says was so then ... */
	bool whole;     /* ... and it says all */
	unsigned late;  /* tasks that are to come: its exit, and its effect after that */
	bool obeyed;    /* that has come */
	struct ctld_node nodes[SIM_NODES_MAX + 1];
	struct ctld_job jobs[JOBS_MAX];
};

struct proc {
	struct world *w;
	struct child *children;
};

struct proc *sim_proc_new(struct world *w)
{
	struct proc *p = mem_zalloc(sizeof(*p));

	p->w = w;
	return p;
}

static void child_free(struct proc *p, struct child *k)
{
	struct child **at = &p->children;

	while (*at != k)
		at = &(*at)->next;
	*at = k->next;
	for (size_t i = 0; k->args[i] != NULL; i++)
		free(k->args[i]);
	str_fini(&k->out);
	free(k);
}

void sim_proc_free(struct proc *p)
{
	while (p->children != NULL)
		child_free(p, p->children);
	free(p);
}

static void answer(struct child *k, const struct proc_reply *r, const struct err *e)
{
	proc_done_fn done = k->done;

	k->done = NULL;
	if (done != NULL)
		done(k->ctx, r, e);
}

bool sim_proc_who_is_late(const struct proc *p)
{
	const struct child *k = p->children;

	while (k != NULL &&
	       (k->query != WHO || k->done == NULL || p->w->now - k->asked_at < SLURM_NOTIFY_MS))
		k = k->next;
	return k != NULL;
}

/* Does this squeue ask for all jobs? */
static bool is_all(const struct child *k)
{
	return strcmp(k->args[3], "-t") != 0;
}

/* ... and for this column? */
static bool has_column(const struct child *k, const char *column)
{
	for (size_t i = 1; k->args[i] != NULL; i++)
		if (strstr(k->args[i], column) != NULL)
			return true;
	return false;
}

static size_t lines(const struct child *k)
{
	size_t n = 0;

	for (size_t i = 0; i < k->out.len; i++)
		n += k->out.p[i] == '\n';
	return n;
}

/* Broken off at the end of a line it cannot be told from one that is whole. */
static bool is_whole_lines(const struct child *k)
{
	return k->error.code == 0 && k->status == 0 && k->out.len > 0 &&
	       k->out.p[k->out.len - 1] == '\n';
}

static bool is_order(const struct child *k)
{
	return k->query == UPDATE || k->query == CREATE || k->query == REQUEUE ||
	       k->query == SIGNAL || k->query == CANCEL || k->query == NOTIFY;
}

static void drop(struct world *w, struct child *k)
{
	if (k->late > 1)
		k->late--;
	else
		child_free(w->proc, k);
}

static void on_exit_(struct world *w, void *ctx, uint64_t arg)
{
	struct child *k = ctx;
	bool kept = false;
	struct proc_reply r = {.status = k->status,
			       .out = k->out.p,
			       .len = k->out.len,
			       .errors = k->errors,
			       .kept = &kept};

	if (k->done != NULL && sim_freeze_holds(w, on_exit_, k, arg))
		return;
	if (k->error.code != 0 || k->status != 0)
		SIM_TRACE(w, "%s: %s", is_order(k) ? "an order" : "snapshot or jobs",
			  k->error.code != 0 ? k->error.msg : k->errors);
	if (k->done != NULL && k->query == SHOW_NODES && is_whole_lines(k))
		sim_ctld_tell_nodes(w->ctld, k->nodes, lines(k), k->run_at);
	if (k->done != NULL && k->query == DETAILS && k->whole && k->error.code == 0)
		sim_ctld_tell_details(w->ctld, k->jobs, k->args[8], k->run_at);
	if (k->done != NULL && k->query == SQUEUE && k->whole)
		sim_ctld_tell_jobs(w->ctld, k->jobs, k->run_at, is_all(k));
	w->ctld->telling_jobs = k->query == SQUEUE && k->whole;
	if (k->error.code != 0)
		answer(k, NULL, &k->error);
	else
		answer(k, &r, NULL);
	if (kept)
		(void)str_take(&k->out); /* proc_drop() frees it */
	w->ctld->telling_jobs = false;
	drop(w, k);
}

void proc_drop(const char *out, size_t len)
{
	union {
		const char *in;
		void *out;
	} u = {.in = out};

	(void)len;
	free(u.out);
}

static void fails(struct child *k, const char *why)
{
	k->status = 1;
	k->errors = why;
}

static void hangs(struct child *k)
{
	(void)err_set(&k->error, ERR_NET, "stopped at its deadline");
}

/* Half of an update, or half of an answer (F49). */
static size_t cut(struct world *w, const struct child *k)
{
	if (!world_fault(w, SIM_SCONTROL_FAILS))
		return SIZE_MAX;
	w->totals->met[SIM_SCONTROL_FAILS][NODE_NSTATES]++;
	sim_ctld_trouble(w->ctld, w->now);
	SIM_TRACE(w, "  fault: scontrol fails");
	return world_below(w, is_order(k) ? 3 : 2000);
}

/* The words of scancel behind its options. */
static const char *const *ids_of(const struct child *k)
{
	size_t i = 1;

	while (strncmp(k->args[i], "--", 2) == 0)
		i++;
	return (const char *const *)&k->args[i];
}

static bool is_of(const struct child *k, const char *option)
{
	return k->query == UPDATE && strncmp(k->args[2], option, strlen(option)) == 0;
}

static void run_order(struct world *w, struct child *k, size_t only)
{
	int rc;

	if (k->query == UPDATE)
		rc = sim_ctld_update(w->ctld, (const char *const *)k->args, only);
	else if (k->query == CREATE)
		rc = sim_dynamic_create(w->ctld, (const char *const *)k->args, only);
	else if (k->query == REQUEUE)
		rc = sim_ctld_requeue_ended(w->ctld, k->args[2], only);
	else if (k->query == CANCEL)
		rc = sim_ctld_cancel(w->ctld, ids_of(k), only);
	else if (k->query == NOTIFY)
		rc = sim_ctld_notify(w->ctld, k->args[2], k->args[3]);
	else
		rc = sim_ctld_signal(w->ctld, ids_of(k), only);
	if (k->query == CREATE && rc != 0) /* also where there is no room */
		fails(k, "slurm_create_node error: Invalid node name specified\n");
	else if (only != SIZE_MAX || (rc != 0 && is_of(k, "SuspendExcNodes")))
		fails(k, "slurm_update error: Unspecified error\n");
	else if (rc != 0)
		fails(k, is_of(k, "nodename=") ? "slurm_update error: Invalid node name specified\n"
					       : "Invalid job id specified for job 1\n");
}

/* On slurmctld's machine, and not of it. */
static void run_switch(struct world *w, struct child *k, size_t only)
{
	if (only == SIZE_MAX)
		sim_rotate_command(w, k->args[1], k->args[2]);
	else
		fails(k, "systemctl: timed out\n");
}

static void run(struct world *w, struct child *k)
{
	size_t only = cut(w, k);

	if (is_order(k)) {
		run_order(w, k, only);
		return;
	}
	if (k->query == SWITCH) {
		run_switch(w, k, only);
		return;
	}
	if (k->query == SHOW_NODES)
		sim_ctld_show_nodes(w->ctld, &k->out);
	else if (k->query == WHO)
		sim_ctld_show_who(w->ctld, k->args[6], &k->out);
	else if (k->query == WORDS)
		sim_ctld_show_words(w->ctld, k->args[9], &k->out);
	else if (k->query == SQUEUE)
		sim_ctld_show_jobs(w->ctld,
				   (struct sim_columns){is_all(k), has_column(k, ",Feature:"),
							has_column(k, ",Account:")},
				   &k->out);
	else if (k->query == SETTINGS && w->set.settings && strcmp(k->args[2], "config") == 0)
		sim_ctld_show_config(w->ctld, &k->out);
	else if (k->query == SETTINGS)
		str_adds(&k->out, "PartitionName=cloud State=UP\n");
	else if (sim_ctld_show_details(w->ctld, k->args[8], &k->out) != 0)
		fails(k, "slurm_load_jobs error: Invalid job id specified\n");
	k->whole = only == SIZE_MAX;
	if (k->whole)
		return;
	if (only < k->out.len && k->query == SHOW_NODES) {
		k->out.p[only] = '\0'; /* the pipe broke */
		k->out.len = only;
	} else {
		fails(k, "slurm_load_node error: Socket timed out on send/recv operation\n");
	}
}

/* It is obeyed though its scontrol is gone. */
static void on_late(struct world *w, void *ctx, uint64_t arg)
{
	struct child *k = ctx;

	(void)arg;
	if (!k->obeyed && sim_ctld_up(w->ctld))
		run_order(w, k, SIZE_MAX);
	k->obeyed = true;
	drop(w, k);
}

/* With burstd its children die: what they have sent is obeyed soon after, or not at all. */
void sim_proc_cancel_all(struct proc *p)
{
	static const struct err cancelled = {.code = ERR_CANCELLED, .msg = "cancelled"};

	for (struct child *k = p->children; k != NULL; k = k->next) {
		answer(k, NULL, &cancelled);
		if (k->late == 0 || k->obeyed)
			continue;
		k->late++;
		world_at(p->w, p->w->now + sim_dynamic_late_ms(p->w), on_late, k, 0);
	}
}

static void on_run(struct world *w, void *ctx, uint64_t arg);

/* slurmctld takes the order so much later: scontrol waits for that, or was stopped before. */
static void be_late(struct world *w, struct child *k, int64_t ms)
{
	if (!world_one_in(w, 3) || k->done == NULL) { /* NULL: burstd is gone, and it, too */
		world_at(w, w->now + ms, on_run, k, 1);
		return;
	}
	hangs(k);
	k->late = 2;
	sim_ctld_trouble(w->ctld, w->now + k->timeout_ms + ms);
	world_at(w, w->now + k->timeout_ms, on_exit_, k, 0);
	world_at(w, w->now + k->timeout_ms + ms, on_late, k, 0);
}

static void on_run(struct world *w, void *ctx, uint64_t arg)
{
	struct child *k = ctx;
	/* A busy slurmctld answers late, and by then with what is no longer so. */
	int64_t back = world_between(w, 2, world_one_in(w, 4) ? 4000 : 60);
	int64_t late = k->query == CREATE && arg == 0 ? sim_dynamic_late(w) : 0;

	if (late > 0) {
		be_late(w, k, late);
		return;
	}
	k->errors = "";
	k->run_at = w->now;
	memcpy(k->nodes, w->ctld->nodes, sizeof(k->nodes));
	memcpy(k->jobs, w->ctld->jobs, sizeof(k->jobs));
	if (k->query == SWITCH || (sim_ctld_up(w->ctld) && w->now >= w->ctld->deaf_until)) {
		run(w, k);
		if (world_fault(w, SIM_SCONTROL_HANGS)) {
			w->totals->met[SIM_SCONTROL_HANGS][NODE_NSTATES]++;
			sim_ctld_trouble(w->ctld, w->now + k->timeout_ms);
			hangs(k);
			k->whole = false;
		}
	} else if (w->ctld->hung) {
		hangs(k);
	} else {
		fails(k, "slurm_load_node error: Unable to contact slurm controller "
			 "(connect failure)\n");
	}
	if (k->error.code != 0)
		back = k->timeout_ms;
	world_at(w, w->now + back, on_exit_, k, 0);
}

static enum query squeue_query(const char *const *argv)
{
	if (strcmp(argv[3], "-O") == 0 && strstr(argv[4], "BatchFlag") != NULL)
		return WHO;
	if (strcmp(argv[3], "--noconvert") == 0)
		return WORDS;
	return strcmp(argv[4], "all") == 0 ? DETAILS : SQUEUE;
}

static enum query scontrol_query(const char *const *argv)
{
	if (strcmp(argv[1], "update") == 0)
		return UPDATE;
	if (strcmp(argv[1], "create") == 0)
		return CREATE;
	if (strcmp(argv[1], "requeue") == 0)
		return REQUEUE;
	if (strcmp(argv[1], "notify") == 0)
		return NOTIFY;
	return argv[3] != NULL && strcmp(argv[3], "nodes") == 0 ? SHOW_NODES : SETTINGS;
}

static void read_args(struct proc *p, struct child *k, const char *const *argv)
{
	size_t n = strlen(argv[0]);

	if (n > 7 && strcmp(argv[0] + n - 7, "/squeue") == 0)
		k->query = squeue_query(argv);
	else if (n > 8 && strcmp(argv[0] + n - 8, "/scancel") == 0)
		k->query = strncmp(argv[1], "--signal=", 9) == 0 ? SIGNAL : CANCEL;
	else if (n > 9 && strcmp(argv[0] + n - 9, "/scontrol") == 0)
		k->query = scontrol_query(argv);
	else if (n > 13 && strcmp(argv[0] + n - 13, "/burst-switch") == 0)
		k->query = SWITCH;
	else
		world_fail(p->w, "proc: what is %s?", argv[0]);
	for (size_t i = 0; argv[i] != NULL && i < ARGS_MAX; i++)
		k->args[i] = mem_strdup(argv[i]);
}

static const char *verb_of(const struct child *k)
{
	static const char *const verbs[][2] = {{"state=DOWN", "down"},
					       {"state=POWER_DOWN_FORCE", "power-down"},
					       {"state=POWER_DOWN_ASAP", "drain"},
					       {"state=RESUME", "resume"},
					       {"state=POWER_UP", "power-up"}};

	if (k->query == CREATE)
		return "create-node";
	for (size_t i = 2; k->args[i] != NULL; i++)
		if (strcmp(k->args[i], "StartTime=now") == 0)
			return "start";
	if (strncmp(k->args[2], "jobid=", 6) == 0)
		return strcmp(k->args[3], "AdminComment=") == 0 ? "clear" : "postpone";
	if (strncmp(k->args[2], "SuspendExcNodes", 15) == 0)
		return k->args[2][15] == '+' ? "keep" : "let-go";
	for (size_t i = 3; k->args[i] != NULL; i++)
		for (size_t v = 0; v < sizeof(verbs) / sizeof(verbs[0]); v++)
			if (strcmp(k->args[i], verbs[v][0]) == 0)
				return verbs[v][1];
	return "address";
}

static void check_scancel_audit(struct proc *p, const struct child *k)
{
	const char *const *ids = ids_of(k);
	struct str all;

	str_init(&all, JOBS_MAX * 24);
	for (size_t i = 0; ids[i] != NULL; i++)
		str_addf(&all, "%s%s", i > 0 ? "," : "", ids[i]);
	sim_audit_take(p->w, sim_journal_audit(p->w->journal),
		       k->query == CANCEL ? "cancel" : "signal", all.p);
	str_fini(&all);
}

static void check_audit(struct proc *p, const struct child *k)
{
	const char *names = k->args[2];

	if (k->query == SIGNAL || k->query == CANCEL) {
		check_scancel_audit(p, k);
		return;
	}
	if (k->query == REQUEUE || k->query == NOTIFY) {
		sim_audit_take(p->w, sim_journal_audit(p->w->journal), k->args[1], names);
		return;
	}
	names = strchr(names, '=') + 1;
	if (strncmp(k->args[2], "jobid=", 6) == 0)
		sim_audit_take(p->w, sim_journal_audit(p->w->journal), verb_of(k), names);
	else
		sim_audit_take_nodes(p->w, sim_journal_audit(p->w->journal), verb_of(k), names);
}

int proc_run(struct proc *p, const struct proc_call *call, proc_done_fn done, void *ctx,
	     struct err *e)
{
	struct child *k = mem_zalloc(sizeof(*k));
	/* While a job waits in its prolog slurmctld is asked four times a second. */
	uint32_t most = COMMANDS_PER_MINUTE + (p->w->set.prolog ? GATES_PER_MINUTE : 0);

	(void)e;
	str_init(&k->out, OUT_MAX);
	read_args(p, k, call->argv);
	k->done = done;
	k->ctx = ctx;
	k->timeout_ms = call->timeout_ms;
	k->next = p->children;
	p->children = k;
	if (!world_alive(p->w))
		return 0; /* the callback comes when the dead engine is freed */
	if (k->query == SWITCH)
		sim_audit_take(p->w, sim_journal_audit(p->w->journal), "switch-command", "munge");
	if (is_order(k)) {
		check_audit(p, k);
		SIM_TRACE(p->w, "%s %s %s %s", k->args[1], k->args[2],
			  k->args[3] != NULL ? k->args[3] : "",
			  k->args[3] != NULL && k->args[4] != NULL ? k->args[4] : "");
	}
	p->w->totals->polls++;
	if (++p->w->commands > most)
		world_fail(p->w, "I30: more than %u commands in a minute", (unsigned)most);
	k->asked_at = p->w->now;
	world_at(p->w, p->w->now + world_between(p->w, 2, 40), on_run, k, 0);
	(void)world_alive(p->w);
	return 0;
}
