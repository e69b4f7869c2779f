#include "sim_audit.h"

#include <stdlib.h>
#include <string.h>

#include "base/hostlist.h"
#include "base/mem.h"
#include "base/str.h"

static uint64_t key_of(const char *verb, const char *what)
{
	uint64_t h = UINT64_C(14695981039346656037);

	/* A repeat is a create. */
	for (size_t n = strcmp(verb, "create-again") == 0 ? 6 : strlen(verb); n > 0; n--, verb++)
		h = (h ^ (unsigned char)*verb) * UINT64_C(1099511628211);
	for (h *= 31; *what != '\0'; what++)
		h = (h ^ (unsigned char)*what) * UINT64_C(1099511628211);
	return h;
}

uint64_t sim_audit_key(const struct journal_audit *a)
{
	bool slurm = strcmp(a->target, "slurmctld") == 0;

	if (strcmp(a->verb, "unsent") == 0)
		return key_of(a->request, a->object);
	return key_of(a->verb, slurm || a->request[0] == '\0' ? a->object : a->request);
}

/* Where it is; all->n: nowhere. */
static size_t find(const struct sim_audit *all, uint64_t key)
{
	size_t i = 0;

	while (i < all->n && all->keys[i] != key)
		i++;
	return i;
}

void sim_audit_put(struct world *w, struct sim_audit *all, uint64_t key, bool again)
{
	if (!again && find(all, key) < all->n)
		world_fail(w, "I28: two records of what is done once");
	if (all->n == SIM_AUDITS_MAX)
		world_fail(w, "I28: records of what is never done");
	else
		all->keys[all->n++] = key;
}

bool sim_audit_has(const struct sim_audit *all, const char *verb, const char *what)
{
	return find(all, key_of(verb, what)) < all->n;
}

static bool drop(struct sim_audit *all, uint64_t key)
{
	size_t i = find(all, key);

	if (i == all->n)
		return false;
	all->keys[i] = all->keys[--all->n];
	return true;
}

void sim_audit_unsent(struct world *w, struct sim_audit *all, uint64_t key)
{
	if (!drop(all, key))
		world_fail(w, "I28: what was not sent is on no record");
}

void sim_audit_take(struct world *w, struct sim_audit *all, const char *verb, const char *what)
{
	if (!drop(all, key_of(verb, what)))
		world_fail(w, "I28: %s %s is on no record", verb, what);
}

static int by_name(const void *a, const void *b)
{
	return strverscmp(*(const char *const *)a, *(const char *const *)b);
}

void sim_audit_take_nodes(struct world *w, struct sim_audit *all, const char *verb,
			  const char *names)
{
	struct hostlist *h;
	struct str s;

	if (hostlist_parse(&h, names, strlen(names), NULL) != 0) {
		sim_audit_take(w, all, verb, names);
		return;
	}
	const char **sorted = mem_zalloc(h->n * sizeof(*sorted));

	memcpy(sorted, h->names, h->n * sizeof(*sorted));
	qsort(sorted, h->n, sizeof(*sorted), by_name);
	str_init(&s, strlen(names) + 64);
	hostlist_fold(&s, sorted, h->n);
	sim_audit_take(w, all, verb, s.p);
	str_fini(&s);
	free(sorted);
	hostlist_free(h);
}
