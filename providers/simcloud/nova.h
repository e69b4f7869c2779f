/* nova.h - Nova's face of the simulated cloud: OpenStack's Compute API at microversion 2.96, as far
 * as a driver needs it.
 *
 * At /compute/REGION/, as Keystone's catalog says, and at /v2.1 for the region that is offered
 * first. A type is a flavor; a spot offer is another one, TYPE.spot, with the trait
 * CUSTOM_PREEMPTIBLE, a reserved one TYPE.reserved.  Prices and availability are not in this API.
 *
 * Nova takes a create before it knows of a host: where there is no room the servers exist, and end
 * in the state ERROR until somebody deletes them.  Such servers never were instances of the cloud,
 * so they are kept in the face's book, and the meter does not know them. */
#ifndef SIMCLOUD_NOVA_H
#define SIMCLOUD_NOVA_H

#include <jansson.h>

#include "providers/simcloud/openstack.h"

enum {
	NOVA_VERSION_MAX = 96, /* 2.96; 2.1 is the oldest */
	NOVA_TEXT_SIZE = 256,
	NOVA_TAGS_TEXT = 1024,
	NOVA_RESERVATION_SIZE = 16,
};

enum nova_what {
	NOVA_VERSIONS,
	NOVA_VERSION,
	NOVA_CREATE,
	NOVA_LIST,
	NOVA_GET,
	NOVA_DELETE,
	NOVA_CONSOLE,
	NOVA_RESET,
	NOVA_FLAVORS,
	NOVA_FLAVOR,
	NOVA_MAKE_GROUP,
	NOVA_GROUPS,
	NOVA_GROUP,
	NOVA_DROP_GROUP,
	NOVA_LIMITS,
	NOVA_ZONES,
};

struct nova_spec { /* a create, shared by its servers */
	unsigned refs;
	json_t *server;                  /* as the client wrote it, without what is not kept */
	char flavor[SETTINGS_WORD_SIZE]; /* an id */
	char group[OS_ID_SIZE];          /* server group; "": none */
	char reservation[NOVA_RESERVATION_SIZE];
	size_t min, max, count; /* servers wanted, and made */
	bool by_reservation;    /* the answer names the reservation */
};

struct nova_query {
	int64_t limit; /* -1: not given */
	char marker[NOVA_TEXT_SIZE], tags[NOVA_TAGS_TEXT], tags_any[NOVA_TAGS_TEXT],
		not_tags[NOVA_TAGS_TEXT], name[NOVA_TEXT_SIZE], status[NOVA_TEXT_SIZE],
		reservation[NOVA_TEXT_SIZE];
	char text[NOVA_TAGS_TEXT]; /* the query without its marker */
};

struct nova_call { /* face_call.own */
	enum nova_what what;
	unsigned major, version; /* 2 and 96 is 2.96; 0: not known */
	bool detail;
	char root[OS_URL_SIZE], base[OS_URL_SIZE]; /* .../compute/R, and with /v2.1 and project */
	char id[NOVA_TEXT_SIZE];                   /* of a server, flavor or group */
	struct nova_spec *spec;                    /* NOVA_CREATE */
	json_t *group;                             /* NOVA_MAKE_GROUP */
	struct nova_query query;
	int64_t lines;    /* NOVA_CONSOLE; -1: all */
	bool to_error;    /* NOVA_RESET; else to ACTIVE */
	unsigned refused; /* the status of the answer, if the request is wrong; 0: it is right */
	char why[NOVA_TEXT_SIZE];
};

extern const struct face face_nova;

/* --- nova_parse.c --- */
bool nova_is(const struct face_visit *v);
enum code nova_parse(struct face_call **out, const struct face_visit *v, struct err *e);
void nova_call_free(void *own);
/* Does the request need a token?  What tells versions does not. */
bool nova_is_open(const struct face_visit *v);

/* --- nova_query.c --- */
/* -1: a key is unknown, or a value wrong. */
int nova_query(struct nova_query *q, const char *text, enum nova_what what, struct err *e);

/* --- nova_schema.c --- */
/* Check a body against Nova's schema of that microversion.  -1: *e says why, in Nova's words. */
int nova_check_create(const json_t *doc, unsigned version, struct err *e);
int nova_check_group(const json_t *doc, unsigned version, struct err *e);

/* --- nova_spec.c --- */
struct nova_spec *nova_spec_ref(struct nova_spec *s);
void nova_spec_unref(struct nova_spec *s); /* NULL is fine */
/* Read a checked body; the spec and the wants are f's. */
int nova_spec_read(struct face_call *f, const json_t *doc, const struct face_visit *v,
		   struct err *e);
const char *nova_spec_text(const struct nova_spec *s, const char *key); /* NULL: none */
/* The name of the i-th server. */
void nova_spec_name(char out[NOVA_TEXT_SIZE], const struct nova_spec *s, size_t i);
bool nova_spec_has_tag(const struct nova_spec *s, const char *tag);

/* --- nova_book.c --- */
struct nova_kept {       /* a server */
	uint32_t row;    /* its instance; of one without: the number of rows when it was made */
	uint32_t number; /* of one without an instance, from 1; 0: it has one */
	struct nova_spec *spec;
	size_t index; /* in its create */
	char region[SETTINGS_WORD_SIZE];
	int64_t created_ms, visible_at, failed_at; /* the last two: of one without an instance */
	bool dropped;                              /* deleted by the client */
	bool in_error;     /* shown in ERROR, whatever its machine does: os-resetState */
	const char *fault; /* why it has no instance; static string */
};

struct nova_group {
	char id[OS_ID_SIZE], region[SETTINGS_WORD_SIZE];
	json_t *doc; /* name, policy, rules */
};

struct nova_book;

struct nova_book *nova_book(struct cloud *c); /* made if need be */
void nova_keep(struct nova_book *b, const struct nova_kept *k);
size_t nova_failed(const struct nova_book *b); /* servers without an instance, not deleted yet */
uint32_t nova_number(struct nova_book *b);     /* a new one, for what the book alone knows */

/* A server: one of the two is NULL if it was made by another face, or has no instance. */
struct nova_item {
	const struct cloud_instance *i;
	struct nova_kept *k;
};

struct nova_walk { /* over all servers, the youngest first */
	const struct cloud *c;
	struct nova_book *b;
	size_t k;
	int64_t row;
};

void nova_walk(struct nova_walk *w, struct cloud *c);
bool nova_next(struct nova_walk *w, struct nova_item *out);
/* A server that the API shows now in that region.  false: there is none. */
bool nova_find(struct cloud *c, const char *id, const char *region, int64_t now,
	       struct nova_item *out);
/* Is it there for the client: listed, and not deleted? */
bool nova_is_there(const struct nova_item *it, const char *region, int64_t now);

struct nova_group *nova_groups(struct nova_book *b, size_t *n);
struct nova_group *nova_group_find(struct nova_book *b, const char *id, const char *region);
struct nova_group *nova_group_add(struct nova_book *b, const char *region, const json_t *doc);
void nova_group_drop(struct nova_book *b, struct nova_group *g);

/* --- ids --- */
void nova_id(char out[OS_ID_SIZE], const struct nova_item *it);
void nova_id_of_row(char out[OS_ID_SIZE], uint32_t row);
/* The meter's id of the instance with that UUID; false: of no instance. */
bool nova_row_of(const char *id, char out[METER_ID_SIZE]);

/* --- nova_flavor.c --- */
void nova_flavor_id(char out[OS_ID_SIZE], const struct cloud_pool *p);
void nova_flavor_name(char out[NOVA_TEXT_SIZE], const char *type, enum market market);
/* A pool of the flavor with that id in the region; NULL: none. */
const struct cloud_pool *nova_flavor_find(const struct cloud *c, const char *id,
					  const char *region);
void nova_put_flavor(struct str *s, const struct nova_call *x, const struct cloud_pool *p);
/* As a member of a server. */
void nova_put_its_flavor(struct str *s, const struct nova_call *x, const struct cloud_pool *p);
void nova_run_flavors(const struct face_call *f, const struct cloud *c, struct face_reply *out);

/* --- nova_server.c --- */
void nova_put_server(struct str *s, const struct face_call *f, const struct cloud *c,
		     const struct nova_item *it, int64_t now);
const char *nova_status(const struct nova_item *it, int64_t now);

/* --- nova_create.c --- */
void nova_run_create(const struct face_call *f, struct cloud *c, const struct fault_rule *rule,
		     int64_t now, struct face_reply *out);

/* --- nova_list.c --- */
void nova_run_list(const struct face_call *f, struct cloud *c, const struct fault_rule *rule,
		   int64_t now, struct face_reply *out);

/* --- nova_group.c --- */
void nova_run_group(const struct face_call *f, struct cloud *c, int64_t now,
		    struct face_reply *out);

/* --- nova_reply.c --- */
/* The answer: the body, and the headers of that microversion. */
void nova_answer(struct face_reply *out, const struct nova_call *x, unsigned status, struct str *s);
/* An error, named by its status. */
void nova_fault(struct face_reply *out, const struct nova_call *x, unsigned status,
		const char *message);
void nova_error(struct face_reply *out, enum code code, const char *message);
/* A link to ROOT/KIND/ID; and the two links of a thing. */
void nova_put_link(struct str *s, const char *rel, const char *root, const char *kind,
		   const char *id);
void nova_put_links(struct str *s, const struct nova_call *x, const char *kind, const char *id);
void nova_put_versions(struct str *s, const struct nova_call *x);

#endif
