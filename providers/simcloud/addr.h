/* addr.h - IPv4 addresses of one subnet, and when a used one may be used again.
 *
 * Clouds hand the address of a dead machine to a new one within minutes (F37).  With a reuse delay
 * of 0 the address freed last is given first, which is the worst case; otherwise fresh ones go
 * first. */
#ifndef SIMCLOUD_ADDR_H
#define SIMCLOUD_ADDR_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum {
	ADDR_TEXT_SIZE = 16,
	ADDR_HOST_KEEPS = 10, /* first addresses of the subnet, for the host: gateway, slurmctld */
};

struct addr_freed {
	uint32_t addr;
	int64_t at;
};

struct addr_pool {
	uint32_t first, last, fresh;
	struct addr_freed *freed; /* ring, oldest first */
	size_t head, n, cap;
};

/* "10.77.0.0/16"; prefix 8 to 28. */
int addr_init(struct addr_pool *p, const char *cidr, struct err *e);
void addr_fini(struct addr_pool *p);
uint32_t addr_take(struct addr_pool *p, int64_t now, int64_t reuse_ms); /* 0: none left */
void addr_give(struct addr_pool *p, uint32_t addr, int64_t now);
char *addr_text(char out[ADDR_TEXT_SIZE], uint32_t addr);

#endif
