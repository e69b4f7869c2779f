/* keystone.h - a login at OpenStack's Keystone: a token for a password or an application
 * credential, and the endpoint of one service in the catalog that comes with it.
 *
 * A token is as good as a password for an hour, so it goes only where https keeps it, or to this
 * machine. */
#ifndef PROVIDERS_COMMON_KEYSTONE_H
#define PROVIDERS_COMMON_KEYSTONE_H

#include "providers/common/rest.h"

/* Options of a driver.  Texts, never NULL; "": not given.  Of users, projects and application
 * credentials the name or the id. */
struct keystone_who {
	const char *application_credential; /* else user and project */
	const char *user, *user_domain, *project, *project_domain;
	const char *region;    /* of the endpoint; "": the only one */
	const char *interface; /* of the endpoint: public, internal or admin */
};

struct keystone_service {
	const char *name; /* for people: "Nova" */
	const char *type; /* in the catalog: "compute" */
};

struct keystone_token { /* keystone_token_fini() */
	char *text;     /* a secret */
	int64_t until_ms;
	char region[PROVIDER_WORD_MAX + 1]; /* of the endpoint */
	char *url;                          /* of the endpoint */
};

/* For the rest of a driver whose service has other errors than Keystone. */
extern const struct rest_api keystone_api;

/* Is it https, or http to this machine? */
bool keystone_is_secure(const char *url);
/* Are url, which is Keystone's, and the options enough to log in?  credential: the password, or the
 * secret of the application credential; NULL: there is none. */
int keystone_check(const struct keystone_who *w, const char *url, const char *credential,
		   struct err *e);
/* Begin and write the request for a token; the caller ends it. */
void keystone_build(struct rest_call *c, const struct rest *r, const struct keystone_who *w,
		    const char *credential);
/* Read the answer into a text for keystone_take(). */
void keystone_read(const struct keystone_who *w, const struct keystone_service *service,
		   struct doc *d, const struct provider_reply *reply, struct str *out);
/* own: Keystone's own URL.  -1: malformed, or the token would go where others can read it, or to a
 * service of this machine by the word of another; *t needs no fini. */
int keystone_take(struct keystone_token *t, const struct keystone_service *service, const char *own,
		  const char *session, struct err *e);
void keystone_token_fini(struct keystone_token *t);

#endif
