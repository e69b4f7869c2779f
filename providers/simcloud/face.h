/* face.h - the neutral REST face: a request read into a call, a call run on the cloud, its answer.
 *
 * The wire format is docs/simcloud.md.  Reading and running are apart because a request may be kept
 * between the two (fault rules hold and late). */
#ifndef SIMCLOUD_FACE_H
#define SIMCLOUD_FACE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "io/http_server.h"
#include "providers/simcloud/cloud.h"
#include "providers/simcloud/fault.h"

enum { FACE_ID_SIZE = 96, FACE_REASON_MAX = 255 };

/* What an instance has to show; a set of them is a word with these bits. */
enum face_field {
	FACE_CLUSTER,
	FACE_NAME,
	FACE_GENERATION,
	FACE_ID,
	FACE_STATE,
	FACE_TYPE,
	FACE_REGION,
	FACE_ZONE,
	FACE_MARKET,
	FACE_ADDRESS,
	FACE_HOSTNAME,
	FACE_CREATED,
	FACE_RECLAIM,
	FACE_ENDED,
	FACE_FABRIC,
	FACE_NFIELDS
};

enum {
	FACE_WAIT_MAX_MS = 60000, /* a request for notices is held at most */
	FACE_NOTICES_MAX = 1000,  /* in one answer */
	FACE_ALL = (1 << FACE_NFIELDS) - 1,
	FACE_TAGS = 1 << FACE_CLUSTER | 1 << FACE_NAME | 1 << FACE_GENERATION,
};

enum face_verb { FACE_MAKE, FACE_LIST, FACE_DROP };

struct face_call {
	enum op op;
	enum face_verb verb;             /* of OP_FABRIC */
	char fabric[SETTINGS_WORD_SIZE]; /* OP_FABRIC, not of a list: its name; create: or "" */
	bool many;                       /* delete: by POST /v1/instances/delete */
	char token[TOKEN_TEXT_MAX + 1];
	char cluster[SETTINGS_WORD_SIZE], type[SETTINGS_WORD_SIZE];
	char region[SETTINGS_WORD_SIZE], zone[SETTINGS_WORD_SIZE];
	enum market market;
	uint64_t body_hash;
	size_t body_len;
	struct cloud_want *wants;         /* create: n of them */
	char (*ids)[FACE_ID_SIZE];        /* get, delete, report: n of them */
	char reason[FACE_REASON_MAX + 1]; /* report: in whose words */
	size_t n;
	int64_t limit, after; /* list; notices: after only */
	int64_t wait_ms;      /* notices: until there is one, so long at most */
	unsigned fields;      /* list: of each instance */
	struct ec2_call *ec2; /* it came by EC2's API (ec2.h); NULL: not */
	struct sqs_call *sqs; /* likewise SQS's (sqs.h) */
};

enum face_style { FACE_JSON, FACE_XML, FACE_SQS }; /* neutral, EC2's, SQS's */

struct face_reply {
	enum code code; /* of the request as a whole */
	unsigned status;
	char *body; /* NULL: none */
	size_t len;
	enum face_style style;
	int64_t retry_ms;           /* 0: no Retry-After */
	uint64_t items[CODE_COUNT]; /* create, delete: how many instances came to what */
};

/* CODE_OK: *out is the caller's (face_call_free()).  Else NULL, and *e says why. */
enum code face_parse(struct face_call **out, const struct http_request *rq,
		     const struct settings *conf, struct err *e);
void face_call_free(struct face_call *f); /* NULL is fine */

enum face_style face_style_of(const struct face_call *f);
/* Is it for notices, of which there are none yet? */
bool face_waits(const struct face_call *f, struct cloud *c, int64_t now);

/* --- face_fabric.c: /v1/fabrics, likewise --- */
bool face_fabric_is(const struct http_request *rq);
enum code face_fabric_parse(struct face_call **out, const struct http_request *rq, struct err *e);
void face_fabric_run(const struct face_call *f, struct cloud *c, struct face_reply *out);

/* --- face.c --- */
/* Do it.  rule is NULL, or one of FAULT_PARTIAL and FAULT_EMPTY. */
void face_run(const struct face_call *f, struct cloud *c, const struct fault_rule *rule,
	      int64_t now, struct face_reply *out);
/* {"error":{"code","message"}}, or what out->style wants; message NULL: the code's own sentence. */
void face_error(struct face_reply *out, enum code code, const char *message);
/* The name of the node that the i-th of f->n instances is, or is to be; "": not known. */
const char *face_node(const struct face_call *f, const struct cloud *c, size_t i);

/* How long the word at the beginning of "Word: text" is; 0: there is none. */
size_t face_word(const char *message);
/* The answer's body, of what is in s, which ends with it; a body of before is released. */
void face_body(struct face_reply *out, struct str *s);

/* --- for a list --- */
enum { FACE_CURSOR_SIZE = 32 };
/* Does the rule keep the i-th of n from being shown?  rule may be NULL. */
bool face_hides(const struct fault_rule *rule, const char *node, size_t i, size_t n);
/* The cursor behind which the rest is, when cloud_list() gave `next`; "": there is none, as far as
 * the rule shows. */
const char *face_cursor(char out[FACE_CURSOR_SIZE], const struct fault_rule *rule, int64_t next);

/* What a partial rule leaves out of n: the nodes it names, or everything after the first `keep`.
 * rule may be NULL. */
bool face_left_out(const struct fault_rule *rule, const char *node, size_t i, size_t n);
/* One instance as the API shows it, with these fields. */
void face_instance(struct str *s, const struct cloud *c, const struct cloud_instance *i,
		   unsigned fields, int64_t now);

#endif
