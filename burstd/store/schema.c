#include "store/schema.h"

/* A fact is never changed.  Facts may be deleted when they are older than they are kept. */
#define FACT_IS_KEPT(table)                                                                        \
	"CREATE TRIGGER " table "_append_only BEFORE UPDATE ON " table                             \
	" BEGIN SELECT RAISE(ABORT, 'facts are append-only'); END;"

/* Times are milliseconds since 1970 UTC, money is nano-units, states and reasons are words.
 *
 * `epoch` is the leader's term, constant until there is more than one burstd: it is here
 * so that intents written today carry it. */
static const char step_1[] = "CREATE TABLE meta ("
			     "  key TEXT PRIMARY KEY,"
			     "  value BIGINT NOT NULL);"
			     /* Calls of slurmctld, unparsed, until they are handled.
			      * AUTOINCREMENT: a number is never reused. */
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
			     /* Old events may be deleted, but none may be changed. */
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
			     /* Covers all that the sums at start-up read. */
			     "CREATE INDEX usage_by_pool ON usage (pool, cost_nano);";

/* `job` is the number of the Slurm job that a node was bought for, 0 for none.  A job's refusal is
 * deleted some time after its wait. */
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

/* Jobs that are about to lose a node, until slurmctld shows what became of them. */
static const char step_3[] = "CREATE TABLE rescue ("
			     "  job BIGINT PRIMARY KEY,"
			     "  id TEXT NOT NULL,"
			     "  node TEXT NOT NULL,"
			     "  gen BIGINT NOT NULL,"
			     "  at_ms BIGINT NOT NULL,"
			     "  why TEXT NOT NULL);";

/* Audit records of requests to providers and orders to slurmctld, each chained to the one before it
 * by its hash.  The marks are `head`, the last record, and `forgotten`, the last record that is not
 * kept any more: the chain goes on behind it.  Only forgotten records may be deleted.  The triggers
 * guard against mistakes, and never block burstd's own writes; the hash guards against malice. */
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

/* The admin who paused a pool, and the time; unknown for pools paused before this step. */
static const char step_5[] = "ALTER TABLE pool ADD COLUMN paused_by TEXT NOT NULL DEFAULT '';"
			     "ALTER TABLE pool ADD COLUMN paused_ms BIGINT NOT NULL DEFAULT 0;";

/* The offer, provider and market of a node, which its pool alone no longer tells.  Older rows are
 * at their pool's only place, on-demand or as that place is.  The times since when a refused job
 * waits, and how long it waits at least after its last refusal. */
static const char step_6[] = "ALTER TABLE node ADD COLUMN offer TEXT NOT NULL DEFAULT '';"
			     "ALTER TABLE node ADD COLUMN provider TEXT NOT NULL DEFAULT '';"
			     "ALTER TABLE node ADD COLUMN market TEXT NOT NULL DEFAULT 'on-demand';"
			     "ALTER TABLE batch ADD COLUMN offer TEXT NOT NULL DEFAULT '';"
			     "ALTER TABLE batch ADD COLUMN provider TEXT NOT NULL DEFAULT '';"
			     "ALTER TABLE refusal ADD COLUMN first_ms BIGINT NOT NULL DEFAULT 0;"
			     "ALTER TABLE refusal ADD COLUMN wait_ms BIGINT NOT NULL DEFAULT 0;";

/* A notice about a node's machine: its kind, when burstd learned of it, when the machine goes, and
 * when its jobs were told.  For a job that loses its node: the nodes that it ran on; whether it is
 * to be told to save its work (1), or was (2); and until when slurmctld holds it back since it was
 * requeued. */
static const char step_7[] = "ALTER TABLE node ADD COLUMN notice TEXT NOT NULL DEFAULT 'reclaim';"
			     "ALTER TABLE node ADD COLUMN noticed_ms BIGINT NOT NULL DEFAULT 0;"
			     "ALTER TABLE node ADD COLUMN deadline_ms BIGINT NOT NULL DEFAULT 0;"
			     "ALTER TABLE node ADD COLUMN signal_ms BIGINT NOT NULL DEFAULT 0;"
			     "ALTER TABLE rescue ADD COLUMN nodes TEXT NOT NULL DEFAULT '';"
			     "ALTER TABLE rescue ADD COLUMN signal INTEGER NOT NULL DEFAULT 0;"
			     "ALTER TABLE rescue ADD COLUMN hold_ms BIGINT NOT NULL DEFAULT 0;";

/* A node's one claim to the cluster's keys.  It has no secret: `spki` is the hash of a public key,
 * and the user-data's secret is derived from a key beside the journal.  `turn` and `wrong` are no
 * longer read, and written as 0: older releases ended a claim after wrong secrets. */
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

/* The token in one machine's user-data, kept until the machine is up or gone, so that a repeated
 * create has the same bytes.  It is a secret that opens the cluster's keys, once. */
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

/* `accessor` names the wrapping token that answered a claim, so that a breach after a restart
 * revokes it. */
static const char step_10[] = "ALTER TABLE claim ADD COLUMN accessor TEXT NOT NULL DEFAULT '';";

/* `shared`: other machines had the same secret, so that even the last row with it may not be the
 * only machine that has it. */
static const char step_11[] = "ALTER TABLE claim ADD COLUMN shared INTEGER NOT NULL DEFAULT 0;"
			      "UPDATE claim SET shared = 1 WHERE id IN"
			      " (SELECT id FROM claim GROUP BY id HAVING count(*) > 1);";

/* The begin times that slurmctld was given, by its own clock, which may be set unnoticed. */
static const char step_12[] = "ALTER TABLE refusal"
			      " ADD COLUMN told_wall_ms BIGINT NOT NULL DEFAULT 0;"
			      "ALTER TABLE refusal"
			      " ADD COLUMN had_wall_ms BIGINT NOT NULL DEFAULT 0;";

/* Calls stay in the spool until they are acted on (ADR 33).  Calls left in this table would only be
 * hints, and the start that drops it asks slurmctld in any case. */
static const char step_13[] = "DROP TABLE call;";

/* The NodeAddr that slurmctld had before the row was made; not known of what there was before. */
static const char step_14[] = "ALTER TABLE node ADD COLUMN stale_addr TEXT NOT NULL DEFAULT '';";

/* Where a create of several requests goes on. */
static const char step_15[] = "ALTER TABLE batch ADD COLUMN cursor TEXT NOT NULL DEFAULT '';";

/* What bills are computed from: facts, each written in the transaction of the step that it is
 * about, and never changed.  `life`: a step in the life of a generation's instance (core/life.h);
 * said_ms: when it happened by the provider's clock, 0: not said.  `machine`: what was bought for a
 * generation, and its terms; 0 and '': not known.  `buyer`: the jobs that it was bought for.
 * `job_said`: what slurmctld said of a job, again when it said something else; limit_s -1: no
 * limit. */
static const char step_16[] =
	"CREATE TABLE life ("
	"  seq INTEGER PRIMARY KEY AUTOINCREMENT,"
	"  node TEXT NOT NULL,"
	"  gen BIGINT NOT NULL,"
	"  kind TEXT NOT NULL,"
	"  instance TEXT NOT NULL,"
	"  at_ms BIGINT NOT NULL,"
	"  said_ms BIGINT NOT NULL,"
	"  rate_nano_h BIGINT NOT NULL);"
	"CREATE TABLE machine ("
	"  node TEXT NOT NULL,"
	"  gen BIGINT NOT NULL,"
	"  at_ms BIGINT NOT NULL,"
	"  pool TEXT NOT NULL,"
	"  provider TEXT NOT NULL,"
	"  offer TEXT NOT NULL,"
	"  type TEXT NOT NULL,"
	"  region TEXT NOT NULL,"
	"  zone TEXT NOT NULL,"
	"  market TEXT NOT NULL,"
	"  currency TEXT NOT NULL,"
	"  quantum_ms BIGINT NOT NULL,"
	"  minimum_ms BIGINT NOT NULL,"
	"  cpus BIGINT NOT NULL,"
	"  memory_mb BIGINT NOT NULL,"
	"  gpus BIGINT NOT NULL,"
	"  PRIMARY KEY (node, gen)) WITHOUT ROWID;"
	"CREATE TABLE buyer ("
	"  node TEXT NOT NULL,"
	"  gen BIGINT NOT NULL,"
	"  job BIGINT NOT NULL,"
	"  PRIMARY KEY (node, gen, job)) WITHOUT ROWID;"
	"CREATE TABLE job_said ("
	"  seq INTEGER PRIMARY KEY AUTOINCREMENT,"
	"  at_ms BIGINT NOT NULL,"
	"  job BIGINT NOT NULL,"
	"  id TEXT NOT NULL,"
	"  account TEXT NOT NULL,"
	"  user TEXT NOT NULL,"
	"  partition TEXT NOT NULL,"
	"  qos TEXT NOT NULL,"
	"  wckey TEXT NOT NULL,"
	"  limit_s BIGINT NOT NULL,"
	"  nodes BIGINT NOT NULL,"
	"  cpus BIGINT NOT NULL,"
	"  memory_mb BIGINT NOT NULL,"
	"  gpus BIGINT NOT NULL);" FACT_IS_KEPT("life") FACT_IS_KEPT("machine")
		FACT_IS_KEPT("buyer") FACT_IS_KEPT("job_said");

/* What machines cost (journal_price.h), and the number of the last row of each series, so that a
 * start does not read all of them.  A series is one place as one of them says it; what a provider
 * says now and what it says later of the past are one. */
static const char step_17[] =
	"CREATE TABLE price ("
	"  seq INTEGER PRIMARY KEY AUTOINCREMENT,"
	"  provider TEXT NOT NULL,"
	"  region TEXT NOT NULL,"
	"  zone TEXT NOT NULL,"
	"  type TEXT NOT NULL,"
	"  market TEXT NOT NULL,"
	"  currency TEXT NOT NULL,"
	"  nano_h BIGINT NOT NULL,"
	"  valid_from_ms BIGINT NOT NULL,"
	"  observed_ms BIGINT NOT NULL,"
	"  source TEXT NOT NULL);"
	"CREATE TABLE price_last ("
	"  provider TEXT NOT NULL,"
	"  region TEXT NOT NULL,"
	"  zone TEXT NOT NULL,"
	"  type TEXT NOT NULL,"
	"  market TEXT NOT NULL,"
	"  said_by TEXT NOT NULL,"
	"  seq BIGINT NOT NULL,"
	"  PRIMARY KEY (provider, region, zone, type, market, said_by)"
	") WITHOUT ROWID;"
	"CREATE TRIGGER price_follows AFTER INSERT ON price BEGIN"
	"  INSERT OR REPLACE INTO price_last VALUES"
	"   (NEW.provider, NEW.region, NEW.zone, NEW.type, NEW.market,"
	"    CASE NEW.source WHEN 'history' THEN 'quote' ELSE NEW.source END,"
	"    NEW.seq); END;"
	"CREATE TRIGGER price_is_a_price BEFORE INSERT ON price"
	" WHEN NEW.nano_h = 0 OR NEW.nano_h < -1"
	" BEGIN SELECT RAISE(ABORT, 'no price is no row'); END;" FACT_IS_KEPT("price");

/* Money that is set aside (core/budget.h) for a generation and a job, 0 for the machine itself;
 * what was spent on each day of the report's zone, by who spent it; and the jobs that wait for
 * money. */
#define SPENDER                                                                                    \
	"  machine INTEGER NOT NULL,"                                                              \
	"  account TEXT NOT NULL,"                                                                 \
	"  user TEXT NOT NULL,"                                                                    \
	"  qos TEXT NOT NULL,"                                                                     \
	"  wckey TEXT NOT NULL,"                                                                   \
	"  partition TEXT NOT NULL,"                                                               \
	"  pool TEXT NOT NULL,"                                                                    \
	"  provider TEXT NOT NULL,"                                                                \
	"  market TEXT NOT NULL,"
static const char step_18[] =
	"CREATE TABLE hold ("
	"  node TEXT NOT NULL,"
	"  gen BIGINT NOT NULL,"
	"  job BIGINT NOT NULL,"
	"  kind TEXT NOT NULL,"
	"  rate_nano_h BIGINT NOT NULL,"
	"  from_ms BIGINT NOT NULL,"
	"  until_ms BIGINT NOT NULL," SPENDER "  PRIMARY KEY (node, gen, job, kind)) WITHOUT ROWID;"
	"CREATE TABLE spent ("
	"  day BIGINT NOT NULL," SPENDER "  nano BIGINT NOT NULL,"
	"  PRIMARY KEY (day, machine, account, user, qos, wckey, partition, pool,"
	"    provider, market)) WITHOUT ROWID;"
	"ALTER TABLE refusal ADD COLUMN money INTEGER NOT NULL DEFAULT 0;";
#undef SPENDER

/* What budgets came to in each period, and what was added to them. */
static const char step_19[] = "CREATE TABLE budget_period ("
			      "  budget TEXT NOT NULL,"
			      "  value TEXT NOT NULL,"
			      "  period TEXT NOT NULL,"
			      "  begin_ms BIGINT NOT NULL,"
			      "  end_ms BIGINT NOT NULL,"
			      "  amount_nano BIGINT NOT NULL,"
			      "  added_nano BIGINT NOT NULL,"
			      "  carried_nano BIGINT NOT NULL,"
			      "  spent_nano BIGINT NOT NULL,"
			      "  held_nano BIGINT NOT NULL,"
			      "  drain_ms BIGINT NOT NULL,"
			      "  requeue_ms BIGINT NOT NULL,"
			      "  kill_ms BIGINT NOT NULL,"
			      "  at_ms BIGINT NOT NULL,"
			      "  PRIMARY KEY (budget, value, begin_ms)) WITHOUT ROWID;"
			      "CREATE TABLE budget_override ("
			      "  id INTEGER PRIMARY KEY,"
			      "  budget TEXT NOT NULL,"
			      "  value TEXT NOT NULL,"
			      "  nano BIGINT NOT NULL,"
			      "  made_ms BIGINT NOT NULL,"
			      "  until_ms BIGINT NOT NULL,"
			      "  made_by TEXT NOT NULL,"
			      "  reason TEXT NOT NULL,"
			      "  revoked_by TEXT NOT NULL,"
			      "  revoked_why TEXT NOT NULL);"
			      "CREATE TRIGGER budget_override_is_kept BEFORE DELETE ON"
			      " budget_override"
			      " BEGIN SELECT RAISE(ABORT, 'overrides are kept'); END;";

/* What was told about budgets (core/alert.h): the figures are those of at_ms, and until_ms is when
 * it may be told again.  `alert_message`: what carries them to one receiver; `alerts` has their
 * numbers.  Neither names a secret. */
static const char step_20[] = "CREATE TABLE alert ("
			      "  seq BIGINT PRIMARY KEY,"
			      "  at_ms BIGINT NOT NULL,"
			      "  until_ms BIGINT NOT NULL,"
			      "  kind TEXT NOT NULL,"
			      "  percent BIGINT NOT NULL,"
			      "  budget TEXT NOT NULL,"
			      "  value TEXT NOT NULL,"
			      "  period TEXT NOT NULL,"
			      "  ends_ms BIGINT NOT NULL,"
			      "  amount_nano BIGINT NOT NULL,"
			      "  spent_nano BIGINT NOT NULL,"
			      "  accrued_nano BIGINT NOT NULL,"
			      "  held_nano BIGINT NOT NULL,"
			      "  beyond_nano BIGINT NOT NULL) WITHOUT ROWID;"
			      "CREATE TABLE alert_message ("
			      "  seq BIGINT PRIMARY KEY,"
			      "  receiver TEXT NOT NULL,"
			      "  state TEXT NOT NULL,"
			      "  attempts BIGINT NOT NULL,"
			      "  made_ms BIGINT NOT NULL,"
			      "  tried_ms BIGINT NOT NULL,"
			      "  error TEXT NOT NULL,"
			      "  alerts TEXT NOT NULL) WITHOUT ROWID;";

/* A month's row and a quarter's may begin together.  Whose costs a budget counts, as text, and when
 * the row of a period that is over was written last (0: it is not over), so that the ledger can
 * show both.  And whether an override is the amount, instead of that of burstd.conf, or is added to
 * it. */
static const char step_21[] =
	"ALTER TABLE budget_period RENAME TO budget_period_20;"
	"CREATE TABLE budget_period ("
	"  budget TEXT NOT NULL,"
	"  value TEXT NOT NULL,"
	"  period TEXT NOT NULL,"
	"  begin_ms BIGINT NOT NULL,"
	"  end_ms BIGINT NOT NULL,"
	"  amount_nano BIGINT NOT NULL,"
	"  added_nano BIGINT NOT NULL,"
	"  carried_nano BIGINT NOT NULL,"
	"  spent_nano BIGINT NOT NULL,"
	"  held_nano BIGINT NOT NULL,"
	"  drain_ms BIGINT NOT NULL,"
	"  requeue_ms BIGINT NOT NULL,"
	"  kill_ms BIGINT NOT NULL,"
	"  at_ms BIGINT NOT NULL,"
	"  counted TEXT NOT NULL,"
	"  ended_ms BIGINT NOT NULL DEFAULT 0,"
	"  PRIMARY KEY (budget, value, begin_ms, period)) WITHOUT ROWID;"
	"INSERT INTO budget_period SELECT *, '', 0 FROM budget_period_20;"
	"DROP TABLE budget_period_20;"
	"ALTER TABLE budget_override ADD COLUMN replaces INTEGER NOT NULL DEFAULT 0;";

/* Jobs that end since a budget is used up (money/ladder_jobs.c): what they were told, and which
 * order slurmctld was given about them.  The flags are those of journal_jobs.c.  And the machines
 * that were drained for that. */
static const char step_22[] = "CREATE TABLE ending ("
			      "  job BIGINT PRIMARY KEY,"
			      "  id TEXT NOT NULL,"
			      "  pool TEXT NOT NULL,"
			      "  first_ms BIGINT NOT NULL,"
			      "  at_ms BIGINT NOT NULL,"
			      "  requeue_flags INTEGER NOT NULL,"
			      "  requeue_off_ms BIGINT NOT NULL,"
			      "  kill_flags INTEGER NOT NULL,"
			      "  kill_off_ms BIGINT NOT NULL,"
			      "  tried INTEGER NOT NULL,"
			      "  ordered INTEGER NOT NULL,"
			      "  refused INTEGER NOT NULL,"
			      "  budget TEXT NOT NULL,"
			      "  value TEXT NOT NULL,"
			      "  period TEXT NOT NULL) WITHOUT ROWID;"
			      "CREATE TABLE drained ("
			      "  node TEXT NOT NULL,"
			      "  gen BIGINT NOT NULL,"
			      "  PRIMARY KEY (node, gen)) WITHOUT ROWID;";

/* What had rolled over of an alert's budget: part of the amount that people are told. */
static const char step_23[] =
	"ALTER TABLE alert ADD COLUMN carried_nano BIGINT NOT NULL DEFAULT 0;";

/* What a machine was made from, and whether that has not shown yet that it works; what a create
 * asks for; and how far each offer is with a new image (core/roll.h). */
static const char step_24[] = "ALTER TABLE node ADD COLUMN image TEXT NOT NULL DEFAULT '';"
			      "ALTER TABLE node ADD COLUMN canary INTEGER NOT NULL DEFAULT 0;"
			      "ALTER TABLE batch ADD COLUMN image TEXT NOT NULL DEFAULT '';"
			      "CREATE TABLE roll ("
			      "  pool TEXT NOT NULL,"
			      "  offer TEXT NOT NULL,"
			      "  stage TEXT NOT NULL,"
			      "  old TEXT NOT NULL,"
			      "  next TEXT NOT NULL,"
			      "  passed INTEGER NOT NULL,"
			      "  since_ms BIGINT NOT NULL,"
			      "  why TEXT NOT NULL,"
			      "  made_by TEXT NOT NULL,"
			      "  PRIMARY KEY (pool, offer)) WITHOUT ROWID;";

const char *const schema_steps[SCHEMA_STEPS] = {
	step_1,  step_2,  step_3,  step_4,  step_5,  step_6,  step_7,  step_8,
	step_9,  step_10, step_11, step_12, step_13, step_14, step_15, step_16,
	step_17, step_18, step_19, step_20, step_21, step_22, step_23, step_24};
