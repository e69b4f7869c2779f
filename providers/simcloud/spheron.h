/* spheron.h - Spheron's face of the simulated cloud: its REST API at /api/, as far as a driver
 * needs it.
 *
 * Spheron sells the machines of others.  An offer is of one of these providers, in one region; a
 * deployment is one machine of one offer, and all that its create says of the offer must be right.
 * Here each pool of the simulated cloud is an offer: gpu_8x_h100 is 8 H100 as a virtual machine,
 * cluster_8x_h100 one with InfiniBand, bm_8x_h100 bare metal; the last letter of the zone says
 * whose it is.  The meter learns the node from the deployment's name (name.h).
 *
 * The vendor publishes no description.  What answers look like is from clients that were written
 * against it (tests/fixtures/spheron); a comment says "invented" where nothing is known. */
#ifndef SIMCLOUD_SPHERON_H
#define SIMCLOUD_SPHERON_H

#include <jansson.h>

#include "providers/simcloud/face.h"
#include "providers/simcloud/found.h"
#include "providers/simcloud/gpu.h"
#include "providers/simcloud/order.h"

#define SPHERON_TEAM      "team-simcloud" /* the one team */
#define SPHERON_NO_METHOD "METHOD_NOT_ALLOWED: Method not allowed"

enum {
	SPHERON_BODY_MAX = 16 << 20, /* bytes of one answer */
	SPHERON_PAGE = 20,           /* invented: entries of a page, if the request does not say */
	SPHERON_PAGE_MAX = 100,
	SPHERON_OFFER_SIZE = 3 * SETTINGS_WORD_SIZE,
	SPHERON_KEY_MAX = 4096,
	SPHERON_MINUTE_MS = 60000,
};

enum spheron_action {
	SPHERON_CREATE,
	SPHERON_LIST,
	SPHERON_GET,
	SPHERON_RENAME,
	SPHERON_DELETE,
	SPHERON_CAN_TERMINATE,
	SPHERON_OFFERS,
	SPHERON_BALANCE,
	SPHERON_TEAMS,
	SPHERON_PROVIDERS,
	SPHERON_KEYS,
	SPHERON_ADD_KEY,
	SPHERON_DROP_KEY,
};

struct spheron_wish { /* what a create says of its offer */
	char offer[SPHERON_OFFER_SIZE], provider[SETTINGS_WORD_SIZE], gpu[SETTINGS_WORD_SIZE];
	char region[SETTINGS_WORD_SIZE], os[SETTINGS_WORD_SIZE], kind[SETTINGS_WORD_SIZE];
	int64_t count;
};

struct spheron_call { /* face_call.own */
	enum spheron_action action;
	struct order *order; /* create: with name and key; else NULL */
	struct spheron_wish wish;
	int64_t page, limit;              /* page 0: the request names none */
	char status[SETTINGS_WORD_SIZE];  /* list: only these; "": all */
	char kind[SETTINGS_WORD_SIZE];    /* offers: only of this instanceType; "": all */
	char search[SETTINGS_WORD_SIZE];  /* offers: only GPUs whose name has this text */
	char sort_by[SETTINGS_WORD_SIZE]; /* offers: "": as they come */
	bool descending;
	char name[ORDER_NAME_SIZE]; /* rename; name of a new key */
	char *key;                  /* text of a new key */
};

struct spheron_provider { /* whose machines they are */
	const char *name;
	bool cloud_init;  /* false: it is dropped without a word */
	int64_t ssh_port; /* 0: not told */
};

struct spheron_offer {
	const struct cloud_pool *pool;
	const struct spheron_provider *provider;
	struct gpu_type gpu;
	char id[SPHERON_OFFER_SIZE], gpu_name[SETTINGS_WORD_SIZE]; /* "H100" */
	const char *kind;                                          /* "DEDICATED", ... */
};

extern const struct face face_spheron;

/* --- spheron_parse.c --- */
bool spheron_is(const struct face_visit *v);
enum code spheron_authorize(struct face_visit *v, struct err *e);
enum code spheron_parse(struct face_call **out, const struct face_visit *v, struct err *e);
void spheron_call_free(void *own);

/* --- spheron_body.c --- */
/* Read the body of a create, a rename or a new key.  CODE_DENIED: another's team. */
enum code spheron_read_body(struct face_call *f, const struct http_request *rq, struct err *e);

/* --- spheron_offers.c --- */
extern const char *const spheron_os[]; /* of all offers; NULL-terminated */
/* The pool as an offer; false: Spheron does not sell it. */
bool spheron_offer_of(struct spheron_offer *out, const struct cloud_pool *p);
bool spheron_offer_find(struct spheron_offer *out, const struct cloud *c, const char *id);
bool spheron_has_room(const struct cloud_pool *p);
void spheron_offers(const struct face_call *f, const struct cloud *c, int64_t now,
		    struct face_reply *out);

/* --- spheron_deployment.c --- */
const char *spheron_status(const struct cloud_instance *i, int64_t now);
/* Has it ended, or is it about to, so that it cannot be deleted? */
bool spheron_is_gone(const struct cloud_instance *i, int64_t now);
void spheron_put(struct str *s, const char *key, const struct cloud *c,
		 const struct cloud_instance *i, int64_t now);

/* --- spheron_account.c --- */
void spheron_account(const struct face_call *f, struct cloud *c, int64_t now,
		     struct face_reply *out);

/* --- spheron_error.c --- */
/* {"error","code","details"}; message "CODE: text", or a text, or NULL: Spheron's for this code. */
void spheron_error(struct face_reply *out, enum code code, const char *message);
/* A delete before the minimum runtime; times are told in minutes. */
void spheron_too_early(struct face_reply *out, int64_t remaining_ms, int64_t minimum_ms);
/* A delete of a deployment that has this status. */
void spheron_already(struct face_reply *out, const char *status);
int64_t spheron_minutes(int64_t ms); /* begun ones count */

#endif
