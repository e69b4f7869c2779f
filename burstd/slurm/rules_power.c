/* Rules on power saving: after what time slurmctld powers a node down, how long it waits for one
 * that boots, and which nodes it never powers down. */
#include <string.h>

#include "slurm/exclude.h"
#include "slurm/look.h"
#include "slurm/rules_private.h"
#include "slurm/show.h"

bool rule_saves_power(struct slurm_look *l, const struct slurm_rule *r)
{
	(void)r;
	return l->partition_suspends || slurm_show_number(l->value) != SLURM_INFINITE ||
	       slurm_look_found_value(l);
}

static bool is_finite(const struct slurm_look *l, const struct slurm_need_pool *p, int64_t seconds)
{
	(void)l;
	(void)p;
	return seconds != SLURM_INFINITE;
}

bool rule_suspends_ours(struct slurm_look *l, const struct slurm_rule *r)
{
	bool off = slurm_show_number(l->value) == SLURM_INFINITE && !l->partition_suspends;

	(void)r;
	return off || slurm_look_pools(l, SLURM_OWN_SUSPEND, is_finite);
}

bool rule_spares_others(struct slurm_look *l, const struct slurm_rule *r)
{
	(void)r;
	return slurm_look_spares_others(l);
}

static bool is_short(const struct slurm_look *l, const struct slurm_need_pool *p, int64_t seconds)
{
	(void)l;
	(void)p;
	return seconds <= SLURM_SUSPEND_TIMEOUT_MAX_S;
}

bool rule_suspended_soon(struct slurm_look *l, const struct slurm_rule *r)
{
	(void)r;
	return slurm_look_pools(l, SLURM_OWN_SUSPEND_TIMEOUT, is_short);
}

static bool is_booted(const struct slurm_look *l, const struct slurm_need_pool *p, int64_t seconds)
{
	(void)l;
	return seconds > p->boot_ms / 1000;
}

static bool has_margin(const struct slurm_look *l, const struct slurm_need_pool *p, int64_t seconds)
{
	return !is_booted(l, p, seconds) || seconds - SLURM_BOOT_MARGIN_S >= p->boot_ms / 1000;
}

static bool waits(struct slurm_look *l, slurm_seconds_fn ok)
{
	int64_t enough;

	if (slurm_look_pools(l, SLURM_OWN_RESUME, ok))
		return true;
	enough = l->pool->boot_ms / 1000 + SLURM_BOOT_MARGIN_S;
	slurm_look_wanted(l, "at least %lld s", (long long)enough);
	return false;
}

bool rule_waits_for_boot(struct slurm_look *l, const struct slurm_rule *r)
{
	(void)r;
	return waits(l, is_booted);
}

bool rule_waits_for_burstd(struct slurm_look *l, const struct slurm_rule *r)
{
	(void)r;
	return waits(l, has_margin);
}

bool rule_gives_up(struct slurm_look *l, const struct slurm_rule *r)
{
	(void)r;
	return slurm_look_pools(l, SLURM_OWN_RESUME, is_finite);
}

/* Is this what burstd.conf wants: a count of nodes that a pool keeps warm, or a name that burstd
 * has put there? */
static bool is_meant(const struct slurm_look *l, const struct slurm_need_pool *p, int64_t count)
{
	if (count >= 0)
		return count <= (int64_t)p->warm;
	return slurm_version_has(&l->version, SLURM_EXCLUDES_BY_UPDATE) &&
	       (p->warm > 0 || p->quantum_ms > 0);
}

bool rule_suspends_nodes(struct slurm_look *l, const struct slurm_rule *r)
{
	struct slurm_text rest = l->value;
	struct hostlist *h;
	int64_t count;

	(void)r;
	while (slurm_exclude_next(&rest, &h, &count)) {
		for (size_t i = 0; h != NULL && i < h->n; i++) {
			struct slurm_our_node *n = map_get(&l->by_name, h->names[i]);

			if (n != NULL && !is_meant(l, &l->need->pools[n->pool], count))
				n->kept = true;
		}
		hostlist_free(h);
	}
	return slurm_look_none_kept(l);
}

/* How many nodes of this pool slurm.conf keeps by counts, in lists of this pool's nodes alone. */
static int64_t counted(const struct slurm_look *l, const struct slurm_need_pool *p)
{
	struct slurm_text rest = l->value;
	struct hostlist *h;
	int64_t count, sum = 0;

	while (slurm_exclude_next(&rest, &h, &count)) {
		bool all = h != NULL && count >= 0;

		for (size_t i = 0; all && i < h->n; i++) {
			const struct slurm_our_node *n = map_get(&l->by_name, h->names[i]);

			all = n != NULL && &l->need->pools[n->pool] == p;
		}
		if (all)
			sum += count < (int64_t)h->n ? count : (int64_t)h->n;
		hostlist_free(h);
	}
	return sum;
}

static bool is_free(const struct slurm_look *l)
{
	return slurm_version_has(&l->version, SLURM_EXCLUDES_BY_UPDATE) &&
	       !slurm_exclude_is_fixed(l->value);
}

/* The value, for people, cut to fit beside other words. */
static struct slurm_text shown(const struct slurm_look *l)
{
	static const char none[] = "not set";

	if (l->value.n == 0)
		return (struct slurm_text){none, sizeof(none) - 1};
	return (struct slurm_text){l->value.p, l->value.n < 60 ? l->value.n : 60};
}

bool rule_keeps_warm(struct slurm_look *l, const struct slurm_rule *r)
{
	const struct slurm_need_pool *p = l->need->pools, *end = p + l->need->npools;
	struct slurm_text is = shown(l);
	struct str list;

	(void)r;
	while (p < end && (p->warm == 0 || is_free(l) || counted(l, p) >= (int64_t)p->warm))
		p++;
	if (p == end)
		return true;
	str_init(&list, SLURM_EXCLUDE_WANTED_MAX);
	hostlist_fold(&list, (const char *const *)p->nodes->names, p->nodes->n);
	slurm_look_wanted(l, "%s:%u", list.full ? "its nodes" : list.p, p->warm);
	str_fini(&list);
	return slurm_look_found(l, "%.*s, and pool %s keeps %u warm", (int)is.n, is.p, p->name,
				p->warm);
}

bool rule_keeps_paid(struct slurm_look *l, const struct slurm_rule *r)
{
	struct slurm_text is = shown(l);

	(void)r;
	for (size_t i = 0; i < l->need->npools && !is_free(l); i++)
		if (l->need->pools[i].quantum_ms > 0)
			return slurm_look_found(l, "%.*s in %s, and pool %s has a quantum",
						(int)is.n, is.p, l->version.text,
						l->need->pools[i].name);
	return true;
}

bool rule_suspends_partitions(struct slurm_look *l, const struct slurm_rule *r)
{
	struct slurm_text rest = l->partitions, line;
	size_t members = 0;

	(void)r;
	while (slurm_show_cut(&rest, '\n', &line) && members <= SLURM_MEMBERS_MAX)
		if (slurm_look_lists(l->value, slurm_show_word(line, "PartitionName")))
			members += slurm_look_keep(l, slurm_show_word(line, "Nodes"));
	return slurm_look_none_kept(l);
}
