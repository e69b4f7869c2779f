/* Keeps the tree of accounts, by which a budget of one account counts for all below it.  slurmctld
 * has it in memory, so slurmdbd may be down.  Until it has been read once no job is judged by a
 * budget of accounts: it waits.  So does a job whose account is not in the tree, until slurmctld
 * has been asked again: the account may be a minute old, and below one that has a budget. */
#include "money/money.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fnv.h"
#include "base/mem.h"
#include "slurm/account.h"
#include "slurm/show.h"

enum {
	ACCOUNTS_MS = 600000,      /* between two looks: projects begin and end by the week */
	ACCOUNTS_SOON_MS = 10000,  /* ... if an account is met that is not known */
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

/* Does any budget need the tree?  Without accounting there is none: an account is a name. */
static bool need_tree(const struct engine *e)
{
	return e->money->budgets != NULL && !e->money->accounts.none && of_accounts(e->conf);
}

bool accounts_lack(const struct engine *e)
{
	return !e->money->accounts.known && need_tree(e);
}

const char *engine_budgets_wait(const struct engine *e)
{
	if (!accounts_lack(e))
		return "";
	return e->money->accounts.why[0] != '\0'
		       ? e->money->accounts.why
		       : "slurmctld has not said yet which accounts there are, and there are "
			 "budgets of accounts";
}

/* When this account was met first, since the place for it was another's. */
static int64_t met_since(struct accounts *a, const char *account, int64_t now_ms)
{
	char name[BUDGET_VALUE_MAX + 1];
	uint64_t hash;

	budget_fold(name, account);
	hash = fnv_text(FNV_BEGIN, name);
	for (size_t i = 0; i < ACCOUNTS_MET; i++)
		if (a->met[i].hash == hash)
			return a->met[i].at_ms;
	a->met[a->next_met].hash = hash;
	a->met[a->next_met].at_ms = now_ms;
	a->next_met = (a->next_met + 1) % ACCOUNTS_MET;
	return now_ms;
}

bool accounts_lack_place(struct engine *e, const char *account)
{
	struct accounts *a = &e->money->accounts;

	if (!need_tree(e) || account[0] == '\0' || budgets_knows(e->money->budgets, account) ||
	    met_since(a, account, engine_now(e)) <= a->answered_ms)
		return false;
	if (a->next_ms > a->asked_ms + ACCOUNTS_SOON_MS)
		a->next_ms = a->asked_ms + ACCOUNTS_SOON_MS;
	return true;
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

static void cannot_tell(struct engine *e, const char *why)
{
	struct accounts *a = &e->money->accounts;

	(void)snprintf(a->why, sizeof(a->why),
		       "slurmctld does not say which accounts there are, and there are budgets of "
		       "accounts: %.160s",
		       why);
	a->next_ms = engine_now(e) + ACCOUNTS_RETRY_MS;
}

/* A slurmctld that slurmdbd has not reached yet since it lost its state knows no account. */
static void take(struct engine *e, const struct tree *t, size_t associations)
{
	struct accounts *a = &e->money->accounts;

	if (associations == 0) {
		cannot_tell(e, "it has none, not even root; is slurmdbd up?");
		return;
	}
	if (budgets_tree(e->money->budgets, t->v, t->n) || !a->known)
		e->money->freed = true;
	a->known = true;
	a->answered_ms = a->asked_ms;
	a->why[0] = '\0';
}

void accounts_answer(struct engine *e, const char *text, size_t len, const struct err *err)
{
	struct accounts *a = &e->money->accounts;
	struct tree t = {.v = NULL};

	a->asking = false;
	if (e->money->budgets == NULL || a->none)
		return;
	if (err != NULL) {
		cannot_tell(e, err->msg);
		return;
	}
	take(e, &t, slurm_account_parse(text, len, on_account, &t));
	for (size_t i = 0; i < t.n; i++) {
		free(t.v[i].name);
		free(t.v[i].parent);
	}
	free(t.v);
}

/* Is there accounting?  22.05 shows "accounting_storage/none", 24.11 "(null)". */
static void accounts_settings(struct engine *e, const char *text, size_t len, int64_t asked_ms)
{
	const struct slurm_text type =
		slurm_show_setting((struct slurm_text){text, len}, "AccountingStorageType");
	struct accounts *a = &e->money->accounts;
	const bool none =
		type.p != NULL && (type.n == 0 || slurm_show_is(type, "accounting_storage/none"));

	(void)asked_ms;
	if (none == a->none || e->money->budgets == NULL)
		return;
	a->none = none;
	a->known = false;
	a->next_ms = 0;
	e->money->freed = true;
	if (none)
		(void)budgets_tree(e->money->budgets, NULL, 0);
}

static void accounts_run(struct engine *e)
{
	struct accounts *a = &e->money->accounts;

	if (a->asking || engine_now(e) < a->next_ms || !need_tree(e))
		return;
	a->asked_ms = engine_now(e);
	a->next_ms = a->asked_ms + ACCOUNTS_MS;
	a->asking = slurm_ask(e->slurm, SLURM_ACCOUNTS);
}

static int64_t accounts_next_ms(const struct engine *e)
{
	const struct accounts *a = &e->money->accounts;

	return !a->asking && need_tree(e) ? a->next_ms : INT64_MAX;
}

const struct engine_part accounts_part = {
	.name = "accounts",
	.at = {[PART_RUN] = accounts_run},
	.next_ms = accounts_next_ms,
	.settings = accounts_settings,
};
