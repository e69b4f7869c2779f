/* aws_private.h - what the files of the driver aws share.  A file calls only files below it in this
 * list:
 *
 *   aws.c         open and close; passes each request and reply to the file that knows its kind
 *   aws_login.c   credentials: from a file, of the machine's role (IMDSv2), of an assumed role
 *   aws_create.c  RunInstances and CreateFleet
 *   aws_list.c    DescribeInstances, TerminateInstances, ReportInstanceStatus, GetConsoleOutput
 *   aws_group.c   placement groups: fabrics
 *   aws_topology.c  DescribeInstanceTopology
 *   aws_quote.c   DescribeInstanceTypes, DescribeSpotPriceHistory
 *   aws_notice.c  what EventBridge tells of instances, through a queue (SQS)
 *   aws_tag.c     which node of a batch an instance is
 *   aws_error.c   EC2's words for what went wrong
 *   aws_post.c    a POST with its signature
 *   aws_text.c    plain words, times
 */
#ifndef PROVIDERS_AWS_PRIVATE_H
#define PROVIDERS_AWS_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hostlist.h"
#include "base/str.h"
#include "core/provider.h"
#include "providers/common/members.h"
#include "providers/common/query.h"
#include "providers/common/sigv4.h"
#include "providers/common/xml.h"

#define AWS_EC2_VERSION "2016-11-15"
#define AWS_STS_VERSION "2011-06-15"

/* The tags of an instance. */
#define AWS_TAG_CLUSTER "burstd-cluster"
#define AWS_TAG_NODE    "burstd-node"       /* and -2 ... -8: the batch's node list */
#define AWS_TAG_GEN     "burstd-generation" /* and -2 ... -8: "3*5,4": 3 five times, then 4 */
#define AWS_TAG_BATCH   "burstd-batch"

#define AWS_CURRENCY "USD" /* of its prices */

enum {
	AWS_CREATE_MAX = 500, /* instances in one call; EC2 advises small ones */
	/* Ids in one call: a single id that EC2 does not know makes the whole call fail. */
	AWS_DELETE_MAX = 250,
	AWS_PATHS_MAX = 100, /* ids in one DescribeInstanceTopology: EC2's limit */
	/* Instances in a page of a list; EC2's limit is 1000.  An instance with 32 network
	 * interfaces (EFA) has 40 KB of XML, which expat parses in 0.2 ms: the loop stands still
	 * for 50 ms at most. */
	AWS_PAGE_MAX = 250,
	AWS_PAGE_INSTANCES_MAX = 4000, /* a page may be cut after a reservation, of up to 500 */
	AWS_SUBNETS_MAX = 100,
	AWS_GROUPS_MAX = 16,
	AWS_RESERVATIONS_MAX = 100,
	AWS_TAG_PARTS = 8,       /* tags for one text ... */
	AWS_TAG_VALUE_MAX = 256, /* ... of so many bytes each: EC2's limit */
	AWS_TAG_TEXT_MAX = AWS_TAG_PARTS * AWS_TAG_VALUE_MAX,
	AWS_BODY_MAX = 256 << 10,
	AWS_USER_DATA_MAX = 16 << 10, /* EC2's limit, before base64 */
	AWS_CRED_MAX = 4096,          /* bytes of a session token */
	AWS_TOKEN_MAX = 64,           /* bytes of a client token: EC2's limit */
	AWS_RETRY_MAX_MS = 86400000,  /* a longer Retry-After is a mistake or an attack */
	AWS_WORDS_MAX = 8192,         /* bytes of an error, which may name all ids of a delete */
	AWS_MESSAGES_MAX = 10,        /* in one answer of the queue: SQS's limit */
	/* How long SQS hides a received message, while burstd writes it down and deletes it; then
	 * SQS gives it out again. */
	AWS_MESSAGE_S = 30,
	AWS_WARNED_MS = 120000, /* from the warning to the end of a spot instance */
};

struct aws_subnet {
	char *zone, *id;
};

struct aws_reservation {   /* for market reserved */
	char *type, *zone; /* zone "": any */
	char *target;      /* id of a capacity reservation, or ARN of a group of them */
	bool block;        /* of capacity blocks */
};

struct aws_endpoint {
	char *url, *host, *path;
};

struct aws_key {                   /* wiped when freed */
	char *id, *secret, *token; /* token NULL: none */
	int64_t until;             /* INT64_MAX: never ends; 0: there is no key */
};

enum aws_step {                  /* the steps of a login, in order */
		AWS_STEP_TOKEN,  /* PUT /latest/api/token */
		AWS_STEP_ROLE,   /* the name of the machine's role */
		AWS_STEP_KEY,    /* the role's credentials */
		AWS_STEP_ASSUME, /* STS AssumeRole, with those credentials or the file's */
		AWS_STEP_DONE,
};

/* Elements of an instance with its addresses. */
#define AWS_ADDRESS_PRIVATE "privateIpAddress"
#define AWS_ADDRESS_PUBLIC  "ipAddress"
#define AWS_ADDRESS_IPV6    "ipv6Address"

struct aws {
	char *name, *region;
	struct aws_endpoint ec2, sts, metadata;
	struct aws_endpoint sqs;
	char *queue; /* URL of the queue; NULL: none */
	char *image, *profile, *key_name, *template, *template_version, *role;
	char *user_data;     /* base64 */
	const char *address; /* the element that has the address which slurmctld is told */
	char *groups[AWS_GROUPS_MAX];
	size_t ngroups;
	struct aws_subnet subnets[AWS_SUBNETS_MAX];
	size_t nsubnets;
	struct aws_reservation reservations[AWS_RESERVATIONS_MAX];
	size_t nreservations;
	/* credentials; after open() only renew() changes them */
	struct aws_key base, now; /* base: the key that assumes the role */
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
int aws_create_build(const struct aws *a, const struct provider_op *op, struct str *body,
		     struct err *e);
int aws_create_parse(const struct aws *a, const struct provider_op *op,
		     const struct provider_reply *reply, struct provider_result *out);
/* A create was refused with this code: if it goes on in another subnet, change the result to
 * PROVIDER_MORE. */
void aws_create_goes_on(const struct aws *a, const struct provider_op *op, const char *code,
			struct provider_result *out);

/* --- aws_list.c --- */
int aws_list_build(const char *cluster, const char *cursor, struct str *body, struct err *e);
/* A page of a list that comes in pieces, cut anywhere. */
struct aws_list *aws_list_begin(const struct aws *a);
void aws_list_add(struct aws_list *l, const char *p, size_t len);
/* It is complete: fill in *out.  Frees l.  -1: it makes no sense.  out NULL: drop it. */
int aws_list_end(struct aws_list *l, const char *cursor, struct provider_result *out);
int aws_delete_build(const char *const *ids, size_t n, struct str *body, struct err *e);
int aws_delete_parse(const char *const *ids, size_t n, const struct provider_reply *reply,
		     struct provider_result *out);
/* Report a broken host: EC2 takes a status and a code of a short list, and no free text any more.
 */
int aws_report_build(const char *id, struct str *body, struct err *e);
int aws_report_parse(const struct provider_reply *reply);
/* The latest console output, which EC2 has of Nitro's instances alone. */
int aws_console_build(const char *id, struct str *body, struct err *e);
int aws_console_parse(const struct provider_reply *reply, struct provider_result *out);
/* Fill in items for all ids from an error about some of them.  false: the error is about the whole
 * request. */
bool aws_delete_error(const char *const *ids, size_t n, const char *code, const char *message,
		      struct provider_result *out);
/* Read id, state, address and times of an element "item"; 0 or -1. */
int aws_instance_read(const struct aws *a, const struct xml_node *item,
		      struct provider_instance *i);
/* Read the cursor; -1: it is too long, or the one before, so that the list would not end. */
int aws_cursor_read(const struct xml_node *root, const char *before, struct provider_result *out);

/* --- aws_group.c --- */
int aws_group_build(const struct provider_op *op, struct str *body, struct err *e);
int aws_group_parse(const struct provider_op *op, const struct provider_reply *reply,
		    struct provider_result *out);

/* --- aws_topology.c --- */
int aws_topology_build(const char *const *ids, size_t n, struct str *body, struct err *e);
int aws_topology_parse(const struct provider_reply *reply, struct provider_result *out);

/* --- aws_quote.c --- */
int aws_quotes_build(const struct provider_op *op, struct str *body, struct err *e);
int aws_quotes_parse(const struct aws *a, const struct provider_op *op,
		     const struct provider_reply *reply, struct provider_result *out);

/* --- aws_notice.c --- */
int aws_notices_build(const struct aws *a, const struct provider_op *op,
		      struct provider_request *out, struct err *e);
int aws_notices_parse(const struct aws *a, const struct provider_op *op,
		      const struct provider_reply *reply, struct provider_result *out);

/* --- aws_tag.c --- */
/* How many wants, from the first on, fit into the tags of one batch. */
size_t aws_tags_fit(const struct provider_create *c, size_t max);
/* Append the tags as parameters PREFIX.Tag.1.Key ...; c must fit. */
void aws_tags_add(struct str *body, const char *prefix, const struct provider_create *c);

struct aws_tags { /* the tags of a batch, which all its instances have */
	char cluster[PROVIDER_WORD_MAX + 1];
	bool readable; /* cluster fits */
	struct members members;
};
void aws_tags_init(struct aws_tags *t);
void aws_tags_fini(struct aws_tags *t);
void aws_tags_read(struct aws_tags *t, const struct xml_node *item);
/* Set node and generation of an instance by its tags and launch index; "" and 0 if they cannot be
 * read. */
void aws_tags_who(const struct aws_tags *t, const char *index, struct provider_instance *i);

/* --- aws_error.c --- */
/* The meaning of an error code of EC2's for this kind of request. */
enum provider_code aws_code(enum provider_op_kind kind, const char *word, long status);
/* Code and message of an error reply of any AWS service; "" if missing. */
void aws_error_words(const struct provider_reply *reply, char code[64],
		     char message[AWS_WORDS_MAX]);
/* Words of AWS's for people and logs: one line, without any of the driver's secrets. */
void aws_show(const struct aws *a, char *out, size_t size, const char *text);
/* Set the message, likewise. */
void aws_set_message(const struct aws *a, struct provider_result *out, const char *text);
/* provider_ops.request_id: of the header x-amzn-RequestId, else of the reply. */
void aws_request_id(const void *self, const struct provider_reply *reply,
		    char out[PROVIDER_REQUEST_MAX + 1]);

/* --- aws_post.c --- */
/* Make a POST of *body, which is taken, to ep, signed if there is a key.  -1: too long. */
int aws_post(const struct aws *a, const struct aws_endpoint *ep, const char *service,
	     const struct aws_key *key, int64_t at_ms, struct str *body,
	     struct provider_request *out, struct err *e);
/* Likewise to the queue's endpoint: *body is JSON, action an action of SQS. */
int aws_post_queue(const struct aws *a, const char *action, int64_t at_ms, struct str *body,
		   struct provider_request *out, struct err *e);
/* Likewise to Secrets Manager (providers/secrets/aws_sm.c). */
int aws_post_secrets(const struct aws *a, const char *action, int64_t at_ms, struct str *body,
		     struct provider_request *out, struct err *e);

/* --- aws_text.c --- */
bool aws_is_plain(const char *text, size_t max); /* printable, no blank, not empty */
/* Parse "2026-01-02T03:04:05" at *p, with `between` in place of the T, and move *p behind it.
 * Returns seconds since 1970; -1: it is no such time. */
int64_t aws_seconds_read(const char **p, char between);
int64_t aws_time_read(const char *text); /* "2026-01-02T03:04:05.678Z"; 0: no such time */

#endif
