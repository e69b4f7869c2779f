#include "slurmconf/billing.h"

#include <string.h>

#include "core/hardware.h"
#include "core/rates.h"
#include "slurm/show.h"
#include "slurmconf/money.h"

__extension__ typedef unsigned __int128 u128; /* a price in nano-units, times a million */

#define MICRO 1000000

enum { MB_OF_GB = 1024 };

enum slurmconf_summing slurmconf_summing(const struct slurmconf_want *w)
{
	const struct slurmconf_setting *flags = slurmconf_site_get(w->site, "PriorityFlags");
	bool both = flags != NULL && slurm_show_has(flags->value, "MAX_TRES_GRES");

	if (both && slurm_version_has(w->version, SLURM_MAX_TRES_GRES))
		return SLURMCONF_GRES_AND_REST;
	/* Older ones look for MAX_TRES anywhere in the text. */
	if (both || (flags != NULL && slurm_show_has(flags->value, "MAX_TRES")))
		return SLURMCONF_LARGEST;
	return SLURMCONF_SUM;
}

int64_t slurmconf_list_price(const struct slurmconf_want *w, const struct conf_pool *p)
{
	int64_t listed = 0, any = 0;
	size_t n;
	const struct conf_offer *o = conf_rungs(p, &n);

	for (size_t i = 0; i < n; i++) {
		int64_t price = rates_set_price(w->conf, &o[i], w->now_ms);

		if (price > any)
			any = price;
		if (o[i].market == PROVIDER_ON_DEMAND && price > listed)
			listed = price;
	}
	return listed > 0 ? listed : any;
}

uint32_t slurmconf_gpus(const struct conf_pool *p)
{
	struct hardware_gres_list l = {.n = 0};
	uint32_t gpus = 0;

	if (p->gres != NULL && p->gres[0] != '\0')
		(void)hardware_parse_gres(p->gres, &l, NULL); /* conf has checked it */
	for (size_t i = 0; i < l.n; i++)
		if (strcmp(l.v[i].name, "gpu") == 0)
			gpus += l.v[i].count;
	return gpus;
}

struct weights {
	struct str *out;
	int64_t price_nano_h, unit_nano_h;
};

/* price/unit * per / count.  What is no whole number is a millionth more: slurmctld calculates in
 * floating point, and 100 times 0.29 is 28 there. */
static void add_weight(const struct weights *x, const char *name, int64_t count, int64_t per,
		       const char *suffix)
{
	u128 all = (u128)x->price_nano_h * MICRO * (u128)per,
	     by = (u128)x->unit_nano_h * (u128)count, micro = all / by;

	if (all % by != 0 || micro % MICRO != 0)
		micro++;
	str_addf(x->out, "%s%s=%llu", x->out->len > 0 ? "," : "", name,
		 (unsigned long long)(micro / MICRO));
	if (micro % MICRO != 0)
		str_addf(x->out, ".%06u", (unsigned)(micro % MICRO));
	str_adds(x->out, suffix);
}

void slurmconf_billing_weights(const struct slurmconf_want *w, const struct conf_pool *p,
			       struct str *out)
{
	const bool largest = slurmconf_summing(w) == SLURMCONF_LARGEST;
	const uint32_t gpus = slurmconf_gpus(p);
	struct hardware_node h = {.cpus = 0};
	struct str s;
	const struct weights x = {&s, slurmconf_list_price(w, p), w->conf->billing_unit_nano_h};

	if (x.price_nano_h <= 0 || x.unit_nano_h <= 0 || p->node == NULL ||
	    !slurmconf_has_accounting(w->site) || hardware_parse_node(p->node, &h, NULL) != 0)
		return;
	str_init(&s, SLURMCONF_LINE_MAX);
	if (largest || gpus == 0)
		add_weight(&x, "CPU", h.cpus, 1, "");
	if (largest)
		add_weight(&x, "Mem", h.memory_mb, MB_OF_GB, "G");
	if (gpus > 0)
		add_weight(&x, "GRES/gpu", gpus, 1, "");
	str_adds(out, s.p);
	str_fini(&s);
}
