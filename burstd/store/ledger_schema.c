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
#define IS_FOR_EVER(table)                                                                         \
	"CREATE TRIGGER " table "_kept BEFORE UPDATE ON " table                                    \
	" BEGIN SELECT RAISE(ABORT, 'periods are append-only'); END;"                              \
	"CREATE TRIGGER " table "_stays BEFORE DELETE ON " table                                   \
	" BEGIN SELECT RAISE(ABORT, 'periods are append-only'); END;"

/* `closing`: a month was closed or opened again, chained by hashes.  `shown`: what the lines of a
 * closed month say beyond their postings, as it was known then, since facts that come later would
 * change it; `place` has what many of them say.  posting.of_day: of what is late, the day that it
 * is about; of all others it is their day, whatever it says.  `invoice` and `invoice_line`: what
 * providers want, an instance's part by its lifetime; one that was removed stays, and does not
 * count. */
static const char step_4[] =
	"ALTER TABLE posting ADD COLUMN of_day BIGINT NOT NULL DEFAULT 0;"
	"CREATE INDEX lifetime_instance ON lifetime (instance);"
	"CREATE TRIGGER posting_open BEFORE INSERT ON posting"
	"  WHEN NEW.day < (SELECT value FROM number WHERE key = 'open_day') BEGIN"
	"  SELECT RAISE(ABORT, 'the period is closed'); END;"
	"CREATE TABLE closing ("
	"  seq INTEGER PRIMARY KEY,"
	"  month BIGINT NOT NULL, revision BIGINT NOT NULL, closed INTEGER NOT NULL,"
	"  at_ms BIGINT NOT NULL, who TEXT NOT NULL, reason TEXT NOT NULL, allowed TEXT NOT NULL,"
	"  zone TEXT NOT NULL, totals TEXT NOT NULL, invoice BIGINT NOT NULL,"
	"  booking BIGINT NOT NULL, chain TEXT NOT NULL, n BIGINT NOT NULL, digest TEXT NOT NULL,"
	"  hash TEXT NOT NULL);"
	"CREATE TABLE place ("
	"  id INTEGER PRIMARY KEY,"
	"  offer INTEGER NOT NULL, region INTEGER NOT NULL, zone INTEGER NOT NULL,"
	"  gpus BIGINT NOT NULL, cpus BIGINT NOT NULL, memory_mb BIGINT NOT NULL,"
	"  estimated INTEGER NOT NULL,"
	"  UNIQUE (offer, region, zone, gpus, cpus, memory_mb, estimated));"
	"CREATE TABLE shown ("
	"  closing BIGINT NOT NULL, lifetime BIGINT NOT NULL, posting BIGINT NOT NULL,"
	"  place BIGINT NOT NULL, rate_nano_h BIGINT NOT NULL, list_nano_h BIGINT NOT NULL,"
	"  job BIGINT NOT NULL, number BIGINT NOT NULL, job_id INTEGER NOT NULL,"
	"  name INTEGER NOT NULL,"
	"  PRIMARY KEY (closing, lifetime, posting)) WITHOUT ROWID;" IS_FOR_EVER("closing")
		IS_FOR_EVER("place") IS_FOR_EVER(
			"shown") "CREATE TABLE invoice ("
				 "  id INTEGER PRIMARY KEY,"
				 "  provider TEXT NOT NULL, month BIGINT NOT NULL, number TEXT NOT "
				 "NULL,"
				 "  format TEXT NOT NULL, rule TEXT NOT NULL, partial INTEGER NOT "
				 "NULL,"
				 "  currency TEXT NOT NULL, nano BIGINT NOT NULL, counted BIGINT "
				 "NOT NULL,"
				 "  why TEXT NOT NULL, file TEXT NOT NULL, digest TEXT NOT NULL, "
				 "at_ms BIGINT NOT NULL,"
				 "  who TEXT NOT NULL, removed_ms BIGINT NOT NULL, removed_by TEXT "
				 "NOT NULL);"
				 "CREATE UNIQUE INDEX invoice_number ON invoice (provider, number) "
				 "WHERE removed_ms = 0;"
				 "CREATE TABLE invoice_line ("
				 "  invoice BIGINT NOT NULL, n BIGINT NOT NULL, kind INTEGER NOT "
				 "NULL,"
				 "  lifetime BIGINT NOT NULL, instance TEXT NOT NULL, account TEXT "
				 "NOT NULL,"
				 "  name TEXT NOT NULL, nano BIGINT NOT NULL, start_s BIGINT NOT "
				 "NULL,"
				 "  end_s BIGINT NOT NULL, PRIMARY KEY (invoice, n)) WITHOUT ROWID;"
				 "CREATE INDEX invoice_of ON invoice_line (lifetime) WHERE "
				 "lifetime <> 0;"
				 "CREATE TRIGGER invoice_stays BEFORE DELETE ON invoice BEGIN"
				 "  SELECT RAISE(ABORT, 'invoices are append-only'); END;" IS_KEPT(
					 "invoice_line");

/* A copy of the journal's overrides.  One is told by id and time: a journal that was restored may
 * give an id again.  And of an invoice nothing changes but that it is removed, once.  A whole
 * invoice has set instances of other currencies to 0: these are computed again. */
static const char step_5[] =
	"CREATE TABLE budget_override ("
	"  id BIGINT NOT NULL, budget TEXT NOT NULL, value TEXT NOT NULL, nano BIGINT NOT NULL,"
	"  made_ms BIGINT NOT NULL, until_ms BIGINT NOT NULL, made_by TEXT NOT NULL,"
	"  reason TEXT NOT NULL, revoked_by TEXT NOT NULL, revoked_why TEXT NOT NULL,"
	"  PRIMARY KEY (made_ms, id)) WITHOUT ROWID;"
	"CREATE TRIGGER budget_override_stays BEFORE DELETE ON budget_override BEGIN"
	"  SELECT RAISE(ABORT, 'overrides are kept'); END;"
	"CREATE TRIGGER invoice_kept BEFORE UPDATE ON invoice WHEN OLD.removed_ms <> 0"
	"  OR NEW.removed_ms = 0 OR (NEW.id, NEW.provider, NEW.month, NEW.number, NEW.format,"
	"  NEW.rule, NEW.partial, NEW.currency, NEW.nano, NEW.counted, NEW.why, NEW.file,"
	"  NEW.digest, NEW.at_ms, NEW.who) IS NOT (OLD.id, OLD.provider, OLD.month, OLD.number,"
	"  OLD.format, OLD.rule, OLD.partial, OLD.currency, OLD.nano, OLD.counted, OLD.why,"
	"  OLD.file, OLD.digest, OLD.at_ms, OLD.who) BEGIN"
	"  SELECT RAISE(ABORT, 'invoices are append-only'); END;"
	"UPDATE lifetime SET dirty = 1 WHERE EXISTS (SELECT 1 FROM machine AS m JOIN invoice AS i"
	"  ON i.provider = m.provider AND i.currency <> m.currency WHERE m.node = lifetime.node"
	"  AND m.gen = lifetime.gen AND i.partial = 0 AND i.removed_ms = 0);";

/* A copy of what the journal has of budgets.  What a closed month's statement shows stays.  And
 * whether an override is the amount, or is added to it. */
static const char step_6[] =
	"CREATE TABLE budget_period ("
	"  budget TEXT NOT NULL, value TEXT NOT NULL, period TEXT NOT NULL,"
	"  begin_ms BIGINT NOT NULL, end_ms BIGINT NOT NULL, last_day BIGINT NOT NULL,"
	"  amount_nano BIGINT NOT NULL, added_nano BIGINT NOT NULL, carried_nano BIGINT NOT NULL,"
	"  spent_nano BIGINT NOT NULL, held_nano BIGINT NOT NULL, at_ms BIGINT NOT NULL,"
	"  counted TEXT NOT NULL, PRIMARY KEY (budget, value, begin_ms, period))"
	"  WITHOUT ROWID;"
	"CREATE TRIGGER budget_period_kept BEFORE UPDATE ON budget_period"
	"  WHEN OLD.last_day < (SELECT value FROM number WHERE key = 'open_day') BEGIN"
	"  SELECT RAISE(ABORT, 'the period is closed'); END;"
	"CREATE TRIGGER budget_period_stays BEFORE DELETE ON budget_period BEGIN"
	"  SELECT RAISE(ABORT, 'what budgets came to is kept'); END;"
	"ALTER TABLE budget_override ADD COLUMN replaces INTEGER NOT NULL DEFAULT 0;";

/* `stay`: what a job had of an instance on a day, once that is over, by the ledger and as burstd's
 * budgets count it; `spent_job`: what these have, a copy; `job_agreement`: the two compared.
 * spender: a number of `dims`, without wckey, type and currency.  What has ended since burstd has
 * budgets is computed again. */
static const char step_7[] =
	"CREATE TABLE stay ("
	"  day BIGINT NOT NULL, spender BIGINT NOT NULL, lifetime BIGINT NOT NULL,"
	"  bill BIGINT NOT NULL, low BIGINT NOT NULL, high BIGINT NOT NULL,"
	"  from_ms BIGINT NOT NULL, until_ms BIGINT NOT NULL,"
	"  PRIMARY KEY (day, spender, lifetime)) WITHOUT ROWID;"
	"CREATE INDEX stay_of ON stay (lifetime, day, spender);"
	"CREATE TABLE spent_job ("
	"  day BIGINT NOT NULL, spender BIGINT NOT NULL, nano BIGINT NOT NULL,"
	"  changed_ms BIGINT NOT NULL,"
	"  PRIMARY KEY (day, spender)) WITHOUT ROWID;"
	"CREATE TABLE job_agreement ("
	"  day BIGINT NOT NULL, spender BIGINT NOT NULL, state INTEGER NOT NULL,"
	"  spent BIGINT NOT NULL, bill BIGINT NOT NULL,"
	"  PRIMARY KEY (day, spender)) WITHOUT ROWID;"
	"CREATE INDEX job_agreement_not ON job_agreement (state, day) WHERE state <> 0;"
	"UPDATE lifetime SET dirty = 1 WHERE state <> 0 AND end_s * 1000 >="
	"  (SELECT value FROM number WHERE key = 'budgets_since_ms' AND value <> 0);";

/* What was computed by another rule: bills with a price of burstd.conf, or one that is not quoted
 * any more; and jobs that were resized, whose records were taken for jobs that run.  Each of these
 * ended when the next began.  And what is billed in a month (in any zone) beyond an end in the
 * month before did not meet a whole invoice. */
static const char step_8[] =
	"UPDATE lifetime SET dirty = 1 WHERE EXISTS (SELECT 1 FROM machine AS m JOIN price AS p"
	"  ON p.provider = m.provider AND p.type = m.type WHERE m.node = lifetime.node"
	"  AND m.gen = lifetime.gen AND (p.source = 'conf' OR p.nano_h <= 0));"
	"UPDATE lifetime SET dirty = 1 WHERE node IN (SELECT n.text FROM word AS w"
	"  JOIN attempt AS a ON a.state = w.id JOIN attempt_on AS o ON o.attempt = a.id"
	"  JOIN word AS n ON n.id = o.node WHERE w.text = 'RESIZING');"
	"UPDATE attempt SET running = 0, end_s = COALESCE((SELECT MIN(n.start_s) FROM attempt AS n"
	"  WHERE n.job = attempt.job AND n.start_s > attempt.start_s), start_s)"
	"  WHERE running <> 0 AND state = (SELECT id FROM word WHERE text = 'RESIZING')"
	"  AND source = (SELECT id FROM word WHERE text = 'sacct');"
	"UPDATE lifetime SET dirty = 1 WHERE EXISTS (SELECT 1 FROM machine AS m JOIN invoice AS i"
	"  ON i.provider = m.provider WHERE m.node = lifetime.node AND m.gen = lifetime.gen"
	"  AND i.partial = 0 AND i.removed_ms = 0"
	"  AND strftime('%Y-%m', lifetime.end_s - 50400, 'unixepoch') <> strftime('%Y-%m',"
	"  lifetime.end_s + 50402 + (m.quantum_ms + m.minimum_ms) / 1000, 'unixepoch'));";

/* closing.budgets: what statements show of budgets; "": the record is from before there was this
 * step.  made_day, until_day: days of made_ms and until_ms in the ledger's zone; of what was copied
 * before, in UTC.  What a closed month's statement shows of an override stays, too. */
static const char step_9[] =
	"ALTER TABLE closing ADD COLUMN budgets TEXT NOT NULL DEFAULT '';"
	"ALTER TABLE budget_override ADD COLUMN made_day BIGINT NOT NULL DEFAULT 0;"
	"ALTER TABLE budget_override ADD COLUMN until_day BIGINT NOT NULL DEFAULT 0;"
	"UPDATE budget_override SET made_day = made_ms / 86400000, until_day = until_ms / 86400000;"
	"CREATE TRIGGER budget_override_kept BEFORE UPDATE ON budget_override"
	"  WHEN (NEW.id, NEW.budget, NEW.value, NEW.nano, NEW.made_ms, NEW.made_by, NEW.reason,"
	"  NEW.replaces, NEW.made_day) IS NOT (OLD.id, OLD.budget, OLD.value, OLD.nano,"
	"  OLD.made_ms, OLD.made_by, OLD.reason, OLD.replaces, OLD.made_day) OR"
	"  MIN(OLD.until_day, NEW.until_day) <"
	"  (SELECT value FROM number WHERE key = 'open_day') BEGIN"
	"  SELECT RAISE(ABORT, 'overrides of closed periods are kept'); END;"
	"CREATE TRIGGER budget_override_open BEFORE INSERT ON budget_override"
	"  WHEN NEW.made_day < (SELECT value FROM number WHERE key = 'open_day') BEGIN"
	"  SELECT RAISE(ABORT, 'the period is closed'); END;"
	"CREATE TRIGGER budget_period_open BEFORE INSERT ON budget_period"
	"  WHEN NEW.last_day < (SELECT value FROM number WHERE key = 'open_day') BEGIN"
	"  SELECT RAISE(ABORT, 'the period is closed'); END;";

static const char *const steps[] = {step_1, step_2, step_3, step_4, step_5,
				    step_6, step_7, step_8, step_9};

const struct db_kind ledger_kind = {.steps = steps, .nsteps = sizeof(steps) / sizeof(steps[0])};
