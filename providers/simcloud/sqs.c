#include "providers/simcloud/sqs.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "providers/simcloud/ec2.h"
#include "providers/simcloud/js.h"

enum {
	BATCH_MAX = 10,
	WORD_SIZE = 81,
	BODY_MAX = 1 << 20,
	HIDDEN_S = 30,
	HIDDEN_MAX_S = 43200,
	WAIT_MAX_S = 20,
	WARNED_MS = 120000
};

struct sqs_call {                            /* face_call.own */
	bool remove;                         /* DeleteMessageBatch; else ReceiveMessage */
	int64_t max, hidden_ms;              /* receive */
	char ids[BATCH_MAX][WORD_SIZE];      /* remove: the caller's names of entries */
	char receipts[BATCH_MAX][WORD_SIZE]; /* remove: what to delete */
	size_t n;
};

static const char prefix[] = "AmazonSQS.";

static bool is(const struct face_visit *v)
{
	const char *target = http_header(v->rq, "X-Amz-Target");

	return ec2_is(v) && target != NULL && strncmp(target, prefix, sizeof(prefix) - 1) == 0;
}

static enum code authorize(struct face_visit *v, struct err *e)
{
	return ec2_authorize(v, "sqs", e);
}

/* --- reading ---------------------------------------------------------------------------------- */

static int read_seconds(const json_t *o, const char *key, int64_t max, int64_t *ms, struct err *e)
{
	int64_t s = *ms / 1000;

	if (js_get_int(o, key, &s, e) != 0 || s > max)
		return err_set(e, ERR_INVALID, "InvalidParameterValue: %s", key);
	*ms = s * 1000;
	return 0;
}

static int read_receive(struct face_call *f, const json_t *o, struct err *e)
{
	static const char *const known[] = {"QueueUrl", "MaxNumberOfMessages", "VisibilityTimeout",
					    "WaitTimeSeconds", NULL};
	struct sqs_call *q = f->own;

	q->max = 1;
	q->hidden_ms = INT64_C(1000) * HIDDEN_S;
	if (js_only(o, known, e) != 0 || js_get_int(o, "MaxNumberOfMessages", &q->max, e) != 0 ||
	    read_seconds(o, "VisibilityTimeout", HIDDEN_MAX_S, &q->hidden_ms, e) != 0 ||
	    read_seconds(o, "WaitTimeSeconds", WAIT_MAX_S, &f->wait_ms, e) != 0)
		return -1;
	return q->max >= 1 && q->max <= BATCH_MAX
		       ? 0
		       : err_set(e, ERR_INVALID, "InvalidParameterValue: MaxNumberOfMessages");
}

static int read_remove(struct face_call *f, const json_t *o, struct err *e)
{
	static const char *const known[] = {"QueueUrl", "Entries", NULL};
	const json_t *list = json_object_get(o, "Entries"), *v;
	struct sqs_call *q = f->own;
	size_t i;

	q->remove = true;
	q->n = json_array_size(list);
	if (js_only(o, known, e) != 0)
		return -1;
	if (q->n == 0 || q->n > BATCH_MAX)
		return err_set(e, ERR_INVALID, "%s: want 1 to %d entries",
			       q->n == 0 ? "EmptyBatchRequest" : "TooManyEntriesInBatchRequest",
			       BATCH_MAX);
	json_array_foreach(list, i, v) if (js_get_str(v, "Id", q->ids[i], WORD_SIZE, e) != 0 ||
					   js_get_str(v, "ReceiptHandle", q->receipts[i], WORD_SIZE,
						      e) != 0) return -1;
	return 0;
}

static enum code parse(struct face_call **out, const struct face_visit *v, struct err *e)
{
	const struct http_request *rq = v->rq;
	const char *action = http_header(rq, "X-Amz-Target") + sizeof(prefix) - 1;
	json_t *o = json_loadb(rq->body, rq->len, JSON_REJECT_DUPLICATES, NULL);
	struct face_call *f = face_call_new(v, OP_NOTICES);
	int rc = -1;

	*out = NULL;
	f->own = mem_zalloc(sizeof(struct sqs_call));
	if (!json_is_object(o) || json_string_length(json_object_get(o, "QueueUrl")) == 0)
		(void)err_set(e, ERR_INVALID, "MissingParameter: want QueueUrl");
	else if (strcmp(action, "ReceiveMessage") == 0)
		rc = read_receive(f, o, e);
	else if (strcmp(action, "DeleteMessageBatch") == 0)
		rc = read_remove(f, o, e);
	else
		(void)err_set(e, ERR_INVALID, "UnknownOperationException: no such action");
	json_decref(o);
	if (rc != 0) {
		face_call_free(f);
		return CODE_INVALID;
	}
	*out = f;
	return CODE_OK;
}

/* --- errors ----------------------------------------------------------------------------------- */

static void error(struct face_reply *out, enum code code, const char *message)
{
	static const char *const words[CODE_COUNT] = {[CODE_DENIED] = "AccessDeniedException",
						      [CODE_NOT_FOUND] = "QueueDoesNotExist",
						      [CODE_RATE] = "RequestThrottled",
						      [CODE_INTERNAL] = "InternalFailure"};
	const char *text = message != NULL && message[0] != '\0' ? message : code_text(code);
	const char *word = words[code] != NULL ? words[code] : "InvalidParameterValue";
	size_t n = face_word(text);
	char type[96];
	struct str s;

	(void)snprintf(type, sizeof(type), "com.amazonaws.sqs#%.*s", n > 0 ? (int)n : 63,
		       n > 0 ? text : word);
	str_init(&s, BODY_MAX);
	js_open(&s, NULL, '{');
	js_str(&s, "__type", type);
	js_str(&s, "message", n > 0 ? text + n + 2 : text);
	js_close(&s, '}');
	out->code = code;
	out->status = code == CODE_INTERNAL ? 500 : code == CODE_DENIED ? 403 : 400;
	face_body(out, &s);
}

/* --- events, as EventBridge has them ---------------------------------------------------------- */

static void put_time(struct str *s, const char *key, int64_t at_ms)
{
	char text[FMT_TIME_SIZE + 1];

	(void)fmt_time(text, at_ms);
	memcpy(text + 19, "Z", 2); /* no fractions */
	js_str(s, key, text);
}

/* "Sat, 05 Jun 2027 15:10:09 GMT" */
static void put_http_date(struct str *s, const char *key, int64_t at_ms)
{
	static const char days[] = "ThuFriSatSunMonTueWed";
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	char iso[FMT_TIME_SIZE], text[40];

	(void)fmt_time(iso, at_ms);
	(void)snprintf(text, sizeof(text), "%.3s, %.2s %.3s %.4s %.8s GMT",
		       days + 3 * (at_ms / 86400000 % 7), iso + 8,
		       months + (size_t)3 * (strtoul(iso + 5, NULL, 10) - 1), iso, iso + 11);
	js_str(s, key, text);
}

static void put_health(struct str *s, const struct notice *n, const char *id)
{
	bool planned = n->kind == NOTICE_MAINTENANCE;

	js_str(s, "service", "EC2");
	js_str(s, "eventTypeCode",
	       planned ? "AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED"
		       : "AWS_EC2_INSTANCE_STORE_DRIVE_PERFORMANCE_DEGRADED");
	js_str(s, "eventTypeCategory", planned ? "scheduledChange" : "issue");
	js_str(s, "eventScopeCode", "ACCOUNT_SPECIFIC");
	js_str(s, "statusCode", planned ? "upcoming" : "open");
	put_http_date(s, "startTime", n->at_ms != 0 ? n->at_ms : n->told_ms);
	js_open(s, "affectedEntities", '[');
	js_open(s, NULL, '{');
	js_str(s, "entityValue", id);
	js_close(s, '}');
	js_close(s, ']');
}

static void put_event(struct str *s, const struct cloud *c, const struct notice *n)
{
	static const char *const types[NOTICE_KINDS] = {
		[NOTICE_RECLAIM] = "EC2 Spot Instance Interruption Warning",
		[NOTICE_REBALANCE] = "EC2 Instance Rebalance Recommendation",
		[NOTICE_MAINTENANCE] = "AWS Health Event",
		[NOTICE_FAULTY] = "AWS Health Event",
		[NOTICE_ENDED] = "EC2 Instance State-change Notification"};
	bool health = n->kind == NOTICE_MAINTENANCE || n->kind == NOTICE_FAULTY;
	char id[METER_ID_SIZE], arn[160], uuid[40];
	const struct meter_row *row = &c->meter->rows[n->row];

	(void)meter_id(id, n->row);
	(void)snprintf(uuid, sizeof(uuid), "00000000-0000-4000-8000-%012" PRIx64,
		       (uint64_t)n->seq & UINT64_C(0xffffffffffff));
	(void)snprintf(arn, sizeof(arn), "arn:aws:ec2:%s:000000000000:instance/%s", row->region,
		       id);
	js_open(s, NULL, '{');
	js_str(s, "version", "0");
	js_str(s, "id", uuid);
	js_str(s, "detail-type", types[n->kind]);
	js_str(s, "source", health ? "aws.health" : "aws.ec2");
	js_str(s, "account", "000000000000");
	/* EC2 warns two minutes before the end: a notice with less time counts as delivered
	 * late. */
	put_time(s, "time", n->kind == NOTICE_RECLAIM ? n->at_ms - WARNED_MS : n->told_ms);
	js_str(s, "region", row->region);
	js_open(s, "resources", '[');
	js_str(s, NULL, health ? id : arn);
	js_close(s, ']');
	js_open(s, "detail", '{');
	if (health)
		put_health(s, n, id);
	else
		js_str(s, "instance-id", id);
	if (n->kind == NOTICE_RECLAIM)
		js_str(s, "instance-action", "terminate");
	if (n->kind == NOTICE_ENDED)
		js_str(s, "state", "terminated");
	js_close(s, '}');
	js_close(s, '}');
}

/* --- answering -------------------------------------------------------------------------------- */

static void put_message(struct str *s, const struct cloud *c, const struct notice *n)
{
	char receipt[WORD_SIZE], id[40];
	struct str body;

	str_init(&body, BODY_MAX);
	put_event(&body, c, n);
	(void)snprintf(receipt, sizeof(receipt), "r-%" PRId64 "-%" PRIu32, n->seq, n->given);
	(void)snprintf(id, sizeof(id), "m-%" PRId64, n->seq);
	js_open(s, NULL, '{');
	js_str(s, "MessageId", id);
	js_str(s, "ReceiptHandle", receipt);
	js_str(s, "Body", body.p);
	js_close(s, '}');
	str_fini(&body);
}

static void receive(const struct sqs_call *q, struct cloud *c, int64_t now, struct str *s)
{
	struct notice *n = notices_visible(&c->notices, now);

	if (n == NULL)
		return; /* {} */
	js_open(s, "Messages", '[');
	for (int64_t k = 0; n != NULL && k < q->max; k++) {
		/* Hide it for 1 ms at least, or it would be in the same reply again. */
		n->hidden_until = now + (q->hidden_ms > 0 ? q->hidden_ms : 1);
		n->given++;
		put_message(s, c, n);
		n = notices_visible(&c->notices, now);
	}
	js_close(s, ']');
}

static bool is_removed(struct cloud *c, const char *receipt)
{
	return strncmp(receipt, "r-", 2) == 0 &&
	       notices_delete(&c->notices, strtoll(receipt + 2, NULL, 10));
}

static void remove_some(const struct sqs_call *q, struct cloud *c, struct str *s)
{
	bool gone[BATCH_MAX];

	js_open(s, "Successful", '[');
	for (size_t i = 0; i < q->n; i++) {
		gone[i] = is_removed(c, q->receipts[i]);
		if (!gone[i])
			continue;
		js_open(s, NULL, '{');
		js_str(s, "Id", q->ids[i]);
		js_close(s, '}');
	}
	js_close(s, ']');
	js_open(s, "Failed", '[');
	for (size_t i = 0; i < q->n; i++) {
		if (gone[i])
			continue;
		js_open(s, NULL, '{');
		js_str(s, "Id", q->ids[i]);
		js_bool(s, "SenderFault", true);
		js_str(s, "Code", "ReceiptHandleIsInvalid");
		js_str(s, "Message", "The input receipt handle is invalid.");
		js_close(s, '}');
	}
	js_close(s, ']');
}

static bool waits(const struct face_call *f, struct cloud *c, int64_t now)
{
	return f->wait_ms > 0 && notices_visible(&c->notices, now) == NULL;
}

static void run(const struct face_call *f, struct cloud *c, const struct fault_rule *rule,
		int64_t now, struct face_reply *out)
{
	const struct sqs_call *q = f->own;
	struct str s;

	(void)rule;
	str_init(&s, BODY_MAX);
	js_open(&s, NULL, '{');
	if (q->remove)
		remove_some(q, c, &s);
	else
		receive(q, c, now, &s);
	js_close(&s, '}');
	face_body(out, &s);
}

const struct face face_sqs = {
	.name = "SQS",
	.type = "application/x-amz-json-1.0",
	.is = is,
	.authorize = authorize,
	.parse = parse,
	.waits = waits,
	.run = run,
	.error = error,
};
