#include "cli/slurm_running.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/plain.h"
#include "io/loop.h"
#include "io/proc.h"

enum {
	TIMEOUT_MS = 10000,   /* scontrol itself tries for minutes */
	ANSWER_MAX = 64 << 20 /* 65,536 nodes print about 38 MB */
};

struct question {
	struct loop *loop;
	struct str *out;
	struct err err;
	bool done;
};

static void on_done(void *ctx, const struct proc_reply *r, const struct err *e)
{
	struct question *q = ctx;

	q->done = true;
	if (e != NULL) {
		q->err = *e;
	} else if (r->status != 0) {
		const char *said = r->errors[0] != '\0' ? r->errors : r->out;

		(void)err_set(&q->err, ERR_NET, "%.*s", (int)strcspn(said, "\n"), said);
		if (q->err.msg[0] == '\0')
			(void)err_set(&q->err, ERR_NET, "exit status %d", r->status);
	} else {
		str_add(q->out, r->out, r->len);
	}
	loop_stop(q->loop);
}

/* Run scontrol once; what it prints goes to out. */
static int ask(const struct slurm_running *a, struct loop *loop, const char *what, struct str *out,
	       struct err *e)
{
	char scontrol[PATH_MAX], conf[PATH_MAX];
	const char *argv[] = {scontrol, "-o", "show", what, NULL},
		   *envp[] = {"PATH=/usr/bin:/bin", "LC_ALL=C", conf, NULL};
	const struct proc_call call = {
		.argv = argv, .envp = envp, .timeout_ms = TIMEOUT_MS, .max_out = ANSWER_MAX};
	struct question q = {.loop = loop, .out = out};
	struct proc *proc = proc_new(loop);

	(void)snprintf(scontrol, sizeof(scontrol), "%.3000s/scontrol", a->bin);
	(void)snprintf(conf, sizeof(conf), "SLURM_CONF=%.3000s", a->slurm_conf);
	if (proc_run(proc, &call, on_done, &q, &q.err) == 0)
		while (!q.done)
			loop_run(loop);
	proc_close(proc);
	plain_make(q.err.msg, '?');
	*e = q.err;
	return q.err.msg[0] != '\0' ? err_wrap(e, "scontrol") : 0;
}

int slurm_running_ask(struct slurm_running *a, struct err *e)
{
	static const char *const what[SLURM_RUNNING_NQUESTIONS] = {"config", "partitions", "nodes"};
	struct loop *loop;
	int rc = 0;

	for (size_t i = 0; i < SLURM_RUNNING_NQUESTIONS; i++)
		str_init(&a->said[i], ANSWER_MAX);
	if (loop_new(&loop, e) != 0)
		return -1;
	for (size_t i = 0; i < SLURM_RUNNING_NQUESTIONS && rc == 0; i++)
		rc = ask(a, loop, what[i], &a->said[i], e);
	loop_free(loop);
	return rc;
}

void slurm_running_fini(struct slurm_running *a)
{
	for (size_t i = 0; i < SLURM_RUNNING_NQUESTIONS; i++)
		str_fini(&a->said[i]);
}
