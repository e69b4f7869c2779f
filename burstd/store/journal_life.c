/* The tables of facts: lives, machines, buyers and what slurmctld said of jobs. */
#include "store/journal_life.h"

#include "store/private.h"

static const char sql_put_life[] =
	"INSERT INTO life (node, gen, kind, instance, at_ms, said_ms, rate_nano_h)"
	" VALUES (?, ?, ?, ?, ?, ?, ?)";

static const char sql_put_machine[] =
	"INSERT INTO machine (node, gen, at_ms, pool, provider, offer, type, region, zone, market,"
	" currency, quantum_ms, minimum_ms, cpus, memory_mb, gpus)"
	" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING";

static const char sql_put_buyer[] =
	"INSERT INTO buyer (node, gen, job) VALUES (?, ?, ?) ON CONFLICT DO NOTHING";

static const char sql_put_job_said[] =
	"INSERT INTO job_said (at_ms, job, id, account, user, partition, qos, wckey, limit_s,"
	" nodes, cpus, memory_mb, gpus) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?)";

void journal_put_life(struct journal_tx *tx, const struct journal_life *l)
{
	tx_effect(tx, sql_put_life);
	tx_text(tx, l->node);
	tx_bits(tx, l->gen);
	tx_text(tx, life_str(l->step.kind));
	tx_text(tx, l->instance);
	tx_int(tx, l->step.at_ms);
	tx_int(tx, l->step.said_ms);
	tx_int(tx, l->rate_nano_h);
}

void journal_put_machine(struct journal_tx *tx, const struct journal_machine *m)
{
	tx_effect(tx, sql_put_machine);
	tx_text(tx, m->node);
	tx_bits(tx, m->gen);
	tx_int(tx, m->at_ms);
	tx_text(tx, m->pool);
	tx_text(tx, m->provider);
	tx_text(tx, m->offer);
	tx_text(tx, m->type);
	tx_text(tx, m->region);
	tx_text(tx, m->zone);
	tx_text(tx, m->market);
	tx_text(tx, m->currency);
	tx_int(tx, m->quantum_ms);
	tx_int(tx, m->minimum_ms);
	tx_int(tx, m->cpus);
	tx_int(tx, (int64_t)m->memory_mb);
	tx_int(tx, m->gpus);
}

void journal_put_buyer(struct journal_tx *tx, const char *node, uint64_t gen, uint64_t job)
{
	tx_effect(tx, sql_put_buyer);
	tx_text(tx, node);
	tx_bits(tx, gen);
	tx_bits(tx, job);
}

void journal_put_job_said(struct journal_tx *tx, int64_t at_ms, uint64_t job, const struct payer *p)
{
	tx_effect(tx, sql_put_job_said);
	tx_int(tx, at_ms);
	tx_bits(tx, job);
	tx_text(tx, p->id);
	tx_text(tx, p->account);
	tx_text(tx, p->user);
	tx_text(tx, p->partition);
	tx_text(tx, p->qos);
	tx_text(tx, p->wckey);
	tx_int(tx, p->limit_s);
	tx_int(tx, p->nodes);
	tx_int(tx, p->cpus);
	tx_int(tx, (int64_t)p->node_gpus * p->nodes);
}
