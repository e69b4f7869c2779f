/* openstack_private.h - the parts of the driver openstack, and where their facts are from.
 *
 * Nova's API as nova 34.0.0 (2026.2) has it, read in its source and tried by
 * tests/contract/openstack-driver.py; Keystone 30.0.0 likewise:
 *
 *   nova/api/openstack/compute/schemas/servers.py  what a create may say: 65,535 bytes of base64 as
 *       user-data, 255 of a name or a value of metadata, 60 of a tag, no "," or "/" in it
 *   nova/compute/api.py, _populate_instance_names()  NAME-1, NAME-2 ... if there are several
 *   nova/scheduler/manager.py, _ensure_sufficient_hosts()  hosts for all of a create, or for none
 *   nova/conductor/manager.py, _bury_in_cell0()  without hosts they are in ERROR, with a fault
 *   nova/api/openstack/common.py, _STATE_MAP  the words for a state
 *   nova/exception.py, servers.py: create()  refusals; those of quotas are 403
 *   docs.openstack.org/api-ref/identity/v3  logins: password, application credential
 *
 *   servers.py, _is_cell_down_supported()  with a filter or a limit a list lacks cells that are
 * away
 *
 * and as docs.openstack.org/api-ref/compute says of lists: "marker", "servers_links". */
#ifndef PROVIDERS_OPENSTACK_PRIVATE_H
#define PROVIDERS_OPENSTACK_PRIVATE_H

#include "providers/common/members.h"
#include "providers/common/rest.h"
#include "providers/openstack.h"

#define OPENSTACK_CLUSTER "burstd-cluster"
#define OPENSTACK_NODE    "burstd-node"       /* and -2 ... -8: the create's node list */
#define OPENSTACK_GEN     "burstd-generation" /* and -2 ... -8: "3*5,4" */
#define OPENSTACK_BATCH   "burstd-batch"

enum {
	OPENSTACK_PARTS = 8,         /* values of metadata for one list ... */
	OPENSTACK_VALUE_MAX = 255,   /* ... of so many bytes each */
	OPENSTACK_TAG_MAX = 60,      /* bytes */
	OPENSTACK_RESERVATION = 64,  /* bytes of an id; Nova has 10 */
	OPENSTACK_PAGE_MAX = 1000,   /* Nova's max_limit, unless a cloud has another ... */
	OPENSTACK_ROWS_MAX = 100000, /* ... and a page of servers is as long as that says */
	OPENSTACK_USER_DATA = 49149, /* bytes whose base64 is 65,532 */
	OPENSTACK_VERSION_MIN = 52,  /* 2.52: tags in a create; Pike, of 2017 */
	OPENSTACK_VERSION_MAX = 96,  /* what this driver was written against */
};

/* A flavor of the cloud; at most as long as a type in burstd.conf. */
struct openstack_flavor {
	char name[PROVIDER_WORD_MAX + 1], id[PROVIDER_ID_MAX + 1];
	bool preemptible; /* requires spot_trait */
};

struct openstack_session { /* a login's */
	struct rest_api api;
	struct rest rest; /* base: up to the version */
	char *path;       /* from there on: "/v2.1/PROJECT" */
	char region[PROVIDER_WORD_MAX + 1];
	char version[40]; /* the header */
	const char *headers[2];
	int64_t until_ms;
	struct openstack_flavor *flavors;
	size_t nflavors;
};

enum openstack_step { OPENSTACK_TOKEN, OPENSTACK_VERSION, OPENSTACK_FLAVORS };

struct openstack {
	/* Its secrets are the password and the tokens: it reads all replies.  The first member, so
	 * that a rest_read_fn finds the rest. */
	struct rest keystone;
	struct openstack_options o; /* own texts, never NULL */
	char *user_data;            /* NULL: none */
	/* Only renew() changes these. */
	struct openstack_session *now, *next; /* NULL: none; next: of the login under way */
	enum openstack_step step;
	char marker[PROVIDER_ID_MAX + 1]; /* of the next page of flavors; "": the first */
};

/* --- openstack_call.c --- */
extern const struct rest_api openstack_api;
/* A request to Nova. */
void openstack_begin(struct rest_call *c, const struct openstack_session *n, const char *method,
		     const char *path);
/* The tag; "" if there can be none. */
void openstack_tag(char out[OPENSTACK_TAG_MAX + 1], const char *cluster);
/* Was the create accepted, and is it asked what became of it? */
bool openstack_is_polled(const struct provider_op *op);
/* "RESERVATION/COUNT", of the cursor; the count is that of the question before.  false: it is none.
 */
bool openstack_cursor_read(const char *cursor, char reservation[OPENSTACK_RESERVATION + 1],
			   unsigned *count);
int openstack_cursor_write(struct provider_result *out, const char *reservation, unsigned count);

/* --- openstack_login.c --- */
int openstack_login_open(struct openstack *s, const char *credential, struct err *e);
void openstack_login_close(struct openstack *s);
int openstack_login_build(const struct openstack *s, struct provider_request *out, struct err *e);
void openstack_login_parse(const struct openstack *s, const struct provider_op *op,
			   const struct provider_reply *reply, struct provider_result *out);
int64_t openstack_good_until(const void *self);
int openstack_renew(void *self, const char *session, struct err *e);

/* --- openstack_flavor.c --- */
/* The id of the flavor that this place's type and market mean; before the first login, when nothing
 * is sent, the type.  NULL: *e says why there is none. */
const char *openstack_flavor_id(const struct openstack *s, const struct provider_place *p,
				struct err *e);
void openstack_flavors_build(struct rest_call *c, const struct openstack_session *n,
			     const char *marker);
/* A page of flavors as lines of a login: the marker of the next, "" at the end; then those with a
 * usable name. */
int openstack_flavors_lines(const struct openstack *s, struct doc *d, const char *before,
			    struct str *out);
int openstack_flavors_take(struct openstack_session *n, const char *lines);
int openstack_quotes_read(const struct openstack *s, const struct provider_op *op, struct doc *d,
			  struct provider_result *out);

/* --- openstack_create.c --- */
size_t openstack_fits(const void *self, const struct provider_create *c);
int openstack_create_build(const struct openstack *s, const struct provider_op *op,
			   struct rest_call *c, struct err *e);
/* What has become of one that was accepted? */
int openstack_question_build(const struct openstack *s, const struct provider_op *op,
			     struct rest_call *c, struct err *e);
/* The answer to a create, not to a question what became of it. */
int openstack_created_read(const struct provider_op *op, struct doc *d,
			   struct provider_result *out);

/* --- openstack_list.c --- */
void openstack_list_build(struct rest_call *c, const struct provider_op *op);
/* Of a list, or of what became of a create.  -1: *why says more, or is "". */
int openstack_list_parse(const struct openstack *s, const struct provider_op *op,
			 const struct provider_reply *reply, struct provider_result *out,
			 const char **why);

#endif
