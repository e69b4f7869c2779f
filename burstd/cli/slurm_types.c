#include "cli/slurm_types.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "cli/cli.h"

enum { ANSWER_MAX = 4 << 20 }; /* an offer has a few hundred bytes */

/* --- burstd --check --provider -------------------------------------------------------------------
 */

static pid_t start(const char *provider, const char *path, int out)
{
	const char *argv[] = {"burstd", "--check", "--json", "--provider",
			      provider, "--",      path,     NULL};
	posix_spawn_file_actions_t fa;
	char found[PATH_MAX];
	pid_t pid;
	int rc;

	if (posix_spawn_file_actions_init(&fa) != 0)
		return -1;
	(void)posix_spawn_file_actions_adddup2(&fa, out, STDOUT_FILENO);
	rc = posix_spawnp(&pid, cli_find_burstd(found, sizeof(found)), &fa, NULL,
			  (char **)(uintptr_t)argv, environ);
	(void)posix_spawn_file_actions_destroy(&fa);
	return rc == 0 ? pid : -1;
}

/* What it printed; NULL: no JSON.  json_decref(). */
static json_t *run(const char *provider, const char *path)
{
	char chunk[4096];
	struct str s;
	int ends[2];
	json_t *all = NULL;
	ssize_t n;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return NULL;
	pid = start(provider, path, ends[1]);
	(void)close(ends[1]);
	str_init(&s, ANSWER_MAX);
	while (pid > 0 &&
	       ((n = read(ends[0], chunk, sizeof(chunk))) > 0 || (n < 0 && errno == EINTR)))
		if (n > 0)
			str_add(&s, chunk, (size_t)n);
	(void)close(ends[0]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (!s.full)
		all = json_loadb(s.p, s.len, 0, NULL);
	str_fini(&s);
	return all;
}

/* --- what it says --------------------------------------------------------------------------------
 */

static int64_t number(const json_t *row, const char *key, int64_t most)
{
	json_int_t v = json_integer_value(json_object_get(row, key));

	return v > 0 && v <= most ? v : 0;
}

static bool is(const json_t *row, const char *key, const char *want)
{
	const char *have = json_string_value(json_object_get(row, key));

	return have != NULL && strcmp(have, want) == 0;
}

/* What the report says of an offer. */
static void take_offer(struct slurmconf_type *t, const json_t *checks, const char *pool,
		       const struct conf_offer *o)
{
	const json_t *row;
	size_t i;

	json_array_foreach(checks, i, row)
	{
		if (!is(row, "pool", pool) || !is(row, "offer", o->name))
			continue;
		t->cpus = (uint32_t)number(row, "cpus", UINT32_MAX);
		t->gpus = (uint32_t)number(row, "gpus", UINT32_MAX);
		t->memory_mb = number(row, "memory_mb", INT64_MAX);
	}
}

static void add_offers(struct slurm_types *t, const struct conf *conf, uint32_t provider,
		       const json_t *checks)
{
	for (size_t i = 0; i < conf->npools; i++) {
		size_t n;
		const struct conf_offer *o = conf_rungs(&conf->pools[i], &n);

		for (size_t k = 0; k < n; k++) {
			if (o[k].provider_index != provider)
				continue;
			t->v = mem_realloc(t->v, (t->n + 1) * sizeof(*t->v));
			t->v[t->n] = (struct slurmconf_type){.pool = i, .type = o[k].type};
			take_offer(&t->v[t->n++], checks, conf->pools[i].name, &o[k]);
		}
	}
}

void slurm_types_ask(struct slurm_types *t, const struct conf *conf, const char *path)
{
	*t = (struct slurm_types){.n = 0};
	for (uint32_t i = 0; i < conf->nproviders; i++) {
		json_t *all = run(conf->providers[i].name, path);
		const json_t *checks = json_object_get(all, "checks");
		char text[256];

		if (!json_is_array(checks)) {
			(void)snprintf(text, sizeof(text),
				       "provider \"%.100s\" cannot be asked what its types have: "
				       "there is no burstd that does",
				       conf->providers[i].name);
			(void)cli_complain(CLI_FAILED, text);
		}
		add_offers(t, conf, i, checks);
		json_decref(all);
	}
}

void slurm_types_fini(struct slurm_types *t)
{
	free(t->v);
	*t = (struct slurm_types){.n = 0};
}
