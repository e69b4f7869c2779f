/* test_claim_lack.c - documents that are signed with keys that nobody knows: what is fetched, how
 * often, and when they are none.  The verifier is the test's: its documents are words, "KEY
 * INSTANCE", and a fetch is answered with the keys that there are. */
#include "claims_store.h"
#include "keys_engine.h"

#define KEYS_AT "https://keys.example/"

static struct {
	char keys[64]; /* that are known; "" before the first fetch */
	bool said;     /* a document says where its key is: at KEYS_AT and its name */
	bool given;    /* there is nothing to fetch */
} V;

static int v_open(void **self, const struct attest_conf *conf, struct err *e)
{
	(void)conf;
	(void)e;
	*self = &V;
	return 0;
}

static void v_close(void *self)
{
	(void)self;
}

static bool is_known(const char *doc)
{
	char key[32];

	assert_int_equal(sscanf(doc, "%31s", key), 1);
	return strstr(V.keys, key) != NULL;
}

static int v_verify(const void *self, const struct attest_expect *want, const char *doc, size_t len,
		    int64_t now_ms, struct attest_identity *out, struct err *e)
{
	(void)self;
	(void)want;
	(void)len;
	(void)now_ms;
	if (!is_known(doc))
		return err_set(e, ERR_LIMIT, "the key is not known");
	memset(out, 0, sizeof(*out));
	assert_int_equal(sscanf(doc, "%*s %63s", out->instance), 1);
	return 0;
}

static int v_lacks(const void *self, const char *doc, size_t len, struct attest_lack *out)
{
	(void)self;
	(void)len;
	memset(out, 0, sizeof(*out));
	if (V.given || is_known(doc))
		return 0;
	(void)sscanf(doc, "%31s", out->what);
	(void)snprintf(out->url, sizeof(out->url), KEYS_AT "%.31s", V.said ? out->what : "");
	out->said = V.said;
	return 1;
}

static int v_learn(void *self, const char *body, size_t len, struct err *e)
{
	(void)self;
	(void)len;
	if (strcmp(body, "odd") == 0)
		return err_set(e, ERR_INVALID, "that makes no sense");
	(void)snprintf(V.keys, sizeof(V.keys), "%s", body);
	return 0;
}

static const struct attest_ops *find(enum attest_kind k)
{
	static struct attest_ops ops = {.open = v_open,
					.close = v_close,
					.verify = v_verify,
					.lacks = v_lacks,
					.learn = v_learn};

	ops.kind = k;
	return &ops;
}

static int begin(void **state)
{
	(void)state;
	memset(&V, 0, sizeof(V));
	(void)setup_with(CONF_ATTEST_AWS, CONF_BROKER);
	F.door.verifier = find;
	restart();
	return 0;
}

static unsigned shows(const char *doc)
{
	return status(says((struct says){.create = 1, .attest = "aws-rsa2048", .doc = doc}));
}

static struct claim_prover *prover(void)
{
	return &F.e->keys->claims->provers[0];
}

/* So much later, as far as fetches go. */
static void goes_by(int64_t ms)
{
	prover()->failed_ms -= prover()->failed_ms != 0 ? ms : 0;
	prover()->answered_ms -= prover()->answered_ms != 0 ? ms : 0;
}

static void is_disproved(const char *doc, bool ends)
{
	assert_int_equal(shows(doc), 403);
	turn();
	assert_int_equal(goes(1, NODE_BECAUSE_BREACH), ends);
	assert_int_equal(events("claim-refused"), 1);
	assert_int_equal(F.released, 0);
}

static void test_a_key_that_is_not_known_is_fetched(void **state)
{
	size_t at;

	(void)state;
	one();
	at = F.nwire;
	assert_int_equal(shows("k1 i-1"), 202);
	assert_int_equal(shows("k1 i-1"), 202);
	assert_int_equal(F.nwire, at + 1); /* one at a time */
	assert_string_equal(F.wire[at].url, KEYS_AT);
	wire_says(at, 0, "k0 k1");
	assert_int_equal(shows("k1 i-1"), 0);
	assert_non_null(F.keys_fn);
}

/* F39: it is nobody's fault, and nothing is concluded from it. */
static void test_a_fetch_that_fails_is_tried_again_after_a_pause(void **state)
{
	size_t at;

	(void)state;
	one();
	at = F.nwire;
	assert_int_equal(shows("k1 i-1"), 202);
	for (int i = 0; i < 4; i++) {
		static const int ends[] = {ERR_NET, 503, 404, 200};

		wire_ends(at, ends[i], "odd");
		assert_int_equal(shows("k1 i-1"), 202);
		assert_int_equal(F.nwire, at + 1); /* not at once */
		goes_by(CLAIM_FETCH_AGAIN_MS - 1000);
		assert_int_equal(shows("k1 i-1"), 202);
		assert_int_equal(F.nwire, at + 1);
		if (i == 2)
			goes_by(-3600000); /* the clock is set back */
		else
			goes_by(1000);
		assert_int_equal(shows("k1 i-1"), 202);
		assert_int_equal(F.nwire, ++at + 1);
	}
	wire_says(at, 0, "k1");
	assert_int_equal(shows("k1 i-1"), 0);
	assert_int_equal(claim(1)->c.state, CLAIM_ATTESTING);
}

static void test_a_key_that_the_cloud_does_not_know_either_is_no_proof(void **state)
{
	(void)state;
	one();
	assert_int_equal(shows("thief i-1"), 202);
	wire_says(F.nwire - 1, 0, "k1");
	is_disproved("thief i-1", true);
	assert_int_equal(claim(1)->c.reason, CLAIM_BECAUSE_PROOF);
}

/* Nobody knows whose secret it was: it is told, and no machine ends. */
static void test_among_many_it_is_told(void **state)
{
	(void)state;
	two();
	assert_int_equal(shows("thief i-1"), 202);
	wire_says(F.nwire - 1, 0, "k1");
	is_disproved("thief i-1", false);
	F.address = "10.0.0.2";
	assert_int_equal(shows("k1 i-2"), 0);
	assert_int_equal(claim(2)->c.state, CLAIM_ATTESTING);
}

/* It may have been published after that fetch had begun. */
static void test_only_a_fetch_that_was_begun_since_counts(void **state)
{
	size_t at;

	(void)state;
	two();
	at = F.nwire;
	assert_int_equal(shows("k1 i-1"), 202);
	assert_int_equal(shows("k2 i-2"), 202); /* while that one is on its way */
	wire_says(at, 0, "k1");
	assert_int_equal(shows("k2 i-2"), 202);
	assert_int_equal(F.nwire, at + 1); /* a pause after a success, too */
	goes_by(CLAIM_FETCH_AGAIN_MS);
	assert_int_equal(shows("k2 i-2"), 202);
	assert_int_equal(F.nwire, at + 2);
	wire_says(at + 1, 0, "k1 k2");
	F.address = "10.0.0.2";
	assert_int_equal(shows("k2 i-2"), 0);
	assert_int_equal(events("claim-refused"), 0);
}

static void test_whoever_names_ever_new_keys_has_few_fetched(void **state)
{
	char doc[32];
	size_t at;

	(void)state;
	two();
	V.said = true; /* each at another place, so that no pause is in the way */
	at = F.nwire;
	for (int i = 0; i < CLAIM_LACKS_MAX; i++) {
		(void)snprintf(doc, sizeof(doc), "n%d i-1", i);
		assert_int_equal(shows(doc), 202);
		wire_says(F.nwire - 1, 0, "k1");
	}
	assert_int_equal(F.nwire, at + CLAIM_LACKS_MAX);
	is_disproved("other i-1", false);
	assert_int_equal(shows("another i-1"), 403);
	assert_int_equal(F.nwire, at + CLAIM_LACKS_MAX);
	F.address = "10.0.0.1";
	assert_int_equal(shows("k1 i-1"), 0); /* whoever has a good one is served */
}

static void test_what_was_asked_for_elsewhere_is_no_answer(void **state)
{
	size_t at;

	(void)state;
	two();
	V.said = true;
	at = F.nwire;
	assert_int_equal(shows("a i-1"), 202);
	assert_int_equal(shows("b i-1"), 202);
	wire_ends(at, ERR_NET, "no way there");
	goes_by(CLAIM_FETCH_AGAIN_MS);
	assert_int_equal(shows("a i-1"), 202);
	wire_says(at + 1, 0, "k1"); /* of a, though it was begun after b was shown */
	assert_int_equal(shows("b i-1"), 202);
	assert_string_equal(F.wire[at + 2].url, KEYS_AT "b");
	assert_int_equal(shows("b i-1"), 202);
	wire_says(at + 2, 0, "b");
	assert_int_equal(shows("b i-1"), 0);
}

static void test_what_another_provider_was_asked_for_is_no_answer(void **state)
{
	struct claim_set *set;

	(void)state;
	one();
	assert_int_equal(shows("thief i-1"), 202);
	set = claim_entry(claim(1))->set;
	set->cloud = 1; /* as far as the answer goes */
	wire_says(F.nwire - 1, 0, "k1");
	set->cloud = 0;
	assert_int_equal(shows("thief i-1"), 202);
	assert_int_equal(claim(1)->c.state, CLAIM_ISSUED);
}

/* Where a document says itself where its key is, and nothing good is there. */
static void test_a_place_that_has_nothing(void **state)
{
	static const struct {
		int status;
		const char *text;
		bool ends;
	} t[] = {{200, "odd", true}, {404, "", true},  {410, "", true},     {301, "", true},
		 {403, "", false},   {429, "", false}, {500, "odd", false}, {ERR_NET, "", false}};

	(void)state;
	two();
	V.said = true;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct claim_set *set = claim_entry(claim(1))->set;

		assert_int_equal(shows("x i-1"), 202);
		wire_ends(F.nwire - 1, t[i].status, t[i].text);
		assert_int_equal(shows("x i-1"), t[i].ends ? 403 : 202);
		set->nlacks = 0; /* another create's, later */
		goes_by(CLAIM_FETCH_AGAIN_MS);
	}
}

static void test_what_nothing_can_be_fetched_for_is_no_proof(void **state)
{
	size_t at;

	(void)state;
	one();
	V.given = true;
	at = F.nwire;
	is_disproved("thief i-1", true);
	assert_int_equal(F.nwire, at);
}

/* Answers that come when nobody is there any more. */
static void test_a_fetch_outlives_who_wanted_it(void **state)
{
	(void)state;
	one();
	assert_int_equal(shows("k1 i-1"), 202);
	claims_fail(F.e, claim(1), "test", "it is gone", false);
	turn();
	wire_says(F.nwire - 1, 0, "k1");
	restart();
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, begin, teardown)
	const struct CMUnitTest tests[] = {
		T(test_a_key_that_is_not_known_is_fetched),
		T(test_a_fetch_that_fails_is_tried_again_after_a_pause),
		T(test_a_key_that_the_cloud_does_not_know_either_is_no_proof),
		T(test_among_many_it_is_told),
		T(test_only_a_fetch_that_was_begun_since_counts),
		T(test_whoever_names_ever_new_keys_has_few_fetched),
		T(test_what_was_asked_for_elsewhere_is_no_answer),
		T(test_what_another_provider_was_asked_for_is_no_answer),
		T(test_a_place_that_has_nothing),
		T(test_what_nothing_can_be_fetched_for_is_no_proof),
		T(test_a_fetch_outlives_who_wanted_it),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
