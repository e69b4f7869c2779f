#include "providers/simcloud/userdata.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct userdata *userdata_new(const void *bytes, size_t len)
{
	struct userdata *u = mem_zalloc(sizeof(*u) + len + 1);

	u->refs = 1;
	u->len = len;
	memcpy(u->bytes, bytes, len);
	return u;
}

struct userdata *userdata_decode(const char *base64)
{
	size_t n = strlen(base64), pad = 0;
	struct userdata *u;

	while (pad < 2 && pad < n && base64[n - 1 - pad] == '=')
		pad++;
	if (n == 0 || n % 4 != 0 || n > 2 * (size_t)USERDATA_MAX)
		return NULL;
	u = mem_zalloc(sizeof(*u) + n);
	u->refs = 1;
	if (EVP_DecodeBlock((unsigned char *)u->bytes, (const unsigned char *)base64, (int)n) < 0) {
		free(u);
		return NULL;
	}
	u->len = n / 4 * 3 - pad;
	u->bytes[u->len] = '\0';
	return u;
}

struct userdata *userdata_ref(struct userdata *u)
{
	if (u != NULL)
		u->refs++;
	return u;
}

void userdata_unref(struct userdata *u)
{
	if (u != NULL && --u->refs == 0)
		free(u);
}
