/* test_simcloud_azure.c - the metadata service as Azure's. */
#include "metadata_lab.h"

static const struct said azure = {.metadata = "true"};

/* --- asking ----------------------------------------------------------------------------------- */

static const char *az(const char *target)
{
	return ask_as(azure, "10.77.0.10", target, NULL);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(Azure_wants_its_header_and_a_version, azure),
		T(what_Azure_tells, azure),
		T(a_document_of_Azures_says_which_machine_and_whose_nonce, azure),
		T(the_chain_is_in_the_file_and_not_in_the_document, azure),
		T(what_is_planned_is_told_in_Azures_words, azure_then),
		T(what_is_planned_begins_when_it_is_let, azure_then),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
