#include "core/budget_job.h"

#include <string.h>

static const struct payer nobody = {.limit_s = 0};

/* Whose the machine is: the partition is that of the job that it is held for. */
static uint32_t machine_of(struct budgets *b, const struct payer *p, const struct budget_machine *m)
{
	return budgets_spender(b, &(struct budget_spender){.machine = true,
							   .account = "",
							   .user = "",
							   .qos = "",
							   .wckey = "",
							   .partition = p->partition,
							   .pool = m->pool,
							   .provider = m->provider,
							   .market = m->market});
}

static uint32_t job_of(struct budgets *b, const struct payer *p, const struct budget_machine *m)
{
	return budgets_spender(b, &(struct budget_spender){.account = p->account,
							   .user = p->user,
							   .qos = p->qos,
							   .wckey = p->wckey,
							   .partition = p->partition,
							   .pool = m->pool,
							   .provider = m->provider,
							   .market = m->market});
}

/* now + ms; ms < 0: without end. */
static int64_t after(int64_t now_ms, int64_t ms)
{
	return ms < 0 || ms > INT64_MAX - now_ms ? INT64_MAX : now_ms + ms;
}

static int64_t of_name(const struct budget_exception *v, size_t n, const char *name, int64_t ms)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(v[i].name, name) == 0)
			return v[i].ms;
	return ms;
}

/* How long the spender's budgets want a job to be held for; -1: without end. */
static int64_t reserve(const struct budgets *b, uint32_t spender, const struct payer *p,
		       const struct budget_machine *m, const struct budget_times *t)
{
	int64_t over_ms = of_name(t->over, t->nover, p->partition, t->over_ms);
	int64_t limit = p->limit_s >= 0 && over_ms >= 0 && p->limit_s < INT64_MAX / 4000
				? 1000 * p->limit_s + over_ms
				: -1;

	return budgets_reserve_ms(b, spender, limit, m->minimum_ms);
}

static int64_t least(const struct budget_machine *m, int64_t ms)
{
	if (ms < m->minimum_ms)
		ms = m->minimum_ms;
	if (m->quantum_ms > 0)
		ms = (ms + m->quantum_ms - 1) / m->quantum_ms * m->quantum_ms;
	return ms;
}

static int64_t rate_of(const struct budget_machine *m)
{
	return m->rate_nano_h > 0 ? m->rate_nano_h : 0;
}

int64_t budget_machine_until(struct budgets *b, const struct payer *p,
			     const struct budget_machine *m, const struct budget_times *t,
			     int64_t now_ms)
{
	int64_t ms = reserve(b, machine_of(b, p, m), p, m, t);
	int64_t idle_ms = of_name(t->idle, t->nidle, m->pool, t->idle_ms);

	int64_t began_ms = m->began_ms != 0 && m->began_ms < now_ms ? m->began_ms : now_ms;

	if (ms < 0)
		return INT64_MAX;
	return after(began_ms, least(m, now_ms - began_ms + m->boot_ms + ms + idle_ms +
						m->unmount_ms + t->end_ms));
}

struct budget_hold budget_run(struct budgets *b, const struct payer *p,
			      const struct budget_machine *m, const struct budget_times *t,
			      int64_t now_ms)
{
	struct budget_hold h = {.spender = job_of(b, p, m),
				.kind = BUDGET_RUN,
				.rate_nano_h = payer_rate(p, rate_of(m), m->gpus, m->cpus),
				.from_ms = now_ms + m->boot_ms};

	h.until_ms = after(h.from_ms, reserve(b, h.spender, p, m, t));
	return h;
}

size_t budget_wants(struct budgets *b, const struct payer *p, const struct budget_machine *m,
		    const struct budget_times *t, int64_t now_ms,
		    struct budget_want out[BUDGET_WANTS_MAX])
{
	const struct payer *who = p != NULL ? p : &nobody;

	out[0] = (struct budget_want){
		.hold = {.spender = machine_of(b, who, m),
			 .kind = BUDGET_MACHINE,
			 .rate_nano_h = rate_of(m),
			 .from_ms = now_ms,
			 .until_ms = budget_machine_until(b, who, m, t, now_ms)},
		.n = 1};
	if (p == NULL)
		return 1;
	out[1] = (struct budget_want){.hold = budget_run(b, p, m, t, now_ms), .n = 1};
	out[2] = (struct budget_want){.hold = {.spender = out[1].hold.spender,
					       .kind = BUDGET_BOOT,
					       .rate_nano_h = rate_of(m),
					       .from_ms = now_ms,
					       .until_ms = now_ms + m->boot_ms},
				      .n = 1};
	return 3;
}
