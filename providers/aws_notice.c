#include "providers/aws_private.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* EventBridge puts the EC2 and AWS Health events of an account and region into an SQS queue, which
 * the driver reads by SQS's JSON protocol.  A received message is hidden for AWS_MESSAGE_S and
 * stays in the queue until it is deleted by its receipt; result.ack has the receipts of one reply,
 * one a line. */

enum {
	RECEIPT_MAX = 4096,    /* SQS's are some hundred bytes */
	ENTITIES_MAX = 100000, /* in one reply */
	WAIT_MAX_S = 20,       /* SQS's limit */
};

/* --- requests ---------------------------------------------------------------------------------
 */

static int build_delete(const struct aws *a, const char *ack, struct str *body, struct err *e)
{
	unsigned n = 0;

	str_addf(body, "{\"QueueUrl\":\"%s\",\"Entries\":[", a->queue);
	for (const char *p = ack; *p != '\0'; n++) {
		size_t len = strcspn(p, "\n");

		if (n == AWS_MESSAGES_MAX || len == 0 || len > RECEIPT_MAX)
			return err_set(e, ERR_INVALID, "notices: not receipts of this queue");
		str_addf(body, "%s{\"Id\":\"%u\",\"ReceiptHandle\":\"", n > 0 ? "," : "", n);
		str_add(body, p, len);
		str_adds(body, "\"}");
		p += len + (p[len] == '\n');
	}
	str_adds(body, "]}");
	return n > 0 ? 0 : err_set(e, ERR_INVALID, "notices: nothing to acknowledge");
}

int aws_notices_build(const struct aws *a, const struct provider_op *op,
		      struct provider_request *out, struct err *e)
{
	uint32_t wait_s = op->u.notices.wait_ms / 1000;
	const char *ack = op->u.notices.ack;
	struct str body;

	if (a->queue == NULL)
		return err_set(e, ERR_INVALID, "there is no notice_queue");
	str_init(&body, AWS_BODY_MAX);
	if (ack != NULL && build_delete(a, ack, &body, e) != 0) {
		str_fini(&body);
		return -1;
	}
	if (ack == NULL)
		str_addf(&body,
			 "{\"QueueUrl\":\"%s\",\"MaxNumberOfMessages\":%d,"
			 "\"VisibilityTimeout\":%d,\"WaitTimeSeconds\":%u}",
			 a->queue, AWS_MESSAGES_MAX, AWS_MESSAGE_S,
			 wait_s < WAIT_MAX_S ? (unsigned)wait_s : WAIT_MAX_S);
	return aws_post_queue(
		a, ack != NULL ? "AmazonSQS.DeleteMessageBatch" : "AmazonSQS.ReceiveMessage",
		op->at_ms, &body, out, e);
}

/* --- events -----------------------------------------------------------------------------------
 */

static const char *text(const json_t *o, const char *key)
{
	const char *t = json_string_value(json_object_get(o, key));

	return t != NULL ? t : "";
}

static bool is(const json_t *o, const char *key, const char *value)
{
	return strcmp(text(o, key), value) == 0;
}

/* The id in "i-0123", or at the end of an ARN; NULL: neither.  Other resources need no check: no
 * row has their ids. */
static const char *id_of(const char *t)
{
	const char *slash = strrchr(t, '/');

	t = slash != NULL ? slash + 1 : t;
	return aws_is_plain(t, PROVIDER_ID_MAX) && strchr(t, ':') == NULL ? t : NULL;
}

/* Add a notice.  false: not an instance, or too many. */
static bool tell(struct provider_result *out, const char *about, enum provider_notice_kind kind,
		 int64_t at_ms)
{
	const char *id = id_of(about);
	struct provider_notice *n;

	if (id == NULL || out->nnotices == ENTITIES_MAX)
		return false;
	if ((out->nnotices & (out->nnotices - 1)) == 0) /* a power of two is full */
		out->notices =
			mem_realloc(out->notices, (2 * out->nnotices + 1) * sizeof(*out->notices));
	n = &out->notices[out->nnotices++];
	*n = (struct provider_notice){.kind = kind, .at_ms = at_ms};
	memcpy(n->id, id, strlen(id) + 1);
	return true;
}

static bool tell_ended(struct provider_result *out, const char *about)
{
	const char *id = id_of(about);

	if (id == NULL)
		return false;
	if (out->ended == NULL) /* at most one per message */
		out->ended = mem_zalloc(AWS_MESSAGES_MAX * sizeof(*out->ended));
	memcpy(out->ended[out->nended++].id, id, strlen(id) + 1);
	return true;
}

/* Parse "Sat, 05 Jun 2027 15:10:09 GMT", as Health writes it; 0: not such a date. */
static int64_t http_date(const char *t)
{
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	char month[4], iso[32];
	const char *at;

	if (strlen(t) != 29 || strcmp(t + 25, " GMT") != 0)
		return 0;
	memcpy(month, t + 8, 3);
	month[3] = '\0';
	at = strstr(months, month);
	if (at == NULL || (at - months) % 3 != 0)
		return 0;
	(void)snprintf(iso, sizeof(iso), "%.4s-%02d-%.2sT%.8sZ", t + 12, (int)(at - months) / 3 + 1,
		       t + 5, t + 17);
	return aws_time_read(iso);
}

/* A warning comes two minutes before the end; hibernation begins at once. */
static bool read_interruption(const json_t *event, const json_t *detail,
			      struct provider_result *out)
{
	int64_t at = aws_time_read(text(event, "time"));

	if (at != 0 && !is(detail, "instance-action", "hibernate"))
		at += AWS_WARNED_MS;
	return tell(out, text(detail, "instance-id"), PROVIDER_NOTICE_RECLAIM, at);
}

static bool read_rebalance(const json_t *event, const json_t *detail, struct provider_result *out)
{
	(void)event;
	return tell(out, text(detail, "instance-id"), PROVIDER_NOTICE_REBALANCE, 0);
}

/* Our own deletes come here, too, so this is only a hint to look at the list. */
static bool read_state(const json_t *event, const json_t *detail, struct provider_result *out)
{
	static const char *const going[] = {"shutting-down", "terminated", "stopping", "stopped"};

	(void)event;
	for (size_t i = 0; i < sizeof(going) / sizeof(going[0]); i++)
		if (is(detail, "state", going[i]))
			return tell_ended(out, text(detail, "instance-id"));
	return text(detail, "state")[0] != '\0';
}

/* Take EC2's scheduled changes, and issues of single instances.  A service outage names all
 * instances that it may touch, and is no reason to give them up. */
static bool read_health(const json_t *event, const json_t *detail, struct provider_result *out)
{
	const json_t *about = json_object_get(detail, "affectedEntities"), *v;
	bool scheduled = is(detail, "eventTypeCategory", "scheduledChange");
	int64_t at = scheduled ? http_date(text(detail, "startTime")) : 0;
	size_t i, before = out->nnotices;

	if (text(detail, "service")[0] == '\0')
		return false;
	if (!is(detail, "service", "EC2") || is(detail, "statusCode", "closed") ||
	    (!scheduled && strncmp(text(detail, "eventTypeCode"), "AWS_EC2_INSTANCE_", 17) != 0))
		return true;
	json_array_foreach(about, i, v)(void)
		tell(out, text(v, "entityValue"), PROVIDER_NOTICE_MAINTENANCE, at);
	if (out->nnotices == before)
		json_array_foreach(json_object_get(event, "resources"), i,
				   v) if (json_is_string(v))(void)
			tell(out, json_string_value(v), PROVIDER_NOTICE_MAINTENANCE, at);
	return true;
}

/* Only AWS itself can make events whose source begins with "aws.".  false: not understood. */
static bool read_event(const json_t *event, struct provider_result *out)
{
	static const struct {
		const char *source, *type;
		bool (*read)(const json_t *event, const json_t *detail,
			     struct provider_result *out);
	} kinds[] = {
		{"aws.ec2", "EC2 Spot Instance Interruption Warning", read_interruption},
		{"aws.ec2", "EC2 Instance Rebalance Recommendation", read_rebalance},
		{"aws.ec2", "EC2 Instance State-change Notification", read_state},
		{"aws.health", "AWS Health Event", read_health},
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (is(event, "source", kinds[i].source) && is(event, "detail-type", kinds[i].type))
			return kinds[i].read(event, json_object_get(event, "detail"), out);
	return false;
}

/* --- replies ----------------------------------------------------------------------------------
 */

/* Acknowledge messages that cannot be understood, too: they would come back for ever. */
static int read_message(const json_t *m, struct str *ack, struct provider_result *out)
{
	const char *receipt = text(m, "ReceiptHandle"), *body = text(m, "Body");
	json_t *event;

	if (!aws_is_plain(receipt, RECEIPT_MAX) || strpbrk(receipt, "\"\\") != NULL)
		return -1;
	str_addf(ack, "%s%s", ack->len > 0 ? "\n" : "", receipt);
	event = json_loads(body, 0, NULL);
	if (!read_event(event, out))
		out->nunread++;
	json_decref(event);
	return 0;
}

/* A reply without messages may lack the list. */
static int read_messages(const json_t *doc, struct provider_result *out)
{
	const json_t *list = json_object_get(doc, "Messages"), *m;
	struct str ack;
	int rc = 0;
	size_t i;

	if (!json_is_object(doc) || json_array_size(list) > AWS_MESSAGES_MAX ||
	    (list != NULL && !json_is_array(list) && !json_is_null(list)))
		return -1;
	str_init(&ack, AWS_BODY_MAX);
	json_array_foreach(list, i, m)
	{
		rc = read_message(m, &ack, out);
		if (rc != 0)
			break;
	}
	if (rc == 0 && ack.len > 0)
		out->ack = str_take(&ack);
	str_fini(&ack);
	return rc;
}

static int read_deleted(const struct aws *a, const json_t *doc, struct provider_result *out)
{
	const json_t *failed = json_object_get(doc, "Failed"), *f = json_array_get(failed, 0);
	char words[160];

	if (f == NULL)
		return json_is_array(json_object_get(doc, "Successful")) ? 0 : -1;
	(void)snprintf(words, sizeof(words), "%.60s: %.90s", text(f, "Code"), text(f, "Message"));
	aws_set_message(a, out, words);
	out->code = PROVIDER_TRANSIENT;
	return 0;
}

int aws_notices_parse(const struct aws *a, const struct provider_op *op,
		      const struct provider_reply *reply, struct provider_result *out)
{
	json_t *doc = json_loadb(reply->body != NULL ? reply->body : "", reply->len,
				 JSON_REJECT_DUPLICATES, NULL);
	int rc = op->u.notices.ack != NULL ? read_deleted(a, doc, out) : read_messages(doc, out);

	json_decref(doc);
	return rc;
}
