/* lyceum_error.c - Lyceum's errors, which have a text and no code. */
#include <stdlib.h>
#include <string.h>

#include "providers/simcloud/js.h"
#include "providers/simcloud/lyceum.h"

/* Those of capacity, invalid and not-found are recorded; the others are invented. */
static const struct {
	const char *detail;
	unsigned status;
} errors[CODE_COUNT] = {
	[CODE_OK] = {"", 200},
	[CODE_CAPACITY] = {"The instance could not be provisioned right now. Please try again in a "
			   "moment.",
			   500},
	[CODE_QUOTA] = {"Insufficient credits", 402},
	[CODE_DENIED] = {"Could not validate credentials", 401},
	[CODE_INVALID] = {"The instance request was invalid. Please check your parameters and try "
			  "again.",
			  400},
	[CODE_NOT_FOUND] = {"VM not found", 404},
	[CODE_TOKEN_MISMATCH] = {"Conflict", 409},
	[CODE_NOT_YET] = {"The instance cannot be terminated yet", 400},
	[CODE_RATE] = {"Too many requests", 429},
	[CODE_INTERNAL] = {"Internal Server Error", 500},
};

static void put_place(struct str *s, const char *place, size_t n)
{
	char word[64];

	for (const char *p = place; p < place + n; p++) {
		size_t len = strcspn(p, "/:");

		if (len >= sizeof(word))
			len = sizeof(word) - 1;
		memcpy(word, p, len);
		word[len] = '\0';
		if (word[strspn(word, "0123456789")] == '\0')
			js_int(s, NULL, strtoll(word, NULL, 10)); /* a position */
		else
			js_str(s, NULL, word);
		p += len;
	}
}

/* FastAPI's HTTPValidationError, of "body/MEMBER: TYPE: text". */
static void put_wrong(struct str *s, const char *message)
{
	const char *type = strstr(message, ": "), *text;
	char word[64] = "value_error";

	type = type != NULL ? type + 2 : message;
	text = strstr(type, ": ");
	if (text != NULL && (size_t)(text - type) < sizeof(word)) {
		memcpy(word, type, (size_t)(text - type));
		word[text - type] = '\0';
	}
	js_open(s, "detail", '[');
	js_open(s, NULL, '{');
	js_str(s, "type", word);
	js_open(s, "loc", '[');
	put_place(s, message, (size_t)(type - message - 2));
	js_close(s, ']');
	js_str(s, "msg", text != NULL ? text + 2 : type);
	js_close(s, '}');
	js_close(s, ']');
}

/* Does the text begin with a place in the request? */
static bool is_wrong(const char *text)
{
	size_t n = strncmp(text, "body", 4) == 0 ? 4 : strncmp(text, "query", 5) == 0 ? 5 : 0;

	return n > 0 && (text[n] == '/' || text[n] == ':');
}

void lyceum_error(struct face_reply *out, enum code code, const char *message)
{
	const char *text = message != NULL && message[0] != '\0' ? message : errors[code].detail;
	bool wrong = is_wrong(text);
	struct str s;

	out->code = code;
	out->status = errors[code].status;
	if (wrong)
		out->status = 422;
	else if (strcmp(text, LYCEUM_NO_METHOD) == 0)
		out->status = 405;
	str_init(&s, LYCEUM_BODY_MAX);
	js_open(&s, NULL, '{');
	if (wrong)
		put_wrong(&s, text);
	else
		js_str(&s, "detail", text);
	js_close(&s, '}');
	face_body(out, &s);
}
