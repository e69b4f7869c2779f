/* claims_machine.h - machines that claim: their keys, what they send, and what they are answered.
 */
#ifndef TESTS_CLAIMS_MACHINE_H
#define TESTS_CLAIMS_MACHINE_H

#include "claims_world.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#define BUNDLE "{\"munge_key\":\"kZ3qVh0v8mJ5rT2yB7nC4xW1sD6fG9hL0pQoIuYtReE=\"}"

/* claims_run.h defines these two. */
static inline void turn(void);
static inline struct claim_run *claim(int i);

static inline char *make_csr(unsigned char spki[NODE_CA_SPKI_SIZE])
{
	EVP_PKEY *key = mem_check(EVP_EC_gen("P-256"));
	X509_REQ *req = mem_check(X509_REQ_new());
	BIO *b = mem_check(BIO_new(BIO_s_mem()));
	char *p, *out;
	long n;

	assert_int_equal(X509_REQ_set_pubkey(req, key), 1);
	assert_true(X509_REQ_sign(req, key, EVP_sha256()) > 0);
	assert_int_equal(PEM_write_bio_X509_REQ(b, req), 1);
	n = BIO_get_mem_data(b, &p);
	assert_int_equal(node_ca_read_csr(p, (size_t)n, spki, NULL), 0);
	out = mem_zalloc((size_t)(n + 2) / 3 * 4 + 1);
	(void)EVP_EncodeBlock((unsigned char *)out, (const unsigned char *)p, (int)n);
	BIO_free(b);
	X509_REQ_free(req);
	EVP_PKEY_free(key);
	return out;
}

static inline const char *test_header(void *from, const char *name)
{
	(void)from;
	return strcmp(name, "Accept") == 0 ? F.accept : NULL;
}

struct says {       /* what a machine sends */
	int create; /* claims by the create of this node */
	int key;
	const char *secret;               /* NULL: the right one */
	const char *attest, *doc, *nonce; /* NULL: none */
	int port;                         /* source port; 0: one of root's */
	int shown; /* its own certificate: 0: of its key, -1: none, else of that key */
};

static inline void request(const char *method, const char *path, const char *body,
			   struct http_answer *an)
{
	struct node_request rq = {.http = {.method = method,
					   .path = path,
					   .query = "",
					   .body = body,
					   .len = strlen(body),
					   .ticket = ++F.tickets,
					   .header = test_header}};

	(void)snprintf(rq.address, sizeof(rq.address), "%s", F.address);
	rq.port = F.port;
	rq.peer = F.peer;
	*an = (struct http_answer){.status = 500};
	F.e->started = true; /* for this call only: no turn of its own begins */
	engine_node_request(F.e, &rq, an);
	F.e->started = false;
	turn();
	if (!an->later) {
		F.answers[F.tickets].status = an->status;
		F.answers[F.tickets].body = an->body != NULL ? an->body : mem_strdup("");
	}
}

/* Send the claim; returns its ticket. */
static inline uint64_t says(struct says s)
{
	char secret[CLAIM_SECRET_SIZE], doc[256] = "", body[4096];
	const char *id = claim(s.create)->c.id;
	const struct node_peer before = F.peer;
	struct http_answer an;

	claims_secret(F.e, id, secret);
	if (s.doc != NULL)
		(void)EVP_EncodeBlock((unsigned char *)doc, (const unsigned char *)s.doc,
				      (int)strlen(s.doc));
	(void)snprintf(
		body, sizeof(body),
		"{\"v\":1,\"claim_id\":\"%s\",\"claim_secret\":\"%s\",\"node\":\"\","
		"\"provider\":\"none\",\"instance_id\":\"\",\"boot_id\":\"b\",\"csr\":\"%s\","
		"\"attest\":{\"type\":\"%s\",\"doc\":\"%s\",\"nonce\":\"%s\"}}",
		id, s.secret != NULL ? s.secret : secret, F.keys[s.key].csr,
		s.attest != NULL ? s.attest : "none", doc, s.nonce != NULL ? s.nonce : "");
	F.port = s.port != 0 ? (uint16_t)s.port : CLAIM_PORT_MIN;
	F.peer = (struct node_peer){.self = s.shown >= 0};
	if (s.shown >= 0)
		memcpy(F.peer.spki, F.keys[s.shown > 0 ? s.shown : s.key].spki,
		       sizeof(F.peer.spki));
	request("POST", "/v1/claim", body, &an);
	F.peer = before;
	return F.tickets;
}

static inline unsigned status(uint64_t ticket)
{
	return F.answers[ticket].status;
}

static inline const char *body(uint64_t ticket)
{
	return F.answers[ticket].body;
}

/* Let the secret store answer the waiting request. */
static inline void keys_come(const char *accessor)
{
	static const char *const addresses[] = {"https://v1:8200", "https://v2:8200", NULL};
	bool wrap = F.release != CONF_BROKER;
	struct secret *value = secret_new(wrap ? "s.wrap" : BUNDLE, wrap ? 6 : strlen(BUNDLE));
	struct secrets_released r = {.mode = (enum conf_release)F.release,
				     .version = "7",
				     .token = value,
				     .accessor = accessor,
				     .path = "kv/data/slurm",
				     .ttl_ms = F.release == CONF_WRAP ? 60000 : F.life_ms,
				     .sent_ms = engine_now(F.e) - F.ago_ms,
				     .addresses = addresses,
				     .bundle = value};
	secrets_fn fn = F.keys_fn;

	assert_non_null(fn);
	F.keys_fn = NULL;
	fn(F.keys_ctx, &r, NULL);
	secret_free(value);
	turn();
}

/* ... which must be this one, and get the keys. */
static inline void is_served(uint64_t ticket, const char *accessor)
{
	keys_come(accessor);
	assert_int_equal(status(ticket), 200);
}

/* Assert whether the listener lets this claim through. */
static inline void knock(const char *id, const char *secret, bool through)
{
	char text[400];
	struct node_request rq = {.http = {.method = "POST", .path = "/v1/claim", .body = text}};
	struct http_answer an = {.status = 0};

	(void)snprintf(text, sizeof(text), "{\"claim_id\":\"%s\",\"claim_secret\":\"%s\"}", id,
		       secret);
	rq.http.len = strlen(text);
	assert_int_equal(node_claims_check(F.table, &rq, &an), !through);
	assert_int_equal(an.status, through ? 0 : 401);
}

#endif
