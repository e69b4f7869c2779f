#include "sim_rotate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/rotation.h"
#include "keys/keys_api.h"
#include "sim_journal.h"
#include "sim_slurm.h"

enum {
	BUNDLE_MAX = 4096,
	FIRST = 7,                  /* version: sim_boot_init() */
	WRAP_MS = 10 * SIM_MINUTE,  /* an admin's credential */
	UNTOLD_MS = 3 * SIM_MINUTE, /* its heartbeats get lost */
};

struct sim_rotate {
	uint64_t rng; /* of people: the rest of the world's dice stay as they are */
	char text[BUNDLE_MAX];
	struct sim_bundle *versions; /* version FIRST + n */
	size_t n, cap;
	uint64_t ctld;             /* what the munged beside slurmctld has ... */
	uint64_t beside;           /* ... and what people have put beside that; 0: nothing */
	enum rotation_phase phase; /* as durable */
	bool broken; /* somebody wrote in the moment of the switch: people must help */
	int64_t begun_at, wrote_at; /* the last rotation was ordered; somebody else wrote */
	bool called_off;            /* people want it to end */
};

static bool rotates(const struct world *w)
{
	return w->boot->rotate != NULL;
}

/* Two of three worlds with keys.  Not where an older journal is put back: what it says of a switch
 * is over. */
void sim_rotate_choose(struct world *w)
{
	w->set.rotates =
		w->set.bootstrap && w->seed / 3 % 3 != 2 && w->set.chance[SIM_RESTORED] == 0;
	w->set.switch_command = w->set.rotates && w->seed / 9 % 2 == 0;
}

/* --- the bundle ------------------------------------------------------------------------------- */

/* From where its value stands in the text; NULL: there is none. */
static const char *member(const char *text, const char *name)
{
	char want[40];
	const char *p;

	(void)snprintf(want, sizeof(want), "\"%s\":\"", name);
	p = strstr(text, want);
	return p != NULL ? p + strlen(want) : NULL;
}

static uint64_t key_of(const char *text, const char *name)
{
	const char *p = member(text, name);
	uint64_t h = UINT64_C(14695981039346656037);

	for (; p != NULL && *p != '"'; p++)
		h = (h ^ (unsigned char)*p) * UINT64_C(1099511628211);
	return p != NULL ? h | 1 : 0;
}

static void learn(struct world *w)
{
	struct sim_rotate *ro = w->boot->rotate;

	if (ro->n == ro->cap) {
		ro->cap = ro->cap == 0 ? 16 : 2 * ro->cap;
		ro->versions = mem_realloc(ro->versions, ro->cap * sizeof(*ro->versions));
	}
	ro->versions[ro->n++] = (struct sim_bundle){.munge = key_of(ro->text, "munge_key"),
						    .next = key_of(ro->text, "munge_key_next"),
						    .at = w->now};
}

static void put(struct world *w, const char *text, const char *by)
{
	(void)snprintf(w->boot->rotate->text, BUNDLE_MAX, "%s", text);
	w->boot->version++;
	learn(w);
	SIM_TRACE(w, "store: version %" PRId64 ", by %s", w->boot->version, by);
}

const struct sim_bundle *sim_rotate_bundle(const struct world *w, int64_t version)
{
	const struct sim_rotate *ro = w->boot->rotate;

	if (ro == NULL || version < FIRST || version >= FIRST + (int64_t)ro->n)
		return NULL;
	return &ro->versions[version - FIRST];
}

/* A token that holds a credential is good once. */
static long serve_wrapped(struct world *w, const char *op)
{
	bool opens = strncmp(op, "unwrap/", 7) == 0;
	unsigned number = 0;
	struct sim_token *t;

	if (sscanf(op, "%*[a-z]/t-%u", &number) != 1)
		return 404;
	t = sim_store_token(w, number);
	if (t == NULL || t->used || w->now >= t->until)
		return 404;
	t->used = opens;
	return 200;
}

bool sim_rotate_serve(struct world *w, const char *op, const char *text, struct str *out,
		      long *status)
{
	if (!rotates(w))
		return false;
	if (strncmp(op, "peek/", 5) == 0 || strncmp(op, "unwrap/", 7) == 0) {
		*status = serve_wrapped(w, op);
	} else if (strncmp(op, "read/", 5) == 0) {
		str_addf(out, "%" PRId64 " %s", w->boot->version, w->boot->rotate->text);
		return true;
	} else if (strncmp(op, "write/", 6) == 0) {
		if (strtoll(op + 6, NULL, 10) == w->boot->version)
			put(w, text, "burstd");
		else
			*status = 409;
	} else {
		return false;
	}
	str_addf(out, "%" PRId64, w->boot->version);
	return true;
}

/* --- slurmctld's machine ---------------------------------------------------------------------- */

static void switch_ctld(struct world *w)
{
	struct sim_rotate *ro = w->boot->rotate;

	if (ro->beside == 0)
		return; /* it has it */
	SIM_TRACE(w, "slurmctld's munged has the new key");
	ro->ctld = ro->beside;
	ro->beside = 0;
}

void sim_rotate_command(struct world *w, const char *kind, const char *word)
{
	if (strcmp(kind, "munge") != 0 || strcmp(word, "switch") != 0)
		world_fail(w, "switch_command: %s %s", kind, word);
	else
		switch_ctld(w);
}

bool sim_rotate_speaks(const struct world *w, const struct sim_machine *m)
{
	return !rotates(w) || m->munge == w->boot->rotate->ctld;
}

/* --- people ----------------------------------------------------------------------------------- */

/* Something else of the bundle, by an editor: all that is in it stays. */
static void write_beside(struct world *w)
{
	struct sim_rotate *ro = w->boot->rotate;
	char text[BUNDLE_MAX];
	const char *note = member(ro->text, "note");

	(void)snprintf(text, sizeof(text), "%s", ro->text);
	if (note != NULL)
		text[note - ro->text] = text[note - ro->text] == 'a' ? 'b' : 'a';
	else
		(void)snprintf(text + strlen(text) - 1, 16, ",\"note\":\"a\"}");
	put(w, text, "an admin");
	ro->wrote_at = w->now;
	w->totals->rotations_beside++;
}

/* All nodes have switched, and the store has the key of before. */
static void repair(struct world *w)
{
	struct sim_rotate *ro = w->boot->rotate;
	const char *next = member(ro->text, "munge_key_next");
	char text[BUNDLE_MAX];

	ro->broken = false;
	if (next == NULL)
		return;
	(void)snprintf(text, sizeof(text), "{\"munge_key\":\"%.*s\"}", (int)strcspn(next, "\""),
		       next);
	put(w, text, "an admin, who repairs");
	ro->ctld = key_of(ro->text, "munge_key");
	ro->beside = 0;
}

static bool order(struct world *w, enum engine_rotate_verb verb, int64_t in_ms, bool credential)
{
	static const char *const words[] = {[ENGINE_ROTATE_START] = "rotate",
					    [ENGINE_ROTATE_SWITCH] = "switch",
					    [ENGINE_ROTATE_ABORT] = "abort",
					    [ENGINE_ROTATE_RESUME] = "resume"};
	char token[32];
	struct engine_rotate_ask ask = {.verb = verb,
					.kind = verb == ENGINE_ROTATE_START ? ROTATION_MUNGE
									    : ROTATION_NONE,
					.in_ms = in_ms,
					.by = "root"};
	struct err e = {0};
	int rc;

	if (credential) {
		(void)snprintf(token, sizeof(token), "t-%" PRIu64,
			       sim_store_make(w, WRAP_MS, w->boot->version));
		ask.credential = token;
	}
	if (verb == ENGINE_ROTATE_START) {
		w->boot->rotate->begun_at = w->now;
		w->boot->rotate->called_off = false;
	} else if (verb == ENGINE_ROTATE_ABORT) {
		w->boot->rotate->called_off = true;
	}
	rc = engine_rotate(w->engine, &ask, &e);
	SIM_TRACE(w, "admin: secrets rotate: %s%s%s", words[verb], rc != 0 ? ": " : "",
		  rc != 0 ? e.msg : "");
	return rc == 0;
}

/* The new key is brought to slurmctld's machine before. */
static void order_switch(struct world *w, const struct engine_rotation *s)
{
	w->boot->rotate->beside = key_of(w->boot->rotate->text, "munge_key_next");
	(void)order(w, ENGINE_ROTATE_SWITCH, world_between(w, 60, 200) * SIM_SECOND,
		    s->needs_credential);
}

static void begin(struct world *w)
{
	if (!w->faults || !world_one_in(w, 4))
		return;
	if (world_one_in(w, 3))
		write_beside(w);
	if (!world_one_in(w, 6))
		(void)order(w, ENGINE_ROTATE_START, 0, true);
}

static void go_on(struct world *w, const struct engine_rotation *s)
{
	bool rages = w->faults && world_one_in(w, 8);

	if (w->faults && world_one_in(w, 20)) {
		SIM_TRACE(w, "*** crash, in a rotation");
		sim_journal_met_all(w->journal, SIM_CRASH);
		w->crashed = true;
	} else if (rages && s->r.phase <= ROTATION_WINDOW) {
		(void)order(w, ENGINE_ROTATE_ABORT, 0, s->needs_credential);
	} else if (rages && s->r.phase == ROTATION_SPREADING) {
		write_beside(w);
	} else if (w->faults && s->r.phase == ROTATION_SETTLING && world_one_in(w, 4)) {
		write_beside(w);
	} else if (s->r.phase == ROTATION_STAGED) {
		order_switch(w, s);
	} else if (s->needs_credential) {
		(void)order(w, ENGINE_ROTATE_RESUME, 0, true);
	}
}

/* Nobody has a command for it: people do it when burstd says "now". */
static bool is_their_turn(const struct world *w, const struct rotation *r)
{
	if (w->set.switch_command && r->phase != ROTATION_DONE)
		return false;
	return r->phase == ROTATION_DONE ||
	       (r->told && (r->phase == ROTATION_SWITCHING || r->phase == ROTATION_SETTLING));
}

static void act(struct world *w)
{
	struct engine_rotation s;

	engine_rotation(w->engine, &s);
	if (is_their_turn(w, &s.r))
		switch_ctld(w);
	if (w->boot->rotate->broken)
		repair(w);
	else if (rotation_runs(&s.r))
		go_on(w, &s);
	else
		begin(w);
}

static void on_people(struct world *w, void *ctx, uint64_t arg)
{
	struct sim_rotate *ro = w->boot->rotate;
	uint64_t rng = w->rng;

	(void)ctx;
	(void)arg;
	w->rng = ro->rng;
	world_at(w, w->now + world_between(w, 5, 25) * SIM_SECOND, on_people, NULL, 0);
	if (w->engine != NULL && !w->crashed && !sim_frozen(w))
		act(w);
	ro->rng = w->rng;
	w->rng = rng;
}

void sim_rotate_init(struct world *w)
{
	struct sim_rotate *ro;

	if (!w->set.rotates)
		return;
	w->boot->rotate = ro = mem_zalloc(sizeof(*ro));
	ro->rng = ~w->seed * UINT64_C(0x2545f4914f6cdd1d);
	(void)snprintf(ro->text, sizeof(ro->text), "%s",
		       "{\"munge_key\":\"kZ3qVh0v8mJ5rT2yB7nC4xW1sD6fG9hL0pQoIuYtReE=\"}");
	learn(w);
	ro->ctld = ro->versions[0].munge;
	world_at(w, w->now + SIM_MINUTE, on_people, NULL, 0);
}

void sim_rotate_fini(struct world *w)
{
	if (!rotates(w))
		return;
	free(w->boot->rotate->versions);
	free(w->boot->rotate);
	w->boot->rotate = NULL;
}

/* --- what is durable, and the judge ----------------------------------------------------------- */

bool sim_rotate_runs(const struct world *w)
{
	const struct rotation r = {.phase = rotates(w) ? w->boot->rotate->phase : ROTATION_IDLE};

	return rotation_runs(&r);
}

void sim_rotate_phase(struct world *w, int64_t phase)
{
	struct sim_rotate *ro = w->boot->rotate;
	enum rotation_phase was;

	if (!rotates(w))
		return;
	was = ro->phase;
	ro->phase = (enum rotation_phase)phase;
	if (ro->phase == was)
		return;
	SIM_TRACE(w, "rotation: %s", rotation_phase_str(ro->phase));
	w->totals->rotations += ro->phase == ROTATION_DONE;
	w->totals->rotations_aborted += ro->phase == ROTATION_ABORTED;
	if (ro->phase != ROTATION_ABORTED)
		return;
	if (!ro->called_off && ro->wrote_at <= ro->begun_at)
		world_fail(w, "I24: a rotation ends for what was in the store before it began");
	ro->broken = was == ROTATION_SWITCHING;
	ro->beside = 0;
}

void sim_rotate_crashed(struct world *w)
{
	w->totals->rotations_cut += sim_rotate_runs(w);
}

static struct inst *machine_of(const struct world *w, const char *node)
{
	for (size_t k = w->cloud->n; k > 0; k--) {
		struct inst *i = w->cloud->all[k - 1];

		if (strcmp(i->node, node) == 0 && sim_machine_runs(i) && i->machine != NULL &&
		    i->machine->up)
			return i;
	}
	return NULL;
}

/* Only who has other keys than it should have, and has had the time to fetch those. */
void sim_rotate_drained(struct world *w, const char *node)
{
	const struct inst *i = rotates(w) ? machine_of(w, node) : NULL;
	const struct sim_bundle *lacks;

	if (i == NULL)
		return;
	w->totals->rotations_drained++;
	if (w->now - i->machine->heard >= UNTOLD_MS)
		return; /* what it has burstd need not know */
	if (i->machine->version == w->boot->version && w->now - i->machine->took_at > UNTOLD_MS)
		world_fail(w, "%s is drained for old keys, and has the current ones", node);
	lacks = sim_rotate_bundle(w, i->machine->told + 1);
	if (lacks != NULL && w->now - lacks->at < ROTATION_SETTLE_MS)
		world_fail(w, "%s is drained for keys that were current %" PRId64 " s ago", node,
			   (w->now - lacks->at) / SIM_SECOND);
}

/* It goes after its job, and nothing here ends that.  A drain that slurmctld has forgotten between
 * two polls looks like one that somebody has taken back, and that is not ordered again. */
static bool is_drained(const struct world *w, const struct inst *i)
{
	const struct ctld_node *n = sim_ctld_find(w->ctld, i->node);

	return n != NULL && (n->drain || n->undrained == i->number);
}

bool sim_rotate_settled(const struct world *w, char *why, size_t size)
{
	const struct sim_row *r;
	size_t n = sim_journal_rows(w->journal, &r);

	if (!rotates(w))
		return true;
	if (sim_rotate_runs(w)) {
		(void)snprintf(why, size, "the rotation is %s",
			       rotation_phase_str(w->boot->rotate->phase));
		return false;
	}
	for (size_t k = 0; k < n; k++) {
		const struct inst *i =
			r[k].n.state == NODE_READY ? machine_of(w, r[k].n.name) : NULL;

		if (i == NULL || i->gen != r[k].n.gen || sim_rotate_speaks(w, i->machine) ||
		    is_drained(w, i))
			continue;
		(void)snprintf(why, size, "%s has another key than slurmctld", r[k].n.name);
		return false;
	}
	return true;
}
