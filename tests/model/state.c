#include <stdio.h>

#include "model.h"

const char *side_check(const struct side *s, const struct rules *r)
{
	unsigned live = 0;

	for (unsigned i = 0; i < GENS; i++) {
		const struct life *l = &s->g[i];
		struct node n;

		if (!life_has_row(l))
			continue;
		n = life_row(l, i, &(struct when){0});
		live += node_lives(&n);
		if (life_exists(l) && !node_counts(&n) && !r->liar)
			return "I8: what may exist does not count";
		if (node_lives(&n) && !node_counts(&n))
			return "it lives and does not count";
	}
	return live > 1 ? "I3: two generations of one node are wanted" : NULL;
}

bool side_done(const struct side *s)
{
	for (unsigned i = 0; i < GENS; i++) {
		const struct life *l = &s->g[i];
		bool up = s->want && l->state == NODE_READY && l->instance == LIVE;
		bool over = (!life_has_row(l) || l->state == NODE_GONE) && l->instance == NONE;

		if (!up && !over)
			return false;
	}
	return !s->want || side_live(s) >= 0;
}

enum { LIFE_BITS = 18 };

static uint64_t pack_life(const struct life *l)
{
	uint64_t v = l->state;

	v = v << 3 | l->instance;
	v = v << 1 | l->release;
	v = v << 1 | l->accepted;
	v = v << 1 | l->missed;
	v = v << 1 | l->tired;
	v = v << 1 | l->known;
	v = v << 1 | l->asleep;
	v = v << 1 | l->joint;
	v = v << 1 | l->omitted;
	v = v << 1 | l->made;
	v = v << 1 | l->creating;
	return v << 1 | l->deleting;
}

static bool bit(uint64_t *v)
{
	bool b = (*v & 1) != 0;

	*v >>= 1;
	return b;
}

static struct life unpack_life(uint64_t v)
{
	struct life l;

	l.deleting = bit(&v);
	l.creating = bit(&v);
	l.made = bit(&v);
	l.omitted = bit(&v);
	l.joint = bit(&v);
	l.asleep = bit(&v);
	l.known = bit(&v);
	l.tired = bit(&v);
	l.missed = bit(&v);
	l.accepted = bit(&v);
	l.release = bit(&v);
	l.instance = (uint8_t)(v & 7);
	l.state = (uint8_t)(v >> 3 & 15);
	return l;
}

uint64_t side_pack(const struct side *s)
{
	return (pack_life(&s->g[1]) << LIFE_BITS | pack_life(&s->g[0])) << 1 | s->want;
}

struct side side_unpack(uint64_t key)
{
	struct side s = {.want = bit(&key)};

	s.g[0] = unpack_life(key & ((1u << LIFE_BITS) - 1));
	s.g[1] = unpack_life(key >> LIFE_BITS);
	return s;
}

static void print_life(const struct life *l, unsigned gen)
{
	static const char *const instances[] = {
		[NONE] = "no instance",     [LATE] = "a create on its way", [LIVE] = "running",
		[RECLAIMING] = "reclaimed", [STOPPING] = "stopping",        [DEAF] = "deaf",
		[ENDED] = "ended",          [FORGOTTEN] = "forgotten"};

	(void)printf(" [%u %s%s%s%s%s%s: %s%s%s%s]", gen + 1,
		     node_state_str((enum node_state)l->state), l->release ? " released" : "",
		     l->accepted ? " accepted" : "", l->missed ? " missed" : "",
		     l->tired ? " tired" : "", l->joint ? " joint" : "", instances[l->instance],
		     l->omitted ? ", left out" : "", l->creating ? ", create on the wire" : "",
		     l->deleting ? ", delete on the wire" : "");
}

void side_print(const struct side *s, const char *name)
{
	(void)printf("  %s%s", name, s->want ? " wanted" : "");
	for (unsigned i = 0; i < GENS; i++)
		if (life_has_row(&s->g[i]))
			print_life(&s->g[i], i);
}
