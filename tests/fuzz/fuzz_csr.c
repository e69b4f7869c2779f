/* fuzz_csr.c - any bytes as a node's certificate request, as DER ('d', put into PEM here) or as PEM
 * ('p'), and as the certificate that somebody shows to the listener. */
#include <assert.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "io/node_ca.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const int64_t now_ms = INT64_C(1794873600000);
static struct node_ca *ca;

static void begin(void)
{
	char dir[] = "/tmp/fuzz-csrXXXXXX", path[64];

	if (ca != NULL)
		return;
	if (mkdtemp(dir) == NULL || node_ca_open(&ca, dir, "north", now_ms, NULL) < 0)
		abort();
	(void)snprintf(path, sizeof(path), "%s/node-ca.pem", dir);
	(void)unlink(path);
	(void)rmdir(dir);
}

static void check_csr(const char *pem, size_t len)
{
	unsigned char spki[NODE_CA_SPKI_SIZE];
	struct node_ca_cert out;
	struct err e = {0};
	bool good = node_ca_read_csr(pem, len, spki, &e) == 0;

	assert(good == (node_ca_sign(ca, pem, len, "c1", 1, now_ms, &out, &e) == 0));
	if (good)
		assert(memcmp(spki, out.spki, sizeof(spki)) == 0 && strlen(out.serial) == 32);
	else
		assert(e.code != 0 && out.pem[0] == '\0');
}

static void check_cert(const uint8_t *data, size_t size)
{
	struct node_ca_peer peer;
	struct err e = {0};

	assert(node_ca_check(ca, data, size, now_ms, &peer, &e) < 0);
	assert(e.code == ERR_AUTH && peer.node[0] == '\0');
}

static void check_der(const uint8_t *data, size_t size)
{
	char *text = mem_zalloc(size / 3 * 4 + 8);
	struct str s;

	str_init(&s, 1 << 16);
	(void)EVP_EncodeBlock((unsigned char *)text, data, (int)size);
	str_addf(&s, "-----BEGIN CERTIFICATE REQUEST-----\n%s\n-----END CERTIFICATE REQUEST-----\n",
		 text);
	check_csr(s.p, s.len);
	str_fini(&s);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text;

	begin();
	if (size == 0)
		return 0;
	text = mem_zalloc(size);
	memcpy(text, data + 1, size - 1);
	if (data[0] == 'd')
		check_der((uint8_t *)text, size - 1);
	else if (data[0] == 'p')
		check_csr(text, size - 1);
	else
		check_cert((uint8_t *)text, size - 1);
	assert(ERR_peek_error() == 0);
	free(text);
	return 0;
}
