/* test_claim_guess.c - who knows a claim's id, and no more: he ends nothing, delays nobody, and
 * learns no ids from what every user may read. */
#include "claims_store.h"
#include "keys_engine.h"

/* The first of this type in the journal. */
static int keep_first(void *ctx, const struct journal_event *ev)
{
	const char **want = ctx;

	if (strcmp(ev->type, want[0]) == 0 && want[1] == NULL)
		want[1] = mem_strdup(ev->detail);
	return 0;
}

static char *first_of(const char *type)
{
	const char *want[2] = {type, NULL};

	assert_int_equal(journal_events(F.journal, 0, NULL, 10000, keep_first, want, NULL), 0);
	assert_non_null(want[1]);
	return (char *)(uintptr_t)want[1];
}

/* Whoever has seen an id could end three good machines. */
static void test_wrong_secrets_end_nothing(void **state)
{
	char id[CLAIM_ID_MAX + 1], secret[CLAIM_SECRET_SIZE], *text;
	uint64_t t;

	(void)state;
	two();
	(void)snprintf(id, sizeof(id), "%s", claim(1)->c.id);
	for (int i = 0; i < 10 * NODE_CLAIM_GUESSES; i++)
		knock(id, "wrong", false);
	turn();
	assert_int_equal(claim(1)->c.state, CLAIM_ISSUED);
	assert_int_equal(claim(2)->c.state, CLAIM_ISSUED);
	assert_int_equal(events("claim-guessed"), 1);
	assert_int_equal(audits("claim-refuse"), 1);
	text = first_of("claim-guessed");
	assert_null(strstr(text, id)); /* every user may read it */
	free(text);
	/* Should one come as far as the loop. */
	assert_int_equal(status(says((struct says){.create = 1, .secret = "wrong"})), 401);
	/* Those who have it are served as if nothing had been. */
	claims_secret(F.e, id, secret);
	knock(id, secret, true);
	t = says((struct says){.create = 1});
	is_served(t, "");
	turn();
	assert_int_equal(row(1)->n.state, NODE_BOOTING);
	assert_int_equal(row(2)->n.state, NODE_BOOTING);
	/* And a second key is a breach, as ever. */
	assert_int_equal(status(says((struct says){.create = 1, .key = 1})), 409);
	turn();
	assert_true(goes(1, NODE_BECAUSE_BREACH));
	assert_int_equal(row(2)->n.state, NODE_BOOTING);
}

static int count_object(void *ctx, const struct journal_audit *a)
{
	const char **want = ctx;

	*(size_t *)(void *)(uintptr_t)want[1] += strcmp(a->object, want[0]) == 0;
	return 0;
}

static size_t audits_of(const char *id)
{
	size_t n = 0;
	const char *want[2] = {id, (const char *)(void *)&n};

	assert_int_equal(journal_audits(F.journal, 0, 10000, count_object, want, NULL), 0);
	return n;
}

/* Events and the log are everybody's; operators find the id in the audit log. */
static void test_an_id_is_for_operators(void **state)
{
	char id[CLAIM_ID_MAX + 1], *text;

	(void)state;
	two();
	(void)snprintf(id, sizeof(id), "%s", claim(1)->c.id);
	F.address = "192.0.2.9";
	assert_int_equal(status(says((struct says){.create = 1, .key = 1})), 403);
	text = first_of("claim-refused");
	assert_null(strstr(text, id));
	assert_null(strchr(text, '-')); /* nor its beginning, or its end */
	assert_int_equal(strspn(text + strlen("claim "), "0123456789abcdef"), 8);
	assert_memory_equal(text, "claim ", 6);
	free(text);
	assert_int_equal(audits_of(id), 1);
}

/* What is in the log by now; it ends. */
static void read_log(FILE *f, char text[4096])
{
	size_t n;

	log_free(F.e->d.log);
	F.e->d.log = NULL;
	rewind(f);
	n = fread(text, 1, 4095, f);
	text[n] = '\0';
	(void)fclose(f);
}

/* So it is in the log, whatever is told there of a claim: refused, guessed at, misused. */
static void test_an_id_is_not_in_the_log(void **state)
{
	char id[CLAIM_ID_MAX + 1], want[64], text[4096];
	FILE *f = tmpfile();

	(void)state;
	assert_non_null(f);
	two();
	F.e->d.log = log_new(fileno(f), LOG_DEBUG);
	(void)snprintf(id, sizeof(id), "%s", claim(1)->c.id);
	(void)snprintf(want, sizeof(want),
		       "a claim was refused\" claim=%s from=", claim_entry(claim(1))->set->mark);
	F.address = "192.0.2.9";
	assert_int_equal(status(says((struct says){.create = 1, .key = 1})), 403);
	for (int i = 0; i < NODE_CLAIM_GUESSES; i++)
		knock(id, "wrong", false);
	turn();
	F.address = "10.0.0.1";
	is_served(says((struct says){.create = 1}), "");
	assert_int_equal(status(says((struct says){.create = 1, .key = 1})), 409);
	read_log(f, text);
	assert_non_null(strstr(text, want));
	assert_non_null(strstr(text, "its machines can still claim"));
	assert_non_null(strstr(text, "was misused"));
	assert_null(strstr(text, id));
	assert_null(strstr(text, strrchr(id, '-') + 1)); /* what cannot be guessed of it */
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup_broker, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_wrong_secrets_end_nothing),
		T(test_an_id_is_for_operators),
		T(test_an_id_is_not_in_the_log),
	};

	return cmocka_run_group_tests_name("claim_guess", tests, NULL, NULL);
}
