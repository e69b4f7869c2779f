#include "slurm/look.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "slurm/show.h"

const char *const slurm_own_names[SLURM_NOWN] = {"SuspendTime", "SuspendTimeout", "ResumeTimeout"};

__attribute__((format(printf, 3, 0))) static void say(char *out, size_t size, const char *fmt,
						      va_list ap)
{
	int n = vsnprintf(out, size, fmt, ap);

	if (n >= (int)size)
		memcpy(out + size - 4, "...", 4);
	for (; *out != '\0'; out++)
		if ((unsigned char)*out < ' ' || (unsigned char)*out > '~')
			*out = '?';
}

bool slurm_look_found(struct slurm_look *l, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(l->problem.found, sizeof(l->problem.found), fmt, ap);
	va_end(ap);
	return false;
}

void slurm_look_wanted(struct slurm_look *l, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(l->problem.wanted, sizeof(l->problem.wanted), fmt, ap);
	va_end(ap);
}

bool slurm_look_found_value(struct slurm_look *l)
{
	if (l->value.n == 0)
		return slurm_look_found(l, "not set");
	return slurm_look_found(l, "%.*s", (int)(l->value.n < 400 ? l->value.n : 400), l->value.p);
}

/* "60 s for pool h100 and 2 more" */
static bool found_seconds(struct slurm_look *l, int64_t seconds, size_t pools)
{
	char value[24] = "INFINITE", more[32] = "";

	if (seconds != SLURM_INFINITE)
		(void)snprintf(value, sizeof(value), "%lld s", (long long)seconds);
	if (pools > 1)
		(void)snprintf(more, sizeof(more), " and %zu more", pools - 1);
	return slurm_look_found(l, "%s for pool %s%s", value, l->pool->name, more);
}

static void find_nodes(struct slurm_look *l)
{
	size_t total = 0;

	for (size_t p = 0; p < l->need->npools; p++)
		total += l->need->pools[p].nodes->n;
	map_init(&l->by_name);
	l->nodes = mem_zalloc((total + 1) * sizeof(*l->nodes));
	for (size_t p = 0; p < l->need->npools; p++) {
		const struct hostlist *h = l->need->pools[p].nodes;

		for (size_t i = 0; i < h->n; i++) {
			struct slurm_our_node *n = &l->nodes[l->n++];

			*n = (struct slurm_our_node){.pool = p, .own = {-1, -1, -1}};
			map_put(&l->by_name, h->names[i], n);
		}
	}
}

typedef void (*member_fn)(struct slurm_our_node *n, const int64_t *own);

/* Call fn for our nodes in this list.  A list that cannot be read has no node of a pool. */
static size_t each_member(struct slurm_look *l, struct slurm_text list, member_fn fn,
			  const int64_t *own)
{
	struct hostlist *h;
	size_t n = 0;

	if (list.n == 0 || hostlist_parse(&h, list.p, list.n, NULL) != 0)
		return 0;
	for (; n < h->n; n++) {
		struct slurm_our_node *node = map_get(&l->by_name, h->names[n]);

		if (node != NULL)
			fn(node, own);
	}
	hostlist_free(h);
	return n;
}

static void take_own(struct slurm_our_node *n, const int64_t *own)
{
	for (int t = 0; t < SLURM_NOWN; t++)
		if (own[t] > n->own[t])
			n->own[t] = own[t];
}

static int read_partitions(struct slurm_look *l, struct err *e)
{
	static const char head[] = "PartitionName=";
	struct slurm_text rest = l->partitions, line;
	size_t members = 0, n = 0;

	while (slurm_show_cut(&rest, '\n', &line)) {
		int64_t own[SLURM_NOWN], most = -1;

		if (line.n == 0 || slurm_show_is(line, "No partitions in the system"))
			continue;
		if (line.n < sizeof(head) || memcmp(line.p, head, sizeof(head) - 1) != 0)
			return err_set(e, ERR_INVALID, "scontrol: not a partition: \"%.*s\"",
				       (int)(line.n < 60 ? line.n : 60), line.p);
		for (int t = 0; t < SLURM_NOWN; t++) {
			own[t] = slurm_show_number(slurm_show_word(line, slurm_own_names[t]));
			most = own[t] > most ? own[t] : most;
		}
		if (own[SLURM_OWN_SUSPEND] >= 0 && own[SLURM_OWN_SUSPEND] != SLURM_INFINITE)
			l->partition_suspends = true;
		if (most >= 0)
			members += each_member(l, slurm_show_word(line, "Nodes"), take_own, own);
		if (members > SLURM_MEMBERS_MAX || ++n > SLURM_NPARTITIONS_MAX)
			return err_set(e, ERR_LIMIT, "scontrol: too many partitions");
	}
	return 0;
}

int slurm_look_init(struct slurm_look *l, struct err *e)
{
	find_nodes(l);
	return read_partitions(l, e);
}

void slurm_look_fini(struct slurm_look *l)
{
	map_fini(&l->by_name);
	free(l->nodes);
}

int64_t slurm_look_seconds(const struct slurm_our_node *n, enum slurm_own t, int64_t global)
{
	return n->own[t] >= 0 ? n->own[t] : global;
}

bool slurm_look_pools(struct slurm_look *l, enum slurm_own t, slurm_seconds_fn ok)
{
	int64_t global = slurm_show_number(slurm_show_setting(l->config, slurm_own_names[t])),
		bad = 0;
	size_t pools = 0, last = SIZE_MAX;

	for (size_t i = 0; i < l->n; i++) {
		int64_t s = slurm_look_seconds(&l->nodes[i], t, global);

		/* Neither shown nor set by a partition: another rule reports that. */
		if (s < 0 || l->nodes[i].pool == last ||
		    ok(l, &l->need->pools[l->nodes[i].pool], s))
			continue;
		last = l->nodes[i].pool;
		if (pools++ == 0) {
			bad = s;
			l->pool = &l->need->pools[last];
		}
	}
	return pools == 0 || found_seconds(l, bad, pools);
}

bool slurm_look_cut(struct slurm_text *rest, struct slurm_text *list, struct slurm_text *count)
{
	const char *p = rest->p, *end, *colon = NULL;
	int depth = 0; /* a comma in brackets separates nothing */

	if (rest->n == 0)
		return false;
	end = p + rest->n;
	for (; p < end && (*p != ',' || depth > 0); p++) {
		depth += (*p == '[') - (*p == ']');
		if (*p == ':' && colon == NULL)
			colon = p;
	}
	*list = (struct slurm_text){rest->p, (size_t)((colon != NULL ? colon : p) - rest->p)};
	*count = (struct slurm_text){NULL, 0};
	if (colon != NULL)
		*count = (struct slurm_text){colon + 1, (size_t)(p - colon - 1)};
	p += p < end;
	*rest = (struct slurm_text){p, (size_t)(end - p)};
	return true;
}

bool slurm_look_lists(struct slurm_text names, struct slurm_text name)
{
	struct slurm_text one;

	while (slurm_show_cut(&names, ',', &one))
		if (one.n == name.n && one.n > 0 && memcmp(one.p, name.p, one.n) == 0)
			return true;
	return false;
}

static void keep(struct slurm_our_node *n, const int64_t *own)
{
	(void)own;
	n->kept = true;
}

size_t slurm_look_keep(struct slurm_look *l, struct slurm_text list)
{
	return each_member(l, list, keep, NULL);
}

bool slurm_look_none_kept(struct slurm_look *l)
{
	const struct slurm_need_pool *pool = NULL;

	for (size_t i = l->n; i-- > 0;) {
		if (l->nodes[i].kept)
			pool = &l->need->pools[l->nodes[i].pool];
		l->nodes[i].kept = false;
	}
	if (pool == NULL)
		return true;
	return slurm_look_found(l, "%.*s, which has nodes of pool %s",
				(int)(l->value.n < 80 ? l->value.n : 80), l->value.p, pool->name);
}
