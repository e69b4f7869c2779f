/* lambda_error.c - Lambda's errors: {"error":{"code","message","suggestion"}}. */
#include <stdio.h>
#include <string.h>

#include "providers/simcloud/js.h"
#include "providers/simcloud/lambda.h"

static const struct {
	const char *word;
	unsigned status;
} errors[CODE_COUNT] = {
	[CODE_OK] = {"", 200},
	[CODE_CAPACITY] = {"instance-operations/launch/insufficient-capacity", 400},
	[CODE_QUOTA] = {"global/quota-exceeded", 400},
	[CODE_DENIED] = {"global/account-inactive", 403},
	[CODE_INVALID] = {"global/invalid-parameters", 400},
	[CODE_NOT_FOUND] = {"global/object-does-not-exist", 404},
	[CODE_TOKEN_MISMATCH] = {"global/duplicate", 400},
	[CODE_NOT_YET] = {"global/conflict", 409},
	[CODE_RATE] = {"", 429},
	[CODE_INTERNAL] = {"global/internal-error", 500},
};

/* What the API description says of each, where it says something. */
static const struct words {
	const char *word, *message, *suggestion;
} words[] = {
	{"instance-operations/launch/insufficient-capacity",
	 "Not enough capacity to fulfill launch request.", NULL},
	{"global/quota-exceeded", "Quota exceeded.", "Contact Support to increase your quota."},
	{"global/account-inactive", "Your account is inactive.",
	 "Make sure you have verified your email address and have a valid payment method. Contact "
	 "Support if problems continue."},
	{"global/invalid-address", "Your billing address is invalid.",
	 "Make sure your billing address is valid. Contact Support if problems continue."},
	{"global/invalid-api-key", "API key was invalid, expired, or deleted.",
	 "Check your API key or create a new one, then try again."},
	{"global/invalid-parameters", "Invalid request data.", NULL},
	{"global/object-does-not-exist", "Specified instance does not exist.",
	 "Check the name or identifier, then try again."},
	{"global/not-found", "The requested resource was not found.", NULL},
	{"global/conflict", "The request conflicts with the current state of the resource.", NULL},
	{"global/internal-error", "An internal server error occurred.",
	 "Try again later. Contact Support if the problem persists."},
	{"provider/internal-unavailable", "Provider unavailable", "Try again shortly"},
};

/* The length of WORD in "WORD: text"; 0: the text has none. */
static size_t word_in(const char *message)
{
	size_t n = strspn(message, "abcdefghijklmnopqrstuvwxyz-/");

	return memchr(message, '/', n) != NULL && strncmp(message + n, ": ", 2) == 0 ? n : 0;
}

static const struct words *find(const char *word)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i].word, word) == 0)
			return &words[i];
	return NULL;
}

/* The limit of requests is not Lambda's own but that of the network before it, which speaks no
 * JSON. */
static void refuse_at_the_edge(struct face_reply *out)
{
	struct str s;

	str_init(&s, LAMBDA_BODY_MAX);
	str_adds(&s, "error code: 1015");
	out->type = "text/plain; charset=UTF-8";
	face_body(out, &s);
}

void lambda_error(struct face_reply *out, enum code code, const char *message)
{
	size_t n = message != NULL ? word_in(message) : 0;
	const char *text = n > 0 ? message + n + 2 : message;
	const struct words *w;
	char word[80];
	struct str s;

	out->code = code;
	out->status = errors[code].status;
	if (code == CODE_RATE && n == 0) {
		refuse_at_the_edge(out);
		return;
	}
	(void)snprintf(word, sizeof(word), "%.*s", n > 0 ? (int)n : 79,
		       n > 0 ? message : errors[code].word);
	w = find(word);
	if (text == NULL || text[0] == '\0')
		text = w != NULL ? w->message : code_text(code);
	str_init(&s, LAMBDA_BODY_MAX);
	js_open(&s, NULL, '{');
	js_open(&s, "error", '{');
	js_str(&s, "code", word);
	js_str(&s, "message", text);
	if (w != NULL && w->suggestion != NULL)
		js_str(&s, "suggestion", w->suggestion);
	js_close(&s, '}');
	js_close(&s, '}');
	out->type = NULL;
	face_body(out, &s);
}
