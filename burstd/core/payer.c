#include "core/payer.h"

__extension__ typedef __int128 wide;

/* rate x part / whole, rounded up; a part that is not said is nothing, a whole that is not known
 * all. */
static int64_t share(int64_t rate, uint64_t part, uint64_t whole)
{
	if (part == 0)
		return 0;
	if (part >= whole)
		return rate;
	return (int64_t)(((wide)rate * (wide)part + (wide)whole - 1) / (wide)whole);
}

int64_t payer_rate(const struct payer *p, int64_t rate_nano_h, uint32_t gpus, uint32_t cpus)
{
	uint32_t nodes = p->nodes > 0 ? p->nodes : 1;
	int64_t by_gpus, by_cpus;

	if (p->exclusive || cpus == 0 || p->cpus == 0)
		return rate_nano_h;
	by_gpus = share(rate_nano_h, p->node_gpus, gpus);
	by_cpus = share(rate_nano_h, p->cpus, (uint64_t)nodes * cpus);
	return by_gpus > by_cpus ? by_gpus : by_cpus;
}
