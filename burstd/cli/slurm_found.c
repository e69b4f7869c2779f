#include "cli/slurm_found.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROGRAMS   "/usr/libexec/burstd"
#define SLURM_CONF "/etc/slurm/slurm.conf"

enum { VERSION_MAX = 256 };

const char *slurm_found_conf(const char *option, const char *conf)
{
	const char *env = getenv("SLURM_CONF");

	if (option != NULL || conf != NULL)
		return option != NULL ? option : conf;
	return env != NULL && env[0] == '/' ? env : SLURM_CONF;
}

void slurm_found_programs(char out[PATH_MAX])
{
	static const char *const beside[] = {"../libexec/burstd", "."};
	char self[PATH_MAX], path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	const char *dir;

	(void)snprintf(out, PATH_MAX, "%s", PROGRAMS);
	if (n <= 0)
		return;
	self[n] = '\0';
	dir = dirname(self);
	for (size_t i = 0; i < sizeof(beside) / sizeof(beside[0]); i++) {
		char *real;

		(void)snprintf(path, sizeof(path), "%.3000s/%s/burst-resume", dir, beside[i]);
		if (access(path, X_OK) != 0)
			continue;
		*strrchr(path, '/') = '\0';
		real = realpath(path, NULL);
		if (real != NULL)
			(void)snprintf(out, PATH_MAX, "%s", real);
		free(real);
		return;
	}
}

void slurm_found_slurmctld(const char *bin, char out[PATH_MAX])
{
	char beside[PATH_MAX];
	const char *const paths[] = {beside, "/usr/sbin/slurmctld", "/usr/local/sbin/slurmctld"};

	(void)snprintf(beside, sizeof(beside), "%.3000s/../sbin/slurmctld", bin);
	out[0] = '\0';
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		if (access(paths[i], X_OK) == 0) {
			(void)snprintf(out, PATH_MAX, "%s", paths[i]);
			return;
		}
}

int slurm_found_version(const char *program, struct slurm_version *v, struct err *e)
{
	char *argv[] = {(char *)(uintptr_t)program, (char *)(uintptr_t) "-V", NULL},
	     text[VERSION_MAX];
	posix_spawn_file_actions_t fa;
	size_t len = 0;
	ssize_t n = 0;
	int ends[2], rc;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) != 0 || posix_spawn_file_actions_init(&fa) != 0)
		return err_set(e, ERR_IO, "pipe: %s", strerror(errno));
	(void)posix_spawn_file_actions_adddup2(&fa, ends[1], STDOUT_FILENO);
	rc = posix_spawn(&pid, program, &fa, NULL, argv, environ);
	(void)posix_spawn_file_actions_destroy(&fa);
	(void)close(ends[1]);
	while (rc == 0 && len < sizeof(text) - 1 &&
	       ((n = read(ends[0], text + len, sizeof(text) - 1 - len)) > 0 ||
		(n < 0 && errno == EINTR)))
		len += n > 0 ? (size_t)n : 0;
	(void)close(ends[0]);
	while (rc == 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (rc != 0)
		return err_set(e, ERR_IO, "%.200s: %s", program, strerror(rc));
	while (len > 0 && (text[len - 1] == '\n' || text[len - 1] == ' '))
		len--;
	if (slurm_version_parse(v, text, len, e) != 0)
		return err_wrap(e, "%.100s -V", program);
	return 0;
}
