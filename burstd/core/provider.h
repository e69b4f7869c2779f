/* provider.h - what a cloud driver is: operations in, request bytes out; reply bytes in, result
 * out.
 *
 * A driver is sans-I/O.  It never sees a socket, a clock, a retry or a secret store: the engine
 * sends what build() returns, once, and gives the reply to parse().  Every vendor's error is mapped
 * to the short list below inside the driver; every decision about it is made outside.  A new cloud
 * is one file in providers/, one line in providers/registry.c, one directory of fixtures.
 *
 * build() and parse() are pure: the same arguments give the same bytes.  In particular two builds
 * of one create have byte-identical URLs and bodies, whenever and with whatever session they are
 * sent, because a provider compares the body of a repeated token (I4).  Only headers, and what is
 * no create, may depend on the time.
 *
 * A driver whose credential ends logs in by requests of its own (PROVIDER_LOGIN), one step at a
 * time: the engine sends them before all else and gives what came of each to renew(), the one
 * function that changes a driver once it is open. */
#ifndef BURSTD_PROVIDER_H
#define BURSTD_PROVIDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hostlist.h"

enum provider_op_kind {
	PROVIDER_CREATE, /* one batch of instances; asked again with the same token after a lost
			    reply */
	PROVIDER_LIST, /* one page of the instances that carry our cluster tag; the source of truth
			*/
	PROVIDER_DELETE,  /* some instances by id; safe to repeat */
	PROVIDER_OFFERS,  /* one page of what can be bought and for how much */
	PROVIDER_LOGIN,   /* the next step to a session; only of a driver that has good_until() */
	PROVIDER_NOTICES, /* what is about to happen to instances; only where PROVIDER_TELLS */
	PROVIDER_REPORT,  /* an instance's host is broken; only where PROVIDER_REPORTS */
	/* Only where PROVIDER_FABRICS. */
	PROVIDER_FABRIC_MAKE, /* one fabric by its name; safe to repeat: OK if it is there */
	PROVIDER_FABRIC_LIST, /* one page of the names of those that carry our cluster tag */
	PROVIDER_FABRIC_DROP, /* one by its name; refused while an instance is in it (NOT_YET), and
				 NOT_FOUND when there is none */
	PROVIDER_NOPS
};

/* What became of a request, or of one item in it. */
enum provider_code {
	PROVIDER_OK,
	PROVIDER_CAPACITY,  /* none left of this type here now; another type or zone may do */
	PROVIDER_QUOTA,     /* our account's limit; asking again soon is useless */
	PROVIDER_DENIED,    /* credentials, permission or funds: an admin must act */
	PROVIDER_INVALID,   /* the request can never succeed as it is */
	PROVIDER_NOT_FOUND, /* no such instance (which is not proof that it is gone, I9) */
	PROVIDER_CONFLICT,  /* the token or name was used for something else */
	PROVIDER_NOT_YET,   /* refused for now (minimum rental, locked); retry_after_ms may say when
			     */
	PROVIDER_RATE,      /* throttled; nothing happened */
	PROVIDER_TRANSIENT, /* a failure that says nothing happened; try again */
	PROVIDER_AMBIGUOUS, /* may have happened: resolve by token or list before anything else */
	PROVIDER_NCODES
};

enum provider_flags {
	PROVIDER_TOKENS = 1 << 0,   /* a repeated create token returns the first result */
	PROVIDER_TAGS = 1 << 1,     /* instances carry tags from birth */
	PROVIDER_GANGS = 1 << 2,    /* a create takes groups that come whole or not at all */
	PROVIDER_MACHINES = 1 << 3, /* a node is one certain machine: a refusal is about that one */
	PROVIDER_TELLS = 1 << 4,    /* it can be asked for notices */
	PROVIDER_REPORTS = 1 << 5,  /* it can be told of broken hosts */
	PROVIDER_FABRICS = 1 << 6,  /* a create can ask for machines of one fabric */
};

struct provider_bucket { /* a token bucket; per_s 0: no limit */
	uint32_t size, per_s;
};

struct provider_limit {                             /* on one kind of request */
	struct provider_bucket requests, instances; /* instances: that requests are about */
};

struct provider_caps {
	unsigned flags;
	uint32_t create_max; /* instances in one create, >= 1 */
	uint32_t delete_max; /* ids in one delete, >= 1 */
	int64_t token_ms;    /* how long the provider remembers a token */
	int64_t reclaim_ms;  /* a reclaim is told so long before it at most; 0: not known */
	/* Of spot instances alone, and in this currency, can it be asked for prices; NULL: of
	 * whatever it offers, in whatever currency. */
	const char *spot_prices;
	/* PROVIDER_NOPS of them, static: what it documents of its own limits; NULL: nothing. */
	const struct provider_limit *limits;
};

enum {
	PROVIDER_ID_MAX = 95,
	PROVIDER_ADDR_MAX = 45,
	PROVIDER_WORD_MAX = 63,
	PROVIDER_CURSOR_MAX = 2047, /* EC2's are some hundred bytes */
};

enum provider_market { PROVIDER_ON_DEMAND, PROVIDER_SPOT, PROVIDER_RESERVED, PROVIDER_NMARKETS };

/* Where to buy and what: an entry of a pool's configuration. */
struct provider_place {
	const char *type, *region, *zone; /* zone may be "" */
	enum provider_market market;
	/* All instances are to be in this one (PROVIDER_FABRICS), or none is made; "" or NULL:
	 * anywhere.  One that is named like the create's token was made for it just before, and
	 * there is one job in that create.  Any other is the admin's. */
	const char *fabric;
};

struct provider_want {    /* one instance of a create */
	const char *node; /* Slurm node name; also the host name to give it */
	uint64_t gen;
	uint32_t group; /* instances of one non-zero group come whole or not at all (PROVIDER_GANGS)
			 */
};

struct provider_create {
	const char *cluster; /* our uuid: the tag by which we know our own */
	const char *token;   /* idempotency token of the batch */
	/* One type in one market, for that is what a node costs.  What the place leaves open (the
	 * zone, which of its subnets) is the driver's to choose, or the provider's. */
	const struct provider_place *place;
	const struct provider_want *wants;
	size_t nwants;
	const char *user_data; /* the text that each instance is given; NULL: as configured */
};

struct provider_op { /* everything is borrowed */
	enum provider_op_kind kind;
	int64_t at_ms; /* when it is sent, by the provider's clock; signatures carry the time */
	union {
		struct provider_create create;
		struct {
			const char *cluster;
			const char *cursor; /* "" for the first page */
		} list;
		struct {
			const char *const *ids;
			size_t nids;
		} del;
		struct {
			const char *const *types; /* that pools want; others need not be told */
			size_t ntypes;
			const char *cursor; /* "" for the first page */
		} offers;
		/* One request that the provider holds until there is something to tell, or for
		 * wait_ms.  Where it keeps what it told until it is told that it was heard, the
		 * result has an ack, and a second request with that makes it forget: sent when the
		 * notices are durable here, for one that is lost is told again and one that was
		 * acknowledged never. */
		struct {
			const char *cluster;
			const char *cursor; /* of the answer before; "" at first */
			const char *ack;    /* NULL: ask */
			uint32_t wait_ms;
		} notices;
		/* Nothing follows from that which we could see: sent once, while it runs. */
		struct {
			const char *id;
			const char *words; /* of whoever found out; "" */
		} report;
		struct {
			const char *cluster;
			const char *name;   /* not of a list */
			const char *cursor; /* of a list; "" for the first page */
		} fabric;
	} u;
};

enum provider_request_kind { PROVIDER_HTTP, PROVIDER_COMMAND };

enum { PROVIDER_HEADERS_MAX = 8 };

/* What to send.  Filled by build(), released by provider_request_fini(); every pointer is owned. */
struct provider_request {
	enum provider_request_kind kind;
	/* PROVIDER_HTTP */
	const char *method; /* static */
	char *url;
	char *headers[PROVIDER_HEADERS_MAX + 1]; /* "Name: value"; NULL-terminated */
	/* PROVIDER_COMMAND: run without a shell, stopped at its deadline */
	char **argv; /* NULL-terminated */
	uint32_t deadline_ms;
	/* both: body, or standard input */
	char *body;
	size_t body_len;
};

struct provider_reply { /* borrowed */
	long status;    /* HTTP status, or the command's exit status */
	const char *body;
	size_t len;
	const char *retry_after; /* header as sent, or NULL */
};

enum provider_state {
	PROVIDER_UNKNOWN, /* a word the driver does not know: exists and bills (I14) */
	PROVIDER_PENDING,
	PROVIDER_RUNNING,
	PROVIDER_RECLAIMING, /* the provider has said that it will take it */
	PROVIDER_STOPPING,   /* on its way out, may still bill */
	PROVIDER_ENDED,      /* gone and no longer billed */
};

/* One that carries our cluster's uuid is on the list whatever else it carries: if its node name or
 * its generation is no such thing, node is "" and gen 0, "its tags cannot be read".  One mangled
 * tag must not make the whole list worthless (I12).  Of an instance of ours without an id, though,
 * nothing can be said, and so of the list nothing either. */
struct provider_instance {
	char id[PROVIDER_ID_MAX + 1];
	char cluster[PROVIDER_WORD_MAX + 1]; /* tag; "" when it has none */
	char node[HOSTLIST_NAME_MAX + 1];    /* tag; "" when it cannot be read */
	uint64_t gen;                        /* likewise, and 0 then */
	enum provider_state state;
	char addr[PROVIDER_ADDR_MAX + 1]; /* "" until it has one */
	char hostname[HOSTLIST_NAME_MAX + 1];
	int64_t created_ms, ended_ms; /* by the provider's clock; 0: not said */
	int64_t reclaim_ms;           /* when it will be taken; 0: not said */
	bool taken;                   /* it stops, or has ended, for the provider reclaims it */
};

/* What is about to happen to an instance. */
enum provider_notice_kind {
	PROVIDER_NOTICE_RECLAIM,     /* the provider takes it */
	PROVIDER_NOTICE_REBALANCE,   /* ... or may do so soon: no promise either way */
	PROVIDER_NOTICE_MAINTENANCE, /* it will be stopped for a repair */
	PROVIDER_NOTICE_FAULTY,      /* its host is broken, says whoever looked at it */
	PROVIDER_NNOTICES
};

struct provider_notice {
	char id[PROVIDER_ID_MAX + 1]; /* of the instance */
	enum provider_notice_kind kind;
	int64_t at_ms; /* when it will happen; 0: not said */
};

struct provider_fabric { /* one with our tag, by its name */
	char name[PROVIDER_WORD_MAX + 1];
};

struct provider_ended { /* an instance that is said to have ended, or to be about to */
	char id[PROVIDER_ID_MAX + 1];
};

struct provider_item { /* one instance of a create or delete */
	enum provider_code code;
	struct provider_instance instance; /* create, PROVIDER_OK: id at least */
};

struct provider_offer {
	char type[PROVIDER_WORD_MAX + 1]; /* "": the price of everything there */
	char region[PROVIDER_WORD_MAX + 1];
	char zone[PROVIDER_WORD_MAX + 1];
	enum provider_market market;
	int64_t price_nano_h; /* currency units x 1e-9 per hour and instance; 0: not said */
	char currency[4];     /* ISO 4217 */
	uint32_t cpus, gpus;  /* that the type has; cpus 0: neither is said */
	uint64_t memory_mb;   /* 0: not said */
};

/* What the reply means.  Filled by parse(), released by provider_result_fini(). */
struct provider_result {
	enum provider_code code;     /* of the request as a whole; PROVIDER_OK: look at the items */
	int64_t retry_after_ms;      /* 0: not said */
	char message[160];           /* the provider's words, for people; "" when OK */
	struct provider_item *items; /* create, delete: one for each asked, in that order */
	size_t nitems;
	struct provider_instance *instances; /* list */
	size_t ninstances;
	/* lists, offers: ask again with this, "" at the end; notices: ask for the next with this */
	char cursor[PROVIDER_CURSOR_MAX + 1];
	struct provider_offer *offers;
	size_t noffers;
	char *session; /* login, PROVIDER_OK: for renew() alone; a secret, wiped when released */
	struct provider_notice *notices; /* of anybody's instances: who shares a queue hears all */
	size_t nnotices;
	struct provider_ended *ended; /* notices: a hint only, the list will say */
	size_t nended;
	size_t nodd; /* notices: what was told besides, and makes no sense to the driver */
	char *ack;   /* notices: to be given back; NULL: nothing waits for that */
	struct provider_fabric *fabrics; /* a list of them: who has a longer name is not ours */
	size_t nfabrics;
};

struct provider_conf { /* one provider section of burstd.conf; borrowed during open() */
	const char *name, *url, *ca_file;
	const char *credential; /* the secret's text, or NULL */
	uint32_t timeout_ms, concurrency;
	/* driver static */
	const char *const *on, *const *off, *const *status; /* NULL-terminated, or NULL */
	const char *records, *program;
	/* driver aws; "" or NULL where nothing is said */
	const char *region, *image, *subnets, *security_groups, *instance_profile, *key_name;
	const char *launch_template, *role, *sts_url, *metadata_url, *notice_queue;
	const char *user_data; /* the text itself */
};

struct provider_ops {
	const char *name; /* driver = "name" in burstd.conf */
	int (*open)(void **self, const struct provider_conf *conf, struct err *e);
	void (*close)(void *self); /* NULL is fine */
	struct provider_caps (*caps)(const void *self);
	/* Fill *out (zeroed by the caller).  -1: it can never be asked; *out needs no fini. */
	int (*build)(const void *self, const struct provider_op *op, struct provider_request *out,
		     struct err *e);
	/* Fill *out (zeroed by the caller) from any bytes at all: a reply that makes no sense is
	 * PROVIDER_AMBIGUOUS for a create and PROVIDER_TRANSIENT for the rest, never a crash. */
	void (*parse)(const void *self, const struct provider_op *op,
		      const struct provider_reply *reply, struct provider_result *out);
	/* How many of these, from the first on, one create can take: 1 to nwants.  NULL: all, as
	 * long as caps() allows. */
	size_t (*fits)(const void *self, const struct provider_create *c);
	/* The rest is NULL for a driver whose credential is for ever. */
	/* When the session ends; 0: there is none yet.  INT64_MAX: it does not end. */
	int64_t (*good_until)(const void *self);
	/* Take what a login brought.  1: another step is needed; 0: there is a session; -1: it
	 * makes no sense.  NULL, and after -1: the next step is the first again.  One
	 * login is on its way at a time, and what else is on the wire does not care: parse() of
	 * other operations knows of no session. */
	int (*renew)(void *self, const char *session, struct err *e);
};

void provider_request_fini(struct provider_request *r);
void provider_result_fini(struct provider_result *r);
/* Is one fabric wanted for all that is bought there? */
static inline bool provider_in_fabric(const struct provider_place *p)
{
	return p->fabric != NULL && p->fabric[0] != '\0';
}
const char *provider_code_str(enum provider_code c);          /* "capacity", "quota", ... */
const char *provider_op_str(enum provider_op_kind k);         /* "create", "list", ... */
const char *provider_notice_str(enum provider_notice_kind k); /* "reclaim", "rebalance", ... */
int provider_notice_parse(const char *word, enum provider_notice_kind *k); /* -1: none of these */
const char *provider_market_str(enum provider_market m); /* "on-demand", "spot", "reserved" */
/* Can such a provider be asked what that costs? */
bool provider_says_prices(const struct provider_caps *c, enum provider_market market,
			  const char *currency);
int provider_market_parse(const char *word, enum provider_market *m); /* -1: none of these */

#endif
