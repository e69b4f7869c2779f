/* ironic_private.h - the parts of the driver ironic.
 *
 * Where its facts are from: Ironic 39.0.0 as it runs (tests/contract/ironic-driver.sh), and in its
 * source,
 *
 *   ironic/conductor/manager.py, create_allocation()  the allocation is written before the worker
 *       that chooses a machine is started: a 503 may have made one
 *   ironic/conductor/allocations.py, do_allocate()  no machine: state "error", with last_error
 *   ironic/conductor/manager.py, _do_node_tear_down()  instance_uuid and the allocation go before
 *       the cleaning begins
 *   ironic/conductor/deployments.py, validate_node(), start_deploy()  what cannot be deployed is a
 *       400, at once: "Failed to validate deploy or power info for node UUID: WHY"
 *   ironic/conductor/allocations.py, _candidate_nodes()  which of several machines is chosen is a
 *       throw of dice
 *   ironic/api/controllers/v1/node.py, node_sanitize()  who may not know it gets a text for the
 *       "reservation" of any machine
 *   ironic/db/sqlalchemy/models.py  the name of an allocation is unique
 *   docs.openstack.org/api-ref/baremetal  paths, versions, pages, JSON patches, states
 *
 * --- steps ---
 *
 * A create and a delete are several requests, and between two of them a machine may change hands: a
 * request that was sent once and is sent again, because its answer was lost, must not hit another's
 * machine.  Ironic has no condition that a request could carry.  So each one that changes a machine
 * follows a look at whose it is, and is sent only for a moment after that look, shorter than the
 * pause before any request is repeated: then build() looks again.  For that the time is in the
 * cursor (struct ironic_step).  The moment becomes longer when it was too short again and again,
 * for else a slow server would never be asked at all. */
#ifndef PROVIDERS_IRONIC_PRIVATE_H
#define PROVIDERS_IRONIC_PRIVATE_H

#include "providers/common/keystone.h"
#include "providers/common/names.h"
#include "providers/common/rest.h"
#include "providers/ironic.h"

enum {
	IRONIC_UUID_SIZE = 37,
	IRONIC_NAME_BYTES = 255,
	IRONIC_FRESH_MS = 900,  /* how long a look is good for; the pause is 1 s at least */
	IRONIC_TOO_OLD = 3,     /* so many looks in a row may be too old; then they are good ... */
	IRONIC_DOUBLINGS = 6,   /* ... for twice as long, so often */
	IRONIC_PAUSE_MS = 2000, /* before it looks again at what is locked or not yet chosen */
};

struct ironic {
	/* The first, so that it is this.  With Keystone only renew() changes it. */
	struct rest rest;
	bool by_keystone; /* these are of it */
	struct rest keystone;
	struct keystone_who who; /* own texts */
	int64_t until_ms;        /* end of the token; 0: none yet */
	char *image, *image_checksum, *kernel, *ramdisk, *traits, *address;
	char *user_data; /* a secret may be in it; NULL: none */
};

/* Of a create and a delete. */
enum ironic_what {
	/* Create: POST the allocation, with a cursor after another machine was given back; delete:
	 * look at it. */
	IRONIC_BEGIN,
	IRONIC_ALLOC, /* create: look at the allocation */
	IRONIC_LOOK,  /* look at the machine */
	IRONIC_NOTE,  /* create: write on the machine what is to be deployed */
	IRONIC_ACT,   /* deploy or undeploy the machine */
	IRONIC_DROP,  /* remove the allocation */
};

/* "WHAT TRIES LOOKED OLD CODE ALLOC NODE WORDS". */
struct ironic_step {
	enum ironic_what what;
	unsigned tries;          /* looks without an end to it, and machines given back */
	int64_t looked_ms;       /* of IRONIC_NOTE and _ACT: when the look was sent */
	unsigned old;            /* how many looks in a row were too old */
	enum provider_code code; /* PROVIDER_OK, or how it was refused, in these words */
	char alloc[IRONIC_UUID_SIZE], node[IRONIC_UUID_SIZE]; /* "": not known yet */
	char words[160];
};

/* --- ironic_step.c --- */
extern const struct provider_names ironic_form;
/* A uuid, as Ironic writes it: lower-case, and nothing that a path could stumble over. */
void ironic_uuid(const struct doc_at *o, const char *key, char out[IRONIC_UUID_SIZE]);

/* What an allocation's last_error says of the place: PROVIDER_CAPACITY, or PROVIDER_NOT_YET if the
 * reason is Ironic's own trouble, as with its database. */
enum provider_code ironic_alloc_error(const char *words);

/* Copy the word at *p up to the character end, and move *p behind that; "-" is none.  false: it is
 * not there, or too long. */
bool ironic_word(const char **p, char end, char *out, size_t size);
const char *ironic_or_none(const char *word);
/* The step of op's cursor, where a look that is too old has become another look.  -1: none that
 * this driver has written. */
int ironic_step_read(const struct provider_op *op, struct ironic_step *s);
/* The operation goes on with that step, after a pause. */
void ironic_go_on(struct provider_result *out, const struct ironic_step *s, int64_t pause_ms);
/* The look has just been answered: act on it now. */
void ironic_looked(const struct provider_op *op, struct ironic_step *s, enum ironic_what next);
/* "GET node", "PUT target", "DELETE allocation". */
void ironic_look_build(struct rest_call *c, const struct rest *r, const struct ironic_step *s);
void ironic_target_begin(struct rest_call *c, const struct rest *r, const struct ironic_step *s);
void ironic_drop_begin(struct rest_call *c, const struct rest *r, const char *ident);

/* --- ironic.c --- */
extern const struct rest_api ironic_token_api; /* with a token of Keystone's */

/* --- ironic_login.c --- */
/* Do the options name somebody at Keystone? */
bool ironic_wants_login(const struct ironic_options *o);
/* With the defaults of the table for what is NULL. */
void ironic_who_copy(struct keystone_who *w, const struct ironic_options *o);
int ironic_login_open(struct ironic *i, const struct provider_conf *conf, struct err *e);
void ironic_login_close(struct ironic *i);
int ironic_login_build(const struct ironic *i, struct provider_request *out, struct err *e);
void ironic_login_parse(const struct ironic *i, const struct provider_op *op,
			const struct provider_reply *reply, struct provider_result *out);
int64_t ironic_good_until(const void *self);
int ironic_renew(void *self, const char *session, struct err *e);

/* --- ironic_create.c --- */
int ironic_create_build(const struct ironic *i, const struct provider_op *op, struct rest_call *c,
			struct err *e);
void ironic_create_parse(const struct ironic *i, const struct provider_op *op,
			 const struct provider_reply *reply, struct provider_result *out);
/* Is it a list of words that traits may be? */
bool ironic_traits_good(const char *text);

/* --- ironic_remove.c --- */
int ironic_remove_build(const struct ironic *i, const struct provider_op *op, struct rest_call *c,
			struct err *e);
void ironic_remove_parse(const struct ironic *i, const struct provider_op *op,
			 const struct provider_reply *reply, struct provider_result *out);

/* --- ironic_list.c --- */
int ironic_list_build(const struct ironic *i, const struct provider_op *op, struct rest_call *c,
		      struct err *e);
int ironic_list_read(const struct ironic *i, const struct provider_op *op, struct doc *d,
		     struct provider_result *out);

#endif
