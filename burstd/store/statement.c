/* All SQL statements of the journal. */
#include "store/private.h"

#define NODE_COLUMNS                                                                               \
	"name, gen, epoch, pool, state, reason, released, accepted, misses, attempts, batch, "     \
	"gang, slot, instance, addr, rate_nano_h, wanted_ms, since_ms, sent_ms, missed_ms, "       \
	"wake_ms, start_ms, end_ms, job, offer, provider, market, notice, noticed_ms, "            \
	"deadline_ms, "                                                                            \
	"signal_ms, stale_addr"

#define RESCUE_COLUMNS "job, id, node, gen, at_ms, why, nodes, signal, hold_ms"

#define POOL_COLUMNS "name, paused, waves, last_ms, until_ms, paused_by, paused_ms"

#define CLAIM_COLUMNS                                                                              \
	"node, gen, epoch, id, state, reason, alarms, attested, weak, spki, addr, instance, "      \
	"serial, version, issued_ms, expires_ms, since_ms, released_ms, accessor, shared"

#define VOUCHER_COLUMNS                                                                            \
	"node, gen, epoch, state, token, accessor, version, gpus, gpu_type, made_ms, ends_ms, "    \
	"since_ms"

const char *const journal_sql[NSTATEMENTS] = {
	[PUT_NODE] =
		"INSERT INTO node (" NODE_COLUMNS ") VALUES"
		" (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
		" ?, ?, ?, ?, ?)"
		" ON CONFLICT (name, gen) DO UPDATE SET epoch = excluded.epoch, pool = "
		"excluded.pool,"
		" state = excluded.state, reason = excluded.reason, released = excluded.released,"
		" accepted = excluded.accepted, misses = excluded.misses, attempts = "
		"excluded.attempts,"
		" batch = excluded.batch, gang = excluded.gang, slot = excluded.slot,"
		" instance = excluded.instance, addr = excluded.addr,"
		" rate_nano_h = excluded.rate_nano_h, wanted_ms = excluded.wanted_ms,"
		" since_ms = excluded.since_ms, sent_ms = excluded.sent_ms,"
		" missed_ms = excluded.missed_ms, wake_ms = excluded.wake_ms,"
		" start_ms = excluded.start_ms, end_ms = excluded.end_ms, job = "
		"excluded.job, offer = excluded.offer, provider = excluded.provider,"
		" market = excluded.market,"
		" notice = excluded.notice, noticed_ms = excluded.noticed_ms,"
		" deadline_ms = excluded.deadline_ms, signal_ms = excluded.signal_ms,"
		" stale_addr = excluded.stale_addr",
	[DEL_NODE] = "DELETE FROM node WHERE name = ? AND gen = ?",
	[PUT_BATCH] =
		"INSERT INTO batch (id, epoch, token, pool, body_hash, at_ms, offer, provider)"
		" VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
		" ON CONFLICT (id) DO UPDATE SET epoch = excluded.epoch, token = excluded.token,"
		" pool = excluded.pool, body_hash = excluded.body_hash, at_ms = excluded.at_ms,"
		" offer = excluded.offer, provider = excluded.provider",
	[DEL_BATCH] = "DELETE FROM batch WHERE id = ?",
	[PUT_EVENT] = "INSERT INTO event (at_ms, node, gen, type, detail) VALUES (?, ?, ?, ?, ?)",
	[PUT_USAGE] = "INSERT INTO usage (node, gen, instance, pool, start_ms, end_ms, rate_nano_h,"
		      " cost_nano) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
		      " ON CONFLICT (node, gen, instance) DO UPDATE SET pool = excluded.pool,"
		      " start_ms = excluded.start_ms, end_ms = excluded.end_ms,"
		      " rate_nano_h = excluded.rate_nano_h, cost_nano = excluded.cost_nano",
	[PUT_NUMBER] = "INSERT INTO meta (key, value) VALUES (?, ?)"
		       " ON CONFLICT (key) DO UPDATE SET value = excluded.value",
	[PUT_REFUSAL] = "INSERT INTO refusal (job, count, last_ms, first_ms, wait_ms, "
			"told_wall_ms, had_wall_ms)"
			" VALUES (?, ?, ?, ?, ?, ?, ?)"
			" ON CONFLICT (job) DO UPDATE SET count = excluded.count,"
			" last_ms = excluded.last_ms, first_ms = excluded.first_ms,"
			" wait_ms = excluded.wait_ms, told_wall_ms = excluded.told_wall_ms,"
			" had_wall_ms = excluded.had_wall_ms",
	[DEL_REFUSAL] = "DELETE FROM refusal WHERE job = ?",
	[PUT_POOL] = "INSERT INTO pool (" POOL_COLUMNS ") VALUES (?, ?, ?, ?, ?, ?, ?)"
		     " ON CONFLICT (name) DO UPDATE SET paused = excluded.paused, waves = "
		     "excluded.waves, last_ms = excluded.last_ms, until_ms = excluded.until_ms,"
		     " paused_by = excluded.paused_by, paused_ms = excluded.paused_ms",
	[PUT_RESCUE] = "INSERT INTO rescue (" RESCUE_COLUMNS ")"
		       " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (job) DO UPDATE SET"
		       " id = excluded.id, node = excluded.node, gen = excluded.gen,"
		       " at_ms = excluded.at_ms, why = excluded.why, nodes = excluded.nodes,"
		       " signal = excluded.signal, hold_ms = excluded.hold_ms",
	[PUT_CLAIM] =
		"INSERT INTO claim (" CLAIM_COLUMNS ", turn, wrong) VALUES"
		" (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0)"
		" ON CONFLICT (node, gen) DO UPDATE SET epoch = excluded.epoch, id = excluded.id,"
		" state = excluded.state, reason = excluded.reason,"
		" alarms = excluded.alarms, attested = excluded.attested,"
		" weak = excluded.weak, spki = excluded.spki, addr = excluded.addr,"
		" instance = excluded.instance, serial = excluded.serial,"
		" version = excluded.version, issued_ms = excluded.issued_ms,"
		" expires_ms = excluded.expires_ms, since_ms = excluded.since_ms,"
		" released_ms = excluded.released_ms, accessor = excluded.accessor,"
		" shared = excluded.shared",
	[DEL_CLAIM] = "DELETE FROM claim WHERE node = ? AND gen = ?",
	[ALL_CLAIMS] = "SELECT " CLAIM_COLUMNS " FROM claim ORDER BY node, gen",
	[PUT_VOUCHER] =
		"INSERT INTO voucher (" VOUCHER_COLUMNS
		") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
		" ON CONFLICT (node, gen) DO UPDATE SET epoch = excluded.epoch,"
		" state = excluded.state, token = excluded.token, accessor = excluded.accessor,"
		" version = excluded.version, gpus = excluded.gpus, gpu_type = excluded.gpu_type,"
		" made_ms = excluded.made_ms,"
		" ends_ms = excluded.ends_ms, since_ms = excluded.since_ms",
	[DEL_VOUCHER] = "DELETE FROM voucher WHERE node = ? AND gen = ?",
	[ALL_VOUCHERS] = "SELECT " VOUCHER_COLUMNS " FROM voucher ORDER BY node, gen",
	[DEL_RESCUE] = "DELETE FROM rescue WHERE job = ?",
	[ALL_RESCUES] = "SELECT " RESCUE_COLUMNS " FROM rescue ORDER BY job",
	[ALL_REFUSALS] = "SELECT job, count, last_ms, first_ms, wait_ms, told_wall_ms, had_wall_ms "
			 "FROM refusal"
			 " ORDER BY job",
	[ALL_POOLS] = "SELECT " POOL_COLUMNS " FROM pool ORDER BY name",
	[ALL_NODES] = "SELECT " NODE_COLUMNS " FROM node ORDER BY name, gen",
	[ALL_BATCHES] = "SELECT id, token, pool, body_hash, at_ms, offer, provider FROM batch"
			" ORDER BY id",
	[SUM_USAGE] = "SELECT pool, SUM(cost_nano) FROM usage GROUP BY pool ORDER BY pool",
	[USAGES_OF_NODE] = "SELECT gen, instance, pool, start_ms, end_ms, rate_nano_h, cost_nano"
			   " FROM usage WHERE node = ? ORDER BY gen DESC, instance",
	[GET_NUMBER] = "SELECT value FROM meta WHERE key = ?",
	[EVENTS] = "SELECT seq, at_ms, node, gen, type, detail FROM event"
		   " WHERE seq > ? ORDER BY seq LIMIT ?",
	[EVENTS_OF_NODE] = "SELECT seq, at_ms, node, gen, type, detail FROM event"
			   " WHERE node = ? AND seq > ? ORDER BY seq LIMIT ?",
	/* The last number used, even if all events are forgotten. */
	[LAST_EVENT] = "SELECT COALESCE((SELECT seq FROM sqlite_sequence WHERE name = 'event'), 0)",
	[FIRST_EVENT] = "SELECT COALESCE(MIN(seq), 0) FROM event",
	/* Looks only at the oldest; their times need not grow, as a clock may have gone back. */
	[OLD_EVENT] = "SELECT COALESCE(MAX(seq), 0) FROM"
		      " (SELECT seq, at_ms FROM event ORDER BY seq LIMIT ?) WHERE at_ms < ?",
	[DEL_EVENTS] = "DELETE FROM event WHERE seq <= ?",
	[PUT_AUDIT] = "INSERT INTO audit (seq, at_ms, actor, verb, target, object, reason, request,"
		      " hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
	[AUDITS] = "SELECT seq, at_ms, actor, verb, target, object, reason, request, hash"
		   " FROM audit WHERE seq > ? ORDER BY seq LIMIT ?",
	[FIRST_AUDIT] = "SELECT seq FROM audit ORDER BY seq LIMIT 1",
	[LAST_AUDIT] = "SELECT seq, hash FROM audit WHERE seq <= ? ORDER BY seq DESC LIMIT 1",
	[LAST_FORGET] = "SELECT request FROM audit WHERE verb = '" CHAIN_FORGET "'"
			" ORDER BY seq DESC LIMIT 1",
	/* The last of the oldest records after a number, if there are too many or all of those are
	 * old; reads no other row. */
	[OLD_AUDIT] = "SELECT seq, hash FROM"
		      " (SELECT seq, hash FROM audit WHERE seq > ? ORDER BY seq LIMIT 1 OFFSET ?)"
		      " AS last WHERE seq <= ? OR ? > (SELECT MAX(at_ms) FROM"
		      " (SELECT at_ms FROM audit WHERE seq > ? ORDER BY seq LIMIT ?) AS oldest)",
	[DEL_AUDITS] = "DELETE FROM audit WHERE seq <= ?",
	[GET_MARK] = "SELECT seq, hash FROM audit_mark WHERE name = ?",
	[PUT_MARK] = "INSERT INTO audit_mark (name, seq, hash) VALUES (?, ?, ?)"
		     " ON CONFLICT (name) DO UPDATE SET seq = excluded.seq,"
		     " hash = excluded.hash",
};
