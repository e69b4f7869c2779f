#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "keys/door.h"

/* Makes the list of names and addresses for the /etc/hosts of nodes: torchrun's MASTER_ADDR is a
 * node's name.  The text is made at most once for each commit, since addresses only change with
 * commits; a long text less often, since a thousand booting machines make a commit each. */

/* Is the text an IP address?  A host name would only work for slurmctld. */
static bool is_address(const char *text)
{
	static const char ok[] = "0123456789abcdefABCDEF:.";

	return text[0] != '\0' && text[strspn(text, ok)] == '\0' &&
	       (strchr(text, '.') != NULL || strchr(text, ':') != NULL);
}

/* Is it the name of a node: in a pool now, or known to slurmctld from a removed pool?  A name that
 * only the journal has might be another host's, which all nodes would resolve to this address; so
 * might one that slurmctld does not have any more (look_missing() in observe.c). */
static bool is_ours(const struct fleet_name *nm)
{
	return nm->listed || (nm->flags != 0 && (nm->flags & SLURM_VANISHED) == 0);
}

/* Write an event when nodes are first left out; the counters have the number. */
static void note_left_out(struct door *d, uint64_t n)
{
	char text[120];

	if (n > 0 && d->count.hosts_left_out == 0) {
		(void)snprintf(text, sizeof(text),
			       "%" PRIu64
			       " nodes do not fit in the %d bytes of names and addresses "
			       "that nodes are told",
			       n, DOOR_HOSTS_MAX);
		engine_event(d->e, "", 0, "hosts-left-out", text);
	}
	d->count.hosts_left_out = n;
}

static void make(struct door *d)
{
	struct engine *e = d->e;
	struct fleet_name *const *names = fleet_sorted(&e->fleet);
	uint64_t version, left_out = 0;
	struct str s;

	str_init(&s, DOOR_HOSTS_MAX);
	for (size_t i = 0; i < e->fleet.nall; i++) {
		const struct fleet_node *fn = fleet_live(names[i]);

		if (fn == NULL || !is_ours(names[i]) || !is_address(fn->n.addr))
			continue;
		s.full = false;
		str_addf(&s, "%s %s\n", fn->n.addr, fn->n.name);
		left_out += s.full;
	}
	note_left_out(d, left_out);
	version = door_hash(s.p);
	if (version != d->hosts.version)
		d->hosts.changed_ms = engine_now(e);
	free(d->hosts.text);
	d->hosts.len = s.len;
	d->hosts.version = version;
	d->hosts.text = str_take(&s);
	d->hosts.commits = e->count.commits;
	d->hosts.made_ms = engine_now(e);
}

static bool is_old(const struct door *d)
{
	return d->hosts.text == NULL || d->hosts.commits != d->e->count.commits;
}

/* Is the text recent?  A time in the future means that the clock was set back. */
static bool is_young(const struct door *d)
{
	int64_t age_ms = engine_now(d->e) - d->hosts.made_ms;

	return d->hosts.text != NULL && age_ms >= 0 && age_ms < DOOR_HOSTS_MS;
}

char *hosts_text(const struct engine *e, uint64_t *version)
{
	struct door *d = e->keys->door;

	if (d == NULL) {
		if (version != NULL)
			*version = 0;
		return mem_strdup("");
	}
	if (is_old(d) && !(d->hosts.len > DOOR_HOSTS_LONG && is_young(d)))
		make(d);
	if (version != NULL)
		*version = d->hosts.version;
	return mem_strdup(d->hosts.text);
}

uint64_t hosts_version(struct engine *e)
{
	struct door *d = e->keys->door;

	if (is_old(d) && !is_young(d))
		make(d);
	return d->hosts.version;
}
