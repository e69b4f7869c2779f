/* cloud.h - one provider: the requests to it, and what it has said.
 *
 * Whoever has a request asks cloud_ready() whether it may go now, and sends it by cloud_send(). The
 * answer goes to him, and by the table (engine_heard(), engine_listed() and so on) to all parts.
 * Nothing here knows what is bought, or for whom. */
#ifndef BURSTD_CLOUD_CLOUD_H
#define BURSTD_CLOUD_CLOUD_H

#include "cloud/cloud_api.h"
#include "core/cooldown.h"
#include "core/limit.h"
#include "core/pages.h"
#include "core/prices.h"
#include "core/refused.h"
#include "core/unsold.h"
#include "engine/kernel.h"

enum {
	ENGINE_LOOK_MS = 500,       /* from a create to the second list, which has addresses */
	ENGINE_QUOTES_MS = 300000,  /* between two requests for quotes */
	ENGINE_QUOTES_MAX = 100000, /* quotes of one provider */
	ENGINE_GAP_MS = 2 * ENGINE_QUOTES_MS, /* longer between two quotes is a gap to be filled */
	ENGINE_OVERLAP_MS =
		3600000,       /* the past is asked for from so long before: prices appear late */
	ENGINE_PAST_TRIES = 3, /* so often; then the gap stays */
	ENGINE_FABRICS_MS = 600000, /* between two lists of fabrics */
	ENGINE_FABRICS_MAX = 65536, /* fabrics of one provider: no more than nodes */
	ENGINE_DROP_MS = 10000,     /* pause before a fabric in use is dropped again; doubles ... */
	ENGINE_DROP_MAX_MS = 3600000,  /* ... up to this */
	ENGINE_LOGIN_MS = 300000,      /* a session is renewed so long before it ends */
	ENGINE_LOGIN_STEPS = 16,       /* requests that one login may take */
	ENGINE_LISTEN_MS = 20000,      /* a provider may hold a request for notices so long */
	ENGINE_LISTEN_PAUSE_MS = 1000, /* pause after one that brought none */
	ENGINE_STRAYS_MAX = 65536,     /* strays of one provider */
	ENGINE_UNREAD_MAX = 4096,      /* unreadable instances of one provider, in one run */
	ENGINE_SEEN_MAX = 131072,      /* instances in one list: twice as many as nodes */
	ENGINE_STRAY_LOOK_MS = 10000,  /* from a stray's first list to its delete, at least */
	ENGINE_STRAY_MS = 150000,      /* P1: a stray is gone so long after it was listed ... */
	ENGINE_STRAY_REST_MS = 20000,  /* ... and the pages of a list and the delete take this */
	ENGINE_CALM_TIMES = 4,         /* list_every is so much longer while nothing moves */
	ENGINE_CONSOLE_MS = 5000,      /* a delete waits so long for a console log */
	ENGINE_PATHS_MS = 5000, /* between two questions where machines are, to one provider */
	ENGINE_PATHS_DENIED_MS = 3600000, /* likewise after one that was denied, ... */
	ENGINE_PATHS_ODD = 3,             /* ... or so many refused about one machine each */
	ENGINE_APART_MS = 5000,           /* between two looks at whether fabrics are together */
	ENGINE_THROTTLED_MS = 60000,      /* a provider that says 429 for so long is failing */
	ENGINE_REPLY_MAX = 32 << 20,      /* bytes of one answer */
};

struct stray { /* an instance with our tag that no row stands for */
	char id[PROVIDER_ID_MAX + 1];
	char node[HOSTLIST_NAME_MAX + 1];
	char addr[PROVIDER_ADDR_MAX + 1];
	uint64_t gen;
	int64_t first_ms;           /* when a list showed it first */
	int64_t born_ms;            /* when it was launched, by our clock; first_ms: not said */
	int64_t tried_ms, asked_ms; /* first and last request to delete it; 0: none yet */
	bool seen, leaves;          /* in this list; leaves: it stops already */
	bool apart; /* the provider would not delete it: not in one request with others */
	bool up;    /* no pool names its node, and the last snapshot has it up */
};

/* A complete list is compared with the rows in pieces, one in a turn, so that hooks are served in
 * between (ADR 47).  Rows may change between two pieces, as they may between two pages. */
struct comparison {
	bool runs;      /* a piece is left */
	bool merged;    /* entries of the same instance have become one */
	size_t at, n;   /* the next entry to be looked at; how many before it are kept */
	struct map ids; /* -> struct provider_instance, by id, of those that are kept */
	uint64_t foreign;
};

struct unread { /* an instance with our tag whose node or generation cannot be read */
	char id[PROVIDER_ID_MAX + 1];
	int64_t first_ms; /* when a list showed it first */
	bool shown;       /* the last list has it */
};

struct fabric { /* made for a job's create or for a unit, and not known to be gone */
	char name[PROVIDER_WORD_MAX + 1];
	int64_t next_ms, step_ms; /* to be dropped, if nobody needs it: not before */
	bool needed, busy;        /* busy: a request to drop it is on the wire */
	bool refused;             /* the provider would not drop it */
};

struct cloud { /* one provider */
	struct engine *e;
	const struct conf_provider *conf;
	const struct provider_ops *ops;
	void *self;
	struct provider_caps caps;
	struct limit limit;
	char off[320];    /* why nothing is asked of it, and self is NULL; "": it is asked */
	int64_t off_next; /* when that is looked at again */
	/* the list */
	struct pages list;
	bool listed; /* one since start was complete and understood: creates may go out */
	bool shown;  /* one since the journal became doubtful was, in this life or an earlier one */
	bool unsure; /* the last one showed instances we could not place yet */
	bool waits;  /* somebody waits for what the next one shows */
	bool ages;   /* the last one said of each instance when it was launched */
	bool calm;   /* nothing moved when the last one came: the next one may come later */
	int64_t list_began, list_next, list_step;
	struct provider_instance *seen;
	struct comparison comparison; /* of that list with the rows */
	bool taken;                   /* it ended in this turn: the next one acts on it, at once */
	struct provider_failure *failures; /* of those; by id, rising, once the list is complete */
	size_t nseen, nfailures;
	struct stray *strays;
	size_t nstrays;
	size_t strays_at, apart_at; /* the next one to be asked to end, with others and alone */
	int64_t strays_ms;          /* when the list began that they are from */
	struct map ids;             /* -> struct fleet_node, by its instance: owner.c */
	struct unread *unread;      /* all of this run, so that each is told of once */
	struct map unread_ids;
	size_t nunread, unreadable; /* unreadable: how many of the last list */
	int64_t odd_ms;             /* when the youngest of those was seen first */
	/* the quotes */
	struct provider_quote *quotes, *coming; /* coming: of the pages so far */
	size_t nquotes, ncoming;
	struct pages quoting;
	int64_t quotes_next;
	bool quotes_known; /* answered once since start */
	bool asked_before; /* for those in progress, by a configuration that has been replaced */
	int64_t quotes_ms; /* when it last sent all of them; 0: not since the start */
	/* ... and their past, for a time in which burstd did not ask */
	bool past_due;       /* it is to be asked for; until then the book takes nothing */
	bool past_asked;     /* the quotes in progress have it */
	unsigned past_tries; /* that failed */
	int64_t since_ms;    /* from when on */
	struct provider_quote
		*past; /* those of the past in the quotes that came, during quoted() */
	size_t npast;
	/* the fabrics, by their names, rising */
	struct fabric *fabrics;
	size_t nfabrics;
	struct pages fabrics_list;
	bool fabrics_look; /* a list of instances came, and none was dropped since */
	int64_t fabrics_next;
	bool drop_denied;    /* that was told */
	char undropped[201]; /* why one was, last */
	/* where its machines are: topology.c */
	bool paths_due;     /* one that is up was perhaps not asked about */
	bool paths_busy;    /* a question is on the wire */
	unsigned paths_odd; /* single ids that it refused, one after the other */
	size_t paths_most;  /* ids in one, since it refused a longer one; 0: as many as it takes */
	int64_t paths_next, paths_step;
	char unplaced[200]; /* why it does not say; "": it does, or was not asked */
	/* the session */
	bool login_busy;
	unsigned login_steps; /* of the one that is being made */
	int64_t login_next, login_step;
	int64_t login_ms;         /* since when there is the present one; 0: there never was one */
	bool login_doubted;       /* the provider no longer takes the one there is */
	int64_t login_doubted_ms; /* when that was last so */
	/* the notices */
	bool listening;                                 /* a request is on the wire */
	char *listen_ack;                               /* to be sent first; NULL: none */
	int64_t listen_began, listen_next, listen_step; /* step: 0 unless the last one failed */
	char listen_cursor[sizeof(((struct provider_result *)NULL)->cursor)];
	bool listen_stuck;  /* what was heard could not be acknowledged */
	int64_t unheard_ms; /* since when they fail; 0: they do not */
	char unheard[200];  /* why; no other request's answer clears it */
	/* is anybody there: away.c, keyless.c */
	int64_t mute_ms;    /* since when nobody answers; 0: somebody does */
	int64_t blind_ms;   /* likewise, since when its list cannot be had */
	bool away;          /* that is so for too long */
	int64_t keyless_ms; /* since when its machines could not have their keys; 0: they could */
	/* how it is */
	int64_t ok_ms, failed_ms, undeleted_ms, throttled_ms;
	uint64_t sent[PROVIDER_NOPS], throttled[PROVIDER_NOPS]; /* requests, since burstd started */
	uint64_t refused[PROVIDER_NCODES];                      /* nodes, by what it said */
	char error[256];
	uint64_t notices[PROVIDER_NNOTICES]; /* of its machines, whoever told us */
	char undeleted[256];     /* why a delete failed last: at undeleted_ms; no list clears it */
	int64_t ahead_ms;        /* how far our time is ahead of its clock: clock.c */
	bool dated;              /* an answer had a Date: ahead_ms says something */
	bool delete_denied;      /* whole deletes are, and that was told */
	size_t delete_most;      /* ids in one while whole ones are refused; 0: as many as fit */
	unsigned delete_alone;   /* denied so, while nothing went through */
	int64_t delete_whole_ms; /* until then none is cut for being denied: all are */
};

/* One request to a provider, from cloud_send() to its answer. */
struct request;
typedef void (*request_fn)(struct cloud *c, void *ctx, const struct provider_result *r);

struct cloud_state {              /* of all providers */
	struct cloud *all;        /* one for each of the configuration, in its order */
	struct request *requests; /* all on the wire */
	bool unsent;              /* some of them could not be sent */
	bool owners_made;         /* the clouds' ids ... */
	uint64_t owners_commits;  /* ... and when: no longer good after another commit */
	struct report *reports;   /* of broken hosts, that are still to be sent */
	size_t nreports;
	struct console *consoles; /* logs that are asked for, and those that came (console.c) */
	struct apart *aparts;     /* fabrics whose machines are too far from each other ... */
	size_t naparts;
	uint64_t located;         /* how often a provider said where a machine is */
	bool aparts_due;          /* ... are to be found anew ... */
	int64_t aparts_next;      /* ... not before then */
	bool aways;               /* some provider is away or off, or was a moment ago */
	bool doubtful;            /* JOURNAL_DOUBTFUL ... */
	int64_t doubt;            /* ... the number */
	struct cooldown cooldown; /* places that have nothing to sell */
	struct unsold unsold;     /* ... and what they said */
	struct refused refused;   /* likewise, counted by offer */
	struct prices prices;     /* book.c */
	int64_t rates_next;       /* when a negotiated price comes or goes */
};

/* The provider that a row is bought from. */
static inline struct cloud *cloud_of(const struct engine *e, const struct node *n)
{
	return &e->cloud->all[n->cloud];
}

/* When the stray may be deleted: a settle time after its launch, in which a row for it might come,
 * and never right after the first list that shows it. */
static inline int64_t cloud_stray_due(const struct cloud *c, const struct stray *s)
{
	int64_t settle = c->conf->settle_ms;
	int64_t look = settle < ENGINE_STRAY_LOOK_MS ? settle : (int64_t)ENGINE_STRAY_LOOK_MS;
	int64_t by_age = s->born_ms + settle, by_look = s->first_ms + look;

	return by_age > by_look ? by_age : by_look;
}

/* --- cloud.c --- */
/* May a request of this kind go out now?  If not, it is in line for its turn (limit.h). */
bool cloud_ready(struct cloud *c, enum provider_op_kind kind);
/* Send op, for which cloud_ready() was true, and call fn once with the result, later, unless the
 * engine is freed before.  Takes ctx, which is freed after fn, or instead of calling it.  What op
 * points to must live as long: ctx is the place for it.
 *
 * If the operation takes several requests, these follow by themselves, but pages of lists.  fn of a
 * create is called with each PROVIDER_MORE, too, and must have written down its cursor when it
 * returns: after a crash the create goes on there. */
void cloud_send(struct cloud *c, const struct provider_op *op, request_fn fn, void *ctx);
/* The same in two steps, within one turn: count it as on the wire, and send it. */
struct request *cloud_reserve(struct cloud *c, const struct provider_op *op, request_fn fn,
			      void *ctx);
void cloud_send_reserved(struct request *rq);
void cloud_hurry(struct cloud *c); /* list soon: something happened that a list will show */
void cloud_fail_unsent(struct engine *e);
/* Does no request on the wire name a configuration?  (Those for notices may stay for ever.) */
bool cloud_quiet(const struct engine *e);
void cloud_cancel_all(struct engine *e);
uint64_t cloud_body_hash(const struct provider_request *rq);
/* Show the text in the provider's status, and log it once for as long as it is the same. */
void cloud_complain(struct cloud *c, enum provider_op_kind kind, const char *code,
		    const char *text);

/* --- show.c --- */
static inline int64_t sooner(int64_t a, int64_t b)
{
	return a < b ? a : b;
}
/* As engine_flow(), but creates and deletes are one request each. */
struct engine_flow cloud_flow(const struct cloud *c, enum provider_op_kind kind);

/* --- steps.c --- */
void steps_run(struct cloud *c);
int64_t steps_next_ms(const struct cloud *c);
/* How many operations wait for their next request; *oldest_ms is moved to when the first of these
 * was due, if that is earlier. */
size_t steps_queue(const struct cloud *c, int64_t *oldest_ms);

/* --- turn.c --- */
/* Begin with these limits (provider_caps.limits; NULL: none are known). */
void cloud_limit(struct cloud *c, const struct provider_limit *own);
/* Open the driver; if that fails the provider is off.  -1: there is no such driver. */
int cloud_open(struct cloud *c, struct engine *e, const struct conf_provider *conf,
	       struct err *err);
void cloud_close(struct cloud *c);
void cloud_reload(struct cloud *c, const struct conf_provider *conf);
void cloud_run(struct cloud *c);
int64_t cloud_next_ms(const struct cloud *c);

/* --- clouds.c --- */
extern const struct engine_part clouds_part;
extern const struct engine_part clouds_quotes_part;
extern const struct engine_part clouds_send_part;

/* --- session.c --- */
/* Is there a session, or does the provider need none?  If not, only a login may go out. */
bool session_good(const struct cloud *c);
int64_t session_until(const struct cloud *c); /* end of the session, by our clock */
/* May such a request go out, as far as the session is concerned?  What makes something also waits
 * for a session that is in doubt to be renewed, or not to be: else its denial would count. */
bool session_serves(const struct cloud *c, enum provider_op_kind kind);
/* A request that was sent at sent_ms was denied.  true: it may be the session's fault, which was
 * revoked, or has ended by the provider's clock.  A new one comes, so ask again.  false: a right is
 * missing. */
bool session_doubt(struct cloud *c, int64_t sent_ms);

/* --- login.c --- */
void login_run(struct cloud *c);
int64_t login_next_ms(const struct cloud *c);

/* --- list.c, quotes.c --- */
/* Why that instance of the list failed; NULL: the provider did not say. */
const struct provider_failure *list_failure(const struct cloud *c, const char *id);
void list_run(struct cloud *c);
/* Compare the next piece of a complete list, if one is left: also of a provider that is off now. */
void list_compare(struct cloud *c);
int64_t list_next_ms(const struct cloud *c);
void quotes_run(struct cloud *c);
int64_t quotes_next_ms(const struct cloud *c);

/* --- listen.c --- */
void listen_run(struct cloud *c);
int64_t listen_next_ms(const struct cloud *c);

/* --- fabric.c --- */
/* Does a job of n nodes get a fabric of its own from this offer?  group: as in its rows. */
bool fabric_for(const struct conf_offer *o, uint32_t group, size_t n);
/* Make this fabric, for the create that follows.  name must live until fn is called. */
void fabric_make(struct cloud *c, const char *name, request_fn fn, void *ctx);
/* Is a request to drop this fabric on the wire?  Then nothing may be bought in it.  Of all
 * providers: an account may have several sections, each of which finds all of its fabrics. */
bool fabric_goes(const struct engine *e, const char *name);
void fabric_run(struct cloud *c);
int64_t fabric_next_ms(const struct cloud *c);
/* Check that each offer with a fabric is of a provider that has them.  -1: *err begins
 * "FILE:LINE: ". */
int fabric_check(struct engine *e, const struct conf *conf, struct err *err);
int fabric_may_use(struct engine *e, size_t provider, struct err *err); /* one provider */

/* --- report.c --- */
/* Report the broken host of this instance to its provider, if the provider takes reports: after the
 * next commit and before the delete, which waits for the answer (fn->reporting), but for a slot no
 * longer than a request may take.  Each instance is reported once in a run, and not while too many
 * reports wait.  The outcome is an event. */
void report_want(struct engine *e, struct fleet_node *fn, const char *words, const char *by);
/* How many reports to this provider wait to be sent; *oldest_ms is moved to when the first of them
 * was wanted, if that is earlier. */
size_t report_queue(const struct cloud *c, int64_t *oldest_ms);
extern const struct engine_part report_part;

/* --- console.c --- */
extern const struct engine_part console_part;

/* --- topology.c --- */
extern const struct engine_part topology_part;

/* --- sells.c --- */
/* Find the provider of that name.  "" stands for a pool's only provider, or OFF_UNKNOWN if it has
 * several.  false: there is none. */
bool cloud_find(const struct engine *e, uint32_t pool, const char *provider, uint32_t *cloud);
/* Does the pool buy there? */
bool cloud_sells(const struct engine *e, uint32_t pool, const struct cloud *c);
struct place cloud_place(const struct engine *e, const struct conf_offer *o); /* borrows of both */
/* Did a place where the pool buys, and that refused somebody, sell something after since_ms, to
 * another job than this one? */
bool cloud_sold_since(const struct engine *e, uint32_t pool, uint64_t job, int64_t since_ms);

/* --- quote.c --- */
/* What one node of this offer costs in an hour, in nano-units; 0: not known. */
int64_t quote_price(const struct cloud *c, const struct conf_offer *p);
bool quote_dry(const struct cloud *c, const struct conf_offer *p);       /* does it say so? */
int64_t quote_known(const struct engine *e, const struct conf_offer *o); /* as ladder_known */
/* By the quotes that it sent last, and its driver. */
struct provider_terms quote_terms(const struct engine *e, const struct conf_offer *o);
/* What each offer of the pool costs now; INT64_MAX: not known, not offered, or no such offer. */
void quote_costs(const struct engine *e, uint32_t pool, int64_t costs[CONF_OFFERS_MAX]);

/* When the price of an offer was last heard from its provider; 0: it is not the provider's, or
 * there is none. */
int64_t quote_heard_ms(const struct engine *e, const struct conf_offer *o);

/* --- book.c --- */
void book_load(struct engine *e, const struct price *p); /* a row of the journal, at the start */
/* From when on the provider is to be asked for its past, after the last quotes at last_ms (0: there
 * were none since the start). */
int64_t book_since(const struct cloud *c, int64_t last_ms);
/* What an instance of this offer cost at at_ms; 0: not known.  type, zone: as the provider says of
 * it, or "". */
int64_t book_price(const struct cloud *c, const struct conf_offer *o, const char *type,
		   const char *zone, int64_t at_ms);
extern const struct engine_part book_part;

/* --- owner.c --- */
/* The provider of a row; NULL: it is no longer in the configuration, and the row has ended. */
struct cloud *owner_provider(const struct engine *e, const struct node *n);
/* The row that has this instance, or will have it after the next commit; NULL: none that counts. */
struct fleet_node *owner_of(struct cloud *c, const char *id);
/* Likewise, or the newest row of an instance that is gone. */
struct fleet_node *owner_once(struct cloud *c, const char *id);
void owner_set(struct cloud *c, struct fleet_node *fn); /* its instance was staged just now */

/* --- doubt.c --- */
/* Have all providers of the pool listed their instances since the start? */
bool doubt_listed(const struct engine *e, uint32_t pool);
/* Likewise, or has burstd waited for those that have not for long enough?  With a doubtful journal
 * it waits for ever. */
bool doubt_looked(const struct engine *e, uint32_t pool);
/* The provider whose missing list has kept the pool from buying for too long; NULL: there is none.
 */
const struct cloud *doubt_unlisted(const struct engine *e, uint32_t pool);
void doubt_list_seen(struct engine *e); /* one more provider has listed its instances */
/* At the start: read whether the journal is doubtful, and which providers have listed since. */
int doubt_load(struct engine *e, struct err *err);
/* Has the row's provider listed nothing for a minute since the start, with a journal that is not
 * doubtful?  Then what the journal says of the row is believed. */
bool doubt_is_blind(const struct engine *e, const struct node *n);
/* Do missing lists allow a create for this row? */
bool doubt_may_send(const struct engine *e, const struct node *n);

/* --- away.c --- */
/* A request has ended: note whether its provider is away.  list.c calls this for a whole list,
 * away_part for all other requests. */
void away_heard(struct cloud *c, enum provider_op_kind kind, const struct provider_result *r);
extern const struct engine_part away_part;
int64_t away_since(const struct cloud *c); /* since when it is away; 0: it is not */
bool away_is(const struct cloud *c);       /* is it away, or off (off.c)? */
void away_back(struct cloud *c);           /* it was away or off, and is neither any more */

/* --- off.c --- */
extern const struct engine_part off_part;
#define OFF_UNKNOWN "?"                                  /* the provider of rows that name none */
static inline const char *off_why(const struct cloud *c) /* NULL: it is on */
{
	return c->off[0] != '\0' ? c->off : NULL;
}
static inline bool off_is(const struct cloud *c)
{
	return off_why(c) != NULL;
}
void off_open(struct cloud *c);   /* open the driver; if that fails the provider is off */
void off_run(struct cloud *c);    /* open it again, if it is off and a minute has passed */
void off_hurry(struct engine *e); /* open those that are off in the next turn */
void off_start(struct engine *e); /* record an event for each that is off */
/* Something that the provider needs cannot be had: it is off until that can. */
void off_shut(struct cloud *c, const char *why);

/* --- keyless.c --- */
/* Note since when machines of each provider cannot have their keys.  true: for one of them that has
 * lasted for its unreachable_after. */
bool cloud_watch_keys(struct engine *e);
/* Why machines of this provider could not have their keys for its unreachable_after; NULL: they
 * could. */
const char *cloud_keyless(const struct engine *e, uint32_t cloud);

#endif
