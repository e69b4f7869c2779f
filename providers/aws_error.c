#include "providers/aws_private.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "providers/common/words.h"

/* Error codes of EC2 and STS.  Capacity, quota, throttling and our own mistakes are kept apart,
 * because the response to each differs (a pool cools down, an admin is told, we wait a second).  A
 * '*' at the end matches any rest. */
static const struct {
	const char *word;
	enum provider_code code;
} words[] = {
	/* none of this type here now: another zone or type may do */
	{"InsufficientInstanceCapacity", PROVIDER_CAPACITY},
	{"InsufficientHostCapacity", PROVIDER_CAPACITY},
	{"InsufficientReservedInstanceCapacity", PROVIDER_CAPACITY},
	{"InsufficientCapacity", PROVIDER_CAPACITY},
	{"InsufficientCapacityOnHost", PROVIDER_CAPACITY},
	{"UnfulfillableCapacity", PROVIDER_CAPACITY},
	{"ReservationCapacityExceeded", PROVIDER_CAPACITY},
	{"InvalidLaunchTargets", PROVIDER_CAPACITY}, /* of reservations: full, or unknown */
	/* It is not active: a capacity block that has not begun, or is over. */
	{"InvalidCapacityReservationState", PROVIDER_CAPACITY},
	{"InsufficientFreeAddressesInSubnet", PROVIDER_CAPACITY},
	{"SpotMaxPriceTooLow", PROVIDER_CAPACITY},
	{"Unsupported", PROVIDER_CAPACITY}, /* EC2 means: not in this zone */
	{"UnsupportedHostConfiguration", PROVIDER_CAPACITY},
	/* our account's limits */
	{"InstanceLimitExceeded", PROVIDER_QUOTA},
	{"VcpuLimitExceeded", PROVIDER_QUOTA},
	{"MaxSpotInstanceCountExceeded", PROVIDER_QUOTA},
	{"MaxSpotFleetRequestCountExceeded", PROVIDER_QUOTA},
	{"VolumeLimitExceeded", PROVIDER_QUOTA},
	{"MaxIOPSLimitExceeded", PROVIDER_QUOTA},
	{"NetworkInterfaceLimitExceeded", PROVIDER_QUOTA},
	{"AddressLimitExceeded", PROVIDER_QUOTA},
	{"ResourceLimitExceeded", PROVIDER_QUOTA},
	{"ResourceCountExceeded", PROVIDER_QUOTA},
	{"PrivateIpAddressLimitExceeded", PROVIDER_QUOTA},
	{"ServiceQuotaExceededException", PROVIDER_QUOTA},
	{"FleetsLimitExceeded", PROVIDER_QUOTA},
	/* an admin must act */
	{"UnauthorizedOperation", PROVIDER_DENIED},
	{"AuthFailure*", PROVIDER_DENIED},
	{"AccessDenied*", PROVIDER_DENIED},
	{"Blocked", PROVIDER_DENIED},
	{"OptInRequired", PROVIDER_DENIED},
	{"PendingVerification", PROVIDER_DENIED},
	{"PendingSnapshotLimitExceeded", PROVIDER_QUOTA},
	{"InvalidClientTokenId", PROVIDER_DENIED},
	{"InvalidAccessKeyId", PROVIDER_DENIED},
	{"UnrecognizedClient*", PROVIDER_DENIED},
	{"SignatureDoesNotMatch", PROVIDER_DENIED},
	{"IncompleteSignature", PROVIDER_DENIED},
	{"MissingAuthenticationToken", PROVIDER_DENIED},
	{"ExpiredToken*", PROVIDER_DENIED},
	{"NotAuthorized*", PROVIDER_DENIED},
	{"RegionDisabledException", PROVIDER_DENIED},
	{"KmsAccessDenied", PROVIDER_DENIED},
	/* throttled: nothing happened */
	{"RequestLimitExceeded", PROVIDER_RATE},
	{"RequestThrottled*", PROVIDER_RATE},
	{"Throttl*", PROVIDER_RATE},
	{"EC2ThrottledException", PROVIDER_RATE},
	{"TooManyRequests*", PROVIDER_RATE},
	{"SlowDown", PROVIDER_RATE},
	{"OverLimit", PROVIDER_RATE}, /* SQS: too many hidden messages in the queue */
	{"KmsThrottled", PROVIDER_RATE},
	{"PriorRequestNotComplete", PROVIDER_RATE},
	{"BandwidthLimitExceeded", PROVIDER_RATE},
	/* the token belongs to another request, or to an instance that is gone */
	{"IdempotentParameterMismatch", PROVIDER_CONFLICT},
	{"IdempotentInstanceTerminated", PROVIDER_CONFLICT},
	/* dated by a clock that was wrong: the answer has the right time */
	{"RequestExpired", PROVIDER_TRANSIENT},
	/* may have happened: safe to repeat, a create by its token */
	{"InternalError", PROVIDER_AMBIGUOUS},
	{"InternalFailure", PROVIDER_AMBIGUOUS},
	{"InternalServerError", PROVIDER_AMBIGUOUS},
	{"ServerInternal", PROVIDER_AMBIGUOUS},
	{"Unavailable", PROVIDER_AMBIGUOUS},
	{"ServiceUnavailable*", PROVIDER_AMBIGUOUS},
	{"RequestTimeout*", PROVIDER_AMBIGUOUS},
	/* deletes */
	{"InvalidInstanceID.NotFound", PROVIDER_NOT_FOUND},
	{"OperationNotPermitted", PROVIDER_DENIED}, /* termination protection */
	{"IncorrectInstanceState", PROVIDER_NOT_YET},
	{"IncorrectState", PROVIDER_NOT_YET},
	/* placement groups */
	{"InvalidPlacementGroup.InUse", PROVIDER_NOT_YET},
	{"InvalidPlacementGroup.Unknown", PROVIDER_NOT_FOUND},
	{"InvalidPlacementGroup.Duplicate", PROVIDER_CONFLICT},
	{"PlacementGroupLimitExceeded", PROVIDER_QUOTA},
	/* can never succeed as it is */
	{"Invalid*", PROVIDER_INVALID},
	{"Missing*", PROVIDER_INVALID},
	{"Malformed*", PROVIDER_INVALID},
	{"Unknown*", PROVIDER_INVALID},
	{"UnsupportedOperation", PROVIDER_INVALID},
	{"QueueDoesNotExist", PROVIDER_INVALID},
	{"QueueDeletedRecently", PROVIDER_INVALID},
	{"AWS.SimpleQueueService.*", PROVIDER_INVALID}, /* the same, as moto names it */
	{"UnsupportedProtocol", PROVIDER_INVALID},
	{"ValidationError", PROVIDER_INVALID},
	{"VPCIdNotSpecified", PROVIDER_INVALID},
	{"VPCResourceNotSpecified", PROVIDER_INVALID},
	{"TagLimitExceeded", PROVIDER_INVALID},
	{"DefaultVpcDoesNotExist", PROVIDER_INVALID},
	{"DryRunOperation", PROVIDER_INVALID},
};

static bool is_word(const char *pattern, const char *word)
{
	size_t n = strlen(pattern) - 1;

	return pattern[n] == '*' ? strncmp(pattern, word, n) == 0 : strcmp(pattern, word) == 0;
}

static bool ends(const char *word, const char *tail)
{
	size_t n = strlen(word), t = strlen(tail);

	return n >= t && strcmp(word + n - t, tail) == 0;
}

static enum provider_code code_of_word(const char *word, enum provider_code other)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (is_word(words[i].word, word))
			return words[i].code;
	/* Guess codes that EC2 added later by their usual endings. */
	if (ends(word, "LimitExceeded") || ends(word, "QuotaExceeded"))
		return PROVIDER_QUOTA;
	if (strncmp(word, "Insufficient", 12) == 0)
		return PROVIDER_CAPACITY;
	return other;
}

static enum provider_code code_of_status(long status)
{
	switch (status) {
	case 401:
	case 403:
		return PROVIDER_DENIED;
	case 408:
		return PROVIDER_AMBIGUOUS;
	case 429:
		return PROVIDER_RATE;
	default:
		return status >= 400 && status < 500 ? PROVIDER_INVALID : PROVIDER_AMBIGUOUS;
	}
}

/* Restrict a code to what it can mean for this kind of request: a delete never lacks capacity, and
 * a list never names a missing instance. */
enum provider_code aws_code(enum provider_op_kind kind, const char *word, long status)
{
	enum provider_code code = code_of_word(word, code_of_status(status));
	bool create = kind == PROVIDER_CREATE, make = kind == PROVIDER_FABRIC_MAKE;
	bool end = kind == PROVIDER_DELETE || kind == PROVIDER_FABRIC_DROP;

	if (make && code == PROVIDER_CONFLICT)
		return PROVIDER_OK; /* the group exists */
	if (code == PROVIDER_AMBIGUOUS && !create)
		return PROVIDER_TRANSIENT; /* ask again: it is safe */
	if (code == PROVIDER_NOT_FOUND && !end)
		return PROVIDER_INVALID;
	if ((code == PROVIDER_CAPACITY || code == PROVIDER_QUOTA || code == PROVIDER_CONFLICT ||
	     code == PROVIDER_NOT_YET) &&
	    !create && !(code == PROVIDER_NOT_YET && end) && !(code == PROVIDER_QUOTA && make))
		return PROVIDER_TRANSIENT;
	if (code == PROVIDER_NOT_YET && create)
		return PROVIDER_INVALID;
	return code;
}

void aws_show(const struct aws *a, char *out, size_t size, const char *text)
{
	const char *const secrets[] = {a->now.secret, a->now.token, a->base.secret, a->base.token,
				       a->metadata_token};

	words_show(out, size, text, secrets, sizeof(secrets) / sizeof(secrets[0]));
}

void aws_set_message(const struct aws *a, struct provider_result *out, const char *text)
{
	aws_show(a, out->message, sizeof(out->message), text);
}

/* The text between two tags, wherever they are: "<RequestID>" at the end of an error, "<requestId>"
 * at the beginning of a success.  "": there is none, or it is too long. */
static void find_id(const struct provider_reply *reply, const char *tag, char *out, size_t size)
{
	const char *at =
		reply->body != NULL ? memmem(reply->body, reply->len, tag, strlen(tag)) : NULL;
	const char *from = at != NULL ? at + strlen(tag) : NULL;
	const char *end =
		from != NULL ? memchr(from, '<', (size_t)(reply->body + reply->len - from)) : NULL;

	out[0] = '\0';
	if (end != NULL && (size_t)(end - from) < size)
		(void)snprintf(out, size, "%.*s", (int)(end - from), from);
}

void aws_request_id(const void *self, const struct provider_reply *reply,
		    char out[PROVIDER_REQUEST_MAX + 1])
{
	static const char *const headers[] = {"x-amzn-RequestId", "x-amz-request-id"};
	static const char *const tags[] = {"<RequestID>", "<requestId>", "<RequestId>"};
	char id[PROVIDER_REQUEST_MAX + 1] = "";

	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]) && id[0] == '\0'; i++) {
		const char *said = headers_get(&reply->headers, headers[i]);

		if (said != NULL && strlen(said) < sizeof(id))
			(void)snprintf(id, sizeof(id), "%s", said);
	}
	for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]) && id[0] == '\0'; i++)
		find_id(reply, tags[i], id, sizeof(id));
	out[0] = '\0';
	if (words_is_plain(id, PROVIDER_REQUEST_MAX))
		aws_show(self, out, PROVIDER_REQUEST_MAX + 1, id);
}

static void get_cut(const struct xml_node *n, const char *name, char *out, size_t size)
{
	(void)snprintf(out, size, "%.*s", (int)size - 1, xml_text(n, name));
}

/* SQS: {"__type":"com.amazonaws.sqs#WORD","message":"..."}.  false: no JSON. */
static bool json_words(const struct provider_reply *reply, char code[64],
		       char message[AWS_WORDS_MAX])
{
	json_t *doc = json_loadb(reply->body != NULL ? reply->body : "", reply->len, 0, NULL);
	const char *type = json_string_value(json_object_get(doc, "__type")), *said;
	bool is = json_is_object(doc);

	said = json_string_value(json_object_get(doc, "message"));
	if (said == NULL)
		said = json_string_value(json_object_get(doc, "Message"));
	if (type != NULL && strchr(type, '#') != NULL)
		type = strchr(type, '#') + 1;
	(void)snprintf(code, 64, "%.63s", type != NULL ? type : "");
	(void)snprintf(message, AWS_WORDS_MAX, "%.*s", AWS_WORDS_MAX - 1, said != NULL ? said : "");
	json_decref(doc);
	return is;
}

/* EC2: Response/Errors/Error; STS: ErrorResponse/Error. */
void aws_error_words(const struct provider_reply *reply, char code[64], char message[AWS_WORDS_MAX])
{
	static const char *const names[][6] = {
		{"Response", "Errors", "Error", "Code", "Message", NULL},
		{"ErrorResponse", "Errors", "Error", "Code", "Message", NULL},
	};

	code[0] = message[0] = '\0';
	if (json_words(reply, code, message))
		return;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && code[0] == '\0'; i++) {
		const struct xml_node *e;
		struct xml x;

		if (xml_parse(&x, names[i], reply->body, reply->len) == 0) {
			e = xml_child(xml_child(x.root, "Errors"), "Error");
			e = e != NULL ? e : xml_child(x.root, "Error");
			get_cut(e, "Code", code, 64);
			get_cut(e, "Message", message, AWS_WORDS_MAX);
		}
		xml_fini(&x);
	}
}
