/* ec2.h - EC2's face of the simulated cloud: its Query API, as far as a driver needs it.
 *
 * POST / with a form, answered in XML, and signed (Signature Version 4): the signature is computed
 * anew from what arrived.  An unknown parameter is refused, so that a misspelt one is
 * noticed.  Tags are EC2's: any text.  For the meter alone, which
 * knows instances as nodes, the tags burstd-node and burstd-generation are read: lists in which an
 * instance has the entry at its launch index.
 *
 * Things of EC2 that the simulated cloud lacks are made up: the subnet of zone Z is subnet-Z, all
 * images, groups, profiles, templates and capacity reservations exist, and a price is in dollars.
 */
#ifndef SIMCLOUD_EC2_H
#define SIMCLOUD_EC2_H

#include "base/secret.h"
#include "providers/simcloud/face.h"
#include "providers/simcloud/form.h"
#include "providers/simcloud/order.h"

enum {
	EC2_CHOICES_MAX = 100,
	EC2_TYPES_MAX = 200,
	EC2_PRICES_MAX = 1000, /* in one page */
	EC2_PATHS_MAX = 100,   /* instances in one question about their network nodes */
	EC2_SKEW_MS = 300000,
	EC2_BODY_MAX = 64 << 20, /* bytes of one answer: 1000 instances, 32 interfaces each */
};

enum ec2_action {
	EC2_RUN,
	EC2_FLEET,
	EC2_DESCRIBE,
	EC2_TERMINATE,
	EC2_TYPES,
	EC2_PRICES,
	EC2_REPORT,
	EC2_CONSOLE,
	EC2_MAKE_GROUP,
	EC2_LIST_GROUPS,
	EC2_DROP_GROUP,
	EC2_PATHS,
};

struct ec2_choice { /* a type and zone to try */
	char type[SETTINGS_WORD_SIZE], zone[SETTINGS_WORD_SIZE];
	int64_t priority;
};

struct ec2_call { /* face_call.own */
	enum ec2_action action;
	size_t min;         /* create: minimum number of instances */
	bool one_zone;      /* of a fleet: all instances in one of the choices */
	struct order *tags; /* tags of a placement group */
	struct order *order;
	struct userdata *user_data;                 /* user data of a create; NULL: none */
	struct ec2_choice choices[EC2_CHOICES_MAX]; /* places of a create */
	size_t nchoices;
	bool by_price;                                 /* try choices by price, else by priority */
	char types[EC2_TYPES_MAX][SETTINGS_WORD_SIZE]; /* offers of these types only */
	size_t ntypes;
	int64_t start_ms; /* prices: since then; 0: only those of now */
	size_t from_pool; /* prices: a page begins with this pool, at this time; 0: now */
	int64_t from_ms;
};

extern const struct face face_ec2;

struct ec2_key {
	char id[129], secret[129];
};

/* --- ec2_auth.c --- */
/* Load a credentials file of the AWS command line.  Free the key with ec2_key_free(). */
int ec2_key_load(struct ec2_key **out, const char *path, struct err *e);
void ec2_key_free(struct ec2_key *k);    /* NULL is fine */
bool ec2_is(const struct face_visit *v); /* is the request for this face? */
/* Is the request signed with our key for that service ("ec2", "sqs"), now?  v->region gets the
 * region in the signature. */
enum code ec2_authorize(struct face_visit *v, const char *service, struct err *e);

/* --- ec2_parse.c --- */
enum code ec2_parse(struct face_call **out, const struct face_visit *v, struct err *e);

/* --- ec2_run.c --- */
void ec2_call_free(void *own);
/* Are all of f->ids instances of this region?  One that is unknown fails the whole request: *out
 * says so. */
bool ec2_all_known(const struct face_call *f, struct cloud *c, int64_t now, struct face_reply *out);

/* --- ec2_group.c --- */
void ec2_run_group(const struct face_call *f, struct cloud *c, struct face_reply *out);

/* --- ec2_topology.c --- */
void ec2_run_paths(const struct face_call *f, struct cloud *c, int64_t now, struct face_reply *out);

/* --- ec2_create.c --- */
/* EC2_RUN and EC2_FLEET. */
void ec2_create(const struct face_call *f, struct cloud *c, const struct fault_rule *rule,
		int64_t now, struct face_reply *out);

/* --- ec2_instance.c --- */
/* An instance, with its state, its tags and, once it has one, its address. */
void ec2_put_instance(struct str *s, const struct cloud *c, const struct cloud_instance *i,
		      int64_t now);
/* A state alone, as the element of that name. */
void ec2_put_state(struct str *s, const char *name, enum cloud_state state);

/* --- ec2_reply.c --- */
/* Begin and end an answer to this action; ec2_end() makes the reply. */
void ec2_begin(struct str *s, const char *action);
void ec2_end(struct str *s, const char *action, struct face_reply *out);
/* The error that EC2 has for this code. */
const char *ec2_error_word(enum code code);
/* message: "WORD: text" becomes EC2's error WORD; any other text, or NULL, the error that EC2 has
 * for this code. */
void ec2_error(struct face_reply *out, enum code code, const char *message);

#endif
