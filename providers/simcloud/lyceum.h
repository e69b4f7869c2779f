/* lyceum.h - Lyceum's face of the simulated cloud: its REST API at /api/v2/external/, as far as a
 * driver needs it.
 *
 * One create makes one machine with 1, 2, 4 or 8 GPUs of a hardware profile; nothing is idempotent,
 * there are no tags, no user data and no filter by name, and ended machines stay listed.  The types
 * gpu_1x_h100, gpu_2x_h100 and so on of the simulated cloud are the profile h100, in any region.
 * The meter learns the node from the display name (name.h).
 *
 * Bodies are those recorded from the vendor where there is a recording; a comment says "invented"
 * where there is none.  A member that it does not know is ignored, as the vendor does: a
 * gpu_count outside instance_specs is without effect, and one of 0 is 1. */
#ifndef SIMCLOUD_LYCEUM_H
#define SIMCLOUD_LYCEUM_H

#include "providers/simcloud/face.h"
#include "providers/simcloud/found.h"
#include "providers/simcloud/gpu.h"
#include "providers/simcloud/order.h"

#define LYCEUM_USER "00000000-0000-4000-8000-000000000001"
#define LYCEUM_ORG  "00000000-0000-4000-8000-000000000002"
#define LYCEUM_SLUG "simcloud" /* the one organization */

/* Texts that error() knows, and answers with another status than its code's. */
#define LYCEUM_NO_METHOD "Method Not Allowed" /* 405 */
#define LYCEUM_WRONG     "body/"              /* "body/MEMBER: TYPE: text": 422 */

enum {
	LYCEUM_BODY_MAX = 16 << 20,    /* bytes of one answer */
	LYCEUM_TOKEN_MS = 3600 * 1000, /* life of an access token */
	LYCEUM_REFRESH_MS = 86400000,  /* life of a refresh token */
	LYCEUM_TOKEN_SIZE = 512,
	LYCEUM_PROFILES = 6,
	LYCEUM_COUNTS = 4,
};

enum lyceum_action {
	LYCEUM_CREATE,
	LYCEUM_LIST,
	LYCEUM_STATUS,
	LYCEUM_RENAME,
	LYCEUM_DELETE,
	LYCEUM_AVAILABILITY,
	LYCEUM_PRICING,
	LYCEUM_ACCOUNT, /* what says nothing of machines */
	LYCEUM_SESSION,
};

enum lyceum_state {
	LYCEUM_PENDING,
	LYCEUM_PROVISIONING,
	LYCEUM_READY,
	LYCEUM_TERMINATED,
	LYCEUM_FAILED,
	LYCEUM_ERROR,
};

struct lyceum_call { /* face_call.own */
	enum lyceum_action action;
	struct order *order;              /* create: with the display name; else NULL */
	char profile[SETTINGS_WORD_SIZE]; /* create */
	unsigned count;
	unsigned hidden;            /* list: set of states not to show */
	char name[ORDER_NAME_SIZE]; /* rename: the new display name, "" for none */
	const char *answer;         /* account: static text */
	char access[LYCEUM_TOKEN_SIZE], refresh[LYCEUM_TOKEN_SIZE]; /* session */
};

extern const struct face face_lyceum;

/* The profiles that it sells, in the order of its error texts, and the counts. */
extern const char *const lyceum_profiles[LYCEUM_PROFILES];
extern const unsigned lyceum_counts[LYCEUM_COUNTS];

/* --- lyceum_auth.c --- */
enum code lyceum_authorize(struct face_visit *v, struct err *e);
/* Is the request without a credential, because it asks for one? */
bool lyceum_is_open(const struct http_request *rq);
/* Read a login or a refresh, and make the tokens.  CODE_DENIED: wrong password or token. */
enum code lyceum_read_session(struct lyceum_call *x, const struct face_visit *v, struct err *e);

/* --- lyceum_parse.c --- */
bool lyceum_is(const struct face_visit *v);
enum code lyceum_parse(struct face_call **out, const struct face_visit *v, struct err *e);
void lyceum_call_free(void *own);

/* --- lyceum_offers.c --- */
/* A pool of that profile, count and market: one with room if there is one; NULL: not sold. */
const struct cloud_pool *lyceum_pool(const struct cloud *c, const char *profile, unsigned count,
				     enum market market);
void lyceum_availability(const struct cloud *c, int64_t now, struct face_reply *out);
void lyceum_pricing(const struct cloud *c, int64_t now, struct face_reply *out);

/* --- lyceum_vm.c --- */
enum lyceum_state lyceum_state(const struct cloud_instance *i, int64_t now);
/* A machine as its create shows it, a list, and the question for its status. */
void lyceum_put_created(struct str *s, const struct cloud *c, const struct cloud_instance *i);
void lyceum_put_listed(struct str *s, const struct cloud *c, const struct cloud_instance *i,
		       int64_t now);
void lyceum_put_status(struct str *s, const struct cloud *c, const struct cloud_instance *i,
		       int64_t now);

/* --- lyceum_error.c --- */
/* {"detail":...}; message NULL: the text that Lyceum has for this code. */
void lyceum_error(struct face_reply *out, enum code code, const char *message);

#endif
