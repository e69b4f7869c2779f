/* members.h - who the instances of one create are, by two lists that all of them carry.
 *
 * One call makes many instances, and gives the same tags to each.  So a tag has the nodes of the
 * whole create, folded (base/hostlist.h), and another their generations, "3*5,4" for five times 3,
 * then 4; an instance's own number, which the provider gives it, is its place in both. */
#ifndef PROVIDERS_COMMON_MEMBERS_H
#define PROVIDERS_COMMON_MEMBERS_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "core/provider.h"

enum {
	MEMBERS_TEXT_MAX = 2048, /* bytes of one list */
	MEMBERS_MAX = 1000,      /* names in one: whoever may write tags may write "n[1-65536]" */
};

struct members {
	struct str names, gens; /* the lists that were read last */
	struct hostlist *nodes; /* NULL: they say nothing */
	uint64_t *gen;
};

/* Append the lists of the first n; what does not fit sets their `full`. */
void members_write(struct str *names, struct str *gens, const struct provider_create *c, size_t n);
/* How many of the first max (>= 1) have lists of at most so many bytes each; at least 1. */
size_t members_fit(const struct provider_create *c, size_t max, size_t bytes);

void members_init(struct members *m);
void members_fini(struct members *m);
/* Read two lists and finish them.  The same again cost nothing. */
void members_read(struct members *m, struct str *names, struct str *gens);
/* Set node and gen of the instance with that number, in digits; the first one has the number
 * `first`.  "" and 0 if there is none. */
void members_who(const struct members *m, const char *number, uint64_t first,
		 struct provider_instance *i);

#endif
