#include "core/hops.h"

#include <stdio.h>
#include <string.h>

/* The length of the name at p; *next: the one behind it, or the end. */
static size_t name_at(const char *p, const char **next)
{
	size_t n = strcspn(p, "/");

	*next = p + n + (p[n] == '/');
	return n;
}

static unsigned depth(const char *path)
{
	unsigned n = 0;

	for (; path[0] != '\0'; n++)
		(void)name_at(path, &path);
	return n;
}

/* With how many names, `most` of them, do both begin? */
static unsigned shared(const char *a, const char *b, unsigned most)
{
	unsigned n = 0;

	for (; n < most && a[0] != '\0' && b[0] != '\0'; n++) {
		const char *one = a, *other = b;
		size_t len = name_at(one, &a);

		if (len != name_at(other, &b) || memcmp(one, other, len) != 0)
			break;
	}
	return n;
}

void hops_add(struct hops *h, const char *path)
{
	unsigned deep;

	if (path == NULL || path[0] == '\0') {
		h->unknown++;
		return;
	}
	deep = depth(path);
	if (h->known++ == 0) {
		h->first = path;
		h->common = h->deepest = deep;
		return;
	}
	h->common = shared(h->first, path, h->common);
	if (deep > h->deepest)
		h->deepest = deep;
}

int hops_of(const struct hops *h)
{
	if (h->known == 0)
		return HOPS_UNKNOWN;
	return h->common > 0 ? (int)(h->deepest - h->common) : HOPS_APART;
}

const char *hops_text(char out[HOPS_TEXT_SIZE], int hops)
{
	const char *said = hops == 0            ? "below one switch"
			   : hops == HOPS_APART ? "below no common switch"
						: "";

	(void)snprintf(out, HOPS_TEXT_SIZE, "%s", said);
	if (hops > 0)
		(void)snprintf(out, HOPS_TEXT_SIZE, "%d %s from each other", hops,
			       hops == 1 ? "hop" : "hops");
	return out;
}
