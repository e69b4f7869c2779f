/* fake_state.h - what a test puts into the fake engine, and what that was asked: fields by the
 * header whose functions they are for. */
#ifndef BURSTD_TEST_FAKE_STATE_H
#define BURSTD_TEST_FAKE_STATE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "buy/buy_api.h"
#include "cloud/cloud_api.h"
#include "core/claim.h"
#include "engine/engine.h"
#include "fake_journal.h"
#include "jobs/jobs_api.h"
#include "keys/keys_api.h"
#include "money/money_api.h"
#include "parts/parts.h"

struct engine {
	/* engine.h, parts.h */
	struct conf *conf;
	struct fleet fleet;
	int64_t later_ms;   /* later than FAKE_NOW by this */
	int64_t of_wall_ms; /* by this the engine's time is ahead of the wall clock */
	struct engine_source slurm;
	struct engine_counters counters;
	bool broken; /* the journal fails */
	unsigned reconciles;

	/* cloud_api.h: of every provider */
	struct engine_source provider;
	const char *off; /* NULL: it is on */
	const char *undeleted;
	int64_t undeleted_ms, unheard_ms, ahead_ms;
	int64_t away_ms[2];            /* since when, for each provider */
	const char *const *unreadable; /* ids, NULL-terminated; NULL: none */
	size_t undropped;              /* number of fabrics */
	size_t naparts;                /* fabrics that are apart, all of pool 1 */
	const char *unplaced;          /* NULL: the provider says where machines are */
	const char *fabric;            /* the beginning of a node's */
	size_t nstrays;                /* number of strays: i-0, i-1 ... */
	int64_t tried_ms;              /* of all strays but the first, which is young */
	bool leaves;                   /* the second stray is stopping */
	const char *console;           /* of each node; NULL: none */
	bool stray_up;                 /* slurmctld has the strays' node up */
	struct engine_flow flow[PROVIDER_NOPS];

	/* buy_api.h: what can be bought, and what a plan would buy */
	int64_t price, price_age; /* of every pool */
	int64_t started_ms;
	struct provider_terms terms; /* likewise */
	struct journal_room room;
	const char *like;
	size_t rung; /* this rung of all pools has nothing to sell; `why` NULL: all rungs have */
	const char *why;
	bool over_rate;              /* the first rung tried would pass max_rate */
	const char *passed;          /* why the first rung tried is passed over; NULL: it is not */
	struct engine_losses losses; /* of every pool */
	struct roll roll;            /* of every offer but those of pool 0 */
	char image_order[80];        /* the last: "stop h100 root" */
	struct engine_warm warm[4];
	struct engine_plan plan; /* the next plan; its one pool is below */
	struct engine_plan_pool plan_pool;
	struct engine_plan_ask plan_ask; /* the last one; its texts are below */
	char plan_list[64], plan_within[64], plan_wish[64], plan_without[64], plan_comment[64];
	unsigned plans;
	const char *partition, *all; /* the nodes of "gpu" and "all"; NULL: there is none */
	const char *spool_error, *spool_note; /* NULL: there is none */

	/* buy_api.h: orders */
	bool paused[4];              /* pools */
	const char *paused_by;       /* NULL: not known */
	const char *closed[4];       /* why; NULL: it is not */
	struct engine_request order; /* the last one; its texts are below */
	char order_nodes[256], order_by[64];
	unsigned orders, pauses; /* not counting requests that only look */
	char retried[64];

	/* jobs_api.h */
	struct slurm_report *prereq; /* NULL: not known */
	const char *prereq_error;    /* NULL: none */
	const char *jobs_private;    /* why the table of jobs is not shown; NULL: it may be */
	const struct engine_joblist_job *jobs;
	size_t njobs, more_jobs;
	size_t npostponed;
	struct engine_postponed postponed; /* the soonest */
	struct gate *gates;                /* open; the newest first */
	struct engine_query *query;        /* the only one; NULL: none */
	struct engine_notice notice;       /* the last one; its texts are below */
	size_t notices;                    /* how many came in that call */
	char notice_text[256];
	enum engine_noticed noticed; /* the verdict on it */
	int64_t force_ms;            /* of every node */
	size_t ntaken;
	struct engine_taken lost; /* each lost job */

	/* money_api.h */
	struct stages stages;
	struct engine_receiver *receivers; /* one for each section alert */
	struct alert *alerts;              /* by number */
	size_t nalerts;
	struct alert_message *alert_messages;
	size_t nalert_messages;
	struct engine_alerts alerts_all;
	char alert_tested[64];
	struct engine_budget *budgets; /* all; those of each user are shown to that one */
	size_t nbudgets;
	struct money_override *overrides;
	size_t noverrides;
	char override_order[400]; /* the last order, as text */
	struct err override_err;  /* of the next order; code 0: none */
	const char *budgets_wait; /* why jobs wait whatever they have left */
	char budgets_user[64];    /* for whom they were asked last; "": for all */

	/* user_name.h: who the only uid is; NULL: it is not known yet */
	const char *name;
	struct user_name_ask *name_ask; /* the only one; NULL: none */
	bool names_full;

	/* keys_api.h */
	struct engine_secrets secrets; /* driver NULL: there is no store */
	char enroll_token[64];         /* the last one; "-" is refused */
	const char *token_wait, *door_off, *init_off;
	struct engine_boot boot;           /* of every node; claim NULL: they have none */
	struct engine_door_counters *door; /* NULL: nodes do not talk to us */
	const struct learned *learned;     /* likewise */
	struct engine_rotation rotation;
	struct engine_rotate_ask rotate_ask; /* the last */
	char rotate_credential[64];          /* ... and its credential */
	struct engine_breaches breaches;
};

#endif
