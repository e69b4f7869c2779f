#include "providers/simcloud/js.h"
#include "providers/simcloud/neutral.h"

void neutral_put_error(struct str *s, enum code code, const char *message, int64_t retry_ms)
{
	js_open(s, "error", '{');
	js_str(s, "code", code_word(code));
	js_str(s, "message", message != NULL && message[0] != '\0' ? message : code_text(code));
	if (retry_ms > 0)
		js_int(s, "retry_after_ms", retry_ms);
	js_close(s, '}');
}

void neutral_error(struct face_reply *out, enum code code, const char *message)
{
	struct str s;

	out->code = code;
	out->status = code_status(code);
	str_init(&s, NEUTRAL_BODY_MAX);
	js_open(&s, NULL, '{');
	neutral_put_error(&s, code, message, 0);
	js_close(&s, '}');
	face_body(out, &s);
}
