/* rest.h - what the drivers of REST clouds have in common: one file describes a vendor, and the
 * rest is here (docs/providers/writing-a-driver.md).
 *
 * The description is a constant struct rest_api.  build() writes a request with rest_begin() to
 * rest_end(); parse() gives what is no success to rest_refused(), reads the others with doc.h, and
 * says rest_unreadable() if that fails.  rest_parse() is all of this for a driver that needs no
 * more. */
#ifndef PROVIDERS_COMMON_REST_H
#define PROVIDERS_COMMON_REST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "core/provider.h"
#include "providers/common/doc.h"

enum {
	REST_BASE_MAX = 1024, /* the url of the configuration */
	REST_URL_MAX = 8000,  /* what servers take at least (RFC 9110, 4.1), cursors escaped */
	REST_BODY_MAX = 1 << 20,
	REST_CREDENTIAL_MAX = 4096,   /* the longest are tokens of a few KiB */
	REST_RETRY_MAX_MS = 86400000, /* a longer time to wait is a mistake or an attack */
	REST_SECRETS_MAX = 4,
};

enum rest_auth {
	REST_BEARER, /* Authorization: Bearer CREDENTIAL */
	REST_BASIC,  /* Authorization: Basic, of "USER:PASSWORD" or "KEY:" */
	REST_HEADER, /* NAME: CREDENTIAL */
};

/* What a refusal means.  The first row that fits decides; a field that is 0 or NULL fits all. */
struct rest_row {
	unsigned ops;     /* REST_OP(PROVIDER_CREATE) | ... */
	long status;      /* of HTTP */
	const char *code; /* the vendor's word for the error; "provider/": all that begin so */
	const char *says; /* a part of its message, for vendors without codes */
	enum provider_code means;
};
#define REST_OP(kind) (1u << (kind))

struct rest_api { /* constant */
	enum rest_auth auth;
	const char *auth_header;    /* of REST_HEADER */
	bool open;                  /* works without a credential, too */
	const char *const *headers; /* of each request, NULL-terminated: "Name: value"; or NULL */
	/* Keys (doc.h) of an error's code, its message, and its time to wait; NULL: it has none. */
	const char *error_code, *error_message, *error_wait;
	int64_t wait_unit_ms;   /* of error_wait: 1000 for seconds */
	bool shows_code;        /* people are told "CODE: message" */
	const char *request_id; /* header of a reply with the vendor's id of the request; or NULL */
	const struct rest_row *rows;
	size_t nrows;
};

struct rest { /* what a driver keeps; of each provider section */
	const struct rest_api *api;
	char *base;                      /* without a slash at its end */
	char *auth;                      /* the whole header; NULL: none */
	char *secrets[REST_SECRETS_MAX]; /* masked in messages; the rest are NULL */
};

/* http(s)://HOST[:PORT][/PATH], without user, query or fragment, at most REST_BASE_MAX bytes? */
bool rest_is_url(const char *url);
/* Check url and credential, and keep copies; conf->credential may be wiped afterwards.  -1: *r
 * needs no fini. */
int rest_init(struct rest *r, const struct rest_api *api, const struct provider_conf *conf,
	      struct err *e);
void rest_fini(struct rest *r); /* wipes */

/* --- requests ----------------------------------------------------------------------------------
 */

/* A request in the making: as with str.h, what is wrong with it is said once, by rest_end(). */
struct rest_call {
	const struct rest *rest;
	const char *method; /* static */
	struct str url, body;
	bool bad;
};

/* path is written as it is: "/v1/instances", "/v1/instances?limit=100". */
void rest_begin(struct rest_call *c, const struct rest *r, const char *method, const char *path);
/* Append "/text", escaped.  "", "." and ".." are no part of a path: servers resolve them. */
void rest_part(struct rest_call *c, const char *text);
/* Append "?name=value" or "&name=value", the value escaped (RFC 3986). */
void rest_query(struct rest_call *c, const char *name, const char *value);
void rest_query_given(struct rest_call *c, const char *name, const char *value); /* unless "" */
void rest_query_number(struct rest_call *c, const char *name, uint64_t value);

/* The body, in JSON; commas come by themselves.  key NULL: an item of a list.  The memory is wiped,
 * so user-data may be in it. */
void rest_open(struct rest_call *c, const char *key, char bracket);     /* '{' or '[' */
void rest_close(struct rest_call *c, char bracket);                     /* '}' or ']' */
void rest_text(struct rest_call *c, const char *key, const char *text); /* UTF-8, or bad */
/* likewise, in base64, as some want user-data */
void rest_base64(struct rest_call *c, const char *key, const char *text);
void rest_number(struct rest_call *c, const char *key, uint64_t value);
void rest_flag(struct rest_call *c, const char *key, bool value);
/* The whole body from jansson, which leaves copies: not for secrets.  Takes v; NULL is bad. */
void rest_json(struct rest_call *c, json_t *v);

/* Move the request to *out.  -1: it is too long, or something in it cannot be sent; what: of the
 * error message.  Either way *c is finished. */
int rest_end(struct rest_call *c, struct provider_request *out, const char *what, struct err *e);
/* As rest_end() if rc is 0.  Else *c is dropped and -1 returned: rc is of what wrote the call,
 * which has set *e. */
int rest_finish(struct rest_call *c, int rc, struct provider_request *out, const char *what,
		struct err *e);
/* Append the id of a delete to the path.  -1: there is not just one; who, as in "Nova": of the
 * error message. */
int rest_delete_one(struct rest_call *c, const struct provider_op *op, const char *who,
		    struct err *e);

/* --- replies -----------------------------------------------------------------------------------
 */

/* The code of a reply that cannot be understood. */
enum provider_code rest_senseless(enum provider_op_kind kind);
static inline bool rest_succeeded(const struct provider_reply *reply)
{
	return reply->status >= 200 && reply->status < 300;
}

/* What an error means for this kind of request, by the driver's rows.  code and words: the
 * vendor's, or "".  other: if no row fits.  The result is restricted to what is of use: a list
 * finds nothing missing, and only a create lacks capacity. */
enum provider_code rest_code(const struct rest_api *api, enum provider_op_kind kind, long status,
			     const char *code, const char *words, enum provider_code other);
/* What a status means if no row fits: 401 to 403 is PROVIDER_DENIED, 404 on a delete
 * PROVIDER_NOT_FOUND, ...; a 5xx is rest_senseless(). */
enum provider_code rest_code_of_status(enum provider_op_kind kind, long status);

/* Fill in *out from a reply that is no success: code, time to wait, and message.  A delete of one
 * instance that is not found, or not yet possible, is OK with that as its item's code. */
void rest_refused(const struct rest *r, const struct provider_op *op,
		  const struct provider_reply *reply, struct provider_result *out);
/* Drop what is in *out, and say that the reply cannot be read.  why: such as doc.wrong; "": no
 * more.  If *out is a create's with an instance that has an id, the words name it: it may be ours,
 * and no list may ever show that. */
void rest_unreadable(const struct rest *r, const struct provider_op *op,
		     const struct provider_reply *reply, const char *why,
		     struct provider_result *out);
/* provider_ops.request_id of a driver whose `self` begins with its struct rest. */
void rest_request_id(const void *self, const struct provider_reply *reply,
		     char out[PROVIDER_REQUEST_MAX + 1]);
/* Set the message for people and logs, by words_show() with the driver's secrets; the vendor's
 * number of the request, if there is one, is its end: "no such image (req-17)". */
void rest_message(const struct rest *r, const struct provider_reply *reply, const char *text,
		  struct provider_result *out);

/* Reads a success.  What d lacks need not be reported; -1: the reply makes no sense otherwise. */
typedef int (*rest_read_fn)(const struct rest *r, const struct provider_op *op, struct doc *d,
			    struct provider_result *out);
/* All of a parse(): by status, the body loaded.  An empty success of a delete, a report or a drop
 * is given to read with d->top empty: use doc_has(). */
void rest_parse(const struct rest *r, const struct provider_op *op,
		const struct provider_reply *reply, rest_read_fn read, struct provider_result *out);

/* --- instances ---------------------------------------------------------------------------------
 */

struct rest_state {
	const char *word;
	enum provider_state state;
};
/* What a vendor's word for a state means.  PROVIDER_UNKNOWN: none of the n; it exists and bills
 * (I14). */
enum provider_state rest_state(const struct rest_state *states, size_t n, const char *word);
/* Append an instance to the list, all zero. */
struct provider_instance *rest_add_instance(struct provider_result *out);
/* Append why that instance of the list has failed: PROVIDER_TRANSIENT, which says nothing about the
 * place, and no words, unless the caller knows better. */
struct provider_failure *rest_add_failure(struct provider_result *out, const char *id);
/* The same, saying that `vendor` says that it failed, and not why. */
void rest_failed_for_no_reason(struct provider_result *out, const char *id, const char *vendor);
/* The one item of a create of one instance: OK, pending, whose it is.  The caller sets the id. */
struct provider_instance *rest_created(const struct provider_create *c,
				       struct provider_result *out);
/* The one item of a delete of one id.  OK: it is stopping, since only a list says when it has
 * ended. */
void rest_deleted(const struct provider_op *op, enum provider_code code,
		  struct provider_result *out);
/* The console log at key; "", or anything but a text: there is none yet. */
void rest_console(const struct doc *d, const char *key, struct provider_result *out);
/* Is this type one of those whose quotes are asked for? */
bool rest_wants_type(const struct provider_op *op, const char *type);
/* Has every item that is OK an id of its own?  Two nodes of a create cannot be one instance. */
bool rest_ids_differ(const struct provider_result *out);

/* --- pages -------------------------------------------------------------------------------------
 *
 * Each sets code and cursor of *out: PROVIDER_MORE, or PROVIDER_OK if that was the last.  -1: the
 * cursor repeats (F16), is too long, or leads elsewhere. */

/* next: the vendor's token; "" at the end. */
int rest_more(const struct provider_op *op, struct provider_result *out, const char *next);
/* For pages with numbers, from 1 on: the one of this request, and that there is another. */
uint64_t rest_page(const struct provider_op *op);
int rest_more_pages(const struct provider_op *op, struct provider_result *out, bool more);
/* next: a URL, or a path from the root, which must be below the base: it gets our credential. */
int rest_more_url(const struct rest *r, const struct provider_op *op, struct provider_result *out,
		  const char *next);
/* Begin with that URL; at the first request with path. */
void rest_begin_url(struct rest_call *c, const struct rest *r, const struct provider_op *op,
		    const char *path);

#endif
