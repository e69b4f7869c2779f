#include "providers/common/names.h"

#include <stdio.h>
#include <string.h>

enum { PREFIX = NAMES_PREFIX_SIZE - 1, BASE = 36, GEN_DIGITS = 13 };

static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";

static bool is_lower(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
}

static bool allows(const struct provider_names *f, char c)
{
	return is_lower(c) || (f->upper && c >= 'A' && c <= 'Z') ||
	       (f->also != NULL && strchr(f->also, c) != NULL);
}

/* Many clouds want a DNS label, which ends with a letter or digit. */
static bool fits(const struct provider_names *f, const char *node)
{
	for (const char *p = node; *p != '\0'; p++)
		if (!allows(f, *p))
			return false;
	return hostlist_is_name(node) && node[strlen(node) - 1] != '-';
}

int names_prefix(char out[NAMES_PREFIX_SIZE], const char *cluster)
{
	size_t n = 0;

	out[n++] = 'b';
	for (const char *p = cluster; *p != '\0' && n < PREFIX; p++) {
		char c = *p >= 'A' && *p <= 'F' ? (char)(*p - 'A' + 'a') : *p;

		if (c == '-')
			continue;
		if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f'))
			break;
		out[n++] = c;
	}
	out[n == PREFIX ? n : 0] = '\0';
	return n == PREFIX ? 0 : -1;
}

static const char *write_gen(char out[GEN_DIGITS + 1], uint64_t gen)
{
	size_t n = GEN_DIGITS;

	out[n] = '\0';
	for (; gen > 0; gen /= BASE)
		out[--n] = digits[gen % BASE];
	return out + n;
}

/* Read the digits up to '-'; 0: there is no generation that would be written so. */
static uint64_t read_gen(const char **p)
{
	uint64_t gen = 0;

	if (**p == '0')
		return 0;
	for (; **p != '-'; (*p)++) {
		const char *d = **p != '\0' ? strchr(digits, **p) : NULL;

		if (d == NULL || gen > (INT64_MAX - (uint64_t)(d - digits)) / BASE)
			return 0;
		gen = gen * BASE + (uint64_t)(d - digits);
	}
	(*p)++;
	return gen;
}

int names_pack(char out[NAMES_SIZE], const struct provider_names *f, const char *cluster,
	       const struct provider_want *want, struct err *e)
{
	char prefix[NAMES_PREFIX_SIZE], gen[GEN_DIGITS + 1];
	int n;

	out[0] = '\0';
	if (names_prefix(prefix, cluster) != 0 || want->gen == 0 || want->gen > INT64_MAX)
		return err_set(e, ERR_INVALID, "want the uuid of a cluster, and a generation");
	if (!fits(f, want->node))
		return err_set(e, ERR_INVALID,
			       "node %.80s: this provider allows only letters%s, digits and -%s in "
			       "names",
			       want->node, f->upper ? "" : " in lower case",
			       f->also != NULL ? f->also : "");
	n = snprintf(out, NAMES_SIZE, "%s-%s-%s", prefix, write_gen(gen, want->gen), want->node);
	if (f->max == 0 || (size_t)n <= f->max)
		return 0;
	out[0] = '\0';
	return err_set(e, ERR_INVALID,
		       "node %s: this provider's names have at most %zu bytes, and this one needs "
		       "%d",
		       want->node, f->max, n);
}

enum names_whose names_unpack(const struct provider_names *f, const char *name, const char *cluster,
			      struct provider_instance *i)
{
	char prefix[NAMES_PREFIX_SIZE];
	const char *p = name + PREFIX;

	i->cluster[0] = i->node[0] = '\0';
	i->gen = 0;
	if (names_prefix(prefix, cluster) != 0 || strncmp(name, prefix, PREFIX) != 0)
		return NAMES_FOREIGN;
	(void)snprintf(i->cluster, sizeof(i->cluster), "%s", cluster);
	if (*p++ != '-' || (f->max != 0 && strlen(name) > f->max))
		return NAMES_UNREADABLE;
	i->gen = read_gen(&p);
	if (i->gen == 0 || !fits(f, p)) {
		i->gen = 0;
		return NAMES_UNREADABLE;
	}
	(void)snprintf(i->node, sizeof(i->node), "%s", p);
	return NAMES_OURS;
}
