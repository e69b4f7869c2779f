#include "providers/common/words.h"

#include <assert.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/plain.h"

static const char mask[] = "***";

enum { PART = 8 }; /* so much of a secret at the end of a text: the text was cut in the secret */

/* Bytes of the longest secret at p, or of its part where the text ends in it; 0: none.  The
 * longest, as one may be the beginning of another. */
static size_t secret_at(const char *p, const char *const *secrets, size_t n)
{
	size_t longest = 0;

	for (size_t i = 0; i < n; i++) {
		size_t len = 0;

		while (secrets[i] != NULL && p[len] != '\0' && p[len] == secrets[i][len])
			len++;
		if (len > longest && (secrets[i][len] == '\0' || (p[len] == '\0' && len >= PART)))
			longest = len;
	}
	return longest;
}

void words_show(char *out, size_t size, const char *text, const char *const *secrets, size_t n)
{
	size_t used = 0;

	while (*text != '\0') {
		size_t in = secret_at(text, secrets, n), add = in > 0 ? strlen(mask) : 0;
		const char *piece = mask;

		if (in == 0) {
			in = add = plain_shown(text);
			piece = text;
		}
		if (in == 0) {
			in = plain_utf8(text) > 0 ? plain_utf8(text) : 1;
			add = 1;
			piece = "?";
		}
		if (used + add >= size)
			break;
		memcpy(out + used, piece, add);
		used += add;
		text += in;
	}
	out[used] = '\0';
}

void words_add_id(char *out, size_t size, const char *id)
{
	const size_t add = strlen(id) + strlen(" ()");
	size_t n = strlen(out), room = size - 1 - add;

	assert(add < size);
	if (id[0] == '\0')
		return;
	if (n > room)
		for (n = room; n > 0 && ((unsigned char)out[n] & 0xc0) == 0x80;)
			n--; /* leaves whole characters */
	(void)snprintf(out + n, size - n, " (%s)", id);
}

bool words_is_plain(const char *text, size_t max)
{
	for (const char *p = text; *p != '\0'; p++)
		if (*p <= ' ' || *p > '~' || *p == '"' || *p == '\\')
			return false;
	return text[0] != '\0' && strlen(text) <= max;
}

char *words_base64(const char *text)
{
	size_t n = strlen(text);
	char *out = mem_zalloc((n + 2) / 3 * 4 + 1);

	(void)EVP_EncodeBlock((unsigned char *)out, (const unsigned char *)text, (int)n);
	return out;
}
