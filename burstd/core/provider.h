/* provider.h - what a cloud driver is: operations in, request bytes out; reply bytes in, result
 * out.
 *
 * A driver is sans-I/O.  It never sees a socket, a clock, a retry or a secret store: the engine
 * sends what build() returns, once, and gives the reply to parse().  The driver maps every error of
 * its vendor to the short list below; the engine decides what to do.
 * docs/providers/writing-a-driver.md says what a new cloud needs.
 *
 * build() and parse() are pure: the same arguments give the same bytes.  In particular two builds
 * of one create have byte-identical URLs and bodies, whenever and with whatever session they are
 * sent, because a provider compares the body of a repeated token (I4).  Only headers, and requests
 * other than creates, may depend on the time.
 *
 * A driver whose credential expires logs in by requests of its own (PROVIDER_LOGIN), one step at a
 * time: the engine sends them before all others and gives each result to renew(), the only function
 * that changes an open driver. */
#ifndef BURSTD_PROVIDER_H
#define BURSTD_PROVIDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/headers.h"
#include "base/hostlist.h"

enum provider_op_kind {
	PROVIDER_CREATE, /* one batch of instances; repeated with the same token after a lost reply
			  */
	PROVIDER_LIST,   /* one page of the instances with our cluster's tag; the source of truth */
	PROVIDER_DELETE, /* instances by id; safe to repeat */
	PROVIDER_QUOTES, /* one page of quotes: what can be bought, and the prices */
	PROVIDER_LOGIN,  /* the next step to a session; only with good_until() */
	PROVIDER_NOTICES,  /* what is about to happen to instances; only with PROVIDER_TELLS */
	PROVIDER_REPORT,   /* an instance's host is broken; only with PROVIDER_REPORTS */
	PROVIDER_CONSOLE,  /* the console log of one instance; only with PROVIDER_CONSOLES */
	PROVIDER_TOPOLOGY, /* which switches are above instances; only with PROVIDER_PATHS */
	/* Only with PROVIDER_FABRICS. */
	PROVIDER_FABRIC_MAKE, /* one fabric by its name; safe to repeat: OK if it exists */
	PROVIDER_FABRIC_LIST, /* one page of the names of fabrics with our cluster's tag */
	PROVIDER_FABRIC_DROP, /* one by its name; NOT_YET while an instance is in it, NOT_FOUND if
				 there is none */
	/* For limits and counters alone: any request of an operation after its first, but for pages
	 * and logins. */
	PROVIDER_STEP,
	PROVIDER_NOPS
};

/* The result of a request, or of one item in it. */
enum provider_code {
	PROVIDER_OK,
	PROVIDER_CAPACITY,  /* nothing of this type here now; another type or zone may have some */
	PROVIDER_QUOTA,     /* the account's limit; another try soon is useless */
	PROVIDER_DENIED,    /* credentials, permission or funds: an admin must act */
	PROVIDER_INVALID,   /* the request can never succeed as it is */
	PROVIDER_NOT_FOUND, /* no such instance (which is not proof that it is gone, I9) */
	PROVIDER_CONFLICT,  /* the token or name was used for another request */
	PROVIDER_NOT_YET,   /* refused for now (minimum rental, locked); see retry_after_ms.  Of one
			       instance of a create: ask for it again, the place may still have
			       room, whatever the answer says of the others */
	PROVIDER_RATE,      /* throttled; nothing happened */
	PROVIDER_TRANSIENT, /* it failed, and nothing happened; try again */
	PROVIDER_AMBIGUOUS, /* it may have happened: find out by token or list first */
	PROVIDER_MORE,      /* the request as a whole only: ask again with the result's cursor */
	PROVIDER_NCODES
};

enum provider_flags {
	PROVIDER_TOKENS = 1 << 0, /* a repeated create token returns the first result */
	PROVIDER_TAGS = 1 << 1, /* an instance says from birth who it is: in tags, or in its name */
	PROVIDER_GANGS = 1 << 2,    /* a create makes a group whole or not at all */
	PROVIDER_MACHINES = 1 << 3, /* a node is one certain machine, which a refusal is about */
	PROVIDER_TELLS = 1 << 4,    /* it can be asked for notices */
	PROVIDER_REPORTS = 1 << 5,  /* it can be told of broken hosts */
	PROVIDER_FABRICS = 1 << 6,  /* a create can ask for machines of one fabric */
	PROVIDER_CONSOLES = 1 << 7, /* it keeps the console logs of its instances */
	/* A create has a cursor only after a refusal, to go on elsewhere: nothing has begun by
	 * then, and lists show what its last request made.  So after a crash burstd goes on with it
	 * only where it would repeat a create. */
	PROVIDER_ELSEWHERE = 1 << 8,
	PROVIDER_PAST = 1 << 9,    /* asked since when, it quotes the prices of the past, too */
	PROVIDER_PATHS = 1 << 10,  /* it says where in its network an instance that runs is */
	PROVIDER_IMAGES = 1 << 11, /* a create may name the image that its machines boot */
};

/* A token bucket: it holds `size` tokens, and gains `gains` of them in every_ms (0: in a second).
 * gains 0: no limit. */
struct provider_bucket {
	uint32_t size, gains, every_ms;
};

/* No more than `most` requests in any every_ms; most 0: no limit, else up to WINDOW_MAX. */
struct provider_window {
	uint32_t most, every_ms;
};

struct provider_limit { /* of one kind of request */
	struct provider_bucket requests,
		instances; /* instances: counts the instances in requests */
	struct provider_window window;
};

/* What a provider allows in the name of an instance, besides lower-case letters, digits and '-'. */
struct provider_names {
	size_t max;       /* bytes; 0: no limit */
	bool upper;       /* 'A' to 'Z', and it does not take them for 'a' to 'z' */
	const char *also; /* of "_."; NULL: neither */
};

struct provider_caps {
	unsigned flags;
	uint32_t create_max; /* instances in one create, >= 1 */
	uint32_t delete_max; /* ids in one delete, >= 1 */
	uint32_t paths_max;  /* ids in one PROVIDER_TOPOLOGY; 0: without PROVIDER_PATHS */
	int64_t token_ms;    /* how long the provider remembers a token */
	int64_t reclaim_ms;  /* longest warning of a reclaim; 0: not known */
	/* An instance's name says who it is, too (providers/common/names.h), so each node's must
	 * fit; NULL: only tags do, which take any.  Static. */
	const struct provider_names *names;
	const char *region; /* it buys in this region only; NULL: wherever an offer says */
	/* It quotes only spot prices, and only in this currency; NULL: every price, in any
	 * currency. */
	const char *spot_prices;
	/* PROVIDER_NOPS of them, static: the provider's documented limits; NULL: none. */
	const struct provider_limit *limits;
	struct provider_bucket together; /* likewise of requests of all kinds */
};

/* What user-data a machine takes. */
enum provider_data {
	PROVIDER_DATA_UNSAID,
	PROVIDER_DATA_NONE,   /* none at all */
	PROVIDER_DATA_SCRIPT, /* a script that begins with "#!" */
	PROVIDER_DATA_ANY,    /* any text: cloud-init, or what else the image has, reads it */
};

enum provider_stock { PROVIDER_STOCK_UNSAID, PROVIDER_STOCK_NONE, PROVIDER_STOCK_SOME };

enum {
	PROVIDER_NO_MINIMUM = -1,
	PROVIDER_LINKS_MAX = 31, /* bytes of core/interconnect.h's words */
};

/* The terms of an offer, by the provider's API or its documentation.  What neither says is 0 or "":
 * a driver never guesses. */
struct provider_terms {
	int64_t quantum_ms;      /* billing step */
	int64_t minimum_ms;      /* least time that is billed; PROVIDER_NO_MINIMUM: there is none */
	enum provider_data data; /* user-data, ... */
	uint32_t data_max;       /* ... and its most bytes, before any base64 */
	/* The machine boots an image of the admin's choice, or is the admin's own. */
	bool own_image;
	enum provider_stock stock;                 /* is any free there now? */
	char interconnect[PROVIDER_LINKS_MAX + 1]; /* core/interconnect.h; "none" */
};

enum {
	PROVIDER_ID_MAX = 95,
	PROVIDER_ADDR_MAX = 45,
	PROVIDER_WORD_MAX = 63,
	PROVIDER_IMAGE_MAX = PROVIDER_WORD_MAX, /* of an image: ids have 36 and fewer */
	PROVIDER_CURSOR_MAX = 2047,             /* EC2's are some hundred bytes */
	PROVIDER_CONSOLE_MAX = 64 << 10,        /* bytes of a console log; EC2 keeps as many */
	PROVIDER_REQUEST_MAX = 64, /* of the provider's id of a request: a uuid has 36 */
	PROVIDER_PATH_MAX = 255,   /* bytes of a path; EC2's have 83 at most */
};

enum provider_market { PROVIDER_ON_DEMAND, PROVIDER_SPOT, PROVIDER_RESERVED, PROVIDER_NMARKETS };

/* Where to buy, and what: an offer of a pool. */
struct provider_place {
	const char *type, *region, *zone; /* zone may be "" */
	enum provider_market market;
	/* Make all instances in this fabric, or none (PROVIDER_FABRICS); "" or NULL: anywhere.  A
	 * fabric with the name of the create's token was made just before, for the one job of that
	 * create.  Any other is the admin's, or: */
	const char *fabric;
	/* The fabric is burstd's own, of a placement unit: it was made just before, unless it was
	 * there, with machines of earlier creates in it.  It may have been dropped meanwhile by a
	 * request whose answer was lost: then the answer is NOT_YET, and it is made again. */
	bool of_unit;
	/* What the machines boot (PROVIDER_IMAGES); "" or NULL: as the provider's own section says,
	 * or, if that says nothing, as the provider chooses. */
	const char *image;
};

struct provider_want {    /* one instance of a create */
	const char *node; /* Slurm's node name, and the host name */
	uint64_t gen;
	uint32_t group; /* not 0: make the whole group or nothing of it (PROVIDER_GANGS) */
};

struct provider_create {
	const char *cluster; /* the cluster's uuid, for the tag */
	const char *token;   /* the batch's idempotency token */
	/* One type in one market, so one price.  What the place leaves open (the zone, the subnet)
	 * the driver or the provider chooses. */
	const struct provider_place *place;
	const struct provider_want *wants;
	size_t nwants;
	const char *user_data; /* the text for each instance; NULL: as configured */
};

/* An operation may take several requests: pages of a list, steps of a login, an operation that is
 * asked about until it has ended.  Each answer but the last is PROVIDER_MORE, with a cursor that
 * only the driver can read; build() is asked again with it.  From the second request on each must
 * be safe to repeat: if it fails or is denied, or its answer is lost, it is sent again.  The cursor
 * of a create is in the journal, so that burstd goes on with it after a crash. */
struct provider_op { /* everything is borrowed */
	enum provider_op_kind kind;
	/* "" or NULL: the first request.  Notices: of the last answer, whatever it was. */
	const char *cursor;
	int64_t at_ms; /* when it is sent, by the provider's clock; signatures carry the time */
	union {
		struct provider_create create;
		struct {
			const char *cluster;
		} list;
		struct {
			const char *const *ids;
			size_t nids;
		} del, topology;
		struct {
			const char *const *types; /* that pools buy; no others are needed */
			size_t ntypes;
			/* With PROVIDER_PAST: quote all prices that were in force since then, by
			 * the provider's clock, each with its valid_from_ms; 0: only those of now.
			 * Other drivers ignore it. */
			int64_t since_ms;
		} quotes;
		/* A long poll: the provider holds the request until it has a notice, or for
		 * wait_ms.  If it keeps notices until they are acknowledged, the result has an ack,
		 * and a second request with that ack drops them.  The engine acknowledges when the
		 * notices are durable: a notice that is not acknowledged comes again, any other
		 * never. */
		struct {
			const char *cluster;
			const char *ack; /* NULL: a poll */
			uint32_t wait_ms;
		} notices;
		/* Has no visible effect: sent once, while the instance runs. */
		struct {
			const char *id;
			const char *words; /* of the one who found out; "" */
		} report;
		struct {
			const char *id;
		} console;
		struct {
			const char *cluster;
			const char *name; /* not of a list */
		} fabric;
	} u;
};

enum provider_request_kind { PROVIDER_HTTP, PROVIDER_COMMAND };

enum { PROVIDER_HEADERS_MAX = 8 };

/* What to send.  Filled in by build(), freed by provider_request_fini(); it owns every pointer. */
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
	struct headers headers; /* of HTTP; headers_get() looks one up */
};

enum provider_state {
	/* The driver does not know the word, or cannot tell: it exists and bills (I14). */
	PROVIDER_UNKNOWN,
	PROVIDER_PENDING,
	PROVIDER_RUNNING,
	PROVIDER_RECLAIMING, /* the provider has announced that it will take it */
	PROVIDER_STOPPING,   /* it ends, and may still bill */
	/* It was accepted and then failed, as when the provider found no host for it: it never will
	 * run, and exists until it is deleted.  The result's failures say why. */
	PROVIDER_FAILED,
	PROVIDER_ENDED, /* gone, and no longer billed */
};

/* A driver lists every instance with our cluster's uuid.  If the tags with node name or generation
 * cannot be read, node is "" and gen 0: one mangled tag must not make the whole list useless (I12).
 * But a list with an instance of ours without an id is useless. */
struct provider_instance {
	char id[PROVIDER_ID_MAX + 1];
	char cluster[PROVIDER_WORD_MAX + 1]; /* tag; "": none */
	char node[HOSTLIST_NAME_MAX + 1];    /* tag; "": it cannot be read */
	uint64_t gen;                        /* tag; 0: it cannot be read */
	enum provider_state state;
	char addr[PROVIDER_ADDR_MAX + 1]; /* "": none yet */
	char hostname[HOSTLIST_NAME_MAX + 1];
	int64_t created_ms, ended_ms; /* by the provider's clock; 0: not said */
	int64_t reclaim_ms;           /* when it will be reclaimed; 0: not said */
	bool taken;                   /* it stops or has ended because the provider reclaims it */
	/* What it is, of a list; "": not said. */
	char type[PROVIDER_WORD_MAX + 1], zone[PROVIDER_WORD_MAX + 1];
	bool says_market, spot; /* says_market: and whether it is a spot instance */
};

struct provider_failure { /* of an instance that is PROVIDER_FAILED, or failed and has ended */
	char id[PROVIDER_ID_MAX + 1];
	/* As if the create had been refused: PROVIDER_CAPACITY, PROVIDER_QUOTA ...; any other code:
	 * it says nothing about the place. */
	enum provider_code code;
	char message[160]; /* the provider's words, for people */
};

/* What is about to happen to an instance. */
enum provider_notice_kind {
	PROVIDER_NOTICE_RECLAIM,     /* the provider takes it */
	PROVIDER_NOTICE_REBALANCE,   /* the provider may take it soon (rebalance recommendation) */
	PROVIDER_NOTICE_MAINTENANCE, /* it will be stopped for a repair */
	PROVIDER_NOTICE_FAULTY,      /* its host is broken, by an admin or a node */
	PROVIDER_NNOTICES
};

struct provider_notice {
	char id[PROVIDER_ID_MAX + 1]; /* of the instance */
	enum provider_notice_kind kind;
	int64_t at_ms; /* when it will happen; 0: not said */
};

/* Where an instance is: the switches above it ("network nodes"), the outermost first, and its own
 * last, with '/' between them.  Two instances with the same last one are as close as can be. */
struct provider_path {
	char id[PROVIDER_ID_MAX + 1]; /* of the instance */
	char path[PROVIDER_PATH_MAX + 1];
};

struct provider_fabric { /* a fabric with our tag */
	char name[PROVIDER_WORD_MAX + 1];
};

struct provider_ended { /* an instance that has ended, or is about to */
	char id[PROVIDER_ID_MAX + 1];
};

struct provider_item { /* an instance in a create or delete */
	enum provider_code code;
	struct provider_instance instance; /* create, PROVIDER_OK: id at least */
};

struct provider_quote {
	char type[PROVIDER_WORD_MAX + 1];   /* "": this price is for all types there */
	char region[PROVIDER_WORD_MAX + 1]; /* "": it is the same in all regions */
	char zone[PROVIDER_WORD_MAX + 1];
	enum provider_market market;
	int64_t price_nano_h; /* nano-units per hour and instance; 0: not said */
	char currency[4];     /* ISO 4217 */
	/* Since when that is the price, by the provider's clock; 0: not said, so now.  Of several
	 * of one place the latest is the price of now, and the others are of the past. */
	int64_t valid_from_ms;
	uint32_t cpus, gpus; /* of the type; cpus 0: neither is known */
	uint64_t memory_mb;  /* 0: not said */
	/* What the quote says of the terms; the rest is provider_ops.terms().  User-data and image
	 * are always there, for a create must be checked before there is a quote. */
	struct provider_terms terms;
};

/* What the reply means.  Filled in by parse(), freed by provider_result_fini(). */
struct provider_result {
	enum provider_code code; /* of the request as a whole; PROVIDER_OK: look at the items */
	int64_t retry_after_ms;  /* 0: not said */
	char message[160];       /* the provider's words, for people; "" when OK */
	/* PROVIDER_DENIED to a later request of a create: the create has ended, and has left
	 * nothing.  Otherwise that request is sent again. */
	bool denied_for_good;
	/* The provider's id of the request, for its support: set by the engine, by request_id().
	 * Of an operation of several requests the first's, and the last's: "ID, ID". */
	char request_id[2 * PROVIDER_REQUEST_MAX + 3];
	struct provider_item
		*items; /* create, delete: one for each instance, in the order of the request */
	size_t nitems;
	struct provider_instance *instances; /* list */
	size_t ninstances;
	struct provider_failure *failures; /* list: of its failed instances, in any order */
	size_t nfailures;
	/* PROVIDER_MORE: for the next request, not before retry_after_ms.  Notices: for the next
	 * poll.  Else "". */
	char cursor[PROVIDER_CURSOR_MAX + 1];
	struct provider_quote *quotes;
	size_t nquotes;
	char *session; /* login, PROVIDER_OK: for renew() only; a secret, wiped by
			  provider_result_fini() */
	struct provider_notice
		*notices; /* of any instance: a shared queue has notices of others, too */
	size_t nnotices;
	struct provider_ended *ended; /* notices: only a hint to list soon */
	size_t nended;
	size_t nunread; /* notices: how many could not be read */
	char *ack;      /* notices: for the acknowledgement; NULL: none is needed */
	struct provider_fabric *fabrics; /* a list of fabrics; longer names are not burstd's */
	size_t nfabrics;
	/* Topology: of those asked for of which it says a path, in any order. */
	struct provider_path *paths;
	size_t npaths;
	/* The end of a console log, at most PROVIDER_CONSOLE_MAX bytes of any kind but NUL, as the
	 * machine wrote them (core/console.h); NULL: none yet.  Wiped by provider_result_fini(). */
	char *console;
};

struct provider_conf { /* one provider section of burstd.conf; borrowed during open() */
	const char *name, *url, *ca_file;
	const char *credential; /* the secret's text, or NULL */
	uint32_t timeout_ms, concurrency;
	const void *options;   /* the struct of the driver's own options; NULL: it has none */
	const char *user_data; /* the text for each instance; NULL: none */
};

struct conf_driver;
struct provider_ops {
	const char *name;                  /* driver = "name" in burstd.conf */
	const struct conf_driver *options; /* NULL: it has none of its own */
	int (*open)(void **self, const struct provider_conf *conf, struct err *e);
	void (*close)(void *self); /* NULL is fine */
	struct provider_caps (*caps)(const void *self);
	/* Fill in *out (zeroed by the caller).  -1: there can be no such request; *out needs no
	 * fini. */
	int (*build)(const void *self, const struct provider_op *op, struct provider_request *out,
		     struct err *e);
	/* Fill in *out (zeroed by the caller) from any bytes: a reply that cannot be read is
	 * PROVIDER_AMBIGUOUS for a create, PROVIDER_TRANSIENT for all else, never a crash. */
	void (*parse)(const void *self, const struct provider_op *op,
		      const struct provider_reply *reply, struct provider_result *out);
	/* For replies that are long: read one with status 200 as it comes, so that it keeps the
	 * loop for no longer than a piece of it takes.  Return NULL to have replies to this op
	 * whole, in parse(); NULL instead of the three: all are. */
	void *(*read_begin)(const void *self, const struct provider_op *op);
	void (*read_some)(void *reader, const char *p, size_t len); /* cut anywhere */
	/* It is complete: as parse(), of a reply whose body is what read_some() was given.  Frees
	 * the reader.  All but reader NULL: drop it; self may be closed by then. */
	void (*read_end)(void *reader, const void *self, const struct provider_op *op,
			 const struct provider_reply *reply, struct provider_result *out);
	/* The terms that are known before any request; pure.  NULL: nothing is known. */
	struct provider_terms (*terms)(const void *self, const struct provider_place *place);
	/* Copy the provider's id of a request from a reply to it, whatever it was, to out; "": it
	 * has none, or none that may be shown.  NULL: the provider is not known to send any. */
	void (*request_id)(const void *self, const struct provider_reply *reply,
			   char out[PROVIDER_REQUEST_MAX + 1]);
	/* How many instances of c, from the first on, fit into one create: 1 to nwants.  NULL: as
	 * many as caps() allows. */
	size_t (*fits)(const void *self, const struct provider_create *c);
	/* NULL from here on: the driver's credential does not expire. */
	/* When the session ends; 0: there is none yet; INT64_MAX: never. */
	int64_t (*good_until)(const void *self);
	/* Take the session of a login's result.  1: another step is needed; 0: there is a session;
	 * -1: it cannot be read.  session NULL, and after -1: begin again with the first step.  One
	 * login runs at a time; other requests on the wire are not affected, for parse() does not
	 * use the session. */
	int (*renew)(void *self, const char *session, struct err *e);
};

/* The cursor of the operation; "" for the first request. */
static inline const char *provider_cursor(const struct provider_op *op)
{
	return op->cursor != NULL ? op->cursor : "";
}
/* Put one more switch at the end of a path.  -1: there is no room, or it is no name without blanks
 * and '/'; the path is as it was. */
int provider_path_add(struct provider_path *p, const char *name);
void provider_request_fini(struct provider_request *r);
void provider_result_fini(struct provider_result *r);
/* The image that a create names, or else the provider's own. */
static inline const char *provider_image(const struct provider_place *p, const char *own)
{
	return p->image != NULL && p->image[0] != '\0' ? p->image : own;
}
/* Must all instances be in one fabric? */
static inline bool provider_in_fabric(const struct provider_place *p)
{
	return p->fabric != NULL && p->fabric[0] != '\0';
}
const char *provider_code_str(enum provider_code c);          /* "capacity", "quota", ... */
const char *provider_op_str(enum provider_op_kind k);         /* "create", "list", ... */
const char *provider_notice_str(enum provider_notice_kind k); /* "reclaim", "rebalance", ... */
int provider_notice_parse(const char *word, enum provider_notice_kind *k); /* -1: none of these */
const char *provider_market_str(enum provider_market m); /* "on-demand", "spot", "reserved" */
/* Does a provider with these caps quote prices of this market in this currency? */
bool provider_says_prices(const struct provider_caps *c, enum provider_market market,
			  const char *currency);
int provider_market_parse(const char *word, enum provider_market *m); /* -1: none of these */

#endif
