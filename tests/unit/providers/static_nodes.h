/* static_nodes.h - machines that are switched on and off by a command. */
#ifndef TESTS_STATIC_NODES_H
#define TESTS_STATIC_NODES_H

#include "static_site.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

/* As io/proc.c does: no shell, a session of its own, little environment. */
static inline pid_t spawn(const struct fix *f, const struct provider_request *rq)
{
	static char env_path[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin", env_lc[] = "LC_ALL=C";
	char *const envp[] = {env_path, env_lc, NULL};
	char in[200], out[200];
	pid_t pid;

	put(f, "in", rq->body);
	(void)snprintf(in, sizeof(in), "%s", path(f, "in"));
	(void)snprintf(out, sizeof(out), "%s", path(f, "out"));
	pid = fork();
	assert_true(pid >= 0);
	if (pid > 0)
		return pid;
	(void)setsid();
	if (dup2(open(in, O_RDONLY), 0) < 0 ||
	    dup2(open(out, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600), 1) < 0)
		_exit(99);
	(void)execve(rq->argv[0], rq->argv, envp);
	_exit(98);
}

static inline enum provider_code run(struct fix *f, const struct provider_op *op)
{
	struct provider_request rq = {0};
	struct provider_reply reply = {0};
	struct err e = {0};
	int status;
	pid_t pid;

	if (provider_static.build(f->self, op, &rq, &e) != 0)
		fail_msg("%s", e.msg);
	pid = spawn(f, &rq);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	reply.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
	reply.body = get(f, "out");
	reply.len = strlen(reply.body);
	provider_result_fini(&f->r);
	provider_static.parse(f->self, op, &reply, &f->r);
	print_message("# %s: %s %s", rq.argv[1], provider_code_str(f->r.code),
		      reply.len > 0 ? reply.body : "(nothing)\n");
	provider_request_fini(&rq);
	return f->r.code;
}

static inline enum provider_code create(struct fix *f, const char *node, uint64_t gen)
{
	const struct provider_op op = create_op(node, gen, cluster);

	return run(f, &op);
}

static inline enum provider_code switch_off(struct fix *f, const char *id)
{
	const char *ids[] = {id};
	struct provider_op op = {.kind = PROVIDER_DELETE};

	op.u.del.ids = ids;
	op.u.del.nids = 1;
	return run(f, &op);
}

static inline enum provider_code list(struct fix *f)
{
	struct provider_op op = {.kind = PROVIDER_LIST};

	op.u.list.cluster = cluster;
	op.cursor = "";
	return run(f, &op);
}

/* The state that a list shows for a node; -1: it does not show it. */
static inline int listed(struct fix *f, const char *node)
{
	assert_int_equal(list(f), PROVIDER_OK);
	for (size_t i = 0; i < f->r.ninstances; i++)
		if (strcmp(f->r.instances[i].node, node) == 0)
			return (int)f->r.instances[i].state;
	return -1;
}

static inline void forget_log(const struct fix *f)
{
	put(f, "log", "");
}

static inline bool was_run(const struct fix *f, const char *call)
{
	return strstr(get(f, "log"), call) != NULL;
}

#endif
