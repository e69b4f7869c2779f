#include "core/drift.h"

#include <assert.h>
#include <string.h>

#include "base/ipaddr.h"

/* --- an instance on a provider's list ----------------------------------------------------------
 */

/* The row as staged, else as committed. */
static const struct node *latest(const struct fleet_node *fn)
{
	return fn->next != NULL ? fn->next : &fn->n;
}

struct fleet_node *drift_owner(const struct fleet_name *nm, const struct provider_instance *in)
{
	for (struct fleet_node *fn = nm->newest; fn != NULL; fn = fn->older)
		if (strcmp(latest(fn)->instance, in->id) == 0)
			return fn;
	return fleet_gen(nm, in->gen);
}

bool drift_is_elsewhere(const struct fleet_name *nm, const char *id, const char *addr)
{
	const struct fleet_elsewhere *p = nm->elsewhere;

	return p != NULL && ((p->id[0] != '\0' && strcmp(p->id, id) == 0) ||
			     (addr[0] != '\0' && ipaddr_same(p->addr, addr)));
}

/* Did slurmctld have this NodeAddr before our row was made?  An old release keeps it when the node
 * is powered down, and the provider may have given the address out again (F37). */
static bool is_stale(const struct fleet_node *live, const char *addr)
{
	return live != NULL && !live->moved && ipaddr_same(addr, live->n.stale_addr);
}

/* Is it proven that the node is elsewhere, so that the live row may give way? */
static bool is_proven_elsewhere(const struct fleet_name *nm, const struct provider_instance *in)
{
	const char *addr = is_stale(fleet_live(nm), in->addr) ? "" : in->addr;

	return drift_is_elsewhere(nm, in->id, addr);
}

/* Is it the machine of a row that the journal has lost (F58), and not of this one, which has its
 * generation and was refused?  slurmctld has the node up, and no live row could be that.  Before
 * the first snapshot it may be so: drift_claim() waits for that (I14). */
static bool is_of_a_lost_row(const struct fleet_node *fn, const struct provider_instance *in)
{
	const struct fleet_name *nm = fn->name;
	const struct node *n = latest(fn);

	if (n->state != NODE_GONE || n->instance[0] != '\0' || in->state == PROVIDER_ENDED ||
	    in->state == PROVIDER_STOPPING || in->state == PROVIDER_FAILED)
		return false;
	if (fleet_live(nm) != NULL)
		return false;
	if ((nm->flags & SLURM_KNOWN) == 0)
		return true;
	return slurm_is_on(nm->flags) && !slurm_is_silent(nm->flags) &&
	       (nm->elsewhere == NULL || is_proven_elsewhere(nm, in));
}

bool drift_owns(const struct fleet_node *fn, const struct provider_instance *in)
{
	const struct node *n = latest(fn);

	return n->instance[0] == '\0' ? !is_of_a_lost_row(fn, in)
				      : strcmp(n->instance, in->id) == 0;
}

enum drift_claim drift_claim(const struct drift_listed *l)
{
	bool ended = l->in->state == PROVIDER_ENDED;

	/* An instance at a provider where its node is not bought any more, as for a node moved to
	 * another pool, may have a job on it until slurmctld says that the node is down (I18). */
	if (l->nm == NULL || !l->here)
		return !ended && (l->nm == NULL || slurm_is_off(l->nm->flags)) ? DRIFT_STRAY
									       : DRIFT_LEAVE;
	if (ended)
		return DRIFT_LEAVE;
	if ((l->nm->flags & SLURM_KNOWN) == 0 || !l->priced)
		return DRIFT_ASK;
	if (l->fn == NULL)
		return DRIFT_ADOPT;
	if (is_of_a_lost_row(l->fn, l->in))
		return DRIFT_ADOPT_NEXT;
	/* A second instance of one generation (I3). */
	return is_proven_elsewhere(l->nm, l->in) ? DRIFT_ADOPT_NEXT : DRIFT_STRAY;
}

/* The journal may be an older copy (F58): believe an instance in it once the provider has shown it,
 * or if it was bought since burstd started. */
static bool is_proven(const struct fleet_node *fn, int64_t started_ms)
{
	return fn->seen_ms != 0 || fn->n.wanted_ms > started_ms;
}

/* What was made after burstd started, and has no row, is not burstd's, whatever its tags say: all
 * that it buys has a row before it is asked for.  (NODE_SKEW_MS: of the two clocks.) */
static bool is_an_imitation(const struct provider_instance *in, int64_t started_ms)
{
	return in->created_ms > started_ms + NODE_SKEW_MS;
}

/* A node has two instances, our live one and one unknown to us: is the unknown one at work?  Yes if
 * slurmctld has the node on it, or has the node up while ours is not even requested.  A younger one
 * is, too, unless slurmctld has the node on ours: it was bought after ours was given up, and the
 * journal is an older copy (F58).  An older one that is listed once more has ended (F14), even if
 * its address is still the node's. */
static bool supersedes(const struct fleet_name *nm, const struct fleet_node *live,
		       const struct provider_instance *in, int64_t started_ms)
{
	const struct node *n = latest(live);

	if (in->state == PROVIDER_STOPPING || in->state == PROVIDER_RECLAIMING)
		return false;
	if (n->state == NODE_WANTED && (nm->flags & SLURM_POWERING_UP) == 0)
		return true;
	if (in->gen > n->gen && is_an_imitation(in, started_ms))
		return is_proven_elsewhere(nm, in);
	if (in->gen > n->gen)
		return !nm->on_instance || !is_proven(live, started_ms);
	return in->gen == n->gen && is_proven_elsewhere(nm, in);
}

enum drift_fate drift_fate(const struct fleet_name *nm, const struct provider_instance *in,
			   int64_t started_ms)
{
	const struct fleet_node *live = fleet_live(nm);

	if (slurm_is_off(nm->flags))
		return DRIFT_LET_GO;
	if (live == NULL)
		return DRIFT_KEEP;
	return supersedes(nm, live, in, started_ms) ? DRIFT_REPLACE : DRIFT_LET_GO;
}

/* --- what a complete list lacks ----------------------------------------------------------------
 */

static bool is_at_work(const struct fleet_node *fn)
{
	return fn->n.state == NODE_READY || fn->n.state == NODE_DRAINING;
}

bool drift_is_heard(const struct fleet_node *fn)
{
	const uint32_t flags = fn->name->flags;

	return is_at_work(fn) && !slurm_is_off(flags) &&
	       (flags & (SLURM_DOWN | SLURM_NOT_RESPONDING)) == 0;
}

bool drift_must_show(const struct fleet_node *fn)
{
	return fn->n.state == NODE_BOOTING || is_at_work(fn);
}

size_t drift_most(size_t nodes)
{
	return nodes / 10 > DRIFT_BRAKE_MIN ? nodes / 10 : DRIFT_BRAKE_MIN;
}

bool drift_brake(size_t alive, size_t absent)
{
	return absent > drift_most(alive);
}

/* Believe the absence of a working node only if slurmctld does not hear from it either.  If many
 * are absent at once (brake), the list is broken (I12, F15, F17), and a network that fails silences
 * nodes for a while; they would be bought a second time.  Then believe it only of nodes that
 * slurmctld has given up itself, and not of nodes that boot or may have been made. */
bool drift_absent(const struct fleet_node *fn, bool brake)
{
	uint32_t flags = fn->name->flags;

	if (is_at_work(fn))
		return brake ? slurm_is_off(flags) || (flags & SLURM_DOWN) != 0
			     : !drift_is_heard(fn);
	return (fn->n.state != NODE_BOOTING && fn->n.state != NODE_INDOUBT) || !brake;
}

/* --- a node in a snapshot of slurmctld ---------------------------------------------------------
 */

static const char *const whys[] = {
	[DRIFT_WHY_NONE] = "",
	[DRIFT_WHY_NOTICE] = "burstd: its machine will be taken away",
	[DRIFT_WHY_INVALID] = "burstd: its registration is invalid",
	[DRIFT_WHY_DEAD] = "burstd: its slurmd does not answer",
	[DRIFT_WHY_NO_INSTANCE] = "burstd: it has no instance",
	[DRIFT_WHY_DELETING] = "burstd: its instance is being deleted",
	[DRIFT_WHY_MUTE] = "burstd: powered down, but slurmctld expects it to answer",
};

const char *drift_why_text(enum drift_why w)
{
	assert(w < sizeof(whys) / sizeof(whys[0]));
	return whys[w];
}

/* Must slurmctld's address of the node be corrected?  Either our last update was lost (F49), or our
 * journal is an older copy (F58): so a list must have shown our instance, and if slurmctld has the
 * node on another of our instances, a list since then.  But without a list for long (blind) the
 * journal must do: a working node goes down if slurmctld has forgotten its address and its provider
 * is away (F26, F50). */
static bool must_mend_addr(const struct fleet_node *fn, const struct drift_seen *s)
{
	const struct fleet_elsewhere *p = fn->name->elsewhere;

	if (!s->settled || fn->n.addr[0] == '\0' || s->addr == DRIFT_ADDR_OURS)
		return false;
	return (s->blind || is_proven(fn, s->started_ms)) &&
	       (p == NULL || fn->seen_ms > p->since_ms);
}

static void release(struct drift_todo *out, enum node_reason why)
{
	out->deeds |= DRIFT_RELEASE;
	out->release = why;
}

static void power_down(struct drift_todo *out, enum drift_why why, bool dead)
{
	out->deeds |= DRIFT_POWER_DOWN;
	out->why = why;
	out->dead = dead;
}

/* Is there a gap between snapshots, as slurmctld was away and comes back with another state (F50),
 * or burstd was?  The node may have been powered down and up again meanwhile, for another job. */
static bool is_unseen(const struct fleet_name *nm, const struct drift_seen *s)
{
	int64_t known_ms = nm->waits_ms > s->before_ms ? nm->waits_ms : s->before_ms;

	return s->began_ms - known_ms > DRIFT_UNSEEN_MS;
}

/* slurmctld waits for the node to come up. */
static void powering_up(const struct fleet_name *nm, const struct drift_seen *s,
			struct drift_todo *out)
{
	const struct fleet_node *fn = fleet_live(nm);

	out->deeds |= DRIFT_WATCH;
	if (nm->barred) {
		if (s->settled && s->began_ms > nm->forced_ms)
			out->deeds |= DRIFT_REFUSE;
		return;
	}
	if (fn == NULL)
		out->deeds |= DRIFT_BUY;
	else if ((fn->n.state == NODE_READY || fn->n.state == NODE_DRAINING) &&
		 s->began_ms > fn->n.since_ms)
		release(out, NODE_BECAUSE_REPLACED); /* its slurmd is older than the request */
	else if (must_mend_addr(fn, s))
		out->deeds |= DRIFT_SET_ADDR;
	if (nm->waits_for != 0 && is_unseen(nm, s))
		out->deeds |= DRIFT_FORGET_JOB;
	if (!s->settled)
		return;
	out->deeds |= DRIFT_CANCEL;
	/* The node was powered down since, and is powered up anew. */
	if (nm->waits_for != 0 && nm->waits_ms <= nm->obeyed_ms)
		out->deeds |= DRIFT_FORGET_JOB;
}

/* After an undrain slurmctld expects a powered-down node to answer, and gives it no job until it is
 * powered down once more. */
static bool is_mute(uint32_t flags)
{
	return (flags & SLURM_NOT_RESPONDING) != 0 && (flags & SLURM_IDLE) != 0 &&
	       (flags & (SLURM_ALLOCATED | SLURM_DRAIN | SLURM_DOWN | SLURM_MAINT |
			 SLURM_POWERING_DOWN | SLURM_POWER_DOWN | SLURM_POWER_UP)) == 0;
}

/* Keep jobs off a node that did not come up, or whose last instance cannot be deleted: other nodes
 * can run them. */
static bool rests(const struct fleet_name *nm, int64_t now_ms)
{
	return now_ms < nm->rests_ms || fleet_stuck(nm);
}

/* The node is powered down, and has no live instance. */
static void powered_down(const struct fleet_name *nm, const struct drift_seen *s,
			 struct drift_todo *out)
{
	bool down = (s->flags & SLURM_DOWN) != 0;

	if (s->addr != DRIFT_ADDR_NONE)
		out->deeds |= DRIFT_RESET_ADDR;
	if (rests(nm, s->now_ms)) {
		if (!down && (s->flags & (SLURM_ALLOCATED | SLURM_DRAIN | SLURM_MAINT)) == 0)
			out->deeds |= DRIFT_REST;
		return;
	}
	if (down && (s->reason == DRIFT_REASON_OURS || s->reason == DRIFT_REASON_TIMEOUT))
		out->deeds |= DRIFT_RESUME;
	else if (is_mute(s->flags) && s->began_ms > nm->forced_ms + DRIFT_REFORCE_MS)
		power_down(out, DRIFT_WHY_MUTE, false);
}

/* A snapshot older than the refusal does not show what came of it: the job is yet to be told
 * (F47). */
static bool may_forgive(const struct fleet_name *nm, const struct drift_seen *s)
{
	return s->began_ms > nm->refused_ms;
}

/* slurmctld has powered the node down, or is about to. */
static void off(const struct fleet_name *nm, const struct drift_seen *s, struct drift_todo *out)
{
	const struct fleet_node *fn = fleet_live(nm);
	bool powering = (s->flags & SLURM_POWERING_DOWN) != 0;
	bool awaited = (s->flags & SLURM_ALLOCATED) != 0 && !powering;

	if (may_forgive(nm, s))
		out->deeds |= DRIFT_UNBAR;
	if (powering || awaited)
		out->deeds |= DRIFT_WATCH;
	if (s->began_ms > nm->waits_ms)
		out->deeds |= DRIFT_FORGET_JOB;
	if (s->now_ms - nm->refused_ms > DRIFT_REFUSAL_MS)
		out->deeds |= DRIFT_FORGET_REFUSAL;
	/* An allocated node will be asked for in a moment, perhaps again (F46): the instance on its
	 * way is for that job. */
	if (fn != NULL && s->began_ms > fn->n.wanted_ms && !(awaited && node_coming(&fn->n)))
		release(out, NODE_BECAUSE_SUSPENDED);
	if ((s->flags & SLURM_POWERED_DOWN) != 0 && s->settled &&
	    (fn == NULL || (out->deeds & DRIFT_RELEASE) != 0))
		powered_down(nm, s, out);
}

/* A cleared POWERING_UP is no proof: a forced power-down of a booting node clears it at once, and
 * takes its jobs. */
bool drift_registered(uint32_t flags)
{
	if (slurm_is_silent(flags) || (flags & SLURM_INVALID_REG) != 0)
		return false;
	return (flags & SLURM_POWER_DOWN) == 0 ||
	       (flags & (SLURM_ALLOCATED | SLURM_COMPLETING)) != 0;
}

/* Why a node that is up and has a live instance must be powered down.  Only slurmctld's own
 * verdicts count; a node that an admin set down, drained or told to reboot is left alone. */
static enum drift_why why_power_down_live(const struct node *n, const struct drift_seen *s)
{
	if (n->state == NODE_DRAINING && s->now_ms >= s->plan.force_ms)
		return DRIFT_WHY_NOTICE;
	if ((s->flags & SLURM_REBOOT) != 0)
		return DRIFT_WHY_NONE;
	if ((s->flags & SLURM_INVALID_REG) != 0)
		return DRIFT_WHY_INVALID;
	if (n->state == NODE_READY && (s->flags & SLURM_DOWN) != 0 &&
	    (s->flags & (SLURM_DRAIN | SLURM_MAINT)) == 0 && s->reason == DRIFT_REASON_SILENT)
		return DRIFT_WHY_DEAD;
	return DRIFT_WHY_NONE;
}

/* slurmctld powers the node down when its jobs are done, and one still runs though they have had
 * their time.  (A node with completing jobs alone is IDLE.)  Old releases spoil the requeue of a
 * job that completes there when the node is forced down: with them that job ends first. */
static bool overstays(const struct node *n, const struct drift_seen *s)
{
	uint32_t waits_for = s->loses_requeued ? SLURM_COMPLETING : 0;

	return n->state == NODE_DRAINING && s->now_ms >= s->plan.force_ms &&
	       (s->flags & (SLURM_ALLOCATED | waits_for)) == SLURM_ALLOCATED;
}

/* The row being deleted need not be the newest: a later purchase may have failed. */
static bool is_deleting(const struct fleet_name *nm)
{
	const struct fleet_node *fn = nm->newest;

	while (fn != NULL && fn->n.state != NODE_DELETING)
		fn = fn->older;
	return fn != NULL;
}

static enum drift_why why_power_down(const struct fleet_name *nm, const struct fleet_node *live,
				     const struct drift_seen *s)
{
	bool told = (s->flags & SLURM_POWER_DOWN) != 0;

	if (live != NULL)
		return !told || overstays(&live->n, s) ? why_power_down_live(&live->n, s)
						       : DRIFT_WHY_NONE;
	if (slurm_is_silent(s->flags))
		return (s->flags & (SLURM_DRAIN | SLURM_REBOOT | SLURM_MAINT)) == 0 && s->listed
			       ? DRIFT_WHY_NO_INSTANCE
			       : DRIFT_WHY_NONE;
	return is_deleting(nm) && !told ? DRIFT_WHY_DELETING : DRIFT_WHY_NONE;
}

/* The machine will be taken away, and the jobs on it have their time until then. */
static void draining(const struct fleet_name *nm, const struct fleet_node *fn,
		     const struct drift_seen *s, struct drift_todo *out)
{
	bool fenced = (s->flags & (SLURM_DRAIN | SLURM_DOWN | SLURM_POWER_DOWN)) != 0;

	if (!fenced && s->settled && s->began_ms > nm->fenced_ms + DRIFT_REFORCE_MS)
		out->deeds |= DRIFT_FENCE;
	if (s->now_ms >= s->plan.signal_ms && fn->n.signal_ms == 0)
		out->deeds |= DRIFT_SIGNAL;
}

/* slurmctld has the node up. */
static void on(const struct fleet_name *nm, const struct drift_seen *s, struct drift_todo *out)
{
	const struct fleet_node *fn = fleet_live(nm);
	enum drift_why why = why_power_down(nm, fn, s);

	if (may_forgive(nm, s)) {
		out->deeds |= DRIFT_UNBAR;
		if (fn != NULL) /* else it is going down, and people want to know why */
			out->deeds |= DRIFT_FORGET_REFUSAL;
	}
	if (fn != NULL && must_mend_addr(fn, s))
		out->deeds |= DRIFT_SET_ADDR;
	if (fn != NULL && fn->n.state == NODE_BOOTING && drift_registered(s->flags) &&
	    s->began_ms > fn->n.since_ms)
		out->deeds |= DRIFT_REGISTERED;
	if (fn != NULL && fn->n.state == NODE_DRAINING && s->now_ms < s->plan.force_ms)
		draining(nm, fn, s, out);
	if (why == DRIFT_WHY_INVALID)
		out->deeds |= DRIFT_FAILED;
	if (why != DRIFT_WHY_NONE && s->settled && s->began_ms > nm->forced_ms + DRIFT_REFORCE_MS)
		power_down(out, why,
			   why == DRIFT_WHY_DEAD || why == DRIFT_WHY_NO_INSTANCE ||
				   (why == DRIFT_WHY_NOTICE && s->plan.dead));
}

void drift_node(const struct fleet_name *nm, const struct drift_seen *s, struct drift_todo *out)
{
	*out = (struct drift_todo){0};
	if ((s->flags & SLURM_POWERING_UP) != 0)
		powering_up(nm, s, out);
	else if (slurm_is_off(s->flags))
		off(nm, s, out);
	else
		on(nm, s, out);
}

bool drift_vanished(const struct fleet_name *nm, int64_t began_ms)
{
	return began_ms >= nm->missing_ms + DRIFT_VANISHED_MS;
}

bool drift_vanished_release(const struct fleet_name *nm, int64_t began_ms)
{
	const struct fleet_node *fn = fleet_live(nm);

	return fn != NULL && began_ms > fn->n.wanted_ms;
}
