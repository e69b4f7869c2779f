#include "cloud/cloud.h"

#include <stdio.h>

/* Tracks which providers have listed their instances since burstd started, and what burstd may do
 * before they have.
 *
 * A journal that is new, or an older copy, is doubtful: a provider may have instances that it does
 * not know.  Then a pool buys nothing before each of its providers has sent a complete list.  With
 * a journal that is not doubtful burstd does not wait for a provider that is away or late. */

enum {
	/* With a doubtful journal (F58) unknown instances may be at any provider of the pool, so
	 * all lists are waited for.  With any other journal only for so long. */
	PLACE_PATIENCE_MS = 300000,
	PLACE_BLIND_MS = 60000, /* without a list so long the journal's addresses are used */
};

bool doubt_listed(const struct engine *e, uint32_t pool)
{
	size_t n;
	const struct conf_offer *rungs = conf_rungs(&e->conf->pools[pool], &n);

	for (size_t i = 0; i < n; i++)
		if (!e->cloud->all[rungs[i].provider_index].listed)
			return false;
	return true;
}

/* Each doubt has a number.  The journal keeps for each provider the doubt in which it sent a list:
 * from then on the provider's rows are right, also after restarts.  A provider that never sends
 * one, since its section is gone or its account closed, keeps the journal doubtful, but does not
 * close pools of other providers. */
static void shown_key(const struct conf_provider *p, char key[PROVIDER_WORD_MAX + 8])
{
	(void)snprintf(key, PROVIDER_WORD_MAX + 8, "shown:%.*s", PROVIDER_WORD_MAX, p->name);
}

int doubt_load(struct engine *e, struct err *err)
{
	if (journal_get_number(e->d.journal, JOURNAL_DOUBTFUL, &e->cloud->doubt, err) != 0)
		return -1;
	e->cloud->doubtful = e->cloud->doubt != 0;
	for (size_t i = 0; e->cloud->doubtful && i < e->conf->nproviders; i++) {
		char key[PROVIDER_WORD_MAX + 8];
		int64_t shown;

		shown_key(&e->conf->providers[i], key);
		if (journal_get_number(e->d.journal, key, &shown, err) != 0)
			return -1;
		e->cloud->all[i].shown = shown == e->cloud->doubt;
	}
	return 0;
}

/* May the provider have instances that the journal does not know? */
static bool is_doubted(const struct cloud *c)
{
	return c->e->cloud->doubtful && !c->shown && !c->listed;
}

static bool is_late(const struct engine *e)
{
	return engine_now(e) - e->started_ms >= PLACE_PATIENCE_MS;
}

bool doubt_looked(const struct engine *e, uint32_t pool)
{
	size_t n;
	const struct conf_offer *rungs = conf_rungs(&e->conf->pools[pool], &n);

	for (size_t i = 0; i < n; i++) {
		const struct cloud *c = &e->cloud->all[rungs[i].provider_index];

		if (!c->listed && (is_doubted(c) || !(is_late(e) || away_is(c))))
			return false;
	}
	return true;
}

const struct cloud *doubt_unlisted(const struct engine *e, uint32_t pool)
{
	size_t n;
	const struct conf_offer *rungs = conf_rungs(&e->conf->pools[pool], &n);

	for (size_t i = 0; i < n; i++) {
		const struct cloud *c = &e->cloud->all[rungs[i].provider_index];

		if (is_doubted(c) && (is_late(e) || away_is(c)))
			return c;
	}
	return NULL;
}

void doubt_list_seen(struct engine *e)
{
	bool all = true;

	if (!e->cloud->doubtful)
		return;
	for (size_t i = 0; i < e->conf->nproviders; i++) {
		struct cloud *c = &e->cloud->all[i];
		char key[PROVIDER_WORD_MAX + 8];

		all = all && !is_doubted(c);
		if (c->shown || !c->listed)
			continue;
		shown_key(c->conf, key);
		journal_put_number(engine_tx(e), key, e->cloud->doubt);
		c->shown = true;
	}
	if (!all)
		return;
	e->cloud->doubtful = false;
	journal_put_number(engine_tx(e), JOURNAL_DOUBTFUL, 0);
}

/* Not at once, for the first list may have another address than the journal. */
bool doubt_is_blind(const struct engine *e, const struct node *n)
{
	return !e->cloud->doubtful && !e->cloud->all[n->cloud].listed &&
	       engine_now(e) - e->started_ms >= PLACE_BLIND_MS;
}

bool doubt_may_send(const struct engine *e, const struct node *n)
{
	size_t k;
	const struct conf_offer *rungs = conf_rungs(&e->conf->pools[n->pool], &k);

	for (size_t i = 0; i < k; i++)
		if (is_doubted(&e->cloud->all[rungs[i].provider_index]))
			return false;
	return e->cloud->all[n->cloud].listed;
}
