/* openstack.h - what the faces of OpenStack share: Keystone (keystone.h), which gives a token for a
 * credential, and Nova (nova.h), which takes it.
 *
 * A token is as good as its signature, as Keystone's own (Fernet) are: nothing is kept of it.  It
 * says when it was issued and when it expires, signed with the credential. */
#ifndef SIMCLOUD_OPENSTACK_H
#define SIMCLOUD_OPENSTACK_H

#include "providers/simcloud/face.h"

enum {
	OS_TOKEN_SIZE = 128,
	OS_URL_SIZE = 256,
	OS_ID_SIZE = 40,        /* a UUID, with dashes */
	OS_BODY_MAX = 16 << 20, /* bytes of one answer */
	OS_TIME_SIZE = 32,
};

/* The one project and user: all names of such are theirs. */
#define OS_PROJECT "5c0000000000400080000000000000aa"
#define OS_USER    "5c0000000000400080000000000000bb"
/* The id of a request, until it has its number (face_number()). */
#define OS_REQUEST "req-5c000000-0000-4000-8000-0000000000cc"

struct os_token {
	int64_t issued_ms, expires_ms;
	bool scoped;         /* to the project; else it opens nothing */
	bool by_application; /* by an application credential; else by a password */
};

/* secret is the credential, or NULL where none is asked. */
void os_token_write(char out[OS_TOKEN_SIZE], const struct os_token *t, const char *secret);
/* Is text such a token, good now?  It may have ended before the time that its owner was told: when
 * the setting login_life was lowered. */
bool os_token_read(struct os_token *out, const char *text, const struct face_visit *v);

/* Is path, or a part of it up to a slash, this word?  Returns what follows, from the slash on;
 * NULL: it is not. */
const char *os_under(const char *path, const char *word);
/* "http://HOST:PORT", as the client calls us. */
void os_origin(char out[OS_URL_SIZE], const struct http_request *rq);
/* "2026-01-02T03:04:05" and the rest. */
char *os_time(char out[OS_TIME_SIZE], int64_t ms, const char *rest);

/* Answer 401 as Keystone and its middleware in front of the other services do. */
void os_unauthorized(struct face_reply *out);
/* Keystone's error. */
void os_error(struct face_reply *out, unsigned status, const char *title, const char *message);
/* Answer with a page for people, as frameworks do to a path that they do not know. */
void os_no_route(struct face_reply *out);
/* The message of an error that stands for that page. */
extern const char os_route[];

#endif
