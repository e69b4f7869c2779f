#include "base/netmap.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	ONE_MAX = 48,  /* "255.255.255.255/32=255.255.255.255/32" */
	ADDR_MAX = 16, /* of "255.255.255.255" with its end */
};

struct pair {
	uint32_t from, to, mask;
};

static uint32_t mask_of(unsigned long bits)
{
	return bits == 0 ? 0 : UINT32_MAX << (32 - bits);
}

/* a.b.c.d, and nothing behind it. */
static bool read_address(const char *text, uint32_t *out)
{
	*out = 0;
	for (int i = 0; i < 4; i++) {
		size_t digits = strspn(text, "0123456789");
		unsigned long part = strtoul(text, NULL, 10);

		if (digits < 1 || digits > 3 || part > 255 || text[digits] != (i < 3 ? '.' : '\0'))
			return false;
		*out = *out << 8 | (uint32_t)part;
		text += digits + 1;
	}
	return true;
}

/* a.b.c.d/bits, with nothing set behind the bits. */
static bool read_network(char *text, uint32_t *net, uint32_t *mask)
{
	char *slash = strchr(text, '/'), *end;
	unsigned long bits;

	if (slash == NULL || slash[1] < '0' || slash[1] > '9')
		return false;
	bits = strtoul(slash + 1, &end, 10);
	*slash = '\0';
	if (*end != '\0' || bits < 1 || bits > 32 || !read_address(text, net))
		return false;
	*mask = mask_of(bits);
	return (*net & ~*mask) == 0;
}

/* Read the next pair at *p, which moves behind it.  1; 0: there is none; -1: it is malformed. */
static int next(const char **p, struct pair *out)
{
	char one[ONE_MAX], *equals;
	uint32_t other;
	size_t n;

	*p += strspn(*p, ", ");
	n = strcspn(*p, ", ");
	if (n == 0)
		return 0;
	if (n >= sizeof(one))
		return -1;
	memcpy(one, *p, n);
	one[n] = '\0';
	*p += n;
	equals = strchr(one, '=');
	if (equals == NULL)
		return -1;
	*equals = '\0';
	return read_network(one, &out->from, &out->mask) &&
			       read_network(equals + 1, &out->to, &other) && other == out->mask
		       ? 1
		       : -1;
}

int netmap_check(const char *map, struct err *e)
{
	struct pair pair;
	int rc, n = 0;

	while ((rc = next(&map, &pair)) == 1)
		if (++n > NETMAP_MAX)
			return err_set(e, ERR_LIMIT, "more than %d networks", NETMAP_MAX);
	return rc == 0 ? 0
		       : err_set(e, ERR_INVALID,
				 "want NETWORK/BITS=NETWORK/BITS, such as "
				 "\"10.20.0.0/16=198.18.0.0/16\", with no bits behind these");
}

void netmap_translate(const char *map, char *addr, size_t size)
{
	char text[ADDR_MAX];
	struct pair pair;
	uint32_t was, is;

	if (!read_address(addr, &was))
		return;
	while (next(&map, &pair) == 1) {
		if ((was & pair.mask) != pair.from)
			continue;
		is = pair.to | (was & ~pair.mask);
		(void)snprintf(text, sizeof(text), "%u.%u.%u.%u", (unsigned)(is >> 24),
			       (unsigned)(is >> 16 & 255), (unsigned)(is >> 8 & 255),
			       (unsigned)(is & 255));
		if (strlen(text) < size)
			memcpy(addr, text, strlen(text) + 1);
		return;
	}
}
