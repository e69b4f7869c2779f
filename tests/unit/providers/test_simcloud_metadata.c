/* test_simcloud_metadata.c - the metadata service as Google's and Azure's: what they sign is judged
 * by who verifies it for burstd. */
#include "imds_lab.h"

#include <jansson.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/mem.h"
#include "providers/attest/registry.h"

#define NOW   INT64_C(1795000000000) /* 2026-11-18T11:06:40Z, a Wednesday */
#define GCP   "/computeMetadata/v1/"
#define TOKEN GCP "instance/service-accounts/default/identity"
#define V     "api-version=2021-02-01"
#define NONCE "0123456789abcdef0123456789abcdef"

static struct { /* what was asked last, and the answer that came later */
	struct http_answer an;
	unsigned nlater;
	uint64_t ticket;
	struct http_answer later;
} A;

static void on_later(void *ctx, uint64_t ticket, const struct http_answer *an)
{
	assert_ptr_equal(ctx, &A);
	free(A.later.body);
	A.nlater++;
	A.ticket = ticket;
	A.later = *an;
}

static int setup_as(enum identity_kind kind, int64_t now)
{
	memset(&A, 0, sizeof(A));
	imds_lab_open(kind, now);
	W.imds.later = on_later;
	W.imds.ctx = &A;
	return 0;
}

/* Certificates have the time of the clock. */
static int setup_gcp(void **state)
{
	(void)state;
	return setup_as(IDENTITY_GCP, clock_wall_ms());
}

static int setup_azure(void **state)
{
	(void)state;
	return setup_as(IDENTITY_AZURE, clock_wall_ms());
}

static int setup_azure_then(void **state)
{
	(void)state;
	return setup_as(IDENTITY_AZURE, NOW);
}

static int teardown(void **state)
{
	(void)state;
	free(A.an.body);
	free(A.later.body);
	imds_lab_close();
	return 0;
}

/* --- asking ----------------------------------------------------------------------------------- */

struct said { /* headers */
	const char *flavor, *metadata, *forwarded;
};

static const struct said google = {.flavor = "Google"}, azure = {.metadata = "true"};

static const char *header_of(void *from, const char *name)
{
	const struct said *s = from;

	if (strcasecmp(name, "Metadata-Flavor") == 0)
		return s->flavor;
	if (strcasecmp(name, "Metadata") == 0)
		return s->metadata;
	return strcasecmp(name, "X-Forwarded-For") == 0 ? s->forwarded : NULL;
}

/* target: path, and what is behind '?'; body NULL: GET.  The answer's text, until the next one. */
static const char *ask_as(struct said said, const char *from, const char *target, const char *body)
{
	static char text[16384];
	char path[256] = "";
	size_t n = strcspn(target, "?");
	struct http_request rq = {.method = body != NULL ? "POST" : "GET",
				  .path = path,
				  .query = target[n] == '?' ? target + n + 1 : "",
				  .body = body != NULL ? body : "",
				  .len = body != NULL ? strlen(body) : 0,
				  .from = from,
				  .ticket = 77,
				  .header = header_of,
				  .headers_from = &said};

	assert_true(n < sizeof(path));
	memcpy(path, target, n);
	free(A.an.body);
	A.an = (struct http_answer){.status = 500};
	imds_handle(&W.imds, &rq, &A.an, W.now);
	(void)snprintf(text, sizeof(text), "%.*s", (int)A.an.len,
		       A.an.body != NULL ? A.an.body : "");
	return text;
}

/* Row 0, which is spot, and row 1. */
static const char *gcp(const char *target)
{
	return ask_as(google, "10.77.0.10", target, NULL);
}

static const char *az(const char *target)
{
	return ask_as(azure, "10.77.0.10", target, NULL);
}

static struct cloud_instance *first(void)
{
	return cloud_of_row(&W.cloud, 0);
}

static const char *more(const struct http_answer *an, const char *name)
{
	for (int i = 0; i < HTTP_MORE_MAX && an->more[i].name != NULL; i++)
		if (strcmp(an->more[i].name, name) == 0)
			return an->more[i].value;
	return "";
}

/* --- judging ---------------------------------------------------------------------------------- */

static void *verifier;

static void open_verifier(enum attest_kind kind, const char *path)
{
	struct attest_conf conf = {0};
	struct err e = {0};
	char text[8192];
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	conf.trust = text;
	conf.trust_len = fread(text, 1, sizeof(text), f);
	(void)fclose(f);
	if (attest_find(kind)->open(&verifier, &conf, &e) != 0)
		fail_msg("%s", e.msg);
}

/* 0, or the error's code; of whom the document is, in *id. */
static int judge(enum attest_kind kind, const char *nonce, const char *doc, struct err *e,
		 struct attest_identity *id)
{
	const struct attest_expect want = {.nonce = nonce};
	int rc;

	open_verifier(kind, W.cert);
	rc = attest_find(kind)->verify(verifier, &want, doc, strlen(doc), W.now, id, e);
	attest_find(kind)->close(verifier);
	return rc == 0 ? 0 : (int)e->code;
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

/* --- Azure ------------------------------------------------------------------------------------ */

static void Azure_wants_its_header_and_a_version(void **state)
{
	static const char path[] = "/metadata/instance/compute/vmId?format=text&" V;
	static const struct {
		struct said said;
		const char *target;
		unsigned status;
	} t[] = {{{.metadata = "true"}, path, 200},
		 {{.metadata = "True"}, path, 200},
		 {{0}, path, 400},
		 {{.metadata = "yes"}, path, 400},
		 {{.metadata = "true", .forwarded = "10.0.0.1"}, path, 400},
		 {{.metadata = "true"}, "/metadata/instance/compute/vmId?format=text", 400},
		 {{.metadata = "true"},
		  "/metadata/instance/compute/vmId?format=text&api-version=2016-01-01",
		  400},
		 {{.metadata = "true"},
		  "/metadata/instance/compute/vmId?format=text&api-version=2021-02-01x",
		  400},
		 {{.metadata = "true"}, "/metadata/instance/compute/vmId?" V, 400},
		 {{.metadata = "true"}, "/metadata/instance/compute/none?format=text&" V, 404},
		 {{.metadata = "true"}, GCP "instance/id?" V, 404}};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		const char *text = ask_as(t[i].said, "10.77.0.10", t[i].target, NULL);

		assert_int_equal(A.an.status, t[i].status);
		if (t[i].status == 200)
			assert_string_equal(text, "sim-00000000");
		else
			assert_non_null(strstr(text, "{\"error\":\""));
	}
	(void)ask_as(azure, "10.77.0.99", path, NULL);
	assert_int_equal(A.an.status, 404);
	(void)ask_as(azure, "10.77.0.10", path, "");
	assert_int_equal(A.an.status, 405);
}

static void what_Azure_tells(void **state)
{
	static const char *const t[][2] = {
		{"compute/name", "c1"},
		{"compute/vmSize", "gpu_8x_h100"},
		{"compute/location", "eu-north-1"},
		{"compute/priority", "Spot"},
		{"compute/subscriptionId", "00000000-0000-0000-0000-000000000000"},
		{"compute/userData", "IyEvYmluL3NoCjogY2xhaW0K"},
		{"network/interface/0/ipv4/ipAddress/0/privateIpAddress", "10.77.0.10"},
	};
	char target[160];
	json_t *o;

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		(void)snprintf(target, sizeof(target), "/metadata/instance/%s?" V "&format=text",
			       t[i][0]);
		assert_string_equal(az(target), t[i][1]);
		assert_int_equal(A.an.status, 200);
	}
	o = json_loads(az("/metadata/instance/compute?" V), JSON_REJECT_DUPLICATES, NULL);
	assert_string_equal(json_string_value(json_object_get(o, "vmId")), "sim-00000000");
	assert_string_equal(json_string_value(json_object_get(o, "name")), "c1");
	json_decref(o);
}

static void a_document_of_Azures_says_which_machine_and_whose_nonce(void **state)
{
	struct attest_identity id;
	struct err e = {0};
	const char *doc = az("/metadata/attested/document?" V "&nonce=" NONCE);

	(void)state;
	assert_int_equal(A.an.status, 200);
	if (judge(ATTEST_AZURE, NONCE, doc, &e, &id) != 0)
		fail_msg("%s", e.msg);
	assert_string_equal(id.instance, "sim-00000000");
	assert_string_equal(id.account, "00000000-0000-0000-0000-000000000000");
	assert_string_equal(id.type, "gpu_8x_h100");
	assert_true(id.issued_ms == W.now / 1000 * 1000);
	assert_true(id.expires_ms == (W.now + 6 * 3600000) / 1000 * 1000);
	assert_int_equal(judge(ATTEST_AZURE, "f" NONCE, doc, &e, &id), ERR_AUTH);
	/* Who brings none has no use of it here. */
	doc = az("/metadata/attested/document?" V);
	assert_int_equal(judge(ATTEST_AZURE, NONCE, doc, &e, &id), ERR_AUTH);
	(void)az("/metadata/attested/document?" V "&nonce=" NONCE NONCE NONCE);
	assert_int_equal(A.an.status, 400);
}

/* As with Azure itself: the intermediate is not sent, and who does not have it cannot judge.  Nor
 * does it say where to get it. */
static void the_chain_is_in_the_file_and_not_in_the_document(void **state)
{
	const struct attest_ops *ops = attest_find(ATTEST_AZURE);
	const struct attest_expect want = {.nonce = NONCE};
	char path[80], text[8192] = "";
	struct attest_identity id;
	struct attest_lack lack;
	struct err e = {0};
	const char *doc, *root;
	FILE *f = fopen(W.cert, "r");

	(void)state;
	assert_true(fread(text, 1, sizeof(text) - 1, f) > 0);
	(void)fclose(f);
	root = strstr(text + 1, "-----BEGIN CERTIFICATE-----");
	assert_non_null(root);
	(void)snprintf(path, sizeof(path), "%s/root", W.dir);
	f = fopen(path, "w");
	(void)fputs(root, f);
	(void)fclose(f);
	open_verifier(ATTEST_AZURE, path);
	(void)unlink(path);
	doc = az("/metadata/attested/document?" V "&nonce=" NONCE);
	assert_int_equal(ops->verify(verifier, &want, doc, strlen(doc), W.now, &id, &e), -1);
	assert_int_equal(e.code, ERR_LIMIT);
	assert_int_equal(ops->lacks(verifier, doc, strlen(doc), &lack), 0);
	ops->close(verifier);
}

static void what_is_planned_is_told_in_Azures_words(void **state)
{
	static const char target[] = "/metadata/scheduledevents?api-version=2020-07-01";

	(void)state;
	assert_string_equal(az(target), "{\"DocumentIncarnation\":1,\"Events\":[]}");
	assert_true(cloud_reclaim(&W.cloud, first(), 30000, W.now));
	assert_string_equal(
		az(target),
		"{\"DocumentIncarnation\":2,\"Events\":[{\"EventId\":"
		"\"00000001-0000-4000-8000-000000000000\",\"EventType\":\"Preempt\","
		"\"ResourceType\":\"VirtualMachine\",\"Resources\":[\"c1\"],\"EventStatus\":"
		"\"Scheduled\",\"NotBefore\":\"Wed, 18 Nov 2026 11:07:10 GMT\",\"Description\":"
		"\"\",\"EventSource\":\"Platform\",\"DurationInSeconds\":-1}]}");
	assert_true(cloud_warn(&W.cloud, first(), NOTICE_MAINTENANCE, 86400000, W.now));
	assert_non_null(strstr(az(target), "\"EventType\":\"Redeploy\""));
	assert_non_null(strstr(az(target), "\"NotBefore\":\"Thu, 19 Nov 2026 11:06:40 GMT\""));
	(void)ask_as(azure, "10.77.0.11", target, NULL);
	assert_null(strstr(A.an.body, "EventId"));
}

static unsigned start_event(const char *from, const char *body)
{
	(void)ask_as(azure, from, "/metadata/scheduledevents?api-version=2020-07-01", body);
	return A.an.status;
}

static void what_is_planned_begins_when_it_is_let(void **state)
{
	static const char preempt[] =
		"{\"StartRequests\":[{\"EventId\":\"00000001-0000-4000-8000-000000000000\"}]}";
	static const char *const odd[] = {
		"", "[]", "{\"StartRequests\":[]}", "{\"StartRequests\":[{\"EventId\":7}]}",
		/* One of both is not there: neither begins. */
		"{\"StartRequests\":[{\"EventId\":\"00000001-0000-4000-8000-000000000000\"},"
		"{\"EventId\":\"00000003-0000-4000-8000-000000000000\"}]}",
		"{\"StartRequests\":[{\"EventId\":\"00000003-0000-4000-8000-000000000000\"},"
		"{\"EventId\":\"00000001-0000-4000-8000-000000000000\"}]}"};

	(void)state;
	assert_int_equal(start_event("10.77.0.10", preempt), 400); /* nothing is planned */
	assert_true(cloud_reclaim(&W.cloud, first(), 600000, W.now));
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
		assert_int_equal(start_event("10.77.0.10", odd[i]), 400);
	assert_true(cloud_reclaim(&W.cloud, cloud_of_row(&W.cloud, 1), 600000, W.now));
	assert_int_equal(start_event("10.77.0.11", preempt), 400); /* it is another's */
	assert_false(cloud_hasten(&W.cloud, first(), NOTICE_MAINTENANCE, W.now));
	cloud_tick(&W.cloud, W.now);
	assert_int_equal(first()->state, CLOUD_RECLAIMING);
	assert_int_equal(start_event("10.77.0.10", preempt), 200);
	cloud_tick(&W.cloud, W.now);
	assert_int_equal(first()->state, CLOUD_ENDED);
	assert_string_equal(first()->why, "reclaimed");
	assert_false(cloud_hasten(&W.cloud, first(), NOTICE_RECLAIM, W.now));
	assert_int_equal(cloud_of_row(&W.cloud, 1)->state, CLOUD_RECLAIMING);
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

#define T(f, begin) cmocka_unit_test_setup_teardown(f, setup_##begin, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(Google_tells_who_says_its_header_and_nobody_else, gcp),
		T(what_Google_tells, gcp),
		T(a_token_of_Googles_says_which_machine_for_whom_and_how_long, gcp),
		T(an_audience_is_a_text_and_not_a_part_of_the_claims, gcp),
		T(a_question_hangs_until_the_answer_is_another, gcp),
		T(a_question_hangs_for_its_time_or_as_long_as_the_machine, gcp),
		T(Azure_wants_its_header_and_a_version, azure),
		T(what_Azure_tells, azure),
		T(a_document_of_Azures_says_which_machine_and_whose_nonce, azure),
		T(the_chain_is_in_the_file_and_not_in_the_document, azure),
		T(what_is_planned_is_told_in_Azures_words, azure_then),
		T(what_is_planned_begins_when_it_is_let, azure_then),
		T(keys_are_kept_and_found_again, gcp),
		T(keys_are_kept_and_found_again, azure),
		T(a_key_whose_maker_was_killed_then_is_no_obstacle, gcp),
		T(a_key_whose_maker_was_killed_then_is_no_obstacle, azure),
		T(half_a_key_is_none, gcp),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
