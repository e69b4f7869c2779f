/* life.c: a reader who has only the steps comes to what the row says: when the bill began and
 * ended, and who ended it. */
#include "core/life.h"

#include "node_steps.h"

enum { STORY_MAX = 40 };

struct story { /* steps as text, "sent created@5 ..."; @: said_ms less T0 */
	struct node n;
	char text[400];
	int64_t begin_ms, shown_ms, end_ms; /* as a reader of bills takes them */
};

static void tell(struct story *s, const struct life_step *step)
{
	size_t n = strlen(s->text);

	(void)snprintf(s->text + n, sizeof(s->text) - n, "%s%s", n > 0 ? " " : "",
		       life_str(step->kind));
	n = strlen(s->text);
	if (step->said_ms != 0)
		(void)snprintf(s->text + n, sizeof(s->text) - n, "@%lld",
			       (long long)(step->said_ms - T0));
	if (step->kind == LIFE_CREATED)
		s->begin_ms = step->said_ms != 0 ? step->said_ms : step->at_ms;
	if (step->kind == LIFE_SHOWN)
		s->shown_ms = step->at_ms;
	if (step->kind == LIFE_ENDED)
		s->end_ms = step->said_ms != 0 ? step->said_ms : step->at_ms;
}

static void goes_on(struct story *s, struct node_event ev)
{
	struct life_step steps[LIFE_STEPS_MAX];
	struct provider_instance in = instance(PROVIDER_RUNNING);
	struct node was = s->n;
	size_t n;

	if (ev.instance == NULL && (ev.type == NODE_EV_CREATED || ev.type == NODE_EV_SEEN))
		ev.instance = &in;
	(void)node_step(&s->n, &ev, &with_tokens);
	n = life_steps(&was, &s->n, &ev, steps);
	for (size_t i = 0; i < n; i++)
		tell(s, &steps[i]);
}

static void comes(struct story *s, enum node_event_type type, int64_t at)
{
	goes_on(s, (struct node_event){.type = type, .now_ms = T0 + at, .batch = 9});
}

static void shows(struct story *s, struct provider_instance in, int64_t at)
{
	goes_on(s, (struct node_event){.type = NODE_EV_SEEN, .now_ms = T0 + at, .instance = &in});
}

static struct story begin(void)
{
	struct story s = {.text = ""};

	node_init(&s.n, "c1", 7, T0);
	return s;
}

static void check(const struct story *s, const char *want)
{
	assert_string_equal(s->text, want);
	assert_int_equal(s->begin_ms, s->n.start_ms);
	assert_int_equal(s->end_ms, s->n.end_ms);
}

static void test_a_whole_life(void **state)
{
	struct story s = begin();
	struct provider_instance in = instance(PROVIDER_PENDING);

	(void)state;
	comes(&s, NODE_EV_START, 10);
	in.created_ms = T0 + 15;
	goes_on(&s,
		(struct node_event){.type = NODE_EV_CREATED, .now_ms = T0 + 20, .instance = &in});
	comes(&s, NODE_EV_REGISTERED, 30);
	goes_on(&s, (struct node_event){.type = NODE_EV_RELEASE,
					.reason = NODE_BECAUSE_SUSPENDED,
					.now_ms = T0 + 40});
	comes(&s, NODE_EV_DELETED, 50);
	in = instance(PROVIDER_ENDED);
	in.ended_ms = T0 + 55;
	shows(&s, in, 60);
	check(&s,
	      "sent created@15 registered ready released delete_asked delete_accepted ended@55");
	assert_int_equal(s.begin_ms, T0 + 15);
	assert_int_equal(s.end_ms, T0 + 55);
}

/* Where the provider says no times, or impossible ones, what burstd saw counts. */
static void test_times_that_are_not_believed(void **state)
{
	static const int64_t created[] = {0, -2 * NODE_SKEW_MS, 900};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct story s = begin();
		struct provider_instance in = instance(PROVIDER_RUNNING);

		comes(&s, NODE_EV_START, 10);
		in.created_ms = created[i] != 0 ? T0 + created[i] : 0;
		goes_on(&s, (struct node_event){
				    .type = NODE_EV_CREATED, .now_ms = T0 + 20, .instance = &in});
		in = instance(PROVIDER_ENDED);
		in.ended_ms = i == 1 ? T0 + 5 : i == 2 ? T0 + 9000 : 0;
		shows(&s, in, 100);
		check(&s, "sent created ended");
		assert_int_equal(s.begin_ms, T0 + 20);
		assert_int_equal(s.end_ms, T0 + 100);
	}
}

static void test_what_the_provider_took(void **state)
{
	struct story s = {.n = node_at(NODE_READY)};
	struct provider_instance in = instance(PROVIDER_ENDED);

	(void)state;
	s.begin_ms = s.n.start_ms;
	goes_on(&s, (struct node_event){
			    .type = NODE_EV_NOTICE, .now_ms = T0 + 10, .deadline_ms = T0 + 99});
	shows(&s, in, 120);
	check(&s, "noticed@99 drained taken ended");

	/* It was ended by burstd, whatever notice there was: that is paid for. */
	s = (struct story){.n = node_at(NODE_DRAINING)};
	s.begin_ms = s.n.start_ms;
	goes_on(&s, (struct node_event){.type = NODE_EV_RELEASE,
					.reason = NODE_BECAUSE_SUSPENDED,
					.now_ms = T0 + 40});
	assert_int_equal(s.n.reason, NODE_BECAUSE_RECLAIMED);
	shows(&s, in, 60);
	check(&s, "released delete_asked ended");

	/* Unless the provider says that it took it all the same. */
	s = (struct story){.n = node_at(NODE_DELETING)};
	s.begin_ms = s.n.start_ms;
	in.taken = true;
	shows(&s, in, 60);
	check(&s, "taken ended");
}

static void test_what_never_was(void **state)
{
	struct story s = begin();

	(void)state;
	comes(&s, NODE_EV_START, 10);
	comes(&s, NODE_EV_REFUSED, 20);
	check(&s, "sent refused");
	/* A lost create took effect after all (F3): its bill begins. */
	comes(&s, NODE_EV_SEEN, 30);
	assert_string_equal(s.text, "sent refused created released delete_asked");
}

static void test_what_is_there_after_all(void **state)
{
	struct story s = {.n = node_at(NODE_READY)};
	struct provider_instance in = instance(PROVIDER_ENDED);

	(void)state;
	s.begin_ms = s.n.start_ms;
	shows(&s, in, 20);
	comes(&s, NODE_EV_SEEN, 30);
	check(&s, "ended seen released delete_asked");
	shows(&s, in, 90);
	check(&s, "ended seen released delete_asked ended");
	assert_int_equal(s.end_ms, T0 + 90);

	/* A provider that says an earlier end than before is not believed. */
	s = (struct story){.n = node_at(NODE_READY)};
	s.begin_ms = s.n.start_ms;
	in.ended_ms = T0 + 50;
	shows(&s, in, 60);
	comes(&s, NODE_EV_SEEN, 70);
	in.ended_ms = T0 + 40;
	shows(&s, in, 80);
	check(&s, "ended@50 seen released delete_asked ended");
	assert_int_equal(s.end_ms, T0 + 50);
}

/* A reader of bills learns between which two lists it ended, unless the provider tells its end. */
static void test_an_end_that_is_not_told(void **state)
{
	struct story s = {.n = node_at(NODE_DELETING)};
	struct provider_instance in = instance(PROVIDER_ENDED);
	struct node_event ev = {.type = NODE_EV_ABSENT,
				.now_ms = T0 + 900,
				.list_ms = T0 + 900,
				.shown_ms = T0 + 30,
				.lacked_ms = T0 + 50};

	(void)state;
	s.begin_ms = s.n.start_ms;
	s.n.misses = 1;
	goes_on(&s, ev);
	check(&s, "shown ended");
	assert_int_equal(s.shown_ms, T0 + 30);
	assert_int_equal(s.end_ms, T0 + 50);

	s = (struct story){.n = node_at(NODE_DELETING)};
	s.begin_ms = s.n.start_ms;
	ev = (struct node_event){
		.type = NODE_EV_SEEN, .now_ms = T0 + 900, .shown_ms = T0 + 30, .instance = &in};
	goes_on(&s, ev);
	check(&s, "shown ended");
	assert_int_equal(s.end_ms, T0 + 900);

	s = (struct story){.n = node_at(NODE_DELETING)};
	s.begin_ms = s.n.start_ms;
	in.ended_ms = T0 + 40;
	goes_on(&s, ev);
	check(&s, "ended@40");
}

/* F57: a begin by a wrong clock is corrected, and the last one counts. */
static void test_a_begin_is_corrected(void **state)
{
	struct story s = {.n = node_at(NODE_READY)};
	struct provider_instance in = instance(PROVIDER_RUNNING);

	(void)state;
	s.begin_ms = s.n.start_ms;
	in.created_ms = s.n.start_ms + 2 * (int64_t)NODE_SKEW_MS;
	shows(&s, in, 3 * (int64_t)NODE_SKEW_MS);
	assert_int_equal(s.n.start_ms, in.created_ms);
	assert_int_equal(s.begin_ms, in.created_ms);
}

/* A restart moves times that are in the future, which is no news (F57). */
static void test_a_restart_is_no_step(void **state)
{
	(void)state;
	for (int i = 0; i < NODE_NSTATES; i++) {
		struct story s = {.n = node_at((enum node_state)i)};

		s.n.noticed_ms = s.n.noticed_ms != 0 ? T0 + 5000 : 0;
		comes(&s, NODE_EV_RESTART, 10);
		assert_string_equal(s.text, "");
	}
}

static void test_running(void **state)
{
	struct node n = node_at(NODE_BOOTING);
	struct provider_instance in = instance(PROVIDER_RUNNING);
	struct node_event ev = {.type = NODE_EV_SEEN, .instance = &in};

	(void)state;
	assert_true(life_runs(&n, &ev));
	in.state = PROVIDER_PENDING;
	assert_false(life_runs(&n, &ev));
	in.state = PROVIDER_RUNNING;
	n = node_at(NODE_READY);
	assert_false(life_runs(&n, &ev)); /* it was up before it was seen */
	ev = (struct node_event){.type = NODE_EV_RELEASE};
	n = node_at(NODE_BOOTING);
	assert_false(life_runs(&n, &ev));
}

/* F14: a new row goes on with the bill of an instance that is there again. */
static void test_whose_bill_had_ended(void **state)
{
	struct story s = begin();

	(void)state;
	s.n.release = true;
	s.n.start_ms = s.begin_ms = T0 - 9;
	s.n.end_ms = T0 - 5;
	comes(&s, NODE_EV_SEEN, 10);
	comes(&s, NODE_EV_SEEN, 20);
	shows(&s, instance(PROVIDER_ENDED), 30);
	check(&s, "seen delete_asked ended");
}

static void test_words(void **state)
{
	(void)state;
	for (int k = 0; k < LIFE_NKINDS; k++)
		assert_int_equal(life_parse(life_str((enum life_kind)k)), k);
	assert_int_equal(life_parse("gone"), -1);
	assert_string_equal(life_str(LIFE_DELETE_ASKED), "delete_asked");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_whole_life),
		cmocka_unit_test(test_times_that_are_not_believed),
		cmocka_unit_test(test_what_the_provider_took),
		cmocka_unit_test(test_what_never_was),
		cmocka_unit_test(test_what_is_there_after_all),
		cmocka_unit_test(test_an_end_that_is_not_told),
		cmocka_unit_test(test_a_begin_is_corrected),
		cmocka_unit_test(test_a_restart_is_no_step),
		cmocka_unit_test(test_running),
		cmocka_unit_test(test_whose_bill_had_ended),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
