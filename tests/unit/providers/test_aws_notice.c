/* test_aws_notice.c - what EventBridge tells of instances, through a queue: asked for, read,
 * acknowledged. */
#include "tests/unit/providers/aws_lab.h"

#include <jansson.h>

#define QUEUE "https://sqs.eu-west-1.amazonaws.com/123456789012/burstd"

static int setup_queue(void **state)
{
	struct provider_conf conf = usual();

	own.notice_queue = QUEUE;
	(void)state;
	return provider_aws.open(&self, &conf, NULL);
}

static struct provider_op ask(const char *ack)
{
	struct provider_op op = {.kind = PROVIDER_NOTICES, .at_ms = now_ms};

	op.u.notices.cluster = UUID;
	op.cursor = "";
	op.u.notices.ack = ack;
	op.u.notices.wait_ms = 20000;
	return op;
}

/* --- requests ---------------------------------------------------------------------------------
 */

static void test_without_a_queue_nothing_is_told(void **state)
{
	struct provider_op op = ask(NULL);
	struct provider_request rq = {0};
	struct err e;

	(void)state;
	assert_false(provider_aws.caps(self).flags & PROVIDER_TELLS);
	assert_int_equal(provider_aws.build(self, &op, &rq, &e), -1);
	teardown(state);
	assert_int_equal(setup_queue(state), 0);
	assert_true(provider_aws.caps(self).flags & PROVIDER_TELLS);
}

static void test_a_queue_that_is_no_url_is_refused(void **state)
{
	static const char *const bad[] = {
		"burstd",
		"https://sqs.eu-west-1.amazonaws.com/",
		"https://sqs/burstd",
		"ftp://h/1/q",
		"https:///1/q",
		"https://h/1/q\"",
		"https://u@h/1/q",
		"http://sqs.example/1/q",
		"http://127.example.com/1/q",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct provider_conf conf = usual();
		struct err e = {0};
		void *s = &e;

		own.notice_queue = bad[i];
		assert_int_equal(provider_aws.open(&s, &conf, &e), -1);
		assert_null(s);
		if (strncmp(e.msg, "notice_queue: ", 14) != 0)
			fail_msg("%s: %s", bad[i], e.msg);
	}
}

static void test_a_request_for_messages_is_held_and_signed_for_sqs(void **state)
{
	struct provider_op op = ask(NULL);
	struct provider_request rq;

	(void)state;
	build(&rq, &op);
	assert_string_equal(rq.method, "POST");
	assert_string_equal(rq.url, "https://sqs.eu-west-1.amazonaws.com/");
	assert_string_equal(rq.body, "{\"QueueUrl\":\"" QUEUE "\",\"MaxNumberOfMessages\":10,"
				     "\"VisibilityTimeout\":30,\"WaitTimeSeconds\":20}");
	assert_string_equal(header(&rq, "Content-Type"), "application/x-amz-json-1.0");
	assert_string_equal(header(&rq, "X-Amz-Target"), "AmazonSQS.ReceiveMessage");
	assert_non_null(strstr(header(&rq, "Authorization"), "/eu-west-1/sqs/aws4_request"));
	assert_non_null(strstr(header(&rq, "Authorization"),
			       "SignedHeaders=content-type;host;x-amz-date;x-amz-target"));
	provider_request_fini(&rq);
	op.u.notices.wait_ms = 60000; /* SQS holds no longer than 20 s */
	build(&rq, &op);
	assert_non_null(strstr(rq.body, "\"WaitTimeSeconds\":20}"));
	provider_request_fini(&rq);
}

static void test_an_acknowledgement_deletes_by_receipt(void **state)
{
	static const char *const bad[] = {"", "\n", "a\n\nb", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11"};
	struct provider_op op = ask("AQEB/1+a==\nAQEB2");
	struct provider_request rq;

	(void)state;
	build(&rq, &op);
	assert_string_equal(header(&rq, "X-Amz-Target"), "AmazonSQS.DeleteMessageBatch");
	assert_string_equal(rq.body, "{\"QueueUrl\":\"" QUEUE "\",\"Entries\":["
				     "{\"Id\":\"0\",\"ReceiptHandle\":\"AQEB/1+a==\"},"
				     "{\"Id\":\"1\",\"ReceiptHandle\":\"AQEB2\"}]}");
	provider_request_fini(&rq);
	for (size_t i = 0; i < COUNT(bad); i++) {
		op = ask(bad[i]);
		rq = (struct provider_request){0};
		assert_int_equal(provider_aws.build(self, &op, &rq, NULL), -1);
	}
}

/* --- replies ----------------------------------------------------------------------------------
 */

/* A reply with these bodies as messages; receipts are r0, r1, ... */
static void receive(struct provider_result *r, const char *const *bodies, size_t n)
{
	json_t *doc = json_object(), *list = json_array();
	struct provider_op op = ask(NULL);
	char receipt[32], *text;

	for (size_t i = 0; i < n; i++) {
		(void)snprintf(receipt, sizeof(receipt), "r%zu", i);
		(void)json_array_append_new(list,
					    json_pack("{s:s, s:s, s:s}", "MessageId", "m",
						      "ReceiptHandle", receipt, "Body", bodies[i]));
	}
	(void)json_object_set_new(doc, "Messages", list);
	text = json_dumps(doc, 0);
	parse(r, &op, 200, text);
	free(text);
	json_decref(doc);
}

static void receive_one(struct provider_result *r, const char *body)
{
	receive(r, &body, 1);
}

static void receive_file(struct provider_result *r, const char *name)
{
	char *text = fixture(name);

	receive_one(r, text);
	free(text);
	assert_int_equal(r->code, PROVIDER_OK);
	assert_int_equal(r->nunread, 0);
	assert_string_equal(r->ack, "r0");
}

static void test_the_events_of_aws_are_understood(void **state)
{
	static const struct {
		const char *file;
		size_t n;
		const char *id;
		enum provider_notice_kind kind;
		int64_t at_ms;
	} rows[] = {
		{"event-interruption.json", 1, "i-1234567890abcdef0", PROVIDER_NOTICE_RECLAIM,
		 NOW_S * INT64_C(1000) + 120000},
		{"event-rebalance.json", 1, "i-1234567890abcdef0", PROVIDER_NOTICE_REBALANCE, 0},
		{"event-retirement.json", 2, "i-abcd1111", PROVIDER_NOTICE_MAINTENANCE,
		 INT64_C(1796224209000)},
		{"event-degraded.json", 1, "i-abcd1111", PROVIDER_NOTICE_MAINTENANCE, 0},
	};
	struct provider_result r;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		print_message("# %s\n", rows[i].file);
		receive_file(&r, rows[i].file);
		assert_int_equal(r.nnotices, rows[i].n);
		assert_int_equal(r.nended, 0);
		assert_string_equal(r.notices[0].id, rows[i].id);
		assert_int_equal(r.notices[0].kind, rows[i].kind);
		assert_int_equal(r.notices[0].at_ms, rows[i].at_ms);
		if (r.nnotices == 2)
			assert_string_equal(r.notices[1].id, "i-abcd2222");
		provider_result_fini(&r);
	}
	receive_file(&r, "event-state.json");
	assert_int_equal(r.nnotices, 0);
	assert_int_equal(r.nended, 1);
	assert_string_equal(r.ended[0].id, "i-abcd1111");
	provider_result_fini(&r);
}

#define EC2(type, detail)                                                                          \
	"{\"source\":\"aws.ec2\",\"detail-type\":\"" type                                          \
	"\",\"time\":\"2026-11-18T11:06:40Z\",\"detail\":" detail "}"
#define HEALTH(detail)                                                                             \
	"{\"source\":\"aws.health\",\"detail-type\":\"AWS Health Event\",\"resources\":[\"i-1\"]," \
	"\"detail\":{" detail "}}"

static void test_what_is_not_for_us_and_what_is_odd_goes_as_well(void **state)
{
	static const struct {
		const char *body;
		size_t notices, odd;
	} rows[] = {
		/* nothing to do */
		{EC2("EC2 Instance State-change Notification",
		     "{\"instance-id\":\"i-1\",\"state\":\"running\"}"),
		 0, 0},
		{HEALTH("\"service\":\"LAMBDA\",\"eventTypeCategory\":\"issue\""), 0, 0},
		{HEALTH("\"service\":\"EC2\",\"eventTypeCategory\":\"issue\","
			"\"eventTypeCode\":\"AWS_EC2_OPERATIONAL_ISSUE\""),
		 0, 0}, /* names whoever may be touched */
		{HEALTH("\"service\":\"EC2\",\"eventTypeCategory\":\"scheduledChange\","
			"\"statusCode\":\"closed\""),
		 0, 0}, /* it is over */
		/* resources are all there is, and a time that is none */
		{HEALTH("\"service\":\"EC2\",\"eventTypeCategory\":\"scheduledChange\","
			"\"startTime\":\"soon\""),
		 1, 0},
		/* odd */
		{"", 0, 1},
		{"hello", 0, 1},
		{"[]", 0, 1},
		{"{\"Records\":[]}", 0, 1},
		{EC2("EC2 Spot Instance Interruption Warning", "{}"), 0, 1},
		{EC2("EC2 Spot Instance Interruption Warning", "{\"instance-id\":\"i 1\"}"), 0, 1},
		{EC2("EC2 Spot Instance Interruption Warning",
		     "{\"instance-id\":\"arn:aws:ec2:eu-west-1:1:fleet\"}"),
		 0, 1},
		{EC2("EC2 Spot Instance Interruption Warning", "[7]"), 0, 1},
		{EC2("EC2 Instance Something New", "{\"instance-id\":\"i-1\"}"), 0, 1},
		{EC2("EC2 Instance State-change Notification", "{}"), 0, 1},
		{HEALTH("\"x\":1"), 0, 1},
		/* anybody could have put that there */
		{"{\"source\":\"mine\",\"detail-type\":\"EC2 Spot Instance Interruption Warning\","
		 "\"detail\":{\"instance-id\":\"i-1\"}}",
		 0, 1},
	};
	struct provider_result r;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		print_message("# %s\n", rows[i].body);
		receive_one(&r, rows[i].body);
		assert_int_equal(r.code, PROVIDER_OK);
		assert_int_equal(r.nnotices, rows[i].notices);
		assert_int_equal(r.nunread, rows[i].odd);
		assert_int_equal(r.nended, 0);
		assert_string_equal(r.ack, "r0");
		provider_result_fini(&r);
	}
}

static void test_ten_messages_are_one_acknowledgement(void **state)
{
	const char *bodies[10];
	struct provider_result r;

	(void)state;
	for (size_t i = 0; i < 10; i++)
		bodies[i] = i % 2 == 0 ? EC2("EC2 Instance Rebalance Recommendation",
					     "{\"instance-id\":\"i-1\"}")
				       : EC2("EC2 Instance State-change Notification",
					     "{\"instance-id\":\"i-2\",\"state\":\"terminated\"}");
	receive(&r, bodies, 10);
	assert_int_equal(r.nnotices, 5);
	assert_int_equal(r.nended, 5);
	assert_string_equal(r.ack, "r0\nr1\nr2\nr3\nr4\nr5\nr6\nr7\nr8\nr9");
	provider_result_fini(&r);
}

static void test_hibernation_is_at_once(void **state)
{
	struct provider_result r;

	(void)state;
	receive_one(&r, EC2("EC2 Spot Instance Interruption Warning",
			    "{\"instance-id\":\"i-1\",\"instance-action\":\"hibernate\"}"));
	assert_int_equal(r.notices[0].at_ms, now_ms);
	provider_result_fini(&r);
}

/* Whoever stops on the way bills on, and works no more. */
static void test_all_that_goes_is_a_hint(void **state)
{
	static const char *const going[] = {
#define STATE(s)                                                                                   \
	EC2("EC2 Instance State-change Notification",                                              \
	    "{\"instance-id\":\"i-1\",\"state\":\"" s "\"}")
		STATE("stopping"), STATE("stopped"), STATE("shutting-down"), STATE("terminated")
#undef STATE
	};

	(void)state;
	for (size_t i = 0; i < COUNT(going); i++) {
		struct provider_result r;

		receive_one(&r, going[i]);
		assert_int_equal(r.nended, 1);
		assert_string_equal(r.ended[0].id, "i-1");
		provider_result_fini(&r);
	}
}

static void test_a_month_that_is_none_is_no_time(void **state)
{
	struct provider_result r;

	(void)state;
	receive_one(&r, HEALTH("\"service\":\"EC2\",\"eventTypeCategory\":\"scheduledChange\","
			       "\"startTime\":\"Sat, 05 anF 2027 15:10:09 GMT\""));
	assert_int_equal(r.nnotices, 1);
	assert_int_equal(r.notices[0].at_ms, 0);
	provider_result_fini(&r);
}

/* A queue is asked with the same right as all else. */
static void test_a_session_goes_with_each_request(void **state)
{
	struct provider_conf conf = usual();
	struct provider_op op = ask(NULL);
	struct provider_request rq;

	(void)state;
	own.notice_queue = QUEUE;
	conf.credential = CRED "aws_session_token = tok\n";
	reopen(&conf);
	build(&rq, &op);
	assert_string_equal(header(&rq, "X-Amz-Security-Token"), "tok");
	provider_request_fini(&rq);
}

static void test_replies_of_sqs(void **state)
{
	static const struct {
		const char *ack; /* NULL: of a request for messages */
		long status;
		const char *body;
		enum provider_code code;
		const char *message;
	} rows[] = {
		{NULL, 200, "{}", PROVIDER_OK, ""},
		{NULL, 200, "{\"Messages\":[]}", PROVIDER_OK, ""},
		{NULL, 200, "{\"Messages\":null}", PROVIDER_OK, ""},
		{NULL, 200, "", PROVIDER_TRANSIENT, "malformed reply"},
		{NULL, 200, "<x/>", PROVIDER_TRANSIENT, "malformed reply"},
		{NULL, 200, "{\"Messages\":[7]}", PROVIDER_TRANSIENT, "malformed reply"},
		{NULL, 200, "{\"Messages\":[{\"ReceiptHandle\":\"a\\\"b\",\"Body\":\"\"}]}",
		 PROVIDER_TRANSIENT, "malformed reply"},
		{NULL, 400,
		 "{\"__type\":\"com.amazonaws.sqs#QueueDoesNotExist\",\"message\":\"The specified "
		 "queue does not exist.\"}",
		 PROVIDER_INVALID, "QueueDoesNotExist: The specified queue does not exist."},
		{NULL, 403,
		 "{\"__type\":\"com.amazon.coral.service#AccessDeniedException\",\"Message\":"
		 "\"User: b is not authorized to perform: sqs:receivemessage\"}",
		 PROVIDER_DENIED,
		 "AccessDeniedException: User: b is not authorized to perform: sqs:receivemessage"},
		{NULL, 400, "{\"__type\":\"com.amazonaws.sqs#OverLimit\"}", PROVIDER_RATE,
		 "OverLimit: "},
		{NULL, 403, "{\"__type\":\"x#RequestThrottled\"}", PROVIDER_RATE,
		 "RequestThrottled: "},
		{NULL, 400, "{\"__type\":\"x#KmsAccessDenied\"}", PROVIDER_DENIED,
		 "KmsAccessDenied: "},
		{NULL, 500, "{\"__type\":\"x#InternalFailure\"}", PROVIDER_TRANSIENT,
		 "InternalFailure: "},
		{NULL, 503, "", PROVIDER_TRANSIENT, "HTTP status 503 without an error message"},
		{"r", 200, "{\"Successful\":[{\"Id\":\"0\"}],\"Failed\":[]}", PROVIDER_OK, ""},
		{"r", 200, "{\"Successful\":[{\"Id\":\"0\"}]}", PROVIDER_OK, ""},
		{"r", 200, "{}", PROVIDER_TRANSIENT, "malformed reply"},
		{"r", 200,
		 "{\"Successful\":[],\"Failed\":[{\"Id\":\"0\",\"Code\":\"ReceiptHandleIsInvalid\","
		 "\"Message\":\"so it is\",\"SenderFault\":true}]}",
		 PROVIDER_TRANSIENT, "ReceiptHandleIsInvalid: so it is"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct provider_op op = ask(rows[i].ack);
		struct provider_result r;

		print_message("# %s\n", rows[i].body);
		parse(&r, &op, rows[i].status, rows[i].body);
		assert_int_equal(r.code, rows[i].code);
		assert_string_equal(r.message, rows[i].message);
		assert_int_equal(r.nnotices, 0);
		assert_null(r.ack);
		provider_result_fini(&r);
	}
}

/* Any cut of a good reply, and any one byte changed. */
static void test_damaged_replies_are_survived(void **state)
{
	static const char good[] =
		"{\"Messages\":[{\"ReceiptHandle\":\"r\",\"Body\":\"{\\\"source\\\":\\\"aws."
		"ec2\\\","
		"\\\"detail-type\\\":\\\"EC2 Instance Rebalance Recommendation\\\",\\\"detail\\\":{"
		"\\\"instance-id\\\":\\\"i-1\\\"}}\"}]}";
	static const char bytes[] = "\"{}[],:0x\\\x01\xff";
	const size_t len = sizeof(good) - 1;
	struct provider_op op = ask(NULL);

	(void)state;
	for (size_t i = 0; i < len * sizeof(bytes); i++) {
		bool cut = i / len == sizeof(bytes) - 1;
		char *copy = mem_strdup(good);
		struct provider_reply reply = {
			.status = 200, .body = copy, .len = cut ? i % len : len};
		struct provider_result r = {0};

		if (!cut)
			copy[i % len] = bytes[i / len];
		provider_aws.parse(self, &op, &reply, &r);
		assert_true(!cut || r.code == PROVIDER_TRANSIENT);
		assert_true(r.code == PROVIDER_OK || (r.ack == NULL && r.nnotices == 0));
		provider_result_fini(&r);
		free(copy);
	}
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup_queue, teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_without_a_queue_nothing_is_told, setup,
						teardown),
		T(test_a_queue_that_is_no_url_is_refused),
		T(test_a_request_for_messages_is_held_and_signed_for_sqs),
		T(test_an_acknowledgement_deletes_by_receipt),
		T(test_the_events_of_aws_are_understood),
		T(test_what_is_not_for_us_and_what_is_odd_goes_as_well),
		T(test_ten_messages_are_one_acknowledgement),
		T(test_hibernation_is_at_once),
		T(test_all_that_goes_is_a_hint),
		T(test_a_month_that_is_none_is_no_time),
		T(test_a_session_goes_with_each_request),
		T(test_replies_of_sqs),
		T(test_damaged_replies_are_survived),
	};

	return cmocka_run_group_tests_name("aws notices", tests, NULL, NULL);
}
