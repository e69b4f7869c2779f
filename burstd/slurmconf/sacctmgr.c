/* Quality of service, which is in slurmdbd and in no file: commands for an admin to judge and run.
 */
#include <string.h>

#include "core/rates.h"
#include "slurmconf/money.h"

__extension__ typedef unsigned __int128 u128;

#define MICRO 1000000

enum { MINUTES_OF_HOUR = 60 };

static int64_t price_of(const struct slurmconf_want *w, const struct conf_pool *p, int market)
{
	int64_t most = 0;
	size_t n;
	const struct conf_offer *o = conf_rungs(p, &n);

	for (size_t i = 0; i < n; i++) {
		int64_t price = rates_set_price(w->conf, &o[i], w->now_ms);

		if (o[i].market == market && price > most)
			most = price;
	}
	return most;
}

static void add_qos(struct str *out, const char *name)
{
	str_addf(out,
		 "sacctmgr -i add qos " SLURMCONF_SET_PREFIX "%s\n"
		 "sacctmgr -i modify qos " SLURMCONF_SET_PREFIX "%s set ",
		 name, name);
}

static void of_pool(const struct slurmconf_want *w, const struct conf_pool *p, struct str *out)
{
	int64_t spot = price_of(w, p, PROVIDER_SPOT), listed = price_of(w, p, PROVIDER_ON_DEMAND);
	uint64_t micro;
	struct str name;

	if (spot == 0 || listed == 0)
		return;
	micro = (uint64_t)((u128)spot * MICRO / (u128)listed);
	str_init(&name, SLURMCONF_LINE_MAX);
	str_addf(&name, "%s-spot", p->name);
	str_addf(out,
		 "# Jobs of this QOS count by what spot costs in pool %s, as it was set. Which "
		 "market a job gets, --constraint says, not the QOS.\n",
		 p->name);
	add_qos(out, name.p);
	str_addf(out, "UsageFactor=%llu.%06u\n", (unsigned long long)(micro / MICRO),
		 (unsigned)(micro % MICRO));
	str_fini(&name);
}

static void of_budget(const struct slurmconf_want *w, const struct conf_budget *b, struct str *out)
{
	int64_t unit = w->conf->billing_unit_nano_h;

	if (b->amount_nano == 0 || unit == 0)
		return;
	str_addf(out,
		 "# As much as budget %s, at list prices, until somebody raises it: a second "
		 "fence, since budgets count what machines really cost.\n",
		 b->name);
	add_qos(out, b->name);
	str_addf(out, "GrpTRESMins=billing=%llu Flags=NoDecay\n",
		 (unsigned long long)((u128)b->amount_nano * MINUTES_OF_HOUR / (u128)unit));
}

void slurmconf_sacctmgr(const struct slurmconf_want *w, struct str *out)
{
	for (size_t i = 0; i < w->conf->npools; i++)
		of_pool(w, &w->conf->pools[i], out);
	for (size_t i = 0; i < w->conf->nbudgets; i++)
		of_budget(w, &w->conf->budgets[i], out);
}
