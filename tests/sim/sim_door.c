/* What the engine has of io/ for machines that claim.  They are given what they need for it, and
 * none of them does. */
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#include "io/http_server.h"
#include "io/node_ca.h"
#include "io/node_claims.h"

const char *http_header(const struct http_request *rq, const char *name)
{
	(void)rq;
	(void)name;
	return NULL;
}

const char *node_ca_trust(const struct node_ca *ca)
{
	(void)ca;
	return "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
}

int node_ca_read_csr(const char *pem, size_t len, unsigned char spki[NODE_CA_SPKI_SIZE],
		     struct err *e)
{
	(void)pem;
	(void)len;
	(void)spki;
	return err_set(e, ERR_INVALID, "not in this world");
}

int node_ca_sign(struct node_ca *ca, const char *pem, size_t len, const char *node, uint64_t gen,
		 int64_t now_ms, struct node_ca_cert *out, struct err *e)
{
	(void)ca;
	(void)pem;
	(void)len;
	(void)node;
	(void)gen;
	(void)now_ms;
	(void)out;
	return err_set(e, ERR_INVALID, "not in this world");
}

void node_ca_deny(struct node_ca *ca, const char *node, uint64_t gen)
{
	(void)ca;
	(void)node;
	(void)gen;
}

int node_claims_put(struct node_claims *t, const char *id, const uint8_t hash[NODE_CLAIM_HASH])
{
	(void)t;
	(void)id;
	(void)hash;
	return 0;
}

void node_claims_del(struct node_claims *t, const char *id)
{
	(void)t;
	(void)id;
}

static void answer(void *ctx, uint64_t ticket, const struct http_answer *an)
{
	(void)ctx;
	(void)ticket;
	free(an->body);
}

const struct engine_door sim_door = {
	.answer = answer, .claim_key = (const unsigned char *)"0123456789abcdef0123456789abcdef"};
