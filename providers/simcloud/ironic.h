/* ironic.h - the face of OpenStack Ironic on its own: machines that one owns or leases, by its
 * /v1 API with microversions.
 *
 * Here are machines before anything is created.  A machine ("node" in Ironic, not Slurm's) is a
 * slot of an offer's capacity: as many as that says, or `machines` of the settings where it is
 * unlimited; spot offers have none.  Its resource class is the offer's type; region and zone are
 * in its properties, and the zone is a trait.  Deploying a machine creates an instance of the
 * cloud, undeploying deletes it, and then the machine is cleaned:
 *
 *   available --active--> deploying --> wait call-back --> active --deleted--> deleting
 *       ^                     |  (locked)    |  cannot boot   (locked)            |
 *       |                     +--------------+--> deploy failed --deleted---------+
 *       +---------------- clean wait <-- cleaning (locked) <----------------------+
 *
 * What an instance is for is read at its deployment, from burstd's tags in the `extra` of its
 * allocation, or from the allocation's name (name.h), or likewise from the machine's `extra` and
 * `instance_info`, where display_name may be such a name.
 *
 * Machines follow the cloud when somebody asks (ironic_open()): nothing here has a timer. */
#ifndef SIMCLOUD_IRONIC_H
#define SIMCLOUD_IRONIC_H

#include <jansson.h>

#include "providers/simcloud/face.h"

extern const struct face face_ironic;

enum {
	IRONIC_UUID_SIZE = 37,
	IRONIC_NAME_SIZE = 3 * SETTINGS_WORD_SIZE,
	IRONIC_HOST_SIZE = 128,
	IRONIC_URL_SIZE = 256,
	IRONIC_FIELDS_SIZE = 1024,
	IRONIC_TEXT_SIZE = 1024, /* an error's text */
	IRONIC_ALLOCS_MAX = 1 << 16,
	IRONIC_BODY_MAX = 16 << 20, /* bytes of one answer */
	IRONIC_MINOR_MIN = 1,       /* versions 1.1 to 1.115, as Ironic 39 has */
	IRONIC_MINOR_MAX = 115,
};

enum ironic_what { /* what a request asks for */
		   IRONIC_ROOT,
		   IRONIC_V1,
		   IRONIC_NODES,
		   IRONIC_DETAIL,
		   IRONIC_NODE,
		   IRONIC_NODE_PATCH,
		   IRONIC_STATES,
		   IRONIC_PROVISION,
		   IRONIC_POWER,
		   IRONIC_MAINTENANCE,
		   IRONIC_MAINTENANCE_END,
		   IRONIC_TRAITS,
		   IRONIC_TRAITS_SET,
		   IRONIC_TRAITS_DROP,
		   IRONIC_NODE_ALLOC,
		   IRONIC_NODE_ALLOC_DROP,
		   IRONIC_ALLOCS,
		   IRONIC_ALLOC_MAKE,
		   IRONIC_ALLOC,
		   IRONIC_ALLOC_PATCH,
		   IRONIC_ALLOC_DROP,
};

struct ironic_who { /* the node that an instance is to be; node "": unknown */
	char cluster[SETTINGS_WORD_SIZE], node[SETTINGS_WORD_SIZE];
	int64_t gen;
};

struct ironic_call { /* face_call.own */
	enum ironic_what what;
	int64_t minor; /* version 1.MINOR */
	char host[IRONIC_HOST_SIZE];
	char ident[FACE_ID_SIZE], trait[FACE_ID_SIZE]; /* words of the path; "": none */
	char *query;
	json_t *body; /* NULL: none, or no JSON */
	bool torn;    /* the body is no JSON */
	struct ironic_who who;
};

enum ironic_state {
	IRONIC_AVAILABLE,
	IRONIC_MANAGEABLE,
	IRONIC_DEPLOYING,
	IRONIC_WAIT,
	IRONIC_ACTIVE,
	IRONIC_FAILED,
	IRONIC_DELETING,
	IRONIC_CLEANING,
	IRONIC_CLEANWAIT,
	IRONIC_STATES_N
};

struct ironic_alloc {
	char uuid[IRONIC_UUID_SIZE];
	json_t *doc; /* the members that a client sets */
	struct ironic_who who;
	struct ironic_node *node; /* NULL: none */
	char *last_error;         /* NULL: none; else the allocation has failed */
	int64_t made_at, changed_at, settled_at, visible_at; /* changed_at -1: never */
};

struct ironic_node {
	char uuid[IRONIC_UUID_SIZE], name[IRONIC_NAME_SIZE];
	struct cloud_pool *pool;
	int64_t slot;
	enum ironic_state state;
	bool on;     /* its power */
	bool dead;   /* active, and its instance has ended by itself */
	int64_t row; /* of its instance; -1: none */
	int64_t locked_until, clean_until;
	int64_t changed_at, updated_at; /* of its state; of any member; -1: never */
	char *last_error;
	json_t *doc; /* the members that a client sets */
	struct ironic_alloc *alloc;
	struct ironic_who who; /* its tenant when the last request had been answered */
};

struct ironic { /* in the cloud's annex */
	struct ironic_node **nodes;
	size_t nnodes;
	struct ironic_alloc **allocs;
	size_t nallocs;
	uint64_t last_alloc;
	int64_t *made; /* for each pool of the cloud: number of its machines */
	size_t npools;
};

struct ironic_run { /* one request that runs */
	const struct face_call *f;
	const struct ironic_call *q; /* f's own */
	struct cloud *c;
	struct ironic *h;
	const struct fault_rule *rule;
	int64_t now;
	struct face_reply *out;
};

/* --- ironic_parse.c --- */
bool ironic_is(const struct face_visit *v);
enum code ironic_parse(struct face_call **out, const struct face_visit *v, struct err *e);
void ironic_call_free(void *own);

/* --- ironic_reply.c --- */
/* An answer without a body. */
void ironic_empty(const struct ironic_run *r, unsigned status);
/* An answer with that body, which is freed. */
void ironic_body(const struct ironic_run *r, unsigned status, struct str *s);
/* Where a client finds what it made: /v1/WHAT. */
void ironic_location(const struct ironic_run *r, const char *what);
/* An error of Ironic's own, a JSON text in a JSON string. */
void ironic_fail(const struct ironic_run *r, unsigned status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void ironic_refuse_locked(const struct ironic_run *r, const struct ironic_node *n);
/* "NNN text": the error NNN of the framework below Ironic, which is another text.  Else Ironic's
 * own, for this code. */
void ironic_error(struct face_reply *out, enum code code, const char *message);
/* The member key: a time, or null for -1. */
void ironic_time(struct str *s, const char *key, int64_t ms);
/* The member "href" for that path. */
void ironic_href(struct str *s, const struct ironic_run *r, const char *path);
/* The member key: links to what is at that path. */
void ironic_links(struct str *s, const char *key, const struct ironic_run *r, const char *path);
/* A text or null. */
void ironic_text(struct str *s, const char *key, const char *text);

/* --- ironic_query.c --- */
/* Are all keys of the query in known (NULL-terminated)?  false: the answer is a refusal. */
bool ironic_only(const struct ironic_run *r, const char *const *known);
/* The value of a key; "" when it is not there.  false: the answer is a refusal. */
bool ironic_value(const struct ironic_run *r, const char *key, char *out, size_t size);
/* Does a list of words, split by commas, have this one? */
bool ironic_has(const char *list, const char *word);

struct ironic_page { /* "limit" and "marker", "fields" */
	int64_t limit;
	char marker[FACE_ID_SIZE], fields[IRONIC_FIELDS_SIZE]; /* fields "": all */
	const char *by;                                        /* the other order that there is */
	bool sorted;                                           /* it is wanted */
	int64_t n;                                             /* how many are on the page */
	char last[IRONIC_UUID_SIZE];
};
bool ironic_page(const struct ironic_run *r, struct ironic_page *p, const char *by);
/* The member "next" of a list at that path, unless the page is not full or the rule hides it. */
void ironic_next(struct str *s, const struct ironic_run *r, const struct ironic_page *p,
		 const char *path);
/* Is the n-th thing of this node hidden, by the rule or by chance? */
bool ironic_hides(const struct ironic_run *r, const struct ironic_page *p, const char *node);

/* --- ironic_house.c --- */
/* The machines of the cloud, as they are now. */
struct ironic *ironic_open(struct cloud *c, int64_t now);
/* As they were when somebody asked last; NULL: nobody did. */
const struct ironic *ironic_look(const struct cloud *c);
/* By uuid or name; NULL: none, or it was taken away. */
struct ironic_node *ironic_node(const struct ironic *h, const char *ident);
/* Is it not there any more, since the offer has less capacity? */
bool ironic_is_gone(const struct ironic_node *n);
bool ironic_is_locked(const struct ironic_node *n);
const char *ironic_state_word(enum ironic_state s);
const char *ironic_target_word(enum ironic_state s); /* NULL: none */
/* May it be updated only later? */
bool ironic_is_moving(const struct ironic_node *n);
void ironic_enter(struct ironic_node *n, enum ironic_state to, int64_t now);
const char *ironic_string(const json_t *o, const char *key); /* NULL: no string */
bool ironic_maintained(const struct ironic_node *n);
/* Forget an allocation; its machine is free of it. */
void ironic_alloc_drop(struct ironic *h, struct ironic_alloc *a);

/* --- ironic_who.c --- */
/* Read who an instance is to be; false: nothing says it, and *who is unchanged. */
bool ironic_who(struct ironic_who *who, const json_t *tags, const char *name);
/* Note who is, or would be, on the machine now. */
void ironic_tenant(struct ironic_node *n, const struct cloud *c);

/* --- ironic_show.c: nodes in answers --- */
void ironic_list(const struct ironic_run *r);
/* The node with that status, with the fields in list; "": all. */
void ironic_show(const struct ironic_run *r, const struct ironic_node *n, const char *list);
void ironic_get(const struct ironic_run *r, const struct ironic_node *n);
void ironic_states(const struct ironic_run *r, const struct ironic_node *n);

/* --- ironic_patch.c --- */
/* Apply the body, a JSON patch (RFC 6902: add, replace, remove), to a copy of doc, whose members it
 * may only touch.  NULL: the answer is a refusal; else the caller's. */
json_t *ironic_patched(const struct ironic_run *r, const json_t *doc);

/* --- ironic_update.c --- */
void ironic_update(const struct ironic_run *r, struct ironic_node *n);
void ironic_maintain(const struct ironic_run *r, struct ironic_node *n, bool on);
void ironic_traits(const struct ironic_run *r, struct ironic_node *n);
bool ironic_is_trait(const char *text);

/* --- ironic_deploy.c --- */
void ironic_provision(const struct ironic_run *r, struct ironic_node *n);
void ironic_power(const struct ironic_run *r, struct ironic_node *n);
/* Does the body have what such a request may have, and its target?  false: the answer is a refusal.
 */
bool ironic_arguments(const struct ironic_run *r, const char *const *known, const char *needed);

/* --- ironic_alloc.c --- */
void ironic_alloc_run(const struct ironic_run *r);
/* By uuid or name; NULL: none. */
struct ironic_alloc *ironic_alloc(const struct ironic *h, const char *ident);

#endif
