/* aws_private.h - what the files of the driver aws share.  A file calls only files that this list
 * has below it:
 *
 *   aws.c         open and close; passes each request and reply to the file that knows its kind
 *   aws_login.c   credentials: from a file, of the machine's role (IMDSv2), of an assumed role
 *   aws_create.c  RunInstances and CreateFleet
 *   aws_list.c    DescribeInstances, TerminateInstances
 *   aws_group.c   placement groups: fabrics
 *   aws_offer.c   DescribeInstanceTypes, DescribeSpotPriceHistory
 *   aws_notice.c  what EventBridge tells of instances, through a queue (SQS)
 *   aws_tag.c     which node of a batch an instance is
 *   aws_error.c   EC2's words for what went wrong
 *   aws_post.c    a POST with its signature
 *   aws_text.c    plain words, base64, times */
#ifndef PROVIDERS_AWS_PRIVATE_H
#define PROVIDERS_AWS_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hostlist.h"
#include "base/str.h"
#include "core/provider.h"
#include "providers/common/query.h"
#include "providers/common/sigv4.h"
#include "providers/common/xml.h"

#define AWS_EC2_VERSION "2016-11-15"
#define AWS_STS_VERSION "2011-06-15"

/* Tags of ours. */
#define AWS_TAG_CLUSTER "burstd-cluster"
#define AWS_TAG_NODE    "burstd-node"       /* and -2 ... -8: the batch's nodes, as a list */
#define AWS_TAG_GEN     "burstd-generation" /* and -2 ... -8: theirs, as "3*5,4": 3 five times */
#define AWS_TAG_BATCH   "burstd-batch"

#define AWS_CURRENCY "USD" /* of its prices */

enum {
	AWS_CREATE_MAX = 500, /* instances in one call: EC2 itself advises smaller ones */
	/* Ids in one call: one that EC2 does not know spoils it for all. */
	AWS_DELETE_MAX = 250,
	/* Instances in a page of a list; EC2's limit is 1000.  One with 32 network interfaces (EFA)
	 * has 40 KB of XML, which expat reads in 0.2 ms: the loop stands still for 50 ms at most.
	 */
	AWS_PAGE_MAX = 250,
	/* Jobs of more nodes are not launched with others: of the last one that there was room for
	 * but in part all instances are given back, and a minute of each is paid. */
	AWS_POOLED_MAX = 4,
	AWS_SUBNETS_MAX = 100,
	AWS_GROUPS_MAX = 16,
	AWS_TAG_PARTS = 8,       /* tags for one text ... */
	AWS_TAG_VALUE_MAX = 256, /* ... of so many bytes each: EC2's limit */
	AWS_TAG_TEXT_MAX = AWS_TAG_PARTS * AWS_TAG_VALUE_MAX,
	AWS_BODY_MAX = 256 << 10,
	AWS_USER_DATA_MAX = 16 << 10, /* EC2's limit, before base64 */
	AWS_CRED_MAX = 4096,          /* bytes of a session token */
	AWS_TOKEN_MAX = 64,           /* of a client token: EC2's limit */
	AWS_RETRY_MAX_S = 86400,      /* a longer Retry-After is a mistake or an attack */
	AWS_WORDS_MAX = 8192,         /* of an error: it may name all ids of a delete */
	AWS_MESSAGES_MAX = 10,        /* in one answer of a queue: SQS's limit */
	/* So long a message is ours alone: to write it down, and to have it deleted.  Then SQS
	 * gives it out again. */
	AWS_MESSAGE_S = 30,
	AWS_WARNED_MS = 120000, /* from the warning to the end of a spot instance */
};

struct aws_subnet {
	char *zone, *id;
};

struct aws_endpoint {
	char *url, *host, *path;
};

struct aws_key {                   /* wiped when it goes */
	char *id, *secret, *token; /* token NULL: none */
	int64_t until;             /* INT64_MAX: no end; 0: there is none */
};

enum aws_step {                  /* of a login, in this order */
		AWS_STEP_TOKEN,  /* PUT /latest/api/token */
		AWS_STEP_ROLE,   /* which role has this machine? */
		AWS_STEP_KEY,    /* its credentials */
		AWS_STEP_ASSUME, /* STS AssumeRole, with those or with the file's */
		AWS_STEP_DONE,
};

struct aws {
	char *name, *region;
	struct aws_endpoint ec2, sts, metadata;
	struct aws_endpoint sqs;
	char *queue; /* its URL; NULL: none */
	char *image, *profile, *key_name, *template, *template_version, *role;
	char *user_data; /* base64 */
	char *groups[AWS_GROUPS_MAX];
	size_t ngroups;
	struct aws_subnet subnets[AWS_SUBNETS_MAX];
	size_t nsubnets;
	/* credentials; renew() alone changes them after open() */
	struct aws_key base, now; /* base: to assume a role with */
	bool from_file;
	enum aws_step step;
	char *metadata_token, *metadata_role;
};

/* --- aws_login.c --- */
int aws_login_open(struct aws *a, const struct provider_conf *conf, struct err *e);
void aws_login_close(struct aws *a);
int aws_login_build(const struct aws *a, const struct provider_op *op, struct provider_request *out,
		    struct err *e);
int aws_login_parse(const struct aws *a, const struct provider_reply *reply,
		    struct provider_result *out);
int64_t aws_good_until(const void *self);
int aws_renew(void *self, const char *session, struct err *e);

/* --- aws_create.c --- */
size_t aws_fits(const void *self, const struct provider_create *c);
int aws_create_build(const struct aws *a, const struct provider_create *c, struct str *body,
		     struct err *e);
int aws_create_parse(const struct aws *a, const struct provider_create *c,
		     const struct provider_reply *reply, struct provider_result *out);

/* --- aws_list.c --- */
int aws_list_build(const char *cluster, const char *cursor, struct str *body, struct err *e);
int aws_list_parse(const char *cursor, const struct provider_reply *reply,
		   struct provider_result *out);
int aws_delete_build(const char *const *ids, size_t n, struct str *body, struct err *e);
int aws_delete_parse(const char *const *ids, size_t n, const struct provider_reply *reply,
		     struct provider_result *out);
/* A host that is broken: EC2 takes a status and a code of a short list, and words no longer. */
int aws_report_build(const char *id, struct str *body, struct err *e);
int aws_report_parse(const struct provider_reply *reply);
/* An error that is about some of the ids: items for all.  false: it is about the whole request. */
bool aws_delete_error(const char *const *ids, size_t n, const char *code, const char *message,
		      struct provider_result *out);
/* Id, state, address and times of an element "item"; 0 or -1. */
int aws_instance_read(const struct xml_node *item, struct provider_instance *i);
/* A cursor that does not go round; 0 or -1. */
int aws_cursor_read(const struct xml_node *root, const char *before, struct provider_result *out);

/* --- aws_group.c --- */
int aws_group_build(const struct provider_op *op, struct str *body, struct err *e);
int aws_group_parse(const struct provider_op *op, const struct provider_reply *reply,
		    struct provider_result *out);

/* --- aws_offer.c --- */
int aws_offers_build(const struct provider_op *op, struct str *body, struct err *e);
int aws_offers_parse(const struct aws *a, const struct provider_op *op,
		     const struct provider_reply *reply, struct provider_result *out);

/* --- aws_notice.c --- */
int aws_notices_build(const struct aws *a, const struct provider_op *op,
		      struct provider_request *out, struct err *e);
int aws_notices_parse(const struct aws *a, const struct provider_op *op,
		      const struct provider_reply *reply, struct provider_result *out);

/* --- aws_tag.c --- */
/* How many wants, from the first on, the tags of one batch can name. */
size_t aws_tags_fit(const struct provider_create *c, size_t max);
/* As parameters PREFIX.Tag.1.Key ...; c fits. */
void aws_tags_add(struct str *body, const char *prefix, const struct provider_create *c);

struct aws_tags { /* of one batch, as read; all instances of a batch have the same */
	char cluster[PROVIDER_WORD_MAX + 1];
	bool readable; /* cluster fits */
	struct str names, gens;
	struct hostlist *nodes; /* NULL: they cannot be read */
	uint64_t *gen;
};
void aws_tags_init(struct aws_tags *t);
void aws_tags_fini(struct aws_tags *t);
void aws_tags_read(struct aws_tags *t, const struct xml_node *item);
/* Who an instance with these tags and that launch index is: node "" and gen 0 when nobody can say.
 */
void aws_tags_who(const struct aws_tags *t, const char *index, struct provider_instance *i);

/* --- aws_error.c --- */
/* What a word of EC2's means for this kind of request. */
enum provider_code aws_code(enum provider_op_kind kind, const char *word, long status);
/* Code and message of an error reply of any of AWS's services; "" where there are none. */
void aws_error_words(const struct provider_reply *reply, char code[64],
		     char message[AWS_WORDS_MAX]);
/* For people and logs: one line, never with one of our secrets in it. */
void aws_set_message(const struct aws *a, struct provider_result *out, const char *text);

/* --- aws_post.c --- */
/* A POST of *body, which it takes, to ep; signed unless there is no key.  -1: too long. */
int aws_post(const struct aws *a, const struct aws_endpoint *ep, const char *service,
	     const struct aws_key *key, int64_t at_ms, struct str *body,
	     struct provider_request *out, struct err *e);
/* The same to the queue's endpoint: *body is JSON, and action what is to be done with it. */
int aws_post_queue(const struct aws *a, const char *action, int64_t at_ms, struct str *body,
		   struct provider_request *out, struct err *e);
/* The same to Secrets Manager, whose URL is this driver's own (providers/secrets/aws_sm.c). */
int aws_post_secrets(const struct aws *a, const char *action, int64_t at_ms, struct str *body,
		     struct provider_request *out, struct err *e);

/* --- aws_text.c --- */
bool aws_is_plain(const char *text, size_t max); /* printable, no blank, not empty */
/* Text as EC2 wants it; the caller's. */
char *aws_base64(const char *text);
/* Seconds since 1970 of "2026-01-02T03:04:05" at *p, which moves behind it; between stands where
 * this has its T.  -1: it is none. */
int64_t aws_seconds_read(const char **p, char between);
int64_t aws_time_read(const char *text); /* "2026-01-02T03:04:05.678Z"; 0: it is none */

#endif
