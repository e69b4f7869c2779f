/* ledger.h - what instances cost, and who caused it, durable: a database of its own beside burstd's
 * journal.
 *
 * It has copies of the journal's facts, what Slurm says of jobs (attempts: one for each run of a
 * job), and postings: the parts of each instance's bill.  Postings of an instance that may yet
 * change are replaced when it is computed again.  Those that are booked never change: what turns
 * out later is the difference, in a booking of its own.  The hash of each booking covers its
 * postings and the booking before it.  Whoever writes begins a transaction, and commits it; a
 * commit that returns 0 survives a power cut.  One writer; the others only read.
 *
 * The rows are in ledger_facts.h, ledger_attempts.h, ledger_postings.h. */
#ifndef BURSTD_STORE_LEDGER_H
#define BURSTD_STORE_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct ledger;

/* -1: as db_open(). */
int ledger_open(struct ledger **out, const char *path, struct err *e);
/* Only to read what another process writes, who does not wait for that.  What a function below
 * would write is not written, and its number is 0.  ERR_IO also if it is not there yet. */
int ledger_open_to_read(struct ledger **out, const char *path, struct err *e);
void ledger_close(struct ledger *l); /* NULL is fine */

int ledger_begin(struct ledger *l, struct err *e);  /* to read: all is of one moment */
int ledger_commit(struct ledger *l, struct err *e); /* -1: nothing of it happened */
void ledger_rollback(struct ledger *l);             /* also if none runs */
/* Housekeeping between transactions: keeps the write-ahead log short. */
int ledger_tidy(struct ledger *l, struct err *e);

/* Numbers and texts by name: 0 and "" when unset.  The text is the caller's (free()). */
int ledger_number(struct ledger *l, const char *key, int64_t *out, struct err *e);
int ledger_put_number(struct ledger *l, const char *key, int64_t v, struct err *e);
int ledger_note(struct ledger *l, const char *key, char **out, struct err *e);
int ledger_put_note(struct ledger *l, const char *key, const char *text, struct err *e);

/* The number of a text, which is given it here if it has none; and the text: the caller's. */
int ledger_word(struct ledger *l, const char *text, int64_t *id, struct err *e);
int ledger_text(struct ledger *l, int64_t id, char **out, struct err *e);

/* Names of numbers and notes. */
#define LEDGER_LIFE_MARK    "life"       /* the last seq read of the journal's tables: life, ... */
#define LEDGER_LIFE_AT      "life_at_ms" /* ... and when that row was made: is it the same file? */
#define LEDGER_SAID_MARK    "job_said"
#define LEDGER_SAID_AT      "job_said_at_ms" /* likewise; 0: the row was read before this was kept */
#define LEDGER_PRICE_MARK   "price"
#define LEDGER_PRICE_AT     "price_at_ms"      /* likewise */
#define LEDGER_SPENT_MARK   "spent"            /* of life, when what budgets have was copied */
#define LEDGER_BUDGETS_MARK "budget_period"    /* of which time the newest copy of a budget is */
#define LEDGER_SINCE_MS     "budgets_since_ms" /* since when they miss nothing; 0: there are none */
#define LEDGER_JOURNAL_MS   "journal_ms"       /* when the journal was found to be another one */
#define LEDGER_AGREE_DAY    "agree_day"        /* days from it on are to be compared with them */
#define LEDGER_AGREE_JOBS   "agree_jobs_day"   /* likewise of jobs; 0: none */
#define LEDGER_HELD_DAY     "held_day"         /* what jobs spent before it is copied for good */
#define LEDGER_FACTS_MS     "facts_ms"         /* when all facts were read */
#define LEDGER_JOBS_MS      "jobs_ms"  /* all jobs until then were read from Slurm's accounting */
#define LEDGER_DEEP_MS      "deep_ms"  /* when jobs of some days ago were last read again */
#define LEDGER_PASS_MS      "pass_ms"  /* the last pass */
#define LEDGER_DRIVER       "driver:"  /* and the name of a provider: its driver */
#define LEDGER_ACCOUNT      "account:" /* likewise: the account or project there; "": not known */
#define LEDGER_CLUSTER      "cluster"
#define LEDGER_ZONE         "zone"
#define LEDGER_CURRENCY     "currency"  /* of facts that name none */
#define LEDGER_SOURCE       "source"    /* where jobs come from: sacct, squeue */
#define LEDGER_FACTS_WHY    "facts_why" /* why the journal cannot be read; "": it can */
#define LEDGER_JOBS_WHY     "jobs_why"  /* likewise Slurm's accounting */

#endif
