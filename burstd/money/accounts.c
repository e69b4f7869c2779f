/* Keeps the tree of accounts, by which a budget of one account counts for all below it.  slurmctld
 * has it in memory, so slurmdbd may be down.  Until it has been read once no job is judged by a
 * budget of accounts: it waits. */
#include "money/money.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "slurm/account.h"

enum {
	ACCOUNTS_MS = 600000,      /* between two looks: projects begin and end by the week */
	ACCOUNTS_SOON_MS = 30000,  /* ... if an account is met that is not known */
	ACCOUNTS_RETRY_MS = 10000, /* slurmctld did not answer */
	ACCOUNTS_MAX = 100000,
};

static bool of_accounts(const struct conf *c)
{
	for (size_t i = 0; i < c->nbudgets; i++)
		if (c->budgets[i].accounts != NULL)
			return true;
	return false;
}

bool accounts_lack(const struct engine *e)
{
	return e->money->budgets != NULL && !e->money->accounts_known && of_accounts(e->conf);
}

void accounts_met(struct engine *e, const char *account)
{
	struct money_state *m = e->money;

	if (m->budgets != NULL && account[0] != '\0' && !budgets_knows(m->budgets, account) &&
	    m->accounts_ms > m->accounts_asked_ms + ACCOUNTS_SOON_MS)
		m->accounts_ms = m->accounts_asked_ms + ACCOUNTS_SOON_MS;
}

struct tree {
	struct budget_account *v;
	size_t n, cap;
};

static char *text_of(struct slurm_text t)
{
	char *out = mem_zalloc(t.n + 1);

	memcpy(out, t.p, t.n);
	return out;
}

static void on_account(void *ctx, struct slurm_text account, struct slurm_text parent)
{
	struct tree *t = ctx;

	if (t->n == ACCOUNTS_MAX)
		return;
	if (t->n == t->cap) {
		t->cap = t->cap == 0 ? 64 : 2 * t->cap;
		t->v = mem_realloc(t->v, t->cap * sizeof(*t->v));
	}
	t->v[t->n++] = (struct budget_account){text_of(account), text_of(parent)};
}

void accounts_answer(struct engine *e, const char *text, size_t len, const struct err *err)
{
	struct money_state *m = e->money;
	struct tree t = {NULL, 0, 0};

	m->accounts_asking = false;
	if (err != NULL || m->budgets == NULL) {
		m->accounts_ms = engine_now(e) + ACCOUNTS_RETRY_MS;
		return;
	}
	slurm_account_parse(text, len, on_account, &t);
	if (budgets_tree(m->budgets, t.v, t.n) || !m->accounts_known)
		m->freed = true;
	m->accounts_known = true;
	for (size_t i = 0; i < t.n; i++) {
		free(t.v[i].name);
		free(t.v[i].parent);
	}
	free(t.v);
}

static void accounts_run(struct engine *e)
{
	struct money_state *m = e->money;

	if (m->budgets == NULL || m->accounts_asking || engine_now(e) < m->accounts_ms ||
	    !of_accounts(e->conf))
		return;
	m->accounts_asked_ms = engine_now(e);
	m->accounts_ms = engine_now(e) + ACCOUNTS_MS;
	m->accounts_asking = slurm_ask(e->slurm, SLURM_ACCOUNTS);
}

static int64_t accounts_next_ms(const struct engine *e)
{
	const struct money_state *m = e->money;

	return m->budgets != NULL && !m->accounts_asking && of_accounts(e->conf) ? m->accounts_ms
										 : INT64_MAX;
}

const struct engine_part accounts_part = {
	.name = "accounts",
	.at = {[PART_RUN] = accounts_run},
	.next_ms = accounts_next_ms,
};
