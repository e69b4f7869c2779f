/* test_simcloud_metadata.c - the metadata service as Google's and Azure's: what they sign is judged
 * by who verifies it for burstd. */
#include "metadata_lab.h"

#define TOKEN GCP "instance/service-accounts/default/identity"

/* --- asking ----------------------------------------------------------------------------------- */

static const struct said google = {.flavor = "Google"};

/* Row 0, which is spot, and row 1. */
static const char *gcp(const char *target)
{
	return ask_as(google, "10.77.0.10", target, NULL);
}

static const char *more(const struct http_answer *an, const char *name)
{
	for (int i = 0; i < HTTP_MORE_MAX && an->more[i].name != NULL; i++)
		if (strcmp(an->more[i].name, name) == 0)
			return an->more[i].value;
	return "";
}

/* --- Google ----------------------------------------------------------------------------------- */

static void Google_tells_who_says_its_header_and_nobody_else(void **state)
{
	static const struct {
		struct said said;
		const char *from;
		unsigned status;
	} t[] = {{{.flavor = "Google"}, "10.77.0.10", 200},
		 {{0}, "10.77.0.10", 403},
		 {{.flavor = "google"}, "10.77.0.10", 403},
		 {{.flavor = "Google", .forwarded = "10.0.0.1"}, "10.77.0.10", 403},
		 {{.flavor = "Google"}, "10.77.0.99", 404}};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		const char *text = ask_as(t[i].said, t[i].from, GCP "instance/id", NULL);

		assert_int_equal(A.an.status, t[i].status);
		assert_string_equal(text, t[i].status == 200 ? "sim-00000000" : "");
		assert_string_equal(more(&A.an, "Metadata-Flavor"),
				    t[i].status == 404 ? "" : "Google");
	}
	(void)ask_as(google, "10.77.0.10", GCP "instance/id", "");
	assert_int_equal(A.an.status, 405);
}

static void what_Google_tells(void **state)
{
	static const struct {
		const char *path, *text; /* NULL: 404 */
	} t[] = {
		{GCP "instance/attributes/user-data", "#!/bin/sh\n: claim\n"},
		{GCP "instance/machine-type", "projects/100000000000/machineTypes/gpu_8x_h100"},
		{GCP "instance/maintenance-event", "NONE"},
		{GCP "instance/name", "c1"},
		{GCP "instance/network-interfaces/0/ip", "10.77.0.10"},
		{GCP "instance/preempted", "FALSE"},
		{GCP "instance/scheduling/preemptible", "TRUE"},
		{GCP "instance/zone", "projects/100000000000/zones/eu-north-1a"},
		{GCP "project/project-id", "simcloud"},
		{GCP "instance/attributes/none", NULL},
		{"/latest/user-data", NULL},
		{"/metadata/attested/document", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		assert_string_equal(gcp(t[i].path), t[i].text != NULL ? t[i].text : "");
		assert_int_equal(A.an.status, t[i].text != NULL ? 200 : 404);
	}
	/* As ever, what clouds have that sign nothing. */
	assert_string_equal(ask_as((struct said){0}, "10.77.0.11", "/metadata/v1/user-data", NULL),
			    "plain");
}

static void a_token_of_Googles_says_which_machine_for_whom_and_how_long(void **state)
{
	struct attest_identity id;
	struct err e = {0};
	const char *doc = gcp(TOKEN "?audience=burst:c-1&format=full");

	(void)state;
	assert_int_equal(A.an.status, 200);
	if (judge(ATTEST_GCP, "burst:c-1", doc, &e, &id) != 0)
		fail_msg("%s", e.msg);
	assert_string_equal(id.instance, "sim-00000000");
	assert_string_equal(id.name, "c1");
	assert_string_equal(id.account, "simcloud");
	assert_string_equal(id.zone, "eu-north-1a");
	assert_true(id.created_ms == W.now / 1000 * 1000);
	assert_true(id.issued_ms == W.now / 1000 * 1000);
	assert_true(id.expires_ms == id.issued_ms + 3600000);
	assert_int_equal(judge(ATTEST_GCP, "burst:c-2", doc, &e, &id), ERR_AUTH);
	/* As the other one's root gets it. */
	doc = ask_as(google, "10.77.0.11", TOKEN "?format=full&audience=burst%3Ac-1", NULL);
	assert_int_equal(judge(ATTEST_GCP, "burst:c-1", doc, &e, &id), 0);
	assert_string_equal(id.instance, "sim-00000001");
	/* The usual ones do not say it. */
	doc = gcp(TOKEN "?audience=burst:c-1");
	assert_int_equal(judge(ATTEST_GCP, "burst:c-1", doc, &e, &id), ERR_INVALID);
	assert_non_null(strstr(e.msg, "format=full"));
	(void)gcp(TOKEN "?format=full");
	assert_int_equal(A.an.status, 400);
	(void)gcp(TOKEN "?audience=&format=full");
	assert_int_equal(A.an.status, 400);
	(void)gcp(TOKEN "?audience=a&format=odd");
	assert_int_equal(A.an.status, 400);
}

static void an_audience_is_a_text_and_not_a_part_of_the_claims(void **state)
{
	struct attest_identity id;
	struct err e = {0};
	const char *doc = gcp(TOKEN "?format=full&audience=a%22%2C%22aud%22%3A%22burst:c-1");

	(void)state;
	assert_int_equal(judge(ATTEST_GCP, "a\",\"aud\":\"burst:c-1", doc, &e, &id), 0);
	assert_int_equal(judge(ATTEST_GCP, "burst:c-1", doc, &e, &id), ERR_AUTH);
}

static const char *preempted(const char *wait)
{
	char target[128];

	(void)snprintf(target, sizeof(target), GCP "instance/preempted?wait_for_change=true%s",
		       wait);
	return gcp(target);
}

static void a_question_hangs_until_the_answer_is_another(void **state)
{
	char wait[64];

	(void)state;
	assert_string_equal(preempted("&last_etag=0"), "FALSE"); /* who knows nothing is told */
	(void)snprintf(wait, sizeof(wait), "&timeout_sec=60&last_etag=%s", more(&A.an, "ETag"));
	assert_int_equal(strlen(more(&A.an, "ETag")), 16);
	assert_true(imds_next(&W.imds) == INT64_MAX);
	(void)preempted(wait);
	assert_true(A.an.later);
	assert_true(imds_next(&W.imds) == W.now + 60000);
	/* A notice, but of the other one. */
	assert_true(cloud_reclaim(&W.cloud, cloud_of_row(&W.cloud, 1), 1000, W.now));
	assert_int_equal(imds_next(&W.imds), 0);
	imds_tick(&W.imds, W.now);
	assert_int_equal(A.nlater, 0);
	assert_true(imds_next(&W.imds) == W.now + 60000);
	assert_true(cloud_reclaim(&W.cloud, first(), 30000, W.now));
	imds_tick(&W.imds, W.now);
	assert_int_equal(A.nlater, 1);
	assert_int_equal(A.ticket, 77);
	assert_int_equal(A.later.status, 200);
	assert_string_equal(A.later.body, "TRUE");
	assert_string_equal(more(&A.later, "Metadata-Flavor"), "Google");
	assert_string_not_equal(more(&A.later, "ETag"), strrchr(wait, '=') + 1);
	assert_true(imds_next(&W.imds) == INT64_MAX);
	/* With what it knew before it is told at once. */
	assert_string_equal(preempted(wait), "TRUE");
}

static void a_question_hangs_for_its_time_or_as_long_as_the_machine(void **state)
{
	(void)state;
	(void)gcp(GCP "instance/maintenance-event?wait_for_change=true&timeout_sec=5");
	assert_true(A.an.later);
	imds_tick(&W.imds, W.now + 4999);
	assert_int_equal(A.nlater, 0);
	imds_tick(&W.imds, W.now + 5000);
	assert_int_equal(A.nlater, 1);
	assert_string_equal(A.later.body, "NONE");
	(void)gcp(GCP "instance/maintenance-event?wait_for_change=true");
	assert_true(cloud_warn(&W.cloud, first(), NOTICE_MAINTENANCE, 60000, W.now));
	imds_tick(&W.imds, W.now);
	assert_int_equal(A.nlater, 2);
	assert_string_equal(A.later.body, "TERMINATE_ON_HOST_MAINTENANCE");
	(void)preempted("");
	(void)gcp(GCP "instance/attributes/user-data?wait_for_change=true"); /* a long one */
	cloud_kill(&W.cloud, first(), "test", W.now);
	imds_tick(&W.imds, W.now);
	assert_int_equal(A.nlater, 4);
	assert_true(A.later.drop);
	assert_true(imds_next(&W.imds) == INT64_MAX);
	(void)ask_as(google, "10.77.0.11",
		     GCP "instance/attributes/user-data?wait_for_change=true&timeout_sec=9", NULL);
	imds_tick(&W.imds, W.now + 8999);
	assert_int_equal(A.nlater, 4);
	imds_tick(&W.imds, W.now + 9000);
	assert_string_equal(A.later.body, "plain");
}

/* --- keys ------------------------------------------------------------------------------------- */

/* What was signed after another start is verified with what was written before it. */
static void keys_are_kept_and_found_again(void **state)
{
	static const struct {
		const char *target, *nonce;
		enum attest_kind kind;
	} t[] = {[IDENTITY_GCP] = {TOKEN "?format=full&audience=" NONCE, NONCE, ATTEST_GCP},
		 [IDENTITY_AZURE] = {"/metadata/attested/document?" V "&nonce=" NONCE, NONCE,
				     ATTEST_AZURE}};
	enum identity_kind kind = identity_kind(W.identity), other;
	struct attest_identity id;
	struct err e = {0};
	struct identity *none;
	char kept[80];
	struct stat st;

	(void)state;
	assert_int_equal(stat(W.key, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	identity_close(W.identity);
	assert_int_equal(identity_open(&W.identity, kind, W.cert, &e), 0);
	W.imds.identity = W.identity;
	(void)ask_as((struct said){.flavor = "Google", .metadata = "true"}, "10.77.0.10",
		     t[kind].target, NULL);
	assert_int_equal(judge(t[kind].kind, t[kind].nonce, A.an.body, &e, &id), 0);
	/* Of a stranger's, in the same words. */
	(void)snprintf(kept, sizeof(kept), "%s.kept", W.cert);
	(void)rename(W.cert, kept);
	(void)unlink(W.key);
	assert_int_equal(identity_open(&none, kind, W.cert, &e), 0);
	identity_close(none);
	assert_int_equal(judge(t[kind].kind, t[kind].nonce, A.an.body, &e, &id),
			 kind == IDENTITY_GCP ? ERR_LIMIT : ERR_AUTH);
	/* The stranger's key and our file. */
	(void)rename(kept, W.cert);
	assert_int_equal(identity_open(&none, kind, W.cert, &e), -1);
	other = kind == IDENTITY_GCP ? IDENTITY_AZURE : IDENTITY_GCP;
	assert_int_equal(identity_open(&none, other, W.cert, &e), -1);
	assert_null(none);
}

/* What was signed before the kill is verified with what is made for the key after it. */
static void a_key_whose_maker_was_killed_then_is_no_obstacle(void **state)
{
	static const struct {
		const char *target, *nonce;
		enum attest_kind kind;
	} t[] = {[IDENTITY_GCP] = {TOKEN "?format=full&audience=" NONCE, NONCE, ATTEST_GCP},
		 [IDENTITY_AZURE] = {"/metadata/attested/document?" V "&nonce=" NONCE, NONCE,
				     ATTEST_AZURE}};
	enum identity_kind kind = identity_kind(W.identity);
	struct attest_identity id;
	struct err e = {0};
	struct stat st;

	(void)state;
	(void)ask_as((struct said){.flavor = "Google", .metadata = "true"}, "10.77.0.10",
		     t[kind].target, NULL);
	identity_close(W.identity);
	(void)unlink(W.cert);
	assert_int_equal(identity_open(&W.identity, kind, W.cert, &e), 0);
	W.imds.identity = W.identity;
	assert_int_equal(stat(W.cert, &st), 0);
	assert_int_equal(st.st_mode & 0733, 0600);
	assert_int_equal(judge(t[kind].kind, t[kind].nonce, A.an.body, &e, &id), 0);
	/* What is no key is not written over. */
	identity_close(W.identity);
	(void)unlink(W.cert);
	assert_int_equal(truncate(W.key, 100), 0);
	assert_int_equal(identity_open(&W.identity, kind, W.cert, &e), -1);
	assert_int_equal(access(W.cert, F_OK), -1);
	W.imds.identity = NULL;
}

/* The disk is full in the middle of the key. */
static void half_a_key_is_none(void **state)
{
	enum identity_kind kind = identity_kind(W.identity);
	struct rlimit was, few;
	struct identity *none;
	struct err e = {0};
	int rc;

	(void)state;
	(void)unlink(W.cert);
	(void)unlink(W.key);
	(void)signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	few = (struct rlimit){.rlim_cur = 100, .rlim_max = was.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &few), 0);
	rc = identity_open(&none, kind, W.cert, &e);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
	assert_int_equal(rc, -1);
	assert_int_equal(rmdir(W.dir), 0); /* nothing is left in it */
	assert_int_equal(mkdir(W.dir, 0700), 0);
	assert_int_equal(identity_open(&none, kind, W.cert, &e), 0);
	identity_close(none);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(Google_tells_who_says_its_header_and_nobody_else, gcp),
		T(what_Google_tells, gcp),
		T(a_token_of_Googles_says_which_machine_for_whom_and_how_long, gcp),
		T(an_audience_is_a_text_and_not_a_part_of_the_claims, gcp),
		T(a_question_hangs_until_the_answer_is_another, gcp),
		T(a_question_hangs_for_its_time_or_as_long_as_the_machine, gcp),
		T(keys_are_kept_and_found_again, gcp),
		T(keys_are_kept_and_found_again, azure),
		T(a_key_whose_maker_was_killed_then_is_no_obstacle, gcp),
		T(a_key_whose_maker_was_killed_then_is_no_obstacle, azure),
		T(half_a_key_is_none, gcp),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
