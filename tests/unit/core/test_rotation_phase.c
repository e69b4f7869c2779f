/* test_rotation_phase.c - what each phase of a rotation means, one row for each; what somebody else
 * or an admin can do in it; which numbers are a rotation. */
#include "base/str.h"
#include "rotation_steps.h"

enum { SINCE = 1000, AT = 50000, PREV = FIRST - 1, OTHER = 99 };

static struct rotation in(enum rotation_kind kind, enum rotation_phase phase, bool told)
{
	struct rotation r = at(kind, phase);

	r.prev = PREV;
	r.begun_ms = r.since_ms = SINCE;
	r.switch_ms = AT;
	r.life_ms = MINUTE;
	r.told = told;
	return r;
}

/* A word for each question that is answered with yes. */
static void describe(const struct rotation *r, struct str *out)
{
	const int64_t late = SINCE + ROTATION_BEHIND_MS;
	const struct {
		bool yes;
		const char *word;
	} all[] = {
		{rotation_runs(r), "runs"},
		{rotation_want(r) == ROTATION_WANT_WRITE, "write"},
		{rotation_want(r) == ROTATION_WANT_TELL, "tell"},
		{rotation_switches(r), "switches"},
		{rotation_switched(r), "switched"},
		{rotation_in_use(r), "in-use"},
		{rotation_holds(r, FIRST), "holds-all"},
		{!rotation_holds(r, FIRST) && rotation_holds(r, PREV), "holds-old"},
		{rotation_takes(r, FIRST), "takes-now"},
		{rotation_takes(r, PREV), "takes-prev"},
		{rotation_takes(r, 0) || rotation_takes(r, OTHER), "takes-others"},
		{rotation_called_off(r, SINCE), "off"},
		{rotation_is_overwritten(r, OTHER, late), "overwritten"},
		{rotation_is_overwritten(r, FIRST, late) ||
			 rotation_is_overwritten(r, PREV, late) ||
			 rotation_is_overwritten(r, 0, late),
		 "overwritten-by-itself"},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i].yes)
			str_addf(out, "%s%s", out->len > 0 ? " " : "", all[i].word);
}

static const struct row {
	enum rotation_kind kind;
	enum rotation_phase phase;
	bool told;
	const char *words;
	int64_t wake_ms; /* 0: no timer */
} rows[] = {
	{ROTATION_MUNGE, ROTATION_STAGING, false, "runs write in-use takes-now takes-prev off", 0},
	{ROTATION_MUNGE, ROTATION_SPREADING, false,
	 "runs in-use takes-now takes-prev off overwritten", SINCE + ROTATION_SPREAD_MS},
	{ROTATION_MUNGE, ROTATION_STAGED, false, "runs in-use takes-now takes-prev off overwritten",
	 0},
	{ROTATION_MUNGE, ROTATION_WINDOW, false, "runs in-use takes-now takes-prev overwritten",
	 AT},
	{ROTATION_MUNGE, ROTATION_SWITCHING, false, "runs write switches switched holds-all", 0},
	{ROTATION_MUNGE, ROTATION_SWITCHING, true, "runs write switched holds-all", 0},
	{ROTATION_MUNGE, ROTATION_SETTLING, false,
	 "runs switches switched in-use holds-old takes-now overwritten", 0},
	{ROTATION_MUNGE, ROTATION_SETTLING, true,
	 "runs switched in-use holds-old takes-now overwritten", SINCE + ROTATION_SETTLE_MS},
	{ROTATION_MUNGE, ROTATION_DONE, true, "switched in-use takes-now", 0},
	{ROTATION_MUNGE, ROTATION_DONE, false, "switched in-use takes-now", 0},
	{ROTATION_MUNGE, ROTATION_ABORTING, false, "runs write in-use takes-now takes-prev off", 0},
	{ROTATION_MUNGE, ROTATION_ABORTED, false, "in-use takes-now takes-prev off", 0},
	/* "off": a switch of munge's rotation before it. */
	{ROTATION_JWKS, ROTATION_STAGING, false, "runs write takes-now takes-prev off", 0},
	{ROTATION_JWKS, ROTATION_SPREADING, false, "runs takes-now takes-prev off overwritten",
	 SINCE + ROTATION_SPREAD_MS},
	{ROTATION_JWKS, ROTATION_STAGED, false, "runs takes-now takes-prev off overwritten", 0},
	{ROTATION_JWKS, ROTATION_LOADING, false, "runs tell takes-now takes-prev off overwritten",
	 0},
	{ROTATION_JWKS, ROTATION_SWITCHING, false, "runs write switched takes-now takes-prev off",
	 0},
	{ROTATION_JWKS, ROTATION_SETTLING, false, "runs switched takes-now takes-prev off",
	 SINCE + ROTATION_SETTLE_MS},
	{ROTATION_JWKS, ROTATION_AGING, false, "runs tell takes-now takes-prev off overwritten", 0},
	{ROTATION_JWKS, ROTATION_AGING, true, "runs takes-now takes-prev off overwritten",
	 SINCE + 2 * MINUTE},
	{ROTATION_JWKS, ROTATION_DROPPING, false, "runs write takes-now takes-prev off", 0},
	{ROTATION_JWKS, ROTATION_DONE, false, "tell takes-now takes-prev off", 0},
	{ROTATION_JWKS, ROTATION_DONE, true, "takes-now takes-prev off", 0},
	{ROTATION_JWKS, ROTATION_ABORTING, false, "runs write takes-now takes-prev off", 0},
	{ROTATION_JWKS, ROTATION_ABORTED, false, "takes-now takes-prev off", 0},
};

static void each_phase_means_what_it_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct rotation r = in(rows[i].kind, rows[i].phase, rows[i].told);
		const int64_t wake_ms = rotation_wake_ms(&r);
		struct str words;

		str_init(&words, 256);
		describe(&r, &words);
		if (strcmp(words.p, rows[i].words) != 0 ||
		    wake_ms != (rows[i].wake_ms != 0 ? rows[i].wake_ms : INT64_MAX))
			fail_msg("%s %s: %s, %lld", rotation_kind_str(r.kind),
				 rotation_phase_str(r.phase), words.p, (long long)wake_ms);
		str_fini(&words);
	}
}

static void before_the_first_rotation_nothing_is_said(void **state)
{
	const struct rotation r = {.phase = ROTATION_IDLE};
	struct str words;

	(void)state;
	str_init(&words, 256);
	describe(&r, &words);
	assert_string_equal(words.p, "");
	assert_true(rotation_wake_ms(&r) == INT64_MAX);
	assert_true(rotation_good(&r));
	str_fini(&words);
}

/* A replica of the store may be behind by two writes, if these came one after the other. */
static void a_store_that_lags_is_not_overwritten(void **state)
{
	struct rotation r = in(ROTATION_MUNGE, ROTATION_SETTLING, true);

	(void)state;
	assert_false(rotation_is_overwritten(&r, OTHER, SINCE + ROTATION_BEHIND_MS - 1));
	assert_true(rotation_is_overwritten(&r, OTHER, SINCE + ROTATION_BEHIND_MS));
	r = in(ROTATION_JWKS, ROTATION_AGING, true);
	assert_false(rotation_is_overwritten(&r, OTHER, SINCE + ROTATION_BEHIND_MS - 1));
	r = in(ROTATION_JWKS, ROTATION_STAGED, false);
	assert_true(rotation_is_overwritten(&r, OTHER, SINCE));
}

/* The phase after somebody else has written the bundle, and after an abort; the same: refused. */
static const struct {
	enum rotation_kind kind;
	enum rotation_phase phase, alien, abort;
} moves[] = {
	{ROTATION_MUNGE, ROTATION_STAGING, ROTATION_STAGING, ROTATION_ABORTING},
	{ROTATION_MUNGE, ROTATION_SPREADING, ROTATION_ABORTED, ROTATION_ABORTING},
	{ROTATION_MUNGE, ROTATION_STAGED, ROTATION_ABORTED, ROTATION_ABORTING},
	{ROTATION_MUNGE, ROTATION_WINDOW, ROTATION_ABORTED, ROTATION_ABORTING},
	{ROTATION_MUNGE, ROTATION_SWITCHING, ROTATION_ABORTED, ROTATION_SWITCHING},
	{ROTATION_MUNGE, ROTATION_SETTLING, ROTATION_SETTLING, ROTATION_SETTLING},
	{ROTATION_MUNGE, ROTATION_DONE, ROTATION_DONE, ROTATION_DONE},
	{ROTATION_MUNGE, ROTATION_ABORTING, ROTATION_ABORTED, ROTATION_ABORTING},
	{ROTATION_MUNGE, ROTATION_ABORTED, ROTATION_ABORTED, ROTATION_ABORTED},
	{ROTATION_JWKS, ROTATION_STAGING, ROTATION_STAGING, ROTATION_ABORTING},
	{ROTATION_JWKS, ROTATION_SPREADING, ROTATION_ABORTED, ROTATION_ABORTING},
	{ROTATION_JWKS, ROTATION_STAGED, ROTATION_ABORTED, ROTATION_ABORTING},
	{ROTATION_JWKS, ROTATION_LOADING, ROTATION_ABORTED, ROTATION_ABORTING},
	{ROTATION_JWKS, ROTATION_SWITCHING, ROTATION_ABORTED, ROTATION_SWITCHING},
	{ROTATION_JWKS, ROTATION_SETTLING, ROTATION_SETTLING, ROTATION_SETTLING},
	{ROTATION_JWKS, ROTATION_AGING, ROTATION_ABORTED, ROTATION_AGING},
	{ROTATION_JWKS, ROTATION_DROPPING, ROTATION_ABORTED, ROTATION_DROPPING},
	{ROTATION_JWKS, ROTATION_DONE, ROTATION_DONE, ROTATION_DONE},
	{ROTATION_JWKS, ROTATION_ABORTING, ROTATION_ABORTED, ROTATION_ABORTING},
};

static void somebody_elses_write_ends_each_phase_but_those_that_follow(void **state)
{
	const int64_t now_ms = 2 * SINCE;

	(void)state;
	for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++) {
		struct rotation r = in(moves[i].kind, moves[i].phase, true);
		const struct rotation was = r;
		const bool follows =
			moves[i].phase == ROTATION_STAGING ||
			(moves[i].phase == ROTATION_SETTLING && moves[i].kind == ROTATION_MUNGE);

		assert_int_equal(
			rotation_step(&r, &(struct rotation_event){.type = ROTATION_EV_ALIEN,
								   .now_ms = now_ms,
								   .version = OTHER}),
			follows || moves[i].alien != moves[i].phase);
		assert_int_equal(r.phase, moves[i].alien);
		if (follows) {
			assert_true(r.now == OTHER && r.prev == FIRST && r.since_ms == now_ms);
			assert_false(r.alien);
		} else if (moves[i].alien != moves[i].phase) {
			assert_true(r.now == 0 && r.prev == 0 && r.since_ms == now_ms);
			assert_true(r.alien && !r.told);
		} else {
			assert_memory_equal(&r, &was, sizeof(r));
		}
	}
}

static void an_admin_aborts_while_only_the_old_key_is_in_use(void **state)
{
	const int64_t now_ms = 2 * SINCE;

	(void)state;
	for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++) {
		struct rotation r = in(moves[i].kind, moves[i].phase, true);

		assert_int_equal(
			rotation_step(&r, &(struct rotation_event){.type = ROTATION_EV_ABORT,
								   .now_ms = now_ms}),
			moves[i].abort != moves[i].phase);
		assert_int_equal(r.phase, moves[i].abort);
		assert_int_equal(r.since_ms, moves[i].abort != moves[i].phase ? now_ms : SINCE);
		assert_int_equal(r.switch_ms, AT); /* nodes are told that it is off */
	}
}

static void only_a_phase_that_writes_has_written(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct rotation was = in(rows[i].kind, rows[i].phase, rows[i].told);
		const bool writes = strstr(rows[i].words, "write") != NULL &&
				    strstr(rows[i].words, "overwritten") == NULL;
		struct rotation r = was;

		assert_int_equal(
			rotation_step(&r, &(struct rotation_event){.type = ROTATION_EV_WROTE,
								   .now_ms = 2 * SINCE,
								   .version = OTHER}),
			writes);
		if (writes)
			assert_true(r.now == OTHER && r.prev == FIRST && r.since_ms == 2 * SINCE);
		else
			assert_memory_equal(&r, &was, sizeof(r));
	}
}

/* The first version of a store is 1, and before it there is none. */
static void no_node_has_no_version(void **state)
{
	struct rotation r = in(ROTATION_MUNGE, ROTATION_STAGING, false);

	(void)state;
	r.now = 1;
	r.prev = 0;
	assert_true(rotation_takes(&r, 1));
	assert_false(rotation_takes(&r, 0));
}

static void a_rotation_begins_with_a_kind_and_a_version(void **state)
{
	const struct rotation_event good = {.type = ROTATION_EV_START,
					    .now_ms = 5000,
					    .kind = ROTATION_JWKS,
					    .id = 4,
					    .version = 12,
					    .life_ms = 1};
	struct rotation_event ev = good;
	struct rotation r = {.phase = ROTATION_IDLE};

	(void)state;
	ev.kind = ROTATION_NONE;
	assert_false(rotation_step(&r, &ev));
	ev = good;
	ev.version = 0;
	assert_false(rotation_step(&r, &ev));
	assert_int_equal(r.phase, ROTATION_IDLE);
	for (int last = ROTATION_IDLE; last < ROTATION_NPHASES; last++) {
		const bool ended =
			last == ROTATION_IDLE || last == ROTATION_DONE || last == ROTATION_ABORTED;

		r = in(ROTATION_JWKS, (enum rotation_phase)last, true);
		r.switch_ms = 0;
		assert_int_equal(rotation_step(&r, &good), ended);
		if (!ended)
			continue;
		assert_true(r.kind == ROTATION_JWKS && r.phase == ROTATION_STAGING && r.id == 4);
		assert_true(r.now == 12 && r.prev == 0 && r.life_ms == 1);
		assert_true(r.begun_ms == 5000 && r.since_ms == 5000 && r.switch_ms == 0);
		assert_false(r.told || r.alien);
	}
}

static void only_possible_numbers_are_a_rotation(void **state)
{
	static const struct {
		int kind, phase;
		int64_t id;
		bool good;
	} cases[] = {
		{ROTATION_MUNGE, ROTATION_STAGING, 1, true},
		{ROTATION_JWKS, ROTATION_ABORTED, 1, true},
		{ROTATION_NONE, ROTATION_IDLE, 0, true},
		{ROTATION_NONE, ROTATION_STAGING, 1, false},
		{ROTATION_MUNGE, ROTATION_STAGING, 0, false},
		{ROTATION_MUNGE, ROTATION_STAGING, -1, false},
		{ROTATION_NKINDS, ROTATION_IDLE, 1, false},
		{-1, ROTATION_STAGING, 1, false},
		{ROTATION_MUNGE, ROTATION_NPHASES, 1, false},
		{ROTATION_MUNGE, -1, 1, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct rotation r = {.kind = (enum rotation_kind)cases[i].kind,
					   .phase = (enum rotation_phase)cases[i].phase,
					   .id = cases[i].id};

		assert_int_equal(rotation_good(&r), cases[i].good);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_phase_means_what_it_says),
		cmocka_unit_test(before_the_first_rotation_nothing_is_said),
		cmocka_unit_test(a_store_that_lags_is_not_overwritten),
		cmocka_unit_test(somebody_elses_write_ends_each_phase_but_those_that_follow),
		cmocka_unit_test(an_admin_aborts_while_only_the_old_key_is_in_use),
		cmocka_unit_test(only_a_phase_that_writes_has_written),
		cmocka_unit_test(no_node_has_no_version),
		cmocka_unit_test(a_rotation_begins_with_a_kind_and_a_version),
		cmocka_unit_test(only_possible_numbers_are_a_rotation),
	};

	roll();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
