/* keystone.h - Keystone's face of the simulated cloud: version 3 of OpenStack's Identity API, as
 * far as a client of Nova needs it.
 *
 * At /identity/v3, or /v3: a token for a password or an application credential, which is the text
 * of
 * --token-file whatever the user, the project or the credential is called; and the catalog, with
 * one endpoint of Nova for each region. */
#ifndef SIMCLOUD_KEYSTONE_H
#define SIMCLOUD_KEYSTONE_H

#include "providers/simcloud/openstack.h"

extern const struct face face_keystone;

enum keystone_what { KEYSTONE_VERSIONS, KEYSTONE_VERSION, KEYSTONE_LOGIN, KEYSTONE_SHOW };

struct keystone_call { /* face_call.own */
	enum keystone_what what;
	char origin[OS_URL_SIZE];
	char text[OS_TOKEN_SIZE]; /* the token given or shown */
	struct os_token token;
	char user[SETTINGS_WORD_SIZE],
		credential[SETTINGS_WORD_SIZE]; /* names, as the client has them */
};

/* --- keystone_login.c --- */
struct keystone_login { /* what the body of a login says */
	bool by_application, scoped;
	char user[SETTINGS_WORD_SIZE], credential[SETTINGS_WORD_SIZE];
	char secret[256];
};

/* CODE_OK, or CODE_INVALID and why. */
enum code keystone_login(struct keystone_login *out, const struct http_request *rq, struct err *e);

/* --- keystone_answer.c --- */
/* Write {"token":{...}} with the catalog of what is sold now. */
void keystone_token(struct str *s, const struct keystone_call *x, const struct cloud *c);
void keystone_versions(struct str *s, const struct keystone_call *x);

#endif
