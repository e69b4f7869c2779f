#include "ledger/pseudonym.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"

enum { BYTES = 8 };

int pseudonym_load(struct secret **out, const char *path, struct err *e)
{
	if (secret_load(out, path, e) < 0)
		return -1;
	if (secret_len(*out) >= PSEUDONYM_KEY_MIN)
		return 0;
	secret_free(*out);
	*out = NULL;
	return err_set(e, ERR_INVALID, "%.200s: a key has %d bytes or more", path,
		       PSEUDONYM_KEY_MIN);
}

const char *pseudonym_of(char out[PSEUDONYM_SIZE], const struct secret *key, const char *user)
{
	unsigned char mac[EVP_MAX_MD_SIZE];
	char hex[2 * BYTES + 1];

	out[0] = '\0';
	if (user[0] == '\0')
		return out;
	(void)mem_check(HMAC(EVP_sha256(), secret_text(key), (int)secret_len(key),
			     (const unsigned char *)user, strlen(user), mac, NULL));
	(void)snprintf(out, PSEUDONYM_SIZE, "u-%s", fmt_hex(hex, mac, BYTES));
	return out;
}
