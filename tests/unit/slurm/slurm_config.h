/* slurm_config.h - scontrol's output of three releases, edited line by line, and the problems that
 * are found in it for two pools.  Tests run from the top of the repository, where the fixtures
 * are. */
#ifndef TESTS_SLURM_CONFIG_H
#define TESTS_SLURM_CONFIG_H

#include <string.h>

#include "slurm/require.h"
#include "slurp.h"

#define PART(name, nodes, times) "PartitionName=" name " Nodes=" nodes " State=UP" times "\n"

#define SHORT_CRED "advice AuthInfo" /* the lab has cred_expire=5, for its speed */

static inline char *fixture(const char *release, const char *file)
{
	char path[200];

	(void)snprintf(path, sizeof(path), "tests/fixtures/slurm/%s/%s.txt", release, file);
	return slurp(path);
}

static inline struct slurm_text text_of(const char *s)
{
	return (struct slurm_text){s, strlen(s)};
}

/* The need that the fixtures are checked against: their nodes are c1 to c8. */
struct need {
	struct slurm_need_pool pools[2];
	struct hostlist *nodes[2];
	struct slurm_need need;
};

static inline void need_init(struct need *n)
{
	*n = (struct need){.need = {.cluster = "lab", .npools = 2}};
	assert_int_equal(hostlist_parse(&n->nodes[0], "c[1-6]", 6, NULL), 0);
	assert_int_equal(hostlist_parse(&n->nodes[1], "c[7-8]", 6, NULL), 0);
	n->pools[0] =
		(struct slurm_need_pool){.name = "h100", .nodes = n->nodes[0], .max_nodes = 6};
	n->pools[1] =
		(struct slurm_need_pool){.name = "a100", .nodes = n->nodes[1], .max_nodes = 2};
	n->need.pools = n->pools;
}

static inline void need_fini(struct need *n)
{
	hostlist_free(n->nodes[0]);
	hostlist_free(n->nodes[1]);
}

/* Replace the line of `key` by "key = value", or delete it if value is NULL. */
static inline void edit(char *text, const char *key, const char *value)
{
	char *line = text, *rest, *old = mem_strdup(text);
	size_t n = strlen(key);

	while (line != NULL && !(strncmp(line, key, n) == 0 && strchr(" =[", line[n]) != NULL))
		if ((line = strchr(line, '\n')) != NULL)
			line++;
	if (line == NULL) {
		fail_msg("the fixture has no %s", key);
		abort();
	}
	rest = old + (line - text);
	rest = strchr(rest, '\n') + 1;
	if (value != NULL)
		line += snprintf(line, 400, "%s = %s\n", key, value);
	memcpy(line, rest, strlen(rest) + 1);
	free(old);
}

/* Summarize a report: "error JobRequeue, advice AuthInfo". */
static inline void summary(const struct slurm_report *r, struct str *out)
{
	for (size_t i = 0; i < r->n; i++)
		str_addf(out, "%s%s %s", i > 0 ? ", " : "",
			 slurm_severity_name(r->problems[i].severity), r->problems[i].setting);
}

static inline void check(const char *config, const char *partitions, const struct slurm_need *need,
			 const char *expected)
{
	struct slurm_report r;
	struct err e = {0};
	struct str s;

	str_init(&s, 10000);
	if (slurm_require(text_of(config), text_of(partitions), need, &r, &e) != 0)
		fail_msg("refused: %s", e.msg);
	summary(&r, &s);
	assert_string_equal(s.p, expected);
	assert_int_equal(r.by_severity[0] + r.by_severity[1] + r.by_severity[2], r.n);
	str_fini(&s);
}

#endif
