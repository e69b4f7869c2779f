#include "core/limit.h"

#include <assert.h>
#include <string.h>

#include "base/clamp.h"

#define AGAIN UINT64_MAX /* limit_kind.again: once its pause is over */

/* A request that the provider may hold takes no slot. */
static bool has_slot(enum provider_op_kind k)
{
	return k != PROVIDER_NOTICES;
}

static void fill(struct bucket *b, const struct provider_bucket *of, int64_t now_ms)
{
	bucket_init_with(b, of->size, of->gains, of->every_ms, now_ms);
}

void limit_init(struct limit *l, uint32_t slots, uint32_t rate, const struct provider_limit *own,
		int64_t now_ms)
{
	*l = (struct limit){.slots = slots, .rate = rate, .turn = 1};
	bucket_init(&l->all, rate, now_ms);
	for (int k = 0; k < PROVIDER_NOPS && rate == 0 && own != NULL; k++) {
		struct limit_kind *kind = &l->kinds[k];

		fill(&kind->requests, &own[k].requests, now_ms);
		fill(&kind->instances, &own[k].instances, now_ms);
		window_init(&kind->window, own[k].window.most, own[k].window.every_ms, now_ms);
	}
}

void limit_change(struct limit *l, uint32_t slots, uint32_t rate, const struct provider_limit *own,
		  int64_t now_ms)
{
	struct limit next;

	l->slots = slots;
	if (l->rate == rate)
		return;
	limit_init(&next, slots, rate, own, now_ms);
	l->rate = rate;
	l->all = next.all;
	for (int k = 0; k < PROVIDER_NOPS; k++) {
		l->kinds[k].requests = next.kinds[k].requests;
		l->kinds[k].instances = next.kinds[k].instances;
		l->kinds[k].window = next.kinds[k].window;
	}
}

void limit_together(struct limit *l, const struct provider_bucket *all, int64_t now_ms)
{
	if (l->rate == 0 && l->all.gains == 0)
		fill(&l->all, all, now_ms);
}

void limit_turn(struct limit *l)
{
	l->turn++;
}

/* --- slots -------------------------------------------------------------------------------------
 */

enum { NOBODY = 3 };

/* A fabric is made by the first of the two requests of a create. */
static bool is_create(enum provider_op_kind k)
{
	return k == PROVIDER_CREATE || k == PROVIDER_FABRIC_MAKE;
}

/* The group of kinds for which one slot is kept.  With few slots deletes and lists share one. */
static unsigned group_of(const struct limit *l, enum provider_op_kind k)
{
	if (l->slots < 2)
		return 0;
	if (is_create(k))
		return 1;
	if (k == PROVIDER_DELETE || l->slots == 2)
		return 0;
	if (k == PROVIDER_LIST)
		return l->slots == 3 ? 0 : 2;
	return NOBODY;
}

/* Is there a slot for one more of this kind, and one for each group with nothing on the wire? */
static bool slot_for(const struct limit *l, enum provider_op_kind k)
{
	bool has[NOBODY + 1] = {[NOBODY] = true};
	bool keeps[NOBODY + 1] = {false};
	uint32_t used = l->out + 1;

	if (!has_slot(k))
		return true;
	if (pace_doubts(&l->kinds[k].pace) && l->kinds[k].out > 0)
		return false; /* one at a time */
	has[group_of(l, k)] = true;
	for (int i = 0; i < PROVIDER_NOPS; i++) {
		unsigned g = group_of(l, (enum provider_op_kind)i);

		keeps[g] = true;
		has[g] = has[g] || (has_slot((enum provider_op_kind)i) && l->kinds[i].out > 0);
	}
	for (unsigned g = 0; g < NOBODY; g++)
		used += keeps[g] && !has[g];
	return used <= l->slots;
}

/* --- whose turn it is --------------------------------------------------------------------------
 */

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* May this kind share a limit with others?  Not held requests, which may go to another service; nor
 * one that gets through more than once a second, since where so many go no kind keeps another. */
static bool may_share(const struct limit *l, int k, int64_t now_ms)
{
	const struct limit_kind *kind = &l->kinds[k];

	return has_slot((enum provider_op_kind)k) && kind->throttled > 0 &&
	       kind->pace.rate <= PACE_FIRST && kind->vain < LIMIT_ALONE &&
	       now_ms - kind->shares_ms < LIMIT_SHARED_MS;
}

static bool shares(const struct limit *l, enum provider_op_kind kind, int64_t now_ms)
{
	if (!may_share(l, (int)kind, now_ms))
		return false;
	for (int o = 0; o < PROVIDER_NOPS; o++)
		if (o != (int)kind && may_share(l, o, now_ms))
			return true;
	return false;
}

/* Two kinds that share a limit, each at a pace of its own, would come in each other's way. */
static const struct pace *pace_of(const struct limit *l, enum provider_op_kind kind, int64_t now_ms)
{
	return shares(l, kind, now_ms) ? &l->joint : &l->kinds[kind].pace;
}

/* When the kinds that may share a limit with this one let it go. */
static int64_t shared_ms(const struct limit *l, enum provider_op_kind kind, int64_t now_ms)
{
	int64_t at = now_ms;

	if (!may_share(l, (int)kind, now_ms))
		return at;
	for (int o = 0; o < PROVIDER_NOPS; o++) {
		const struct limit_kind *other = &l->kinds[o];

		if (o == (int)kind || !may_share(l, o, now_ms))
			continue;
		if (other->until_ms - other->paused_ms <= LIMIT_SHARED_PAUSE_MS)
			at = later(at, other->until_ms);
		if (l->last_ms != 0)
			at = later(at, l->last_ms + LIMIT_SHARED_WIRE_MS);
	}
	return at;
}

/* When this kind may go, apart from slots and the turns of other kinds. */
static int64_t open_ms(const struct limit *l, enum provider_op_kind kind, uint32_t instances,
		       int64_t now_ms)
{
	const struct limit_kind *k = &l->kinds[kind];
	int64_t at = later(k->until_ms, shared_ms(l, kind, now_ms));

	at = later(at, bucket_next_ms(&k->requests, now_ms));
	at = later(at, window_next_ms(&k->window, now_ms));
	at = later(at, pace_next_ms(pace_of(l, kind, now_ms), now_ms));
	return later(at, bucket_full_ms(&k->instances, instances, now_ms));
}

static uint32_t needs(const struct limit_kind *k)
{
	return k->needs > 0 ? k->needs : 1;
}

/* Is this kind in line?  It is if it asked in vain in this turn or the one before, or if its pause
 * has ended in this turn. */
static bool waits(const struct limit *l, int k)
{
	return (l->kinds[k].waits != 0 && l->kinds[k].waits + 1 >= l->turn) ||
	       l->kinds[k].again == l->turn;
}

/* A throttled kind whose pause has ended is in line for this turn, in which it can ask. */
static void expect(struct limit *l, int64_t now_ms)
{
	for (int k = 0; k < PROVIDER_NOPS; k++)
		if (l->kinds[k].again == AGAIN &&
		    open_ms(l, (enum provider_op_kind)k, 1, now_ms) <= now_ms)
			l->kinds[k].again = l->turn;
}

/* Order of the kinds that never went. */
static int rank(int k)
{
	static const int ranks[PROVIDER_NOPS] = {
		[PROVIDER_DELETE] = -2, [PROVIDER_LIST] = -1, [PROVIDER_NOTICES] = 1};

	return ranks[k];
}

/* Every other turn is for deletes, if any wait: they stop bills (P1).  But where a kind waits for
 * the slot of deletes, creates have the turns in between.  One that many deletes have passed goes
 * before them.  An order of all kinds, or each of three could wait for another for ever.  Nobody
 * waits for where machines are: that comes after all else. */
static int urgency(const struct limit *l, int k)
{
	if (k == PROVIDER_TOPOLOGY)
		return 3;
	if (l->kinds[k].passed >= LIMIT_PASSED)
		return 0;
	return k == PROVIDER_DELETE && !l->deleted ? 1 : 2;
}

static bool precedes(const struct limit *l, int a, int b)
{
	if (urgency(l, a) != urgency(l, b))
		return urgency(l, a) < urgency(l, b);
	if (l->kinds[a].went != l->kinds[b].went)
		return l->kinds[a].went < l->kinds[b].went;
	return rank(a) != rank(b) ? rank(a) < rank(b) : a < b;
}

static bool is_behind(const struct limit *l, enum provider_op_kind k, int64_t now_ms)
{
	for (int o = 0; o < PROVIDER_NOPS; o++)
		if (o != (int)k && waits(l, o) && precedes(l, o, (int)k) &&
		    !(is_create((enum provider_op_kind)o) && is_create(k)) &&
		    slot_for(l, (enum provider_op_kind)o) &&
		    open_ms(l, (enum provider_op_kind)o, needs(&l->kinds[o]), now_ms) <= now_ms)
			return true;
	return false;
}

/* Since when its next request waits; now if none was in line. */
static int64_t waits_from(const struct limit *l, const struct limit_kind *k, int64_t now_ms)
{
	bool fresh = k->again == AGAIN || k->again == l->turn || k->lined + 1 >= l->turn;

	return fresh && k->since_ms != 0 ? k->since_ms : now_ms;
}

static void line_up(struct limit *l, struct limit_kind *k, int64_t now_ms)
{
	k->since_ms = waits_from(l, k, now_ms);
	k->waits = k->lined = l->turn;
}

bool limit_may(struct limit *l, enum provider_op_kind kind, int64_t now_ms)
{
	struct limit_kind *k = &l->kinds[kind];
	bool may;

	expect(l, now_ms);
	may = open_ms(l, kind, 1, now_ms) <= now_ms && bucket_has(&l->all, now_ms) > 0 &&
	      slot_for(l, kind) && !is_behind(l, kind, now_ms);
	k->needs = 1;
	if (may)
		k->waits = 0;
	else
		line_up(l, k, now_ms);
	return may;
}

bool limit_waits(const struct limit *l, enum provider_op_kind kind)
{
	return l->kinds[kind].waits == l->turn;
}

uint32_t limit_room(const struct limit *l, enum provider_op_kind kind, int64_t now_ms)
{
	return bucket_has(&l->kinds[kind].instances, now_ms);
}

bool limit_is_full(const struct limit *l, enum provider_op_kind kind, int64_t now_ms)
{
	const struct bucket *b = &l->kinds[kind].instances;

	return bucket_full_ms(b, b->size, now_ms) <= now_ms;
}

void limit_wait(struct limit *l, enum provider_op_kind kind, uint32_t instances, int64_t now_ms)
{
	l->kinds[kind].needs = instances;
	line_up(l, &l->kinds[kind], now_ms);
}

int64_t limit_next_ms(const struct limit *l, int64_t now_ms)
{
	int64_t next = INT64_MAX, token = bucket_next_ms(&l->all, now_ms);

	for (int i = 0; i < PROVIDER_NOPS; i++) {
		const struct limit_kind *k = &l->kinds[i];
		int64_t at = open_ms(l, (enum provider_op_kind)i, needs(k), now_ms);

		if (k->waits != l->turn || !slot_for(l, (enum provider_op_kind)i))
			continue;
		at = token > at ? token : at;
		next = at < next ? at : next;
	}
	return next;
}

/* --- requests and their answers ----------------------------------------------------------------
 */

void limit_take(struct limit *l, enum provider_op_kind kind, uint32_t instances, int64_t now_ms)
{
	struct limit_kind *k = &l->kinds[kind];

	k->out++;
	l->out += has_slot(kind);
	k->waited_ms = waits_from(l, k, now_ms);
	k->since_ms = 0;
	k->waits = 0;
	k->again = 0;
	k->before = k->went;
	k->tried = k->sent;
	k->went = k->sent = ++l->order;
	l->deleted = kind == PROVIDER_DELETE;
	for (int o = 0; o < PROVIDER_NOPS && l->deleted; o++)
		l->kinds[o].passed += waits(l, o);
	k->passed = 0;
	if (may_share(l, (int)kind, now_ms)) {
		l->last = kind;
		l->last_ms = now_ms;
	}
	bucket_take_some(&l->all, 1, now_ms);
	bucket_take_some(&k->requests, 1, now_ms);
	window_take(&k->window, now_ms);
	k->joint = shares(l, kind, now_ms);
	pace_take(k->joint ? &l->joint : &k->pace, k->waited_ms < now_ms, now_ms);
	bucket_take_some(&k->instances, instances, now_ms);
}

void limit_give(struct limit *l, enum provider_op_kind kind)
{
	assert(l->kinds[kind].out > 0);
	l->kinds[kind].out--;
	l->out -= has_slot(kind);
	if (kind == l->last)
		l->last_ms = 0;
}

/* A xorshift generator; 0 of a limit without a seed. */
static unsigned dice(struct limit *l)
{
	l->dice ^= l->dice << 13;
	l->dice ^= l->dice >> 7;
	l->dice ^= l->dice << 17;
	return (unsigned)((l->dice >> 32) % PACE_DICE);
}

void limit_seed(struct limit *l, uint64_t seed)
{
	l->dice = seed;
}

/* n in every_ms, as so many in PACE_UNIT seconds; n 0: no limit. */
static int64_t in_unit(uint32_t n, uint32_t every_ms)
{
	return n == 0 ? 0 : (int64_t)n * PACE_UNIT * 1000 / every_ms;
}

static int64_t gains(const struct bucket *b)
{
	return in_unit(b->gains, b->every_ms);
}

/* A create, or one of its further requests. */
static bool makes(enum provider_op_kind kind)
{
	return is_create(kind) || kind == PROVIDER_STEP;
}

/* What the provider documents of a kind, where it is least; 0: nothing.  A limit of all kinds
 * together says nothing of creates, which are often allowed far fewer. */
static int64_t documented(const struct limit *l, enum provider_op_kind kind)
{
	const struct limit_kind *k = &l->kinds[kind];
	const int64_t each[] = {makes(kind) ? 0 : gains(&l->all), gains(&k->requests),
				in_unit(k->window.most, k->window.every_ms)};
	int64_t least = 0;

	for (size_t i = 0; i < sizeof(each) / sizeof(*each); i++)
		if (each[i] != 0 && (least == 0 || each[i] < least))
			least = each[i];
	return least;
}

/* The slowest pace that is learned.  Of what is documented other tenants take a part: half at most,
 * where requests must not wait, and three quarters of creates. */
static uint32_t least_of(const struct limit *l, enum provider_op_kind kind)
{
	int64_t own = documented(l, kind);

	if (own == 0)
		return makes(kind) ? LIMIT_LEAST_CREATE : LIMIT_LEAST;
	return (uint32_t)clamp(own / (makes(kind) ? 4 : 2), LIMIT_LEAST_CREATE, LIMIT_LEAST);
}

/* Return the pause that follows. */
static int64_t slow_down(struct limit *l, enum provider_op_kind kind, int64_t sent_ms,
			 int64_t now_ms)
{
	struct limit_kind *k = &l->kinds[kind];
	uint32_t least = least_of(l, kind);

	k->vain++;
	k->paused_ms = k->shares_ms = now_ms;
	if (!shares(l, kind, now_ms))
		return pace_throttled(&k->pace, least, dice(l), now_ms);
	for (int o = 0; o < PROVIDER_NOPS; o++)
		if (may_share(l, o, now_ms)) {
			uint32_t its = least_of(l, (enum provider_op_kind)o);

			l->kinds[o].shares_ms = now_ms;
			least = its > least ? its : least;
		}
	if (now_ms - l->joint_ms >= LIMIT_SHARED_MS) /* others may share something else by now */
		l->joint = (struct pace){0};
	if (l->joint.rate != 0 && sent_ms <= l->joint_ms)
		return 0; /* it was on the wire when that was throttled */
	l->joint_ms = now_ms;
	return pace_throttled(&l->joint, least, dice(l), now_ms);
}

/* The pause of one kind is a long one's own, and a short one's of all that share its limit. */
static void hold_back(struct limit *l, enum provider_op_kind kind, int64_t now_ms)
{
	const struct limit_kind *k = &l->kinds[kind];

	if (!shares(l, kind, now_ms))
		pace_wait(&l->kinds[kind].pace, k->until_ms);
	else if (k->until_ms - now_ms <= LIMIT_SHARED_PAUSE_MS)
		pace_wait(&l->joint, k->until_ms);
}

/* Of requests that were on the wire together only one slows its kind down. */
void limit_throttled(struct limit *l, enum provider_op_kind kind, int64_t sent_ms, int64_t retry_ms,
		     int64_t now_ms)
{
	struct limit_kind *k = &l->kinds[kind];
	bool anew = k->throttled == 0 || sent_ms > k->paused_ms;
	int64_t wait = 0;

	k->throttled++;
	k->throttled_ms = now_ms;
	if (k->since_ms == 0 || k->waited_ms < k->since_ms)
		k->since_ms = k->waited_ms;
	k->again = AGAIN;
	if (l->answered > k->tried) /* else a kind that never gets through takes all turns */
		k->went = k->before;
	if (k->troubled_ms == 0)
		k->troubled_ms = now_ms;
	if (anew)
		wait = slow_down(l, kind, sent_ms, now_ms);
	if (retry_ms > 0)
		wait = clamp(retry_ms, LIMIT_STEP_MS, LIMIT_PAUSE_MAX_MS);
	if (now_ms + wait > k->until_ms)
		k->until_ms = now_ms + wait;
	hold_back(l, kind, now_ms);
}

void limit_answered(struct limit *l, enum provider_op_kind kind)
{
	l->answered = ++l->order;
	pace_answered(l->kinds[kind].joint ? &l->joint : &l->kinds[kind].pace);
	l->kinds[kind].vain = 0;
	l->kinds[kind].troubled_ms = 0;
}

/* --- for people --------------------------------------------------------------------------------
 */

static void bound(struct limit_view *v, enum limit_by by, int64_t allowed)
{
	if (allowed == 0 || (v->by != LIMIT_BY_NONE && v->allowed <= allowed))
		return;
	v->by = by;
	v->allowed = allowed;
}

struct limit_view limit_view(const struct limit *l, enum provider_op_kind kind, int64_t now_ms)
{
	const struct limit_kind *k = &l->kinds[kind];
	struct limit_view v = {.instances = gains(&k->instances),
			       .waits = waits(l, (int)kind),
			       .until_ms = k->until_ms > now_ms ? k->until_ms : 0,
			       .throttled_ms = k->throttled_ms};

	v.since_ms = v.waits ? k->since_ms : 0;
	bound(&v, l->rate != 0 ? LIMIT_BY_RATE : LIMIT_BY_ALL, gains(&l->all));
	bound(&v, LIMIT_BY_KIND, gains(&k->requests));
	bound(&v, LIMIT_BY_KIND, in_unit(k->window.most, k->window.every_ms));
	bound(&v, shares(l, kind, now_ms) ? LIMIT_BY_SHARED : LIMIT_BY_ANSWERS,
	      pace_of(l, kind, now_ms)->rate);
	return v;
}

const char *limit_by_str(enum limit_by by)
{
	static const char *const words[] = {"", "rate", "all", "kind", "answers", "shared"};

	return words[by];
}
