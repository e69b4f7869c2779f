/* The rows of facts, as the journal and the ledger have them. */
#include "store/facts_private.h"

enum { FACTS_TEXT = 65536 }; /* bytes of a text: far more than is ever written */

static int64_t any(struct db_cursor *c)
{
	return db_get_int(c, INT64_MIN, INT64_MAX);
}

static const char *text(struct db_cursor *c)
{
	return db_get_text(c, FACTS_TEXT);
}

int facts_read_life(struct db_cursor *c, const struct facts_visit *v, struct err *e)
{
	struct fact_life l = {.seq = any(c)};

	l.node = text(c);
	l.gen = (uint64_t)any(c);
	l.kind = text(c);
	l.instance = text(c);
	l.at_ms = any(c);
	l.said_ms = any(c);
	l.rate_nano_h = any(c);
	return c->bad ? 1 : v->life(v->ctx, &l, e);
}

int facts_read_said(struct db_cursor *c, const struct facts_visit *v, struct err *e)
{
	struct fact_said s = {.seq = any(c)};
	const char **const texts[] = {&s.id, &s.account, &s.user, &s.partition, &s.qos, &s.wckey};
	int64_t *const numbers[] = {&s.limit_s, &s.nodes, &s.cpus, &s.memory_mb, &s.gpus};

	s.at_ms = any(c);
	s.job = (uint64_t)any(c);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		*texts[i] = text(c);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		*numbers[i] = any(c);
	return c->bad ? 1 : v->said(v->ctx, &s, e);
}

int facts_read_price(struct db_cursor *c, const struct facts_visit *v, struct err *e)
{
	struct fact_price p = {.seq = any(c)};

	p.provider = text(c);
	p.region = text(c);
	p.zone = text(c);
	p.type = text(c);
	p.market = text(c);
	p.currency = text(c);
	p.nano_h = any(c);
	p.valid_from_ms = any(c);
	p.observed_ms = any(c);
	p.source = text(c);
	return c->bad ? 1 : v->price(v->ctx, &p, e);
}

int facts_read_machine(struct db_cursor *c, const struct facts_visit *v, struct err *e)
{
	struct fact_machine m = {.node = text(c)};
	const char **const texts[] = {&m.pool,   &m.provider, &m.offer,  &m.type,
				      &m.region, &m.zone,     &m.market, &m.currency};
	int64_t *const numbers[] = {&m.quantum_ms, &m.minimum_ms, &m.cpus, &m.memory_mb, &m.gpus};

	m.gen = (uint64_t)any(c);
	m.at_ms = any(c);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		*texts[i] = text(c);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		*numbers[i] = db_get_int(c, 0, INT64_MAX);
	return c->bad ? 1 : v->machine(v->ctx, &m, e);
}

int facts_read_buyer(struct db_cursor *c, const struct facts_visit *v, struct err *e)
{
	uint64_t job = (uint64_t)any(c);

	return c->bad ? 1 : v->buyer(v->ctx, job, e);
}

int facts_read_spent(struct db_cursor *c, const struct facts_visit *v, struct err *e)
{
	struct fact_spent s = {.day = any(c)};

	s.provider = text(c);
	s.market = text(c);
	s.pool = text(c);
	s.nano = any(c);
	return c->bad ? 1 : v->spent(v->ctx, &s, e);
}

int facts_read_job_spent(struct db_cursor *c, const struct facts_visit *v, struct err *e)
{
	struct fact_job_spent s = {.day = any(c)};
	const char **const texts[] = {&s.account, &s.user,     &s.qos,   &s.partition,
				      &s.pool,    &s.provider, &s.market};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		*texts[i] = text(c);
	s.nano = any(c);
	return c->bad ? 1 : v->job_spent(v->ctx, &s, e);
}

int facts_read_day(struct db_cursor *c, const struct facts_visit *v, struct err *e)
{
	int64_t day = any(c), nano = any(c);

	return c->bad ? 1 : v->day(v->ctx, day, nano, e);
}

int facts_read_override(struct db_cursor *c, const struct facts_visit *v, struct err *e)
{
	struct fact_override o = {.id = any(c)};

	o.budget = text(c);
	o.value = text(c);
	o.nano = any(c);
	o.made_ms = any(c);
	o.until_ms = any(c);
	o.by = text(c);
	o.reason = text(c);
	o.revoked_by = text(c);
	o.revoked_why = text(c);
	o.set = db_get_int(c, 0, 1) == 1;
	return c->bad ? 1 : v->override(v->ctx, &o, e);
}

int facts_read_budget(struct db_cursor *c, const struct facts_visit *v, struct err *e)
{
	struct fact_budget b = {.budget = text(c)};
	int64_t *const parts[] = {&b.amount, &b.added, &b.carried};

	b.value = text(c);
	b.period = text(c);
	b.begin_ms = any(c);
	b.end_ms = any(c);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		*parts[i] = db_get_int(c, 0, INT64_MAX);
	b.spent = any(c);
	b.held = any(c);
	b.at_ms = any(c);
	b.counted = text(c);
	return c->bad ? 1 : v->budget(v->ctx, &b, e);
}

int facts_visit_all(struct db *d, struct db_cursor *c, facts_read_fn read,
		    const struct facts_visit *v, struct err *e)
{
	int rc;

	while ((rc = db_step(d, c->st, e)) == 1) {
		int got;

		c->at = 0;
		got = read(c, v, e);
		if (got == 0)
			continue;
		db_reset(c->st);
		return got > 0 ? db_damaged(d, v->table, e) : -1;
	}
	return rc;
}
