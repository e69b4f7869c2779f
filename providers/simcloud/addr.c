#include "providers/simcloud/addr.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

static int number(const char **p, char end, unsigned max, uint32_t *out)
{
	char *stop;
	unsigned long v;

	if (**p < '0' || **p > '9')
		return -1;
	v = strtoul(*p, &stop, 10);
	if (*stop != end || v > max || stop - *p > 3)
		return -1;
	*p = stop + (end != '\0');
	*out = (uint32_t)v;
	return 0;
}

int addr_init(struct addr_pool *p, const char *cidr, struct err *e)
{
	const char *at = cidr;
	uint32_t part[4], bits, net;

	*p = (struct addr_pool){0};
	if (number(&at, '.', 255, &part[0]) != 0 || number(&at, '.', 255, &part[1]) != 0 ||
	    number(&at, '.', 255, &part[2]) != 0 || number(&at, '/', 255, &part[3]) != 0 ||
	    number(&at, '\0', 28, &bits) != 0 || bits < 8)
		return err_set(e, ERR_INVALID, "%s: want a subnet such as 10.77.0.0/16", cidr);
	net = (part[0] << 24 | part[1] << 16 | part[2] << 8 | part[3]) & ~UINT32_C(0)
										 << (32 - bits);
	p->first = p->fresh = net + ADDR_HOST_KEEPS;
	p->last = (net | ((UINT32_C(1) << (32 - bits)) - 1)) - 1;
	return 0;
}

void addr_fini(struct addr_pool *p)
{
	free(p->freed);
	*p = (struct addr_pool){0};
}

uint32_t addr_take(struct addr_pool *p, int64_t now, int64_t reuse_ms)
{
	uint32_t addr = 0;

	if (reuse_ms == 0 && p->n > 0) {
		p->n--;
		addr = p->freed[(p->head + p->n) % p->cap].addr;
	} else if (p->fresh <= p->last) {
		addr = p->fresh++;
	} else if (p->n > 0 && now - p->freed[p->head].at >= reuse_ms) {
		addr = p->freed[p->head].addr;
		p->head = (p->head + 1) % p->cap;
		p->n--;
	}
	return addr;
}

static void grow(struct addr_pool *p)
{
	size_t cap = p->cap == 0 ? 64 : 2 * p->cap;
	struct addr_freed *v = mem_zalloc(cap * sizeof(*v));

	for (size_t i = 0; i < p->n; i++)
		v[i] = p->freed[(p->head + i) % p->cap];
	free(p->freed);
	p->freed = v;
	p->head = 0;
	p->cap = cap;
}

void addr_give(struct addr_pool *p, uint32_t addr, int64_t now)
{
	if (p->n == p->cap)
		grow(p);
	p->freed[(p->head + p->n++) % p->cap] = (struct addr_freed){.addr = addr, .at = now};
}

char *addr_text(char out[ADDR_TEXT_SIZE], uint32_t addr)
{
	(void)snprintf(out, ADDR_TEXT_SIZE, "%u.%u.%u.%u", addr >> 24, addr >> 16 & 255,
		       addr >> 8 & 255, addr & 255);
	return out;
}
