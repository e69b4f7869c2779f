#include "store/schema.h"

/* Times are milliseconds since 1970 UTC, money is nano-units, states and reasons are words.
 *
 * `epoch` is the leader's term, constant until there is more than one burstd (docs/design.md): it
 * is here so that intents written today carry it. */
static const char step_1[] = "CREATE TABLE meta ("
			     "  key TEXT PRIMARY KEY,"
			     "  value BIGINT NOT NULL);"
			     /* What slurmctld asked, raw, until it is done.  AUTOINCREMENT: a
				number never comes twice. */
			     "CREATE TABLE call ("
			     "  seq INTEGER PRIMARY KEY AUTOINCREMENT,"
			     "  at_ms BIGINT NOT NULL,"
			     "  kind TEXT NOT NULL,"
			     "  spooled INTEGER NOT NULL,"
			     "  dropped INTEGER NOT NULL,"
			     "  list BLOB NOT NULL,"
			     "  file BLOB);"
			     "CREATE TABLE node ("
			     "  name TEXT NOT NULL,"
			     "  gen BIGINT NOT NULL,"
			     "  epoch BIGINT NOT NULL,"
			     "  pool TEXT NOT NULL,"
			     "  state TEXT NOT NULL,"
			     "  reason TEXT NOT NULL,"
			     "  released INTEGER NOT NULL,"
			     "  accepted INTEGER NOT NULL,"
			     "  misses INTEGER NOT NULL,"
			     "  attempts BIGINT NOT NULL,"
			     "  batch BIGINT NOT NULL,"
			     "  gang BIGINT NOT NULL,"
			     "  slot BIGINT NOT NULL,"
			     "  instance TEXT NOT NULL,"
			     "  addr TEXT NOT NULL,"
			     "  rate_nano_h BIGINT NOT NULL,"
			     "  wanted_ms BIGINT NOT NULL,"
			     "  since_ms BIGINT NOT NULL,"
			     "  sent_ms BIGINT NOT NULL,"
			     "  missed_ms BIGINT NOT NULL,"
			     "  wake_ms BIGINT NOT NULL,"
			     "  start_ms BIGINT NOT NULL,"
			     "  end_ms BIGINT NOT NULL,"
			     "  PRIMARY KEY (name, gen));"
			     "CREATE TABLE batch ("
			     "  id BIGINT PRIMARY KEY,"
			     "  epoch BIGINT NOT NULL,"
			     "  token TEXT NOT NULL,"
			     "  pool TEXT NOT NULL,"
			     "  body_hash BIGINT NOT NULL,"
			     "  at_ms BIGINT NOT NULL);"
			     "CREATE TABLE event ("
			     "  seq INTEGER PRIMARY KEY AUTOINCREMENT,"
			     "  at_ms BIGINT NOT NULL,"
			     "  node TEXT NOT NULL,"
			     "  gen BIGINT NOT NULL,"
			     "  type TEXT NOT NULL,"
			     "  detail TEXT NOT NULL);"
			     "CREATE INDEX event_by_node ON event (node, seq);"
			     /* What happened has happened.  Old events may go, none may change. */
			     "CREATE TRIGGER event_append_only BEFORE UPDATE ON event BEGIN"
			     "  SELECT RAISE(ABORT, 'events are append-only'); END;"
			     "CREATE TABLE usage ("
			     "  node TEXT NOT NULL,"
			     "  gen BIGINT NOT NULL,"
			     "  instance TEXT NOT NULL,"
			     "  pool TEXT NOT NULL,"
			     "  start_ms BIGINT NOT NULL,"
			     "  end_ms BIGINT NOT NULL,"
			     "  rate_nano_h BIGINT NOT NULL,"
			     "  cost_nano BIGINT NOT NULL,"
			     "  PRIMARY KEY (node, gen, instance));"
			     /* Holds all that the sums at start-up read. */
			     "CREATE INDEX usage_by_pool ON usage (pool, cost_nano);";

/* `job`: the number of the Slurm job a node was bought for, 0 for none.  A refusal is of a job, and
 * forgotten some time after its wait. */
static const char step_2[] = "ALTER TABLE node ADD COLUMN job BIGINT NOT NULL DEFAULT 0;"
			     "CREATE TABLE refusal ("
			     "  job BIGINT PRIMARY KEY,"
			     "  count BIGINT NOT NULL,"
			     "  last_ms BIGINT NOT NULL);"
			     "CREATE TABLE pool ("
			     "  name TEXT PRIMARY KEY,"
			     "  paused INTEGER NOT NULL,"
			     "  waves BIGINT NOT NULL,"
			     "  last_ms BIGINT NOT NULL,"
			     "  until_ms BIGINT NOT NULL);";

/* A job that is about to lose its node, until slurmctld shows what became of it. */
static const char step_3[] = "CREATE TABLE rescue ("
			     "  job BIGINT PRIMARY KEY,"
			     "  id TEXT NOT NULL,"
			     "  node TEXT NOT NULL,"
			     "  gen BIGINT NOT NULL,"
			     "  at_ms BIGINT NOT NULL,"
			     "  why TEXT NOT NULL);";

/* What was asked of others, each record chained to the one before it by its hash.  The marks are
 * `head`, the last record there is, and `forgotten`, the last that is not kept any more: the chain
 * goes on behind it.  Only what is forgotten may be deleted.  The triggers are against mistakes,
 * and none can be in the way of ours; against malice is the hash. */
static const char step_4[] = "CREATE TABLE audit ("
			     "  seq INTEGER PRIMARY KEY,"
			     "  at_ms BIGINT NOT NULL,"
			     "  actor TEXT NOT NULL,"
			     "  verb TEXT NOT NULL,"
			     "  target TEXT NOT NULL,"
			     "  object TEXT NOT NULL,"
			     "  reason TEXT NOT NULL,"
			     "  request TEXT NOT NULL,"
			     "  hash TEXT NOT NULL);"
			     "CREATE TABLE audit_mark ("
			     "  name TEXT PRIMARY KEY,"
			     "  seq BIGINT NOT NULL,"
			     "  hash TEXT NOT NULL);"
			     "CREATE INDEX audit_forgets ON audit (seq) WHERE verb = 'forget';"
			     "CREATE TRIGGER audit_once BEFORE INSERT ON audit WHEN"
			     "  EXISTS (SELECT 1 FROM audit WHERE seq = NEW.seq)"
			     "  BEGIN SELECT RAISE(ABORT, 'audit records are append-only'); END;"
			     "CREATE TRIGGER audit_mark_kept BEFORE DELETE ON audit_mark BEGIN"
			     "  SELECT RAISE(ABORT, 'marks are kept'); END;"
			     "CREATE TRIGGER audit_append_only BEFORE UPDATE ON audit BEGIN"
			     "  SELECT RAISE(ABORT, 'audit records are append-only'); END;"
			     "CREATE TRIGGER audit_kept BEFORE DELETE ON audit WHEN OLD.seq >"
			     "  COALESCE((SELECT seq FROM audit_mark WHERE name = 'forgotten'), 0)"
			     "  BEGIN SELECT RAISE(ABORT, 'audit records are kept'); END;";

/* Who paused a pool, and when; not known of one that was paused before. */
static const char step_5[] = "ALTER TABLE pool ADD COLUMN paused_by TEXT NOT NULL DEFAULT '';"
			     "ALTER TABLE pool ADD COLUMN paused_ms BIGINT NOT NULL DEFAULT 0;";

/* Where a node is bought: an offer of its pool, and so what no pool says any more.  Of what there
 * was before: its pool's only place, on-demand or as that place is.  Since when a job waits, and
 * how long after its last refusal at least. */
static const char step_6[] = "ALTER TABLE node ADD COLUMN offer TEXT NOT NULL DEFAULT '';"
			     "ALTER TABLE node ADD COLUMN provider TEXT NOT NULL DEFAULT '';"
			     "ALTER TABLE node ADD COLUMN market TEXT NOT NULL DEFAULT 'on-demand';"
			     "ALTER TABLE batch ADD COLUMN offer TEXT NOT NULL DEFAULT '';"
			     "ALTER TABLE batch ADD COLUMN provider TEXT NOT NULL DEFAULT '';"
			     "ALTER TABLE refusal ADD COLUMN first_ms BIGINT NOT NULL DEFAULT 0;"
			     "ALTER TABLE refusal ADD COLUMN wait_ms BIGINT NOT NULL DEFAULT 0;";

/* That a node's machine will be taken away: who says so, since when we know, when it happens, and
 * when its jobs were told.  Of a job that loses its node: on which nodes it ran; whether it is to
 * be told to save its work (1), or was (2); and until when slurmctld holds it back since it was
 * requeued. */
static const char step_7[] = "ALTER TABLE node ADD COLUMN notice TEXT NOT NULL DEFAULT 'reclaim';"
			     "ALTER TABLE node ADD COLUMN noticed_ms BIGINT NOT NULL DEFAULT 0;"
			     "ALTER TABLE node ADD COLUMN deadline_ms BIGINT NOT NULL DEFAULT 0;"
			     "ALTER TABLE node ADD COLUMN signal_ms BIGINT NOT NULL DEFAULT 0;"
			     "ALTER TABLE rescue ADD COLUMN nodes TEXT NOT NULL DEFAULT '';"
			     "ALTER TABLE rescue ADD COLUMN signal INTEGER NOT NULL DEFAULT 0;"
			     "ALTER TABLE rescue ADD COLUMN hold_ms BIGINT NOT NULL DEFAULT 0;";

/* The one time that a node may ask for the cluster's keys.  Nothing in it is secret: `spki` is the
 * hash of a public key, and what is in the user-data is derived from a key beside the journal.
 * `turn` and `wrong` are not read any more, and written as 0: releases that read them had a claim
 * end by wrong secrets. */
static const char step_8[] = "CREATE TABLE claim ("
			     "  node TEXT NOT NULL,"
			     "  gen BIGINT NOT NULL,"
			     "  epoch BIGINT NOT NULL,"
			     "  id TEXT NOT NULL,"
			     "  state TEXT NOT NULL,"
			     "  reason TEXT NOT NULL,"
			     "  turn BIGINT NOT NULL,"
			     "  wrong BIGINT NOT NULL,"
			     "  alarms BIGINT NOT NULL,"
			     "  attested INTEGER NOT NULL,"
			     "  weak INTEGER NOT NULL,"
			     "  spki TEXT NOT NULL,"
			     "  addr TEXT NOT NULL,"
			     "  instance TEXT NOT NULL,"
			     "  serial TEXT NOT NULL,"
			     "  version BIGINT NOT NULL,"
			     "  issued_ms BIGINT NOT NULL,"
			     "  expires_ms BIGINT NOT NULL,"
			     "  since_ms BIGINT NOT NULL,"
			     "  released_ms BIGINT NOT NULL,"
			     "  PRIMARY KEY (node, gen));";

/* The token that one machine has in its user-data, until it is up or gone: here as well, so that a
 * create that is repeated has the same bytes.  It is a secret that opens the cluster's keys, once.
 */
static const char step_9[] = "CREATE TABLE voucher ("
			     "  node TEXT NOT NULL,"
			     "  gen BIGINT NOT NULL,"
			     "  epoch BIGINT NOT NULL,"
			     "  state TEXT NOT NULL,"
			     "  token TEXT NOT NULL,"
			     "  accessor TEXT NOT NULL,"
			     "  version BIGINT NOT NULL,"
			     "  gpus BIGINT NOT NULL,"
			     "  gpu_type TEXT NOT NULL,"
			     "  made_ms BIGINT NOT NULL,"
			     "  ends_ms BIGINT NOT NULL,"
			     "  since_ms BIGINT NOT NULL,"
			     "  PRIMARY KEY (node, gen));";

/* Which wrapping token a claim was answered with, so that a breach after a restart revokes it. */
static const char step_10[] = "ALTER TABLE claim ADD COLUMN accessor TEXT NOT NULL DEFAULT '';";

/* Whether other machines had its secret, too: who is left of them need not be the only one. */
static const char step_11[] = "ALTER TABLE claim ADD COLUMN shared INTEGER NOT NULL DEFAULT 0;"
			      "UPDATE claim SET shared = 1 WHERE id IN"
			      " (SELECT id FROM claim GROUP BY id HAVING count(*) > 1);";

/* What slurmctld was told to wait for, by its clock, which may be set while nobody looks. */
static const char step_12[] = "ALTER TABLE refusal"
			      " ADD COLUMN told_wall_ms BIGINT NOT NULL DEFAULT 0;"
			      "ALTER TABLE refusal"
			      " ADD COLUMN had_wall_ms BIGINT NOT NULL DEFAULT 0;";

/* Calls stay in the spool until they are acted on (ADR 33).  What waited here was to be a hint at
 * the start that does this, which asks slurmctld in any case. */
static const char step_13[] = "DROP TABLE call;";

const char *const schema_steps[SCHEMA_STEPS] = {step_1,  step_2,  step_3, step_4, step_5,
						step_6,  step_7,  step_8, step_9, step_10,
						step_11, step_12, step_13};
