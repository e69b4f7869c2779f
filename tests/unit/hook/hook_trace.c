#include "tests/unit/hook/hook_trace.h"

#ifdef __x86_64__

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

bool trace_start(struct trace *t, struct lab_opts o)
{
	*t = (struct trace){.ended = false};
	o.traced = true;
	lab_start(&t->p, &o);
	assert_int_equal(waitpid(t->p.pid, &t->status, 0), t->p.pid);
	if (WIFEXITED(t->status) && WEXITSTATUS(t->status) == LAB_NO_TRACE)
		return false;
	assert_true(WIFSTOPPED(t->status));
	assert_int_equal(ptrace(PTRACE_SETOPTIONS, t->p.pid, NULL,
				(void *)(intptr_t)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL)),
			 0);
	return true;
}

static void look(struct trace *t)
{
	struct user_regs_struct regs;

	assert_int_equal(ptrace(PTRACE_GETREGS, t->p.pid, NULL, &regs), 0);
	t->entry = !t->entry;
	t->nr = (long)regs.orig_rax;
	t->arg[0] = (long)regs.rdi;
	t->arg[1] = (long)regs.rsi;
	t->arg[2] = (long)regs.rdx;
	t->result = (long)regs.rax;
}

bool trace_next(struct trace *t)
{
	int sig = 0;

	while (!t->ended) {
		assert_int_equal(ptrace(PTRACE_SYSCALL, t->p.pid, NULL, (void *)(intptr_t)sig), 0);
		assert_int_equal(waitpid(t->p.pid, &t->status, 0), t->p.pid);
		t->ended = !WIFSTOPPED(t->status);
		if (t->ended)
			break;
		sig = WSTOPSIG(t->status);
		if (sig == (SIGTRAP | 0x80)) {
			look(t);
			return true;
		}
		sig = sig == SIGTRAP ? 0 : sig;
	}
	return false;
}

void trace_to(struct trace *t, long nr, int nth)
{
	while (nth > 0 && trace_next(t))
		nth -= t->entry && t->nr == nr;
	assert_false(t->ended);
}

void trace_past(struct trace *t, long nr, int nth)
{
	trace_to(t, nr, nth);
	assert_true(trace_next(t));
}

bool trace_start_timed(struct trace *t, struct lab_opts o)
{
	if (!trace_start(t, o))
		return false;
	trace_past(t, SYS_setitimer, 1);
	return true;
}

void trace_fd(const struct trace *t, long fd, char path[LAB_NAME])
{
	char link[64];
	ssize_t n;

	(void)snprintf(link, sizeof(link), "/proc/%d/fd/%ld", (int)t->p.pid, fd);
	n = readlink(link, path, LAB_NAME - 1);
	path[n > 0 ? n : 0] = '\0';
}

void trace_replace(struct trace *t, long nr, int arg, long value)
{
	struct user_regs_struct regs;

	assert_int_equal(ptrace(PTRACE_GETREGS, t->p.pid, NULL, &regs), 0);
	regs.orig_rax = (unsigned long)nr;
	if (arg == 1)
		regs.rsi = (unsigned long)value;
	if (arg == 2)
		regs.rdx = (unsigned long)value;
	assert_int_equal(ptrace(PTRACE_SETREGS, t->p.pid, NULL, &regs), 0);
}

void trace_set_result(struct trace *t, long result)
{
	struct user_regs_struct regs;

	assert_int_equal(ptrace(PTRACE_GETREGS, t->p.pid, NULL, &regs), 0);
	regs.rax = (unsigned long)result;
	assert_int_equal(ptrace(PTRACE_SETREGS, t->p.pid, NULL, &regs), 0);
}

void trace_let_go(struct trace *t)
{
	assert_int_equal(ptrace(PTRACE_DETACH, t->p.pid, NULL, NULL), 0);
}

void trace_finish(struct trace *t, struct lab_result *r)
{
	if (t->ended) {
		lab_finish_ended(&t->p, t->status, r);
		return;
	}
	trace_let_go(t);
	lab_finish(&t->p, r);
}

#endif
