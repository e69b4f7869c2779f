/* sim_cloud.h - the simulated provider: what it was asked for, what it made of it, and what it
 * shows.
 *
 * It keeps one promise, the settle time W: what a create that it did not refuse has made is listed
 * W after the request came in, and no instance that exists is left out of two complete lists in a
 * row.  All else is dice.  Its own table of live instances is the judge of duplicates and leaks. */
#ifndef SIM_CLOUD_H
#define SIM_CLOUD_H

#include "base/str.h"
#include "world.h"

enum { CLOUD_WANTS_MAX = 64, SIM_FABRICS_MAX = 1000 };

enum inst_state { INST_PENDING, INST_RUNNING, INST_RECLAIMING, INST_STOPPING, INST_ENDED };

struct inst {
	uint32_t number; /* its id is "i-NUMBER" */
	uint32_t host;   /* the number in its address */
	char fabric[64]; /* "": none in particular */
	char node[24], cluster[40], addr[16];
	char claim_id[96], claim_secret[72]; /* in its user-data ... */
	uint64_t wrap_token;                 /* ... or this; 0: neither */
	struct sim_machine *machine;         /* NULL: it does not claim */
	uint64_t gen;
	uint32_t pool; /* SIM_POOLS_MAX: foreign */
	enum inst_state state;
	bool accepted; /* a delete was answered with success */
	bool lied;     /* made though refused (F3): not held against the limits */
	bool unknown;  /* burstd cannot know of it, as is_taken() says, or since its journal is an
			  older one (F58): likewise */
	bool stale;    /* ended, and shown as running (F14) */
	bool revived;  /* was so once: its row may count again without a limit being asked */
	bool odd;      /* shown with a state nobody knows (F19) */
	bool may_hide; /* the last complete list showed it */
	bool wrong;    /* its slurmd reports fewer GPUs than slurm.conf has (F36) ... */
	bool single;   /* ... and not for its image */
	char image[8]; /* what it was made from; "": nobody said ... */
	bool mute;     /* ... and its slurmd never runs */
	bool worked;   /* it registered well once */
	bool asked;    /* a delete of it was sent */
	bool had_row;  /* burstd wrote down that it exists ... */
	bool known;    /* ... and has not lost that since (F58) */
	unsigned shown_life; /* 1 + the life in which it was listed first ... */
	int64_t shown_at;    /* ... and when that was */
	unsigned ended_life; /* 1 + the life in which a list that reached burstd said when it ended
			      */
	enum sim_edit {      /* what somebody has made of its tags */
			EDIT_NONE,
			EDIT_NO_CLUSTER,    /* it has not the cluster's ... */
			EDIT_OTHER_CLUSTER, /* ... or another's */
			EDIT_NAME,          /* it has another node's name ... */
			EDIT_GEN,           /* ... or generation ... */
			EDIT_NO_NAME,       /* ... or neither */
			EDITS
	} edit;
	int64_t tags_at;               /* it has none before */
	const struct sim_place *place; /* where it was bought; NULL: foreign, or a twin */
	int64_t free_at;               /* it has ended, and is counted there until then */
	enum sim_makes fate;           /* as what it was made ... */
	bool error;                    /* ... and it is shown as that now ... */
	uint32_t error_run; /* ... or as failed by this list; burstd has had such a one */
	bool error_known;
	bool ignore_delete, excused; /* excused: slurmctld gave a reason to delete it (I18) */
	uint32_t run;                /* of the list that showed it last ... */
	uint32_t ended_run;          /* ... and as ended */
	uint32_t addr_run;           /* ... and with its address */
	bool addr_shown;             /* that reached burstd ... */
	uint32_t addr_life;          /* ... in this life, and one more; 0: in none */
	int64_t reclaim_said;        /* since when it is said that it will be reclaimed */
	bool told_of;                /* somebody said so, or the like, and was wrong */
	int64_t created, visible_at, addr_at, ended, reclaim_at, denied_until, gone_at;
	/* When the first list since it was shown left it out though it lived; 0: none did. */
	int64_t hidden_at;
	/* sim_topology.c: 1 + the life in which burstd learnt where it is; 0: in none ... */
	unsigned placed_life;
	uint64_t placed_gen;    /* ... of a row of this generation ... */
	bool place_told;        /* ... and not that nobody says so */
	bool weighed, unplaced; /* unplaced: a question about it is refused */
	int64_t slurmd_at;      /* 0: not yet */
	int64_t taken_at; /* slurmctld was told to take its node down, whatever runs there; 0: not
			   */
};

struct create_want {
	char node[24];
	uint64_t gen;
	uint32_t group;
};

struct create_request {
	char token[64], cluster[40], type[16], region[16], market[16], fabric[64];
	struct create_want wants[CLOUD_WANTS_MAX];
	size_t n;
	uint64_t hash; /* of the body */
	char image[8];
	char claim_id[96], claim_secret[72];
	struct create_lines { /* that are in its user-data; "": no such line */
		char token[40], node[24], gen[24];
	} lines;
};

struct token { /* what was made of it, to be said again */
	char token[64];
	uint64_t hash;
	struct create_request rq;
	uint32_t made[CLOUD_WANTS_MAX];    /* instance numbers; 0: refused */
	char refused[CLOUD_WANTS_MAX][24]; /* nodes that the provider said it will not make */
	size_t nrefused;
	const char *why; /* for what they were refused, to be said again; NULL: by dice */
	bool effective;
	/* How often it was sent, and how often burstd was told that nothing came of that (F7). */
	uint32_t sent, throttled;
	int64_t first_sent, effective_at;
	int64_t known_from; /* first sent so that something may have come of it */
};

/* Throttled each time, and burstd knows; once is not enough, for the answer before may be lost. */
static inline bool token_made_nothing(const struct token *t)
{
	return t->throttled == t->sent;
}

/* What a provider does all the time, to whatever is asked. */
enum sim_bad {
	BAD_NOT,
	BAD_DENIES,
	BAD_THROTTLES,
	BAD_BREAKS, /* 500 */
	BAD_HANGS,
	BAD_GARBAGE,
	BAD_LISTS, /* they fail, and there is no capacity */
	SIM_BADS
};

struct sim_cloud {
	struct world *w;
	struct inst **all; /* all[i]->number == i + 1 */
	size_t n, cap;
	struct inst **live;
	size_t nlive;
	struct token *tokens;
	size_t ntokens, tokens_cap;
	struct sim_operation **operations;
	size_t noperations;
	uint32_t runs;       /* of lists */
	int64_t restored_at; /* 0: never */
	int64_t other_until; /* its lists are another account's until then (F18) ... */
	bool other;          /* the list that was begun last is, to its last page ... */
	bool other_all;      /* ... and lacks those that boot, too */
	int64_t auth_until;  /* our credentials are refused until then (F33) */
	struct sim_fabric {
		char name[64], cluster[40];
		bool ours;
	} fabrics[SIM_FABRICS_MAX];
	size_t nfabrics, nunmade;
	char unmade[SIM_FABRICS_MAX][64]; /* refused, and with them their creates */
	struct sim_away {
		int64_t until;
		enum { AWAY_REFUSES, AWAY_IS_SILENT, AWAY_FAILS } how;
	} away[2]; /* nobody is there until then, by the one name of the account or the other (F26)
		    */
	/* Nobody may ask where machines are until then; and who asks, by each name. */
	int64_t places_denied_until;
	struct sim_asker {
		unsigned life;   /* 1 + that of which this is */
		int64_t told_at; /* it had an answer, and does not ask again before ... */
		int64_t next_at;
		int64_t pause;
		size_t most;  /* machines in one question, as it had refused a longer one; 0: any */
		unsigned odd; /* questions about one that were refused, one after the other */
	} askers[2];
	/* for drills */
	const char *none;     /* the code with which all creates are refused; NULL: they are not */
	bool single;          /* of each create there is only the first */
	uint32_t most;        /* machines of a type, wherever they are; 0: any number ... */
	const char *most_why; /* ... and the code with which more of them are refused */
	enum sim_bad bad;     /* what "cloud" does, and "twin" does not */
	bool no_lists;        /* they fail */
	bool no_slurmd;       /* what boots does so once this is over */
	bool no_make;         /* we have not the right to make fabrics */
};

struct sim_cloud *sim_cloud_new(struct world *w);
void sim_cloud_free(struct sim_cloud *c);
void sim_operations_free(struct sim_cloud *c); /* sim_operation.c */
void sim_cloud_heal(struct sim_cloud *c);

/* --- sim_fabric.c: what a job's nodes have between them --- */
void sim_fabric_init(struct sim_cloud *c);
/* Has this rung of a ladder no fabric?  A unit is in one place: what is elsewhere has none. */
bool sim_fabric_is_none(const struct world *w, size_t rung);
bool sim_fabric_there(const struct sim_cloud *c, const char *name);
/* "ok" or the error's word. */
const char *sim_fabric_make(struct sim_cloud *c, const char *name, const char *cluster);
void sim_fabric_refuse(struct sim_cloud *c, const char *name);
bool sim_fabric_refused(const struct sim_cloud *c, const char *name);
const char *sim_fabric_drop(struct sim_cloud *c, const char *name);
void sim_fabric_list(const struct sim_cloud *c, struct str *out);
/* A create is about to go onto the wire. */
void sim_fabric_check_create(struct sim_cloud *c, const struct create_request *rq);
/* Has the create's unit other rows, so that burstd may take it for full, and not the place? */
bool sim_fabric_is_used(const struct sim_cloud *c, const struct create_request *rq);
/* burstd asks for it to be dropped now. */
void sim_fabric_check_drop(struct sim_cloud *c, const char *name);
/* Was the fabric of this node's unit refused? */
bool sim_fabric_unit_refused(const struct sim_cloud *c, const char *node);
/* All machines of a unit are in its fabric, but those of rungs that have none. */
void sim_fabric_check_units(struct sim_cloud *c);
const char *sim_fabric_left(const struct sim_cloud *c); /* one of ours; NULL: there is none */

/* --- sim_tags.c: what says whose an instance is --- */
void sim_tags_choose(struct world *w);
void sim_tags_born(struct world *w, struct inst *i);
/* It is about to be listed: somebody may have been there. */
void sim_tags_turn(struct world *w, struct inst *i);
void sim_tags_show(const struct world *w, struct str *out, const struct inst *i);

/* --- sim_notice.c --- */
void sim_notice_reclaim(struct world *w, struct inst *i); /* it will be reclaimed */
void sim_notice_false(struct world *w);

struct inst *sim_cloud_find(const struct sim_cloud *c, uint32_t number);
struct inst *sim_cloud_by_id(const struct sim_cloud *c, const char *id); /* NULL: none */
bool inst_live(const struct inst *i);                                    /* exists and bills */
void sim_cloud_restored(struct sim_cloud *c); /* the journal is an older one now */
void sim_cloud_end(struct sim_cloud *c, struct inst *i);
/* It ends by itself, or for no reason that was said: half of them are listed as stopping first. */
void sim_cloud_stop(struct sim_cloud *c, struct inst *i);
void sim_cloud_slurmd(struct world *w, struct inst *i); /* it runs */

/* A create is about to go onto the wire (I1, I4). */
void sim_cloud_check_create(struct sim_cloud *c, const struct create_request *rq);
/* So is a delete: of what no row says slurmctld may still speak (I10). */
void sim_cloud_check_delete(const struct sim_cloud *c, const struct inst *i);
/* Do it; made[i] is 0 where it is refused.  The code for that; NULL: any. */
const char *sim_cloud_create(struct sim_cloud *c, const struct create_request *rq, bool lie,
			     uint32_t *made);
/* The provider says that it will not make this node of this create; did it ever say so? */
void sim_cloud_refuse(struct sim_cloud *c, const char *token, const char *node);
bool sim_cloud_refused(const struct sim_cloud *c, const char *token, const char *node);
/* Was it sent then for the first time? */
bool sim_cloud_is_first(const struct sim_cloud *c, const char *token, int64_t sent_at);
void sim_cloud_throttled(struct sim_cloud *c, const char *token); /* burstd was told */
/* It will be taken back, ms after a notice. */
/* One more of the same tags, which never boots: the provider ignored a token (F5). */
struct inst *sim_cloud_twin(struct sim_cloud *c, const struct inst *i);
/* A machine of ours that runs, and of which nobody knows. */
void sim_cloud_stray(struct sim_cloud *c, unsigned n);
void sim_cloud_reclaim_all(struct sim_cloud *c);
void sim_cloud_reclaim(struct sim_cloud *c, struct inst *i, int64_t ms);
/* A machine of that name and generation, which boots. */
struct inst *sim_cloud_boot(struct sim_cloud *c, const struct create_want *want,
			    const char *cluster);
/* It does not: it fails after a while, and that is how. */
void sim_cloud_doom(struct sim_cloud *c, struct inst *i, enum sim_makes how);
/* "ok" or the error's word. */
const char *sim_cloud_delete(struct sim_cloud *c, uint32_t number);
/* One page after the instance `after`, of list `run` (0: a new one); *next is 0 on the last. */
void sim_cloud_list(struct sim_cloud *c, struct str *out, uint32_t *run, uint32_t after,
		    uint32_t *next);
/* The last page of this list reached burstd. */
void sim_cloud_listed(struct sim_cloud *c, uint32_t run, bool twin);
void sim_cloud_show(struct sim_cloud *c, struct str *out, const struct inst *i, bool tags);

#endif
