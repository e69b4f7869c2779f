#include "base/pem.h"

#include <stdio.h>
#include <string.h>

#include "base/base64.h"

enum { LABEL_MAX = 80 }; /* a label and its dashes */

static const char *find(const char *text, size_t len, const char *what)
{
	return memmem(text, len, what, strlen(what));
}

int pem_next(const char **text, size_t *len, const char *label, unsigned char *out, size_t size,
	     size_t *n)
{
	char begin[LABEL_MAX], end[LABEL_MAX];
	const char *from = find(*text, *len, "-----BEGIN "), *limit = *text + *len, *to;

	*n = 0;
	(void)snprintf(begin, sizeof(begin), "-----BEGIN %s-----", label);
	(void)snprintf(end, sizeof(end), "-----END %s-----", label);
	if (from == NULL)
		return 0;
	if ((size_t)(limit - from) < strlen(begin) || memcmp(from, begin, strlen(begin)) != 0)
		return -1;
	from += strlen(begin);
	to = find(from, (size_t)(limit - from), end);
	if (to == NULL || !base64_decode(BASE64_LINES, from, (size_t)(to - from), out, size, n) ||
	    *n == 0)
		return -1;
	*text = to + strlen(end);
	*len = (size_t)(limit - *text);
	return 1;
}
