/* test_claim.c - who gets the bytes, once; first told as stories, then every story there is. */
#include "core/claim.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

enum { TTL = 600000, RELEASED = 1000 };

static const unsigned char key_a[CLAIM_SPKI_SIZE] = "a", key_b[CLAIM_SPKI_SIZE] = "b";

static struct claim issued(void)
{
	struct claim c;

	claim_init(&c, "batch-1", "c1", 3);
	claim_issue(&c, 100, 100 + TTL);
	return c;
}

static struct claim_result ask(struct claim *c, const unsigned char *spki, int64_t now_ms)
{
	return claim_step(c, &(struct claim_event){.type = CLAIM_EV_ASK,
						   .now_ms = now_ms,
						   .spki = spki,
						   .addr = "10.0.0.1"});
}

static struct claim_result attested(struct claim *c, int64_t now_ms)
{
	return claim_step(c, &(struct claim_event){.type = CLAIM_EV_ATTESTED,
						   .now_ms = now_ms,
						   .weak = true,
						   .instance = "i-1"});
}

static struct claim_result release(struct claim *c, int64_t now_ms)
{
	return claim_step(c, &(struct claim_event){.type = CLAIM_EV_RELEASE,
						   .now_ms = now_ms,
						   .serial = "0a",
						   .version = 7});
}

static struct claim_result confirm(struct claim *c, const unsigned char *spki)
{
	return claim_step(
		c, &(struct claim_event){.type = CLAIM_EV_CONFIRMED, .now_ms = 2000, .spki = spki});
}

static struct claim_result plain(struct claim *c, enum claim_event_type type, int64_t now_ms)
{
	return claim_step(c, &(struct claim_event){.type = type, .now_ms = now_ms});
}

static struct claim claimed(void)
{
	struct claim c = issued();

	(void)ask(&c, key_a, 200);
	(void)attested(&c, 300);
	assert_int_equal(release(&c, RELEASED).answer, CLAIM_BYTES);
	return c;
}

static void a_node_claims_and_confirms(void **state)
{
	struct claim c = issued();
	struct claim_result r = ask(&c, key_a, 200);

	(void)state;
	assert_true(r.changed && !r.alarm && r.answer == CLAIM_WAIT);
	assert_int_equal(c.state, CLAIM_ATTESTING);
	assert_string_equal(c.addr, "10.0.0.1");
	assert_int_equal(claim_want(&c), CLAIM_WANT_PROOF);
	r = ask(&c, key_a, 210); /* it asks every few seconds: nothing to write down */
	assert_true(!r.changed && r.answer == CLAIM_WAIT);
	r = release(&c, 220); /* before the proof */
	assert_true(!r.changed && r.answer == CLAIM_SILENCE);
	r = attested(&c, 300);
	assert_true(r.changed && c.weak && c.state == CLAIM_ATTESTING);
	assert_string_equal(c.instance, "i-1");
	assert_int_equal(claim_want(&c), CLAIM_WANT_BYTES);
	r = release(&c, RELEASED);
	assert_true(r.changed && r.answer == CLAIM_BYTES && c.state == CLAIM_CLAIMED);
	assert_true(c.version == 7 && c.released_ms == RELEASED);
	assert_string_equal(c.serial, "0a");
	r = confirm(&c, key_a);
	assert_true(r.changed && r.answer == CLAIM_OK && c.state == CLAIM_CONFIRMED);
	r = confirm(&c, key_a); /* its answer was lost */
	assert_true(!r.changed && r.answer == CLAIM_OK);
	assert_int_equal(claim_want(&c), CLAIM_WANT_NOTHING);
	assert_true(claim_wake_ms(&c) == INT64_MAX);
	(void)plain(&c, CLAIM_EV_GONE, 9000);
	assert_int_equal(c.state, CLAIM_CLOSED);
}

static void a_lost_answer_is_given_again_for_two_minutes_to_the_same_key(void **state)
{
	struct claim c = claimed();
	struct claim_result r = ask(&c, key_a, RELEASED + CLAIM_AGAIN_MS - 1);

	(void)state;
	assert_true(r.answer == CLAIM_BYTES && !r.changed);
	assert_int_equal(ask(&c, key_a, RELEASED - 5000).answer,
			 CLAIM_BYTES); /* a clock set back */
	assert_int_equal(ask(&c, key_a, RELEASED - CLAIM_AGAIN_MS).answer, CLAIM_CONFLICT);
	r = ask(&c, key_a, RELEASED + CLAIM_AGAIN_MS);
	assert_true(r.answer == CLAIM_CONFLICT && !r.changed && !r.alarm);
	(void)confirm(&c, key_a);
	assert_int_equal(ask(&c, key_a, RELEASED + 1).answer, CLAIM_CONFLICT);
	assert_int_equal(c.state, CLAIM_CONFIRMED);
}

/* A claim replayed, or stolen and used first: nobody can say which, so the machine goes. */
static void a_second_key_with_the_right_secret_is_a_breach_in_every_state(void **state)
{
	(void)state;
	for (int stage = 0; stage < 4; stage++) {
		struct claim c = issued();
		struct claim_result r;

		(void)ask(&c, key_a, 200);
		if (stage > 0)
			(void)attested(&c, 300);
		if (stage > 1)
			(void)release(&c, RELEASED);
		if (stage > 2)
			(void)confirm(&c, key_a);
		r = ask(&c, key_b, RELEASED + 1);
		assert_true(r.changed && r.alarm && r.answer == CLAIM_CONFLICT);
		assert_int_equal(c.state, CLAIM_BREACHED);
		assert_int_equal(c.reason, CLAIM_BECAUSE_KEY);
		assert_int_equal(claim_want(&c), CLAIM_WANT_END);
		assert_int_equal(ask(&c, key_a, RELEASED + 2).answer, CLAIM_CONFLICT);
		assert_int_equal(confirm(&c, key_a).answer, CLAIM_CONFLICT);
		(void)plain(&c, CLAIM_EV_GONE, 9000);
		assert_int_equal(c.state, CLAIM_BREACHED);
	}
}

static void a_claim_after_its_time_is_over(void **state)
{
	struct claim c = issued();
	struct claim_result r = ask(&c, key_a, 100 + TTL);

	(void)state;
	assert_true(r.changed && r.answer == CLAIM_OVER && c.state == CLAIM_EXPIRED);
	assert_int_equal(claim_want(&c), CLAIM_WANT_END);
	assert_int_equal(ask(&c, key_b, 200).answer, CLAIM_OVER);
	c = issued();
	assert_true(claim_wake_ms(&c) == 100 + TTL);
	(void)plain(&c, CLAIM_EV_TIMER, 99 + TTL);
	assert_int_equal(c.state, CLAIM_ISSUED);
	(void)ask(&c, key_a, 200);
	(void)attested(&c, 300);
	r = release(&c, 100 + TTL); /* the secret store took too long */
	assert_true(r.answer == CLAIM_SILENCE && c.state == CLAIM_EXPIRED && c.released_ms == 0);
	c = claimed();
	assert_true(claim_wake_ms(&c) == RELEASED + CLAIM_CONFIRM_MS);
	(void)plain(&c, CLAIM_EV_TIMER, RELEASED + CLAIM_CONFIRM_MS - 1);
	assert_int_equal(c.state, CLAIM_CLAIMED);
}

/* Such a machine may have registered, by keys that were in its image. */
static void whoever_has_the_keys_and_never_confirms_them_is_ended(void **state)
{
	struct claim c = claimed();

	(void)state;
	(void)plain(&c, CLAIM_EV_TIMER, RELEASED + CLAIM_CONFIRM_MS);
	assert_true(c.state == CLAIM_EXPIRED && c.reason == CLAIM_BECAUSE_MUTE);
	assert_int_equal(claim_want(&c), CLAIM_WANT_END);
	assert_int_equal(confirm(&c, key_a).answer, CLAIM_CONFLICT);
	c = claimed();
	assert_int_equal(confirm(&c, key_a).answer, CLAIM_OK);
	assert_true(claim_wake_ms(&c) == INT64_MAX);
	(void)plain(&c, CLAIM_EV_TIMER, RELEASED + CLAIM_CONFIRM_MS);
	assert_int_equal(c.state, CLAIM_CONFIRMED);
}

static void a_proof_of_another_machine_is_a_breach(void **state)
{
	struct claim c = issued();
	struct claim_result r;

	(void)state;
	(void)ask(&c, key_a, 200);
	r = claim_step(&c, &(struct claim_event){.type = CLAIM_EV_REFUSED, .now_ms = 300});
	assert_true(r.changed && r.alarm && r.answer == CLAIM_DENIED);
	assert_int_equal(c.state, CLAIM_BREACHED);
	assert_int_equal(c.reason, CLAIM_BECAUSE_PROOF);
}

static void a_proof_that_comes_too_late_changes_nothing(void **state)
{
	struct claim c = issued();

	(void)state;
	(void)ask(&c, key_a, 200);
	(void)plain(&c, CLAIM_EV_REVOKE, 250);
	assert_int_equal(c.state, CLAIM_REVOKED);
	assert_false(attested(&c, 300).changed);
	assert_false(release(&c, 300).changed);
	assert_int_equal(ask(&c, key_a, 310).answer, CLAIM_OVER);
	c = issued();
	(void)ask(&c, key_a, 200);
	(void)attested(&c, 300);
	assert_false(attested(&c, 301).changed); /* of another machine, perhaps */
}

static void only_who_proves_itself_ends_a_node_by_an_alarm(void **state)
{
	struct claim c = claimed();
	struct claim_event ev = {.type = CLAIM_EV_ALARM, .now_ms = 2000};
	struct claim_result r = claim_step(&c, &ev);

	(void)state;
	assert_true(r.alarm && r.changed && c.state == CLAIM_CLAIMED && c.alarms == 1);
	for (int i = 1; i < CLAIM_ALARMS_MAX; i++)
		(void)claim_step(&c, &ev);
	r = claim_step(&c, &ev);
	assert_true(!r.alarm && !r.changed);
	ev.proved = true;
	r = claim_step(&c, &ev);
	assert_true(r.alarm && r.changed && c.state == CLAIM_BREACHED);
	assert_int_equal(c.reason, CLAIM_BECAUSE_ALARM);
}

static void another_key_cannot_confirm(void **state)
{
	struct claim c = claimed();

	(void)state;
	assert_int_equal(confirm(&c, key_b).answer, CLAIM_DENIED);
	assert_int_equal(c.state, CLAIM_CLAIMED);
	c = issued();
	assert_int_equal(confirm(&c, key_a).answer, CLAIM_DENIED);
	(void)ask(&c, key_a, 200);
	assert_int_equal(confirm(&c, key_a).answer, CLAIM_CONFLICT); /* it has nothing yet */
	assert_int_equal(c.state, CLAIM_ATTESTING);
}

/* Claims are compared whole, and so are the rows of the journal: what is not said is zero, also
 * where the compiler leaves room between two fields. */
static void a_claim_begins_empty_and_is_issued_once(void **state)
{
	struct claim a, b;

	(void)state;
	memset(&a, 0, sizeof(a));
	memset(&b, 0xff, sizeof(b));
	claim_init(&a, "batch-1", "c1", 3);
	claim_init(&b, "batch-1", "c1", 3);
	assert_memory_equal(&a, &b, sizeof(a));
	assert_string_equal(a.id, "batch-1");
	assert_string_equal(a.node, "c1");
	assert_int_equal(a.gen, 3);
	assert_int_equal(a.state, CLAIM_ISSUED);
	claim_issue(&a, 100, 700);
	assert_int_equal(a.issued_ms, 100);
	assert_int_equal(a.since_ms, 100);
	assert_int_equal(a.expires_ms, 700);
}

/* The journal lost the claim, and the node has a certificate: it goes on as it was. */
static void a_claim_that_the_journal_lost_is_restored_as_confirmed(void **state)
{
	struct claim c;

	(void)state;
	claim_init(&c, "batch-1", "c1", 3);
	claim_adopt(&c, 5000, key_a);
	assert_int_equal(c.state, CLAIM_CONFIRMED);
	assert_true(c.issued_ms == 5000 && c.since_ms == 5000 && c.expires_ms == 5000);
	assert_int_equal(claim_want(&c), CLAIM_WANT_NOTHING);
	assert_int_equal(confirm(&c, key_a).answer, CLAIM_OK);
	assert_int_equal(confirm(&c, key_b).answer, CLAIM_DENIED);
	assert_int_equal(ask(&c, key_a, 6000).answer, CLAIM_CONFLICT); /* it gets no keys */
	assert_int_equal(ask(&c, key_b, 6000).answer, CLAIM_CONFLICT);
	assert_int_equal(c.state, CLAIM_BREACHED);
}

static struct claim at_stage(int stage)
{
	struct claim c = issued();

	if (stage > 0)
		(void)ask(&c, key_a, 200);
	if (stage > 1) {
		(void)attested(&c, 300);
		(void)release(&c, RELEASED);
	}
	if (stage > 2)
		(void)confirm(&c, key_a);
	assert_int_equal(c.state, stage);
	return c;
}

static void a_claim_is_revoked_with_its_node_and_closed_when_that_is_gone(void **state)
{
	(void)state;
	for (int stage = CLAIM_ISSUED; stage <= CLAIM_CONFIRMED; stage++) {
		struct claim c = at_stage(stage);

		assert_true(plain(&c, CLAIM_EV_REVOKE, 8000).changed);
		assert_int_equal(c.state, CLAIM_REVOKED);
		assert_int_equal(c.reason, CLAIM_BECAUSE_RELEASED);
		assert_int_equal(c.since_ms, 8000);
		assert_false(plain(&c, CLAIM_EV_REVOKE, 8500).changed);
		assert_int_equal(ask(&c, key_a, 8600).answer, CLAIM_OVER);
		assert_true(plain(&c, CLAIM_EV_GONE, 9000).changed);
		assert_int_equal(c.state, CLAIM_CLOSED);
		assert_int_equal(c.reason, CLAIM_BECAUSE_RELEASED); /* why it ended stays known */
		assert_int_equal(c.since_ms, 9000);

		c = at_stage(stage);
		assert_true(plain(&c, CLAIM_EV_GONE, 9000).changed);
		assert_int_equal(c.state, CLAIM_CLOSED);
		assert_int_equal(c.reason, CLAIM_BECAUSE_NONE);
	}
}

/* The proof is of the request before the keys; the token's name is of use until the token is. */
static void what_a_state_needs_ends_with_the_state(void **state)
{
	struct claim c = issued();
	const struct claim empty = {.state = CLAIM_ISSUED};

	(void)state;
	(void)ask(&c, key_a, 200);
	(void)attested(&c, 300);
	assert_true(c.attested);
	(void)release(&c, RELEASED);
	assert_false(c.attested);
	memset(c.accessor, 'x', sizeof(c.accessor) - 1);
	(void)confirm(&c, key_a);
	assert_memory_equal(c.accessor, empty.accessor, sizeof(c.accessor));
}

/* Before a machine has asked a claim has no owner, and a key of zeros is none either. */
static void a_claim_that_nobody_asked_for_has_no_owner(void **state)
{
	static const unsigned char zeros[CLAIM_SPKI_SIZE];
	struct claim c = issued();

	(void)state;
	assert_int_equal(confirm(&c, zeros).answer, CLAIM_DENIED);
	assert_int_equal(c.state, CLAIM_ISSUED);
}

static void words_are_read_as_they_are_written(void **state)
{
	(void)state;
	for (int i = 0; i < CLAIM_NSTATES; i++)
		assert_int_equal(claim_state_parse(claim_state_str((enum claim_state)i)), i);
	for (int i = 0; i < CLAIM_NREASONS; i++) {
		assert_int_equal(claim_reason_parse(claim_reason_str((enum claim_reason)i)), i);
		assert_true((i == 0) == (claim_reason_text((enum claim_reason)i)[0] == '\0'));
	}
	for (int i = 0; i < CLAIM_EV_NTYPES; i++)
		assert_true(claim_event_str((enum claim_event_type)i)[0] != '\0');
	assert_int_equal(claim_state_parse("open"), -1);
	assert_int_equal(claim_reason_parse("open"), -1);
}

/* --- every story -------------------------------------------------------------------------------
 *
 * From each state that can be reached, every event at every moment that makes a difference: with
 * either key, with proofs whenever they may come, too early and too late.  What
 * was seen before with the same past is not looked at again, so all sequences of DEPTH events are
 * covered.  The past is what the rules speak of, kept by an observer who only sees the answers. */

enum { DEPTH = 8, WORLDS_MAX = 1 << 16, BUCKETS = 1 << 14 };

struct world {
	struct claim c;
	int64_t now_ms;
	bool gone_to[2]; /* bytes left for this key */
	bool closed;     /* confirmed, expired, revoked, breached or closed: no bytes */
	bool breached;
	unsigned depth;
	uint32_t next; /* in its bucket; 0: none */
};

struct search {
	struct world *worlds;
	size_t n;
	uint32_t *buckets;
	size_t answers;
};

static uint64_t hash_of(const struct world *w)
{
	const unsigned char *p = (const unsigned char *)&w->c;
	uint64_t h = 14695981039346656037u;

	for (size_t i = 0; i < sizeof(w->c); i++)
		h = (h ^ p[i]) * 1099511628211u;
	return (h ^ (uint64_t)w->now_ms) * 1099511628211u;
}

static bool same_world(const struct world *a, const struct world *b)
{
	return memcmp(&a->c, &b->c, sizeof(a->c)) == 0 && a->now_ms == b->now_ms &&
	       a->gone_to[0] == b->gone_to[0] && a->gone_to[1] == b->gone_to[1] &&
	       a->closed == b->closed && a->breached == b->breached;
}

static void add_world(struct search *s, const struct world *w)
{
	uint32_t *at = &s->buckets[hash_of(w) % BUCKETS];

	for (uint32_t i = *at; i != 0; i = s->worlds[i].next)
		if (same_world(&s->worlds[i], w))
			return;
	assert_true(s->n < WORLDS_MAX);
	s->worlds[s->n] = *w;
	s->worlds[s->n].next = *at;
	*at = (uint32_t)s->n++;
}

/* The rules, from what comes out alone. */
static void judge(struct world *w, const struct claim *before, const struct claim_event *ev,
		  struct claim_result r)
{
	if (r.answer == CLAIM_BYTES) {
		/* A release is for the key that the claim was bound to when it was asked. */
		const unsigned char *to = ev->type == CLAIM_EV_ASK ? ev->spki : before->spki;

		w->gone_to[memcmp(to, key_b, sizeof(key_b)) == 0] = true;
		if (w->closed)
			fail_msg("bytes left in a claim that was over");
	}
	if (w->gone_to[0] && w->gone_to[1])
		fail_msg("bytes left for two keys");
	if (w->breached && w->c.state != CLAIM_BREACHED)
		fail_msg("a breach is over");
	w->breached = w->c.state == CLAIM_BREACHED;
	w->closed = w->closed || (w->c.state != CLAIM_ISSUED && w->c.state != CLAIM_ATTESTING &&
				  w->c.state != CLAIM_CLAIMED);
	if (r.changed != (memcmp(before, &w->c, sizeof(*before)) != 0))
		fail_msg("changed is wrong");
	if (w->breached && before->state != CLAIM_BREACHED && !r.alarm)
		fail_msg("a breach of which nobody hears");
	if (w->c.released_ms != before->released_ms && r.answer != CLAIM_BYTES)
		fail_msg("released, and no bytes");
}

static void try_event(struct search *s, const struct world *from, struct claim_event ev)
{
	struct world w = *from;
	struct claim_result r;

	ev.now_ms = w.now_ms;
	r = claim_step(&w.c, &ev);
	s->answers |= (size_t)1 << r.answer;
	judge(&w, &from->c, &ev, r);
	w.depth++;
	add_world(s, &w);
}

static void try_all(struct search *s, const struct world *w)
{
	static const struct claim_event events[] = {
		{.type = CLAIM_EV_ASK, .spki = key_a, .addr = "a"},
		{.type = CLAIM_EV_ASK, .spki = key_b, .addr = "b"},
		{.type = CLAIM_EV_CONFIRMED, .spki = key_a},
		{.type = CLAIM_EV_CONFIRMED, .spki = key_b},
		{.type = CLAIM_EV_ALARM},
		{.type = CLAIM_EV_ALARM, .proved = true},
		{.type = CLAIM_EV_TIMER},
		{.type = CLAIM_EV_REVOKE},
		{.type = CLAIM_EV_GONE},
	};
	static const struct claim_event proofs[] = {
		{.type = CLAIM_EV_ATTESTED, .instance = "i-1"},
		{.type = CLAIM_EV_ATTESTED, .instance = "i-2"},
		{.type = CLAIM_EV_REFUSED},
		{.type = CLAIM_EV_RELEASE, .serial = "1"},
	};
	const int64_t steps[] = {CLAIM_AGAIN_MS, TTL};

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		try_event(s, w, events[i]);
	for (size_t i = 0; i < sizeof(proofs) / sizeof(proofs[0]); i++)
		try_event(s, w, proofs[i]);
	for (size_t i = 0; i < 2; i++) { /* time goes by */
		struct world later = *w;

		later.now_ms += steps[i];
		later.depth++;
		if (later.now_ms <= 100 + 2 * TTL)
			add_world(s, &later);
	}
}

static void every_sequence_of_eight_events_keeps_the_rules(void **state)
{
	struct search s = {.n = 1};
	struct world begin = {.now_ms = 100};
	unsigned reached = 0;

	(void)state;
	s.worlds = mem_zalloc(WORLDS_MAX * sizeof(*s.worlds));
	s.buckets = mem_zalloc(BUCKETS * sizeof(*s.buckets));
	begin.c = issued();
	add_world(&s, &begin);
	for (size_t i = 1; i < s.n; i++) {
		reached |= 1u << s.worlds[i].c.state;
		if (s.worlds[i].depth < DEPTH)
			try_all(&s, &s.worlds[i]);
	}
	print_message("# %zu worlds\n", s.n - 1);
	assert_int_equal(reached, (1u << CLAIM_NSTATES) - 1);
	assert_int_equal(s.answers, (1u << CLAIM_NANSWERS) - 1);
	free(s.worlds);
	free(s.buckets);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_node_claims_and_confirms),
		cmocka_unit_test(a_lost_answer_is_given_again_for_two_minutes_to_the_same_key),
		cmocka_unit_test(a_second_key_with_the_right_secret_is_a_breach_in_every_state),
		cmocka_unit_test(a_claim_after_its_time_is_over),
		cmocka_unit_test(whoever_has_the_keys_and_never_confirms_them_is_ended),
		cmocka_unit_test(a_proof_of_another_machine_is_a_breach),
		cmocka_unit_test(a_proof_that_comes_too_late_changes_nothing),
		cmocka_unit_test(only_who_proves_itself_ends_a_node_by_an_alarm),
		cmocka_unit_test(another_key_cannot_confirm),
		cmocka_unit_test(a_claim_begins_empty_and_is_issued_once),
		cmocka_unit_test(a_claim_that_the_journal_lost_is_restored_as_confirmed),
		cmocka_unit_test(a_claim_is_revoked_with_its_node_and_closed_when_that_is_gone),
		cmocka_unit_test(what_a_state_needs_ends_with_the_state),
		cmocka_unit_test(a_claim_that_nobody_asked_for_has_no_owner),
		cmocka_unit_test(words_are_read_as_they_are_written),
		cmocka_unit_test(every_sequence_of_eight_events_keeps_the_rules),
	};

	return cmocka_run_group_tests_name("claim", tests, NULL, NULL);
}
