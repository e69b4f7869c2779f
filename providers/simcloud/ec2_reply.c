/* ec2_reply.c - the beginning and end of EC2's replies, and its errors. */
#include <stdio.h>

#include "providers/simcloud/ec2.h"

#define NAMESPACE "http://ec2.amazonaws.com/doc/2016-11-15/"

static const struct {
	const char *word;
	unsigned status;
} errors[CODE_COUNT] = {
	[CODE_OK] = {"", 200},
	[CODE_CAPACITY] = {"InsufficientInstanceCapacity", 500},
	[CODE_QUOTA] = {"VcpuLimitExceeded", 400},
	[CODE_DENIED] = {"UnauthorizedOperation", 403},
	[CODE_INVALID] = {"InvalidParameterValue", 400},
	[CODE_NOT_FOUND] = {"InvalidInstanceID.NotFound", 400},
	[CODE_TOKEN_MISMATCH] = {"IdempotentParameterMismatch", 400},
	[CODE_NOT_YET] = {"IncorrectInstanceState", 400},
	[CODE_RATE] = {"RequestLimitExceeded", 503},
	[CODE_INTERNAL] = {"InternalError", 500},
};

const char *ec2_error_word(enum code code)
{
	return errors[code].word;
}

void ec2_error(struct face_reply *out, enum code code, const char *message)
{
	const char *text = message != NULL && message[0] != '\0' ? message : code_text(code);
	size_t n = face_word(text);
	char word[64];
	struct str s;

	(void)snprintf(word, sizeof(word), "%.*s", n > 0 ? (int)n : 63,
		       n > 0 ? text : errors[code].word);
	str_init(&s, EC2_BODY_MAX);
	str_adds(&s, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Response><Errors><Error>");
	xmlw_text(&s, "Code", word);
	xmlw_text(&s, "Message", n > 0 ? text + n + 2 : text);
	str_adds(&s, "</Error></Errors><RequestID>" FACE_NO_ID "</RequestID></Response>");
	out->code = code;
	out->status = errors[code].status;
	face_body(out, &s);
}

void ec2_begin(struct str *s, const char *action)
{
	str_init(s, EC2_BODY_MAX);
	str_addf(s,
		 "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<%sResponse xmlns=\"" NAMESPACE
		 "\">\n    <requestId>" FACE_NO_ID "</requestId>\n",
		 action);
}

void ec2_end(struct str *s, const char *action, struct face_reply *out)
{
	str_addf(s, "\n</%sResponse>", action);
	face_body(out, s);
}
