#include "providers/common/rest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/map.h"
#include "base/mem.h"
#include "core/console.h"
#include "providers/common/words.h"

enum { TEXT_MAX = 1 << 20 };

/* --- codes -------------------------------------------------------------------------------------
 */

enum provider_code rest_senseless(enum provider_op_kind kind)
{
	return kind == PROVIDER_CREATE ? PROVIDER_AMBIGUOUS : PROVIDER_TRANSIENT;
}

static bool ends(enum provider_op_kind kind)
{
	return kind == PROVIDER_DELETE || kind == PROVIDER_FABRIC_DROP;
}

static bool makes(enum provider_op_kind kind)
{
	return kind == PROVIDER_CREATE || kind == PROVIDER_FABRIC_MAKE;
}

/* Restrict a code to what it can mean for this kind of request. */
static enum provider_code sensible(enum provider_op_kind kind, enum provider_code code)
{
	bool fits = true;

	switch (code) {
	case PROVIDER_AMBIGUOUS:
	case PROVIDER_CAPACITY:
		fits = kind == PROVIDER_CREATE;
		break;
	case PROVIDER_QUOTA:
	case PROVIDER_CONFLICT:
		fits = makes(kind);
		break;
	case PROVIDER_NOT_YET:
		fits = makes(kind) || ends(kind);
		break;
	case PROVIDER_NOT_FOUND: /* else the path is unknown, or a part of what was asked for */
		return ends(kind) ? code : PROVIDER_INVALID;
	default:
		break;
	}
	return fits ? code : PROVIDER_TRANSIENT; /* ask again: it is safe */
}

enum provider_code rest_code_of_status(enum provider_op_kind kind, long status)
{
	switch (status) {
	case 401:
	case 402: /* no funds */
	case 403:
	case 407:
		return PROVIDER_DENIED;
	case 404:
	case 410:
		return sensible(kind, PROVIDER_NOT_FOUND);
	case 409:
		return sensible(kind, ends(kind) ? PROVIDER_NOT_YET : PROVIDER_CONFLICT);
	case 423: /* locked */
		return ends(kind) ? PROVIDER_NOT_YET : rest_senseless(kind);
	case 408: /* the server waited for us; a proxy may mean that it waited for the server */
		return rest_senseless(kind);
	case 425:
	case 429:
		return PROVIDER_RATE;
	default:
		return status >= 400 && status < 500 ? PROVIDER_INVALID : rest_senseless(kind);
	}
}

/* Is it the row's code, or one below it? */
static bool is_code(const char *of_row, const char *code)
{
	size_t n = strlen(of_row);

	return n > 0 && of_row[n - 1] == '/' ? strncmp(code, of_row, n) == 0
					     : strcmp(code, of_row) == 0;
}

enum provider_code rest_code(const struct rest_api *api, enum provider_op_kind kind, long status,
			     const char *code, const char *words, enum provider_code other)
{
	for (size_t i = 0; i < api->nrows; i++) {
		const struct rest_row *row = &api->rows[i];

		if ((row->ops == 0 || (row->ops & REST_OP(kind)) != 0) &&
		    (row->status == 0 || row->status == status) &&
		    (row->code == NULL || is_code(row->code, code)) &&
		    (row->says == NULL || strstr(words, row->says) != NULL))
			return sensible(kind, row->means);
	}
	return other;
}

/* --- messages ----------------------------------------------------------------------------------
 */

void rest_request_id(const void *self, const struct provider_reply *reply,
		     char out[PROVIDER_REQUEST_MAX + 1])
{
	const struct rest *r = self;
	const char *id = r->api->request_id != NULL
				 ? headers_get(&reply->headers, r->api->request_id)
				 : NULL;
	const char *secrets[REST_SECRETS_MAX];

	out[0] = '\0';
	for (size_t i = 0; i < REST_SECRETS_MAX; i++)
		secrets[i] = r->secrets[i];
	if (id != NULL && words_is_plain(id, PROVIDER_REQUEST_MAX))
		words_show(out, PROVIDER_REQUEST_MAX + 1, id, secrets, REST_SECRETS_MAX);
}

void rest_message(const struct rest *r, const struct provider_reply *reply, const char *text,
		  struct provider_result *out)
{
	const char *secrets[REST_SECRETS_MAX];
	char id[PROVIDER_REQUEST_MAX + 1];

	for (size_t i = 0; i < REST_SECRETS_MAX; i++)
		secrets[i] = r->secrets[i];
	rest_request_id(r, reply, id);
	words_show(out->message, sizeof(out->message), text, secrets, REST_SECRETS_MAX);
	words_add_id(out->message, sizeof(out->message), id);
}

static void set_words(const struct rest *r, const struct provider_reply *reply, const char *code,
		      const char *words, struct provider_result *out)
{
	struct str text; /* the whole: a secret must not be cut before it is masked */

	str_init(&text, TEXT_MAX);
	if (code[0] == '\0' && words[0] == '\0')
		str_addf(&text, "HTTP status %ld without an error message", reply->status);
	if (code[0] != '\0' && r->api->shows_code)
		str_addf(&text, "%s: ", code);
	str_adds(&text, words[0] == '\0' && code[0] != '\0' ? "error without a message" : words);
	rest_message(r, reply, text.p, out);
	str_fini(&text);
}

/* --- results -----------------------------------------------------------------------------------
 */

static const char *word(const struct doc *d, const char *key)
{
	return key != NULL ? doc_word(&d->top, key) : "";
}

static int64_t wait_ms(const struct rest_api *api, const struct doc *d,
		       const struct provider_reply *reply)
{
	int64_t ms = headers_retry_after_ms(&reply->headers, REST_RETRY_MAX_MS), n;

	if (api->error_wait == NULL)
		return ms;
	n = doc_int_if(&d->top, api->error_wait);
	n = n < REST_RETRY_MAX_MS / api->wait_unit_ms ? n * api->wait_unit_ms : REST_RETRY_MAX_MS;
	return n > ms ? n : ms;
}

static struct provider_item *only_item(struct provider_result *out)
{
	out->items = mem_zalloc(sizeof(*out->items));
	out->nitems = 1;
	return &out->items[0];
}

void rest_deleted(const struct provider_op *op, enum provider_code code,
		  struct provider_result *out)
{
	struct provider_item *item = only_item(out);

	item->code = code;
	(void)snprintf(item->instance.id, sizeof(item->instance.id), "%s", op->u.del.ids[0]);
	item->instance.state = code == PROVIDER_OK ? PROVIDER_STOPPING : PROVIDER_UNKNOWN;
}

/* What is refused for one instance is said of it, not of the request. */
static void say_of_item(const struct provider_op *op, struct provider_result *out)
{
	if (op->kind != PROVIDER_DELETE || op->u.del.nids != 1 ||
	    (out->code != PROVIDER_NOT_FOUND && out->code != PROVIDER_NOT_YET))
		return;
	rest_deleted(op, out->code, out);
	out->code = PROVIDER_OK;
	out->message[0] = '\0';
}

void rest_refused(const struct rest *r, const struct provider_op *op,
		  const struct provider_reply *reply, struct provider_result *out)
{
	const char *code, *words;
	struct doc d;

	(void)doc_load(&d, reply->body, reply->len);
	code = word(&d, r->api->error_code);
	words = word(&d, r->api->error_message);
	out->code = rest_code(r->api, op->kind, reply->status, code, words,
			      rest_code_of_status(op->kind, reply->status));
	out->retry_after_ms = wait_ms(r->api, &d, reply);
	set_words(r, reply, code, words, out);
	say_of_item(op, out);
	doc_fini(&d);
}

/* The id of the instance that a create may have made; "": it is not known. */
static const char *made(const struct provider_op *op, const struct provider_result *out)
{
	return op->kind == PROVIDER_CREATE && out->nitems == 1 ? out->items[0].instance.id : "";
}

void rest_unreadable(const struct rest *r, const struct provider_op *op,
		     const struct provider_reply *reply, const char *why,
		     struct provider_result *out)
{
	char text[DOC_WRONG_SIZE + PROVIDER_ID_MAX + 48];
	const char *id = made(op, out);

	(void)snprintf(text, sizeof(text), "malformed reply%s%s%s%s",
		       id[0] != '\0' ? " about instance " : "", id, why[0] != '\0' ? ": " : "",
		       why);
	provider_result_fini(out); /* half a result would be worse than none */
	out->code = rest_senseless(op->kind);
	rest_message(r, reply, text, out);
}

void rest_parse(const struct rest *r, const struct provider_op *op,
		const struct provider_reply *reply, rest_read_fn read, struct provider_result *out)
{
	const bool silent = reply->len == 0 && (ends(op->kind) || op->kind == PROVIDER_REPORT);
	struct doc d = {0};
	int rc = -1;

	if (!rest_succeeded(reply)) {
		rest_refused(r, op, reply, out);
		return;
	}
	d.top.doc = &d;
	if (silent || doc_load(&d, reply->body, reply->len))
		rc = read(r, op, &d, out);
	if (rc != 0 || !doc_good(&d))
		rest_unreadable(r, op, reply, d.wrong, out);
	doc_fini(&d);
}

/* --- instances ---------------------------------------------------------------------------------
 */

enum provider_state rest_state(const struct rest_state *states, size_t n, const char *word)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(states[i].word, word) == 0)
			return states[i].state;
	return PROVIDER_UNKNOWN;
}

struct provider_instance *rest_add_instance(struct provider_result *out)
{
	const size_t n = out->ninstances++;

	if ((n & (n - 1)) == 0) /* as many as there is room for */
		out->instances =
			mem_realloc(out->instances, (n == 0 ? 1 : 2 * n) * sizeof(*out->instances));
	out->instances[n] = (struct provider_instance){0};
	return &out->instances[n];
}

struct provider_failure *rest_add_failure(struct provider_result *out, const char *id)
{
	const size_t n = out->nfailures++;
	struct provider_failure *f;

	if ((n & (n - 1)) == 0) /* as many as there is room for */
		out->failures =
			mem_realloc(out->failures, (n == 0 ? 1 : 2 * n) * sizeof(*out->failures));
	f = &out->failures[n];
	*f = (struct provider_failure){.code = PROVIDER_TRANSIENT};
	(void)snprintf(f->id, sizeof(f->id), "%s", id);
	return f;
}

void rest_failed_for_no_reason(struct provider_result *out, const char *id, const char *vendor)
{
	struct provider_failure *f = rest_add_failure(out, id);

	(void)snprintf(f->message, sizeof(f->message), "%s says that it failed, and not why",
		       vendor);
}

struct provider_instance *rest_created(const struct provider_create *c, struct provider_result *out)
{
	struct provider_instance *i = &only_item(out)->instance;

	(void)snprintf(i->cluster, sizeof(i->cluster), "%s", c->cluster);
	(void)snprintf(i->node, sizeof(i->node), "%s", c->wants[0].node);
	i->gen = c->wants[0].gen;
	i->state = PROVIDER_PENDING;
	return i;
}

void rest_console(const struct doc *d, const char *key, struct provider_result *out)
{
	const char *log = doc_word(&d->top, key);

	out->console = console_end(log, strlen(log));
}

bool rest_wants_type(const struct provider_op *op, const char *type)
{
	for (size_t i = 0; i < op->u.quotes.ntypes; i++)
		if (strcmp(op->u.quotes.types[i], type) == 0)
			return true;
	return op->u.quotes.ntypes == 0;
}

bool rest_ids_differ(const struct provider_result *out)
{
	struct map seen;
	bool differ = true;

	map_init(&seen);
	for (size_t i = 0; i < out->nitems && differ; i++) {
		const char *id = out->items[i].instance.id;

		if (out->items[i].code != PROVIDER_OK)
			continue;
		differ = map_get(&seen, id) == NULL;
		map_put(&seen, id, &seen);
	}
	map_fini(&seen);
	return differ;
}

/* --- pages -------------------------------------------------------------------------------------
 */

int rest_more(const struct provider_op *op, struct provider_result *out, const char *next)
{
	if (strlen(next) >= sizeof(out->cursor) ||
	    (next[0] != '\0' && strcmp(next, provider_cursor(op)) == 0))
		return -1;
	memmove(out->cursor, next, strlen(next) + 1); /* it may be there */
	out->code = next[0] != '\0' ? PROVIDER_MORE : PROVIDER_OK;
	return 0;
}

uint64_t rest_page(const struct provider_op *op)
{
	const char *cursor = provider_cursor(op);

	return cursor[0] != '\0' ? strtoull(cursor, NULL, 10) : 1;
}

int rest_more_pages(const struct provider_op *op, struct provider_result *out, bool more)
{
	char next[FMT_U64_SIZE];

	return rest_more(op, out, more ? fmt_u64(next, rest_page(op) + 1) : "");
}

/* What follows the base in a URL or path; NULL: it leads elsewhere.  The scheme does not matter:
 * behind a proxy many servers believe that they have no TLS, and we keep to ours. */
static const char *below(const char *base, const char *next)
{
	const char *host = strstr(base, "://") + 3, *from = host;
	const char *scheme = strstr(next, "://");

	if (next[0] == '/' && next[1] != '/')
		from = host + strcspn(host, "/");
	else if (strncmp(next, "http://", 7) == 0 || strncmp(next, "https://", 8) == 0)
		next = scheme + 3;
	else
		return NULL;
	if (strncmp(next, from, strlen(from)) != 0)
		return NULL;
	next += strlen(from);
	return next[0] == '/' || next[0] == '?' ? next : NULL;
}

int rest_more_url(const struct rest *r, const struct provider_op *op, struct provider_result *out,
		  const char *next)
{
	const char *rest = next[0] != '\0' ? below(r->base, next) : "";

	if (rest == NULL || strstr(rest, "/..") != NULL)
		return -1;
	for (const char *p = rest; *p != '\0'; p++)
		if (*p <= ' ' || *p > '~' || strchr("#\\\"<>", *p) != NULL)
			return -1;
	return rest_more(op, out, rest);
}

void rest_begin_url(struct rest_call *c, const struct rest *r, const struct provider_op *op,
		    const char *path)
{
	const char *cursor = provider_cursor(op);

	rest_begin(c, r, "GET", cursor[0] != '\0' ? cursor : path);
}
