#include "providers/common/doc.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/fmt.h"
#include "base/jpull.h"
#include "base/str.h"
#include "providers/common/rfc3339.h"
#include "providers/common/words.h"

enum { PATH_MAX_BYTES = 96, NUMBER_SIZE = 40 };

/* --- the document ------------------------------------------------------------------------------
 */

/* No more values than that: each begins after one of these, or in a string with them. */
static size_t values_at_most(const char *body, size_t len)
{
	size_t n = 1;

	for (size_t i = 0; i < len; i++)
		n += body[i] == ',' || body[i] == ':' || body[i] == '[' || body[i] == '{';
	return n;
}

static bool load(struct doc *d, const char *body, size_t len)
{
	struct jpull j;

	if (len > DOC_BYTES_MAX) {
		(void)snprintf(d->wrong, sizeof(d->wrong), "more than %d bytes", DOC_BYTES_MAX);
		return false;
	}
	if (values_at_most(body, len) > DOC_VALUES_MAX) {
		(void)snprintf(d->wrong, sizeof(d->wrong), "more than %d values", DOC_VALUES_MAX);
		return false;
	}
	/* jansson would go two thousand levels deep. */
	jpull_init(&j, body, len);
	(void)jpull_take(&j);
	d->root = jpull_end(&j)
			  ? json_loadb(body, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL)
			  : NULL;
	if (d->root == NULL)
		(void)snprintf(d->wrong, sizeof(d->wrong), "%s", len == 0 ? "empty" : "no JSON");
	return d->root != NULL;
}

bool doc_load(struct doc *d, const char *body, size_t len)
{
	bool good;

	*d = (struct doc){0};
	good = load(d, body != NULL ? body : "", body != NULL ? len : 0);
	d->top = (struct doc_at){.doc = d, .v = d->root};
	return good;
}

void doc_fini(struct doc *d)
{
	json_decref(d->root);
	*d = (struct doc){0};
}

bool doc_good(const struct doc *d)
{
	return d->wrong[0] == '\0';
}

bool doc_forgive(struct doc *d)
{
	bool wrong = !doc_good(d);

	d->wrong[0] = '\0';
	return wrong;
}

/* --- errors ------------------------------------------------------------------------------------
 */

static void add_path(struct str *s, const struct doc_at *o)
{
	if (o->up == NULL)
		return;
	add_path(s, o->up);
	if (o->key == NULL)
		str_addf(s, "[%zu]", o->index);
	else
		str_addf(s, "%s%s", s->len > 0 ? "." : "", o->key);
}

void doc_wrong(const struct doc_at *o, const char *key, const char *want)
{
	struct doc_at there = {.up = o, .key = key};
	struct str path;

	if (!doc_good(o->doc))
		return; /* something before it was wrong */
	str_init(&path, PATH_MAX_BYTES);
	add_path(&path, key != NULL ? &there : o);
	(void)snprintf(o->doc->wrong, sizeof(o->doc->wrong), "%s%swant %s", path.p,
		       path.len > 0 ? ": " : "", want);
	str_fini(&path);
}

/* --- places ------------------------------------------------------------------------------------
 */

static const json_t *member(const json_t *v, const char *name)
{
	json_t *o = (json_t *)(uintptr_t)v; /* jansson's iterators are not for constants */

	if (strcmp(name, "*") == 0 && json_object_size(v) == 1)
		return json_object_iter_value(json_object_iter(o));
	return json_object_get(v, name);
}

/* The value at key, below as many members as it has dots; NULL: none, or null. */
static const json_t *find(const struct doc_at *o, const char *key)
{
	const json_t *v = o->v != NULL && doc_good(o->doc) ? o->v : NULL;
	char name[DOC_KEY_MAX];

	while (key != NULL && v != NULL) {
		size_t n = strcspn(key, ".");

		(void)snprintf(name, sizeof(name), "%.*s", (int)n, key);
		v = member(v, name);
		key = key[n] == '.' ? key + n + 1 : NULL;
	}
	return json_is_null(v) ? NULL : v;
}

bool doc_has(const struct doc_at *o, const char *key)
{
	return find(o, key) != NULL;
}

static struct doc_at many(const struct doc_at *o, const char *key, bool are, size_t n, size_t max,
			  const char *what)
{
	struct doc_at list = {.doc = o->doc, .up = o, .key = key, .v = find(o, key)};
	char want[NUMBER_SIZE];

	if (key == NULL) {
		list.up = o->up;
		list.key = o->key;
		list.index = o->index;
	}
	if (are && n <= max) {
		list.n = n;
		return list;
	}
	(void)snprintf(want, sizeof(want), "%s of at most %zu", what, max);
	doc_wrong(o, key, want);
	list.v = NULL;
	return list;
}

struct doc_at doc_list(const struct doc_at *o, const char *key, size_t max)
{
	const json_t *v = find(o, key);

	return many(o, key, json_is_array(v), json_array_size(v), max, "a list");
}

struct doc_at doc_values(const struct doc_at *o, const char *key, size_t max)
{
	const json_t *v = find(o, key);

	return many(o, key, json_is_object(v), json_object_size(v), max, "an object");
}

static const json_t *value_at(const json_t *object, size_t i)
{
	json_t *o = (json_t *)(uintptr_t)object;
	void *at = json_object_iter(o);

	while (at != NULL && i-- > 0)
		at = json_object_iter_next(o, at);
	return json_object_iter_value(at);
}

struct doc_at doc_item(const struct doc_at *list, size_t i)
{
	const json_t *v = json_is_object(list->v) ? value_at(list->v, i) : NULL;

	return (struct doc_at){.doc = list->doc,
			       .up = list,
			       .index = i,
			       .v = v != NULL ? v : json_array_get(list->v, i)};
}

/* --- texts -------------------------------------------------------------------------------------
 */

static void text_wrong(const struct doc_at *o, const char *key, const char *what, size_t size)
{
	char want[NUMBER_SIZE + 24];

	(void)snprintf(want, sizeof(want), "%s of at most %zu bytes", what, size - 1);
	doc_wrong(o, key, want);
}

bool doc_text_if(const struct doc_at *o, const char *key, char *out, size_t size)
{
	const json_t *v = find(o, key);

	out[0] = '\0';
	if (v == NULL)
		return false;
	if (!json_is_string(v) || json_string_length(v) >= size) {
		text_wrong(o, key, "a string", size);
		return false;
	}
	memcpy(out, json_string_value(v), json_string_length(v) + 1);
	return true;
}

void doc_text(const struct doc_at *o, const char *key, char *out, size_t size)
{
	if (!doc_text_if(o, key, out, size))
		text_wrong(o, key, "a string", size);
}

void doc_id(const struct doc_at *o, const char *key, char *out, size_t size)
{
	const json_t *v = find(o, key);
	char number[FMT_U64_SIZE];
	const char *text = json_string_value(v);

	out[0] = '\0';
	if (json_is_integer(v) && json_integer_value(v) >= 0)
		text = fmt_i64(number, json_integer_value(v));
	if (text == NULL || !words_is_plain(text, size - 1))
		text_wrong(o, key, "an id", size);
	else
		memcpy(out, text, strlen(text) + 1);
}

const char *doc_word(const struct doc_at *o, const char *key)
{
	const char *text = json_string_value(find(o, key));

	return text != NULL ? text : "";
}

/* --- numbers -----------------------------------------------------------------------------------
 */

static bool whole(const char *text, int64_t *out)
{
	int64_t v = 0;

	for (const char *p = text; *p != '\0'; p++) {
		if (*p < '0' || *p > '9' || v > (INT64_MAX - (*p - '0')) / 10)
			return false;
		v = v * 10 + (*p - '0');
	}
	*out = v;
	return text[0] != '\0';
}

int64_t doc_int_if(const struct doc_at *o, const char *key)
{
	const json_t *v = find(o, key);
	int64_t n = json_integer_value(v);

	if (v == NULL)
		return 0;
	if (json_is_string(v) ? !whole(json_string_value(v), &n) : !json_is_integer(v) || n < 0) {
		doc_wrong(o, key, "a whole number");
		return 0;
	}
	return n;
}

int64_t doc_int(const struct doc_at *o, const char *key)
{
	if (!doc_has(o, key))
		doc_wrong(o, key, "a whole number");
	return doc_int_if(o, key);
}

bool doc_flag(const struct doc_at *o, const char *key)
{
	const json_t *v = find(o, key);

	if (v != NULL && !json_is_boolean(v))
		doc_wrong(o, key, "true or false");
	return doc_good(o->doc) && json_is_true(v);
}

/* A number as the text that the vendor wrote.  jansson has made a double of "29.52", which is exact
 * to 15 digits: nine decimals of it are those of the text. */
static const char *text_of(const json_t *v, char number[NUMBER_SIZE])
{
	if (json_is_integer(v))
		return fmt_i64(number, json_integer_value(v));
	if (!json_is_real(v))
		return json_string_value(v);
	(void)snprintf(number, NUMBER_SIZE, "%.9f", json_real_value(v));
	return number;
}

/* A price that may have more than nine decimals, as those by the second do: rounded up. */
static int read_money(const char *text, int64_t *nano)
{
	const char *dot = strchr(text, '.');
	size_t kept = dot != NULL ? (size_t)(dot - text) + 10 : 0;
	char cut[NUMBER_SIZE];

	if (dot == NULL || strlen(text) <= kept)
		return fmt_money_parse(text, nano, NULL);
	if (kept >= sizeof(cut) || text[kept + strspn(text + kept, "0123456789")] != '\0')
		return -1;
	(void)snprintf(cut, sizeof(cut), "%.*s", (int)kept, text);
	if (fmt_money_parse(cut, nano, NULL) != 0)
		return -1;
	*nano += text[kept + strspn(text + kept, "0")] != '\0';
	return 0;
}

int64_t doc_money(const struct doc_at *o, const char *key, int64_t per)
{
	char number[NUMBER_SIZE];
	const char *text = text_of(find(o, key), number);
	int64_t nano = 0;

	if (text == NULL || read_money(text, &nano) != 0) {
		doc_wrong(o, key, "a price");
		return 0;
	}
	return nano / per + (nano % per > 0);
}

bool doc_has_time(const struct doc_at *o, const char *key)
{
	const json_t *v = find(o, key);
	const char *text = json_string_value(v);

	return v != NULL &&
	       (text == NULL || (text[0] != '\0' && strncmp(text, "0001-01-01T00:00:00", 19) != 0));
}

int64_t doc_time(const struct doc_at *o, const char *key)
{
	const char *text = json_string_value(find(o, key));
	int64_t ms = 0;

	if (!doc_has_time(o, key))
		return 0;
	if (text != NULL && rfc3339_parse(text, &ms) == 0 && ms >= 0)
		return ms;
	doc_wrong(o, key, "a time such as 2026-01-02T03:04:05Z");
	return 0;
}

int64_t doc_time_if(const struct doc_at *o, const char *key)
{
	const char *said = doc_word(o, key);
	char text[64];
	int64_t ms = 0;

	if (rfc3339_parse(said, &ms) == 0)
		return ms > 0 ? ms : 0;
	(void)snprintf(text, sizeof(text), "%.60sZ", said);
	return rfc3339_parse(text, &ms) == 0 && ms > 0 ? ms : 0;
}
