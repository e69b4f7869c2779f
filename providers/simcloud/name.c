#include "providers/simcloud/name.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { CLUSTER_DIGITS = 12, GENERATION_MAX = 12, BASE_36 = 36 };

static const char hex[] = "0123456789abcdef";
static const char base36[] = "0123456789abcdefghijklmnopqrstuvwxyz";
static const char host[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_.";

static bool is_node(const char *text)
{
	return isalnum((unsigned char)text[0]) && strlen(text) < SETTINGS_WORD_SIZE &&
	       text[strspn(text, host)] == '\0';
}

/* The generation in a name of that form, before a dash; NULL: it has another form. */
static const char *generation(const char *text)
{
	if (text[0] != 'b' || strspn(text + 1, hex) != CLUSTER_DIGITS ||
	    text[1 + CLUSTER_DIGITS] != '-')
		return NULL;
	return text + 1 + CLUSTER_DIGITS + 1;
}

void name_read(struct name *out, const char *text)
{
	const char *gen = generation(text), *node = text;
	size_t n = gen != NULL ? strspn(gen, base36) : 0;

	*out = (struct name){0};
	if (n > 0 && n <= GENERATION_MAX && gen[n] == '-' && is_node(gen + n + 1)) {
		memcpy(out->cluster, text + 1, CLUSTER_DIGITS);
		out->gen = strtoll(gen, NULL, BASE_36);
		node = gen + n + 1;
	}
	if (is_node(node))
		memcpy(out->node, node, strlen(node) + 1);
}
