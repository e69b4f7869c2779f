#include "providers/simcloud/js.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"

static void quote(struct str *s, const char *text)
{
	const char *run = text;

	str_add(s, "\"", 1);
	for (const char *p = text; *p != '\0'; p++) {
		unsigned char c = (unsigned char)*p;

		if (c >= 0x20 && c != '"' && c != '\\' && c < 0x7f)
			continue;
		str_add(s, run, (size_t)(p - run));
		run = p + 1;
		if (c == '"' || c == '\\')
			str_addf(s, "\\%c", c);
		else if (c < 0x20)
			str_addf(s, "\\u%04x", c);
		else
			str_add(s, "?", 1);
	}
	str_adds(s, run);
	str_add(s, "\"", 1);
}

static void begin(struct str *s, const char *key)
{
	char last = s->len > 0 ? s->p[s->len - 1] : '{';

	if (last != '{' && last != '[')
		str_add(s, ",", 1);
	if (key != NULL) {
		quote(s, key);
		str_add(s, ":", 1);
	}
}

void js_open(struct str *s, const char *key, char bracket)
{
	begin(s, key);
	str_add(s, &bracket, 1);
}

void js_close(struct str *s, char bracket)
{
	str_add(s, &bracket, 1);
}

void js_str(struct str *s, const char *key, const char *value)
{
	begin(s, key);
	quote(s, value);
}

void js_int(struct str *s, const char *key, int64_t value)
{
	char text[FMT_U64_SIZE];

	begin(s, key);
	str_adds(s, fmt_i64(text, value));
}

void js_seconds(struct str *s, const char *key, int64_t ms)
{
	begin(s, key);
	str_addf(s, "%" PRId64 ".%03" PRId64, ms / 1000, ms % 1000);
}

void js_money(struct str *s, const char *key, int64_t nano)
{
	char text[FMT_MONEY_SIZE];

	begin(s, key);
	str_adds(s, fmt_money(text, nano));
}

void js_bool(struct str *s, const char *key, bool value)
{
	begin(s, key);
	str_adds(s, value ? "true" : "false");
}

void js_null(struct str *s, const char *key)
{
	begin(s, key);
	str_adds(s, "null");
}

void js_raw(struct str *s, const char *key, const json_t *value)
{
	char *text = mem_check(json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY));

	begin(s, key);
	str_adds(s, text);
	free(text);
}

int js_get_str(const json_t *o, const char *key, char *out, size_t size, struct err *e)
{
	const json_t *v = json_object_get(o, key);

	if (v == NULL || json_is_null(v))
		return 0;
	if (!json_is_string(v) || json_string_length(v) >= size)
		return err_set(e, ERR_INVALID, "%s: want a string of less than %zu bytes", key,
			       size);
	memcpy(out, json_string_value(v), json_string_length(v) + 1);
	return 0;
}

int js_get_int(const json_t *o, const char *key, int64_t *out, struct err *e)
{
	const json_t *v = json_object_get(o, key);

	if (v == NULL || json_is_null(v))
		return 0;
	if (!json_is_integer(v) || json_integer_value(v) < 0)
		return err_set(e, ERR_INVALID, "%s: want a whole number", key);
	*out = (int64_t)json_integer_value(v);
	return 0;
}

int js_get_real(const json_t *o, const char *key, double *out, struct err *e)
{
	const json_t *v = json_object_get(o, key);

	if (v == NULL || json_is_null(v))
		return 0;
	if (!json_is_number(v) || json_number_value(v) < 0 || json_number_value(v) > 1)
		return err_set(e, ERR_INVALID, "%s: want a number from 0 to 1", key);
	*out = json_number_value(v);
	return 0;
}

int js_get_bool(const json_t *o, const char *key, bool *out, struct err *e)
{
	const json_t *v = json_object_get(o, key);

	if (v == NULL || json_is_null(v))
		return 0;
	if (!json_is_boolean(v))
		return err_set(e, ERR_INVALID, "%s: want true or false", key);
	*out = json_is_true(v);
	return 0;
}

int js_get_ms(const json_t *o, const char *key, int64_t *out, struct err *e)
{
	const json_t *v = json_object_get(o, key);

	if (v == NULL || json_is_null(v))
		return 0;
	if (!json_is_string(v))
		return err_set(e, ERR_INVALID, "%s: want a duration such as \"30s\"", key);
	if (fmt_duration_parse(json_string_value(v), out, e) != 0)
		return err_wrap(e, "%s", key);
	return 0;
}

int js_only(const json_t *o, const char *const *known, struct err *e)
{
	void *it;

	if (!json_is_object(o))
		return err_set(e, ERR_INVALID, "want an object");
	/* jansson's iteration takes no const object, though it changes nothing. */
	for (it = json_object_iter((json_t *)(uintptr_t)o); it != NULL;
	     it = json_object_iter_next((json_t *)(uintptr_t)o, it)) {
		const char *key = json_object_iter_key(it);
		size_t i = 0;

		while (known[i] != NULL && strcmp(known[i], key) != 0)
			i++;
		if (known[i] == NULL)
			return err_set(e, ERR_INVALID, "unknown key \"%.40s\"", key);
	}
	return 0;
}
