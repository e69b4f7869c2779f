#include <assert.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "keys/claim_set.h"

/* Finds claims by node and by id, and computes their ids and secrets from the claim key. */

enum { ID_DIGITS = 16 };

/* --- the table ---------------------------------------------------------------------------------
 */

bool claims_on(const struct engine *e)
{
	return e->keys->claims != NULL;
}

struct claim_run *claims_of(const struct engine *e, const char *node, uint64_t gen)
{
	char key[sizeof(((struct claim_entry *)NULL)->key)];

	if (e->keys->claims == NULL)
		return NULL;
	fleet_key(key, sizeof(key), node, gen);
	return map_get(&e->keys->claims->runs, key);
}

struct claim_set *claims_named(const struct engine *e, const char *id)
{
	return e->keys->claims != NULL ? map_get(&e->keys->claims->sets, id) : NULL;
}

struct fleet_node *claims_node(const struct engine *e, const struct claim_run *r)
{
	struct fleet_name *nm = fleet_find(&e->fleet, r->c.node);

	return nm != NULL ? fleet_gen(nm, r->c.gen) : NULL;
}

/* --- secrets -----------------------------------------------------------------------------------
 */

void claims_mac(const unsigned char *key, const char *label, const char *text,
		char out[CLAIM_SECRET_SIZE])
{
	unsigned char in[CLAIM_ID_MAX + 128], mac[EVP_MAX_MD_SIZE];
	size_t n = strlen(label) + 1, len = strlen(text);
	unsigned size = 0;

	assert(n + len <= sizeof(in));
	memcpy(in, label, n);
	memcpy(in + n, text, len);
	(void)mem_check(HMAC(EVP_sha256(), key, CLAIM_KEY_SIZE, in, n + len, mac, &size));
	(void)fmt_hex(out, mac, CLAIM_KEY_SIZE);
	OPENSSL_cleanse(mac, sizeof(mac));
}

void claims_secret(const struct engine *e, const char *id, char out[CLAIM_SECRET_SIZE])
{
	claims_mac(e->d.door->claim_key, "burst-claim-1", id, out);
}

void claims_make_id(const struct engine *e, const char *token, char out[CLAIM_ID_MAX + 1])
{
	char hex[CLAIM_SECRET_SIZE];
	int n;

	claims_mac(e->d.door->claim_key, "burst-id-1", token, hex);
	n = snprintf(out, CLAIM_ID_MAX + 1, "%s-%.*s", token, ID_DIGITS, hex);
	assert(n > 0 && n <= CLAIM_ID_MAX);
	(void)n;
	OPENSSL_cleanse(hex, sizeof(hex));
}
