#include "base/redact.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/mem.h"

#define ALNUM "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define MARK  "[redacted]"

enum { HEX_LEAST = 64 };

static const struct shape {
	const char *prefix, *of;
	size_t least; /* bytes behind the prefix: host names may begin like OpenBao's tokens */
} shapes[] = {{"hvs.", ALNUM "_-", 20},
	      {"hvb.", ALNUM "_-", 20},
	      {"s.", ALNUM, 20},
	      {"b.", ALNUM "_-", 64}};

static bool is_in_chain(const char *text, const char *p)
{
	return p >= text + 2 && p[-1] == ':' && p[-2] >= '0' && p[-2] <= '9';
}

/* Length of the secret at p, where a word begins; 0: none. */
static size_t secret_at(const char *text, const char *p)
{
	size_t n = strspn(p, "0123456789abcdefABCDEF");

	if (n >= HEX_LEAST)
		return is_in_chain(text, p) ? 0 : n;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		size_t len = strlen(shapes[i].prefix);

		if (strncmp(p, shapes[i].prefix, len) != 0)
			continue;
		n = strspn(p + len, shapes[i].of);
		return n >= shapes[i].least ? len + n : 0;
	}
	return 0;
}

static bool begins(const char *text, const char *p)
{
	return p == text || strchr(ALNUM, p[-1]) == NULL;
}

char *redact(const char *text)
{
	char *out = NULL;
	size_t len = 0;

	static_assert(sizeof(MARK) <= 20, "what comes is no longer than what goes");
	for (const char *p = text; *p != '\0';) {
		size_t n = begins(text, p) ? secret_at(text, p) : 0;

		if (n > 0 && out == NULL) {
			out = mem_zalloc(strlen(text) + 1);
			len = (size_t)(p - text);
			memcpy(out, text, len);
		}
		if (n > 0) {
			memcpy(out + len, MARK, sizeof(MARK));
			len += sizeof(MARK) - 1;
			p += n;
			continue;
		}
		if (out != NULL)
			out[len++] = *p;
		p++;
	}
	if (out != NULL)
		out[len] = '\0';
	return out;
}
