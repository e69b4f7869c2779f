/* spheron_error.c - Spheron's errors.  Those of a delete and of teamId are as clients saw them; the
 * words and statuses of the others are invented, but for 401, 403, 404, 429. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "providers/simcloud/js.h"
#include "providers/simcloud/spheron.h"

enum { WORD_SIZE = 64, DEFAULT_MINIMUM_MS = 20 * SPHERON_MINUTE_MS };

static const struct {
	unsigned status;
	const char *text; /* "CODE: text" */
} errors[CODE_COUNT] = {
	[CODE_OK] = {200, ""},
	[CODE_CAPACITY] = {409, "OFFER_UNAVAILABLE: The offer is no longer available"},
	[CODE_QUOTA] = {400, "INSUFFICIENT_BALANCE: Insufficient balance"},
	[CODE_DENIED] = {403, "FORBIDDEN: Forbidden"},
	[CODE_INVALID] = {400, "VALIDATION_ERROR: Invalid request"},
	[CODE_NOT_FOUND] = {404, "NOT_FOUND: Deployment not found"},
	[CODE_TOKEN_MISMATCH] = {409, "CONFLICT: Conflict"},
	[CODE_NOT_YET] = {400, ""}, /* spheron_too_early() */
	[CODE_RATE] = {429, "RATE_LIMIT_EXCEEDED: Too many requests"},
	[CODE_INTERNAL] = {500, "INTERNAL_ERROR: Internal server error"},
};

int64_t spheron_minutes(int64_t ms)
{
	return (ms + SPHERON_MINUTE_MS - 1) / SPHERON_MINUTE_MS;
}

/* Length of CODE in "CODE: text"; 0: the text has none. */
static size_t code_len(const char *text)
{
	size_t n = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_");

	return n < WORD_SIZE && strncmp(text + n, ": ", 2) == 0 ? n : 0;
}

static void finish(struct face_reply *out, struct str *s, enum code code, unsigned status)
{
	js_close(s, '}');
	out->code = code;
	out->status = status;
	face_body(out, s);
}

/* The time to ask again is told in the body, and there alone: not all answers of Spheron have the
 * header. */
static void put_retry(struct str *s, struct face_reply *out)
{
	if (out->retry_ms > 0)
		js_int(s, "retryAfter", (out->retry_ms + 999) / 1000);
	out->retry_ms = 0;
}

static void plain(struct face_reply *out, enum code code, const char *message)
{
	const char *own = errors[code].text,
		   *text = message != NULL && *message != '\0' ? message : own;
	const char *coded = code_len(text) > 0 ? text : own;
	unsigned status = strcmp(text, SPHERON_NO_METHOD) == 0 ? 405 : errors[code].status;
	size_t n = code_len(text);
	char word[WORD_SIZE];
	struct str s;

	(void)snprintf(word, sizeof(word), "%.*s", (int)code_len(coded), coded);
	str_init(&s, SPHERON_BODY_MAX);
	js_open(&s, NULL, '{');
	js_str(&s, "error", n > 0 ? text + n + 2 : text);
	js_str(&s, "code", word);
	js_open(&s, "details", '{');
	js_close(&s, '}');
	if (code == CODE_RATE)
		put_retry(&s, out);
	finish(out, &s, code, status);
}

void spheron_error(struct face_reply *out, enum code code, const char *message)
{
	if (code == CODE_NOT_YET)
		spheron_too_early(out, out->retry_ms, DEFAULT_MINIMUM_MS);
	else
		plain(out, code, message);
}

void spheron_too_early(struct face_reply *out, int64_t remaining_ms, int64_t minimum_ms)
{
	int64_t minimum = spheron_minutes(minimum_ms), remaining = spheron_minutes(remaining_ms);
	char text[160];
	struct str s;

	(void)snprintf(text, sizeof(text),
		       "Instance must run for at least %lld minutes. Time remaining: %lld "
		       "minutes.",
		       (long long)minimum, (long long)remaining);
	str_init(&s, SPHERON_BODY_MAX);
	js_open(&s, NULL, '{');
	js_str(&s, "error", "Minimum runtime not met");
	js_str(&s, "message", text);
	js_bool(&s, "canTerminate", false);
	js_int(&s, "timeRemaining", remaining);
	js_int(&s, "minimumRuntime", minimum);
	out->retry_ms = 0;
	finish(out, &s, CODE_NOT_YET, 400);
}

void spheron_already(struct face_reply *out, const char *status)
{
	struct str s;

	str_init(&s, SPHERON_BODY_MAX);
	js_open(&s, NULL, '{');
	js_str(&s, "error", "Cannot terminate instance");
	js_str(&s, "message", "Instance has already been terminated.");
	js_str(&s, "currentStatus", status);
	js_bool(&s, "canTerminate", false);
	finish(out, &s, CODE_INVALID, 400);
}
