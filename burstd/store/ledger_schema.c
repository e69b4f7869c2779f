/* The tables of the ledger, as numbered steps: as schema.c is for the journal. */
#include "store/ledger_private.h"

#define IS_KEPT(table)                                                                             \
	"CREATE TRIGGER " table "_kept BEFORE UPDATE ON " table                                    \
	" BEGIN SELECT RAISE(ABORT, 'facts are append-only'); END;"

/* `life`, `machine`, `buyer`, `said` and `price` are copies of the journal's facts, kept as long as
 * the ledger, so that it can be computed again.  `word` has each text once.  `lifetime`: an
 * instance of a generation, and what became of its bill.  `attempt`: one run of a job, by Slurm;
 * `attempt_on` its nodes.  `dims`: who and where, all that a posting is summed by but its day, its
 * kind and its job.  `posting`: a part of what an instance cost; booking 0: it may change yet.
 * `booking`: postings that do not change any more, chained by hashes.  `rollup`: postings summed by
 * day, dims and kind.  kind: see ledger_postings.c. */
static const char step_1[] =
	"CREATE TABLE number (key TEXT PRIMARY KEY, value BIGINT NOT NULL) WITHOUT ROWID;"
	"CREATE TABLE note (key TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;"
	"CREATE TABLE word (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);"
	"CREATE TABLE life ("
	"  id INTEGER PRIMARY KEY,"
	"  node TEXT NOT NULL, gen BIGINT NOT NULL, kind TEXT NOT NULL, instance TEXT NOT NULL,"
	"  at_ms BIGINT NOT NULL, said_ms BIGINT NOT NULL, rate_nano_h BIGINT NOT NULL,"
	"  UNIQUE (node, gen, at_ms, kind, instance, said_ms, rate_nano_h));"
	"CREATE TABLE machine ("
	"  node TEXT NOT NULL, gen BIGINT NOT NULL, at_ms BIGINT NOT NULL, pool TEXT NOT NULL,"
	"  provider TEXT NOT NULL, offer TEXT NOT NULL, type TEXT NOT NULL, region TEXT NOT NULL,"
	"  zone TEXT NOT NULL, market TEXT NOT NULL, currency TEXT NOT NULL,"
	"  quantum_ms BIGINT NOT NULL, minimum_ms BIGINT NOT NULL, cpus BIGINT NOT NULL,"
	"  memory_mb BIGINT NOT NULL, gpus BIGINT NOT NULL,"
	"  PRIMARY KEY (node, gen)) WITHOUT ROWID;"
	"CREATE TABLE buyer (node TEXT NOT NULL, gen BIGINT NOT NULL, job BIGINT NOT NULL,"
	"  PRIMARY KEY (node, gen, job)) WITHOUT ROWID;"
	"CREATE INDEX buyer_job ON buyer (job);"
	"CREATE TABLE said ("
	"  job BIGINT NOT NULL, at_ms BIGINT NOT NULL, id TEXT NOT NULL, account TEXT NOT NULL,"
	"  user TEXT NOT NULL, partition TEXT NOT NULL, qos TEXT NOT NULL, wckey TEXT NOT NULL,"
	"  limit_s BIGINT NOT NULL, nodes BIGINT NOT NULL, cpus BIGINT NOT NULL,"
	"  memory_mb BIGINT NOT NULL, gpus BIGINT NOT NULL,"
	"  PRIMARY KEY (job, at_ms)) WITHOUT ROWID;"
	"CREATE TABLE price ("
	"  id INTEGER PRIMARY KEY,"
	"  provider TEXT NOT NULL, region TEXT NOT NULL, zone TEXT NOT NULL, type TEXT NOT NULL,"
	"  market TEXT NOT NULL, currency TEXT NOT NULL, nano_h BIGINT NOT NULL,"
	"  valid_from_ms BIGINT NOT NULL, observed_ms BIGINT NOT NULL, source TEXT NOT NULL,"
	"  UNIQUE (provider, type, region, zone, market, valid_from_ms, observed_ms, source,"
	"    currency, nano_h));" IS_KEPT("life") IS_KEPT("machine") IS_KEPT("buyer")
		IS_KEPT("said") IS_KEPT("price");

/* What is made of them. */
static const char step_2[] =
	"CREATE TABLE lifetime ("
	"  id INTEGER PRIMARY KEY,"
	"  node TEXT NOT NULL, gen BIGINT NOT NULL, instance TEXT NOT NULL,"
	"  state INTEGER NOT NULL, dirty INTEGER NOT NULL, flags INTEGER NOT NULL,"
	"  start_s BIGINT NOT NULL, end_s BIGINT NOT NULL, nano BIGINT NOT NULL,"
	"  why TEXT NOT NULL,"
	"  UNIQUE (node, gen, instance));"
	"CREATE INDEX lifetime_end ON lifetime (end_s);"
	"CREATE INDEX lifetime_due ON lifetime (id) WHERE state < 2 OR dirty <> 0;"
	"CREATE TABLE attempt ("
	"  id INTEGER PRIMARY KEY,"
	"  job BIGINT NOT NULL, start_s BIGINT NOT NULL, end_s BIGINT NOT NULL,"
	"  submit_s BIGINT NOT NULL, dbindex BIGINT NOT NULL, job_id TEXT NOT NULL,"
	"  name INTEGER NOT NULL, state INTEGER NOT NULL, account INTEGER NOT NULL,"
	"  user INTEGER NOT NULL, partition INTEGER NOT NULL, qos INTEGER NOT NULL,"
	"  wckey INTEGER NOT NULL, cpus BIGINT NOT NULL, gpus BIGINT NOT NULL,"
	"  memory_mb BIGINT NOT NULL, nnodes BIGINT NOT NULL, running INTEGER NOT NULL,"
	"  source INTEGER NOT NULL, seen_ms BIGINT NOT NULL,"
	"  UNIQUE (job, start_s));"
	"CREATE INDEX attempt_running ON attempt (source, seen_ms) WHERE running <> 0;"
	"CREATE TABLE attempt_on (node INTEGER NOT NULL, start_s BIGINT NOT NULL,"
	"  attempt BIGINT NOT NULL, PRIMARY KEY (node, start_s, attempt)) WITHOUT ROWID;"
	"CREATE INDEX attempt_nodes ON attempt_on (attempt);"
	"CREATE TABLE dims ("
	"  id INTEGER PRIMARY KEY,"
	"  account INTEGER NOT NULL, user INTEGER NOT NULL, partition INTEGER NOT NULL,"
	"  qos INTEGER NOT NULL, wckey INTEGER NOT NULL, provider INTEGER NOT NULL,"
	"  market INTEGER NOT NULL, pool INTEGER NOT NULL, type INTEGER NOT NULL,"
	"  currency INTEGER NOT NULL,"
	"  UNIQUE (account, user, partition, qos, wckey, provider, market, pool, type, currency));"
	"CREATE TABLE posting ("
	"  id INTEGER PRIMARY KEY,"
	"  booking BIGINT NOT NULL, lifetime BIGINT NOT NULL, day BIGINT NOT NULL,"
	"  kind INTEGER NOT NULL, dims BIGINT NOT NULL, attempt BIGINT NOT NULL,"
	"  nano BIGINT NOT NULL, gpu_s BIGINT NOT NULL, cpu_s BIGINT NOT NULL,"
	"  from_s BIGINT NOT NULL, to_s BIGINT NOT NULL, time_s BIGINT NOT NULL,"
	"  part BIGINT NOT NULL, whole BIGINT NOT NULL, list_nano BIGINT NOT NULL);"
	"CREATE INDEX posting_of ON posting (lifetime);"
	"CREATE INDEX posting_for ON posting (attempt) WHERE attempt <> 0;"
	"CREATE TABLE booking ("
	"  seq INTEGER PRIMARY KEY,"
	"  lifetime BIGINT NOT NULL, at_ms BIGINT NOT NULL, n BIGINT NOT NULL,"
	"  nano BIGINT NOT NULL, hash TEXT NOT NULL);"
	"CREATE INDEX posting_in ON posting (booking, id) WHERE booking <> 0;"
	"CREATE TABLE rollup ("
	"  day BIGINT NOT NULL, dims BIGINT NOT NULL, kind INTEGER NOT NULL, n BIGINT NOT NULL,"
	"  nano BIGINT NOT NULL, gpu_s BIGINT NOT NULL, cpu_s BIGINT NOT NULL,"
	"  PRIMARY KEY (day, dims, kind)) WITHOUT ROWID;"
	"CREATE TRIGGER posting_kept BEFORE UPDATE ON posting WHEN OLD.booking <> 0 BEGIN"
	"  SELECT RAISE(ABORT, 'booked postings are append-only'); END;"
	"CREATE TRIGGER posting_stays BEFORE DELETE ON posting WHEN OLD.booking <> 0 BEGIN"
	"  SELECT RAISE(ABORT, 'booked postings are append-only'); END;"
	"CREATE TRIGGER booking_kept BEFORE UPDATE ON booking BEGIN"
	"  SELECT RAISE(ABORT, 'bookings are append-only'); END;"
	"CREATE TRIGGER booking_stays BEFORE DELETE ON booking BEGIN"
	"  SELECT RAISE(ABORT, 'bookings are append-only'); END;";

/* `counted`: what an instance that has ended cost on a day, by its postings and as burstd's budgets
 * have counted it; `spent`: what these have, a copy; `agreement`: the two compared.  provider,
 * market and pool are words.  Instances that were booked before there was this step are computed
 * again.  And what a new job touches is found by its nodes' last lifetimes, not by all that these
 * nodes ever had. */
static const char step_3[] =
	"CREATE TABLE counted ("
	"  day BIGINT NOT NULL, provider INTEGER NOT NULL, market INTEGER NOT NULL,"
	"  pool INTEGER NOT NULL, lifetime BIGINT NOT NULL, bill BIGINT NOT NULL,"
	"  counted BIGINT NOT NULL, slack BIGINT NOT NULL, ended_ms BIGINT NOT NULL,"
	"  PRIMARY KEY (day, provider, market, pool, lifetime)) WITHOUT ROWID;"
	"CREATE INDEX counted_of ON counted (lifetime, day);"
	"CREATE TABLE spent ("
	"  day BIGINT NOT NULL, provider INTEGER NOT NULL, market INTEGER NOT NULL,"
	"  pool INTEGER NOT NULL, nano BIGINT NOT NULL,"
	"  PRIMARY KEY (day, provider, market, pool)) WITHOUT ROWID;"
	"CREATE TABLE agreement ("
	"  day BIGINT NOT NULL, provider INTEGER NOT NULL, market INTEGER NOT NULL,"
	"  pool INTEGER NOT NULL, state INTEGER NOT NULL, spent BIGINT NOT NULL,"
	"  bill BIGINT NOT NULL,"
	"  PRIMARY KEY (day, provider, market, pool)) WITHOUT ROWID;"
	"CREATE INDEX agreement_not ON agreement (day) WHERE state <> 0;"
	"CREATE INDEX lifetime_last ON lifetime (node, end_s);"
	"UPDATE lifetime SET dirty = 1 WHERE state <> 0;";

static const char *const steps[] = {step_1, step_2, step_3};

const struct db_kind ledger_kind = {.steps = steps, .nsteps = sizeof(steps) / sizeof(steps[0])};
