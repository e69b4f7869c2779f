/* burst-hook's own code, as another process: it writes a call into the spool. */
#define main burst_hook_main
int burst_hook_main(int argc, char **argv);
#include "../../slurm/burst-hook.c" /* NOLINT: its spool() is static */
#undef main

#include <sys/mman.h>

#include "crash.h"

/* As slurmctld gives it: a memfd. */
static int resume_file(const char *text)
{
	int fd = text != NULL ? memfd_create("resume", MFD_CLOEXEC) : -1;

	if (fd >= 0 && write(fd, text, strlen(text)) != (ssize_t)strlen(text)) {
		(void)close(fd);
		fd = -1;
	}
	return fd;
}

bool hook_run(struct crash *c, const struct sim_call *call)
{
	struct call own = {
		.end = {.kind = call->kind,
			.at_ms = call->at,
			.boot_ms = call->at > c->booted_ms ? call->at - c->booted_ms : 0},
		.list = call->list,
		.file = resume_file(call->file),
		.wall_ns = call->at * 1000000};
	int rc;

	own.end.file = own.file >= 0 ? CALL_FILE_SENT : CALL_FILE_NONE;
	c->in_hook = true;
	rc = spool(&own);
	c->in_hook = false;
	if (own.file >= 0)
		(void)close(own.file);
	return rc == 0;
}
