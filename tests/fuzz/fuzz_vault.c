/* fuzz_vault.c - any bytes as an answer of Vault and of Secrets Manager, to each request, and any
 * bytes as a bundle.  What comes of them must be whole, and hold nothing when it is a failure. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "providers/secrets/aws_sm.h"
#include "providers/secrets/vault.h"
#include "tests/unit/two_headers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ENDS(text) (memchr(text, '\0', sizeof(text)) != NULL)

static void check_result(const struct secret_op *op, const struct secret_result *r)
{
	assert(r->code < SECRET_NCODES && r->retry_after_ms >= 0);
	assert(ENDS(r->message) && ENDS(r->location) && ENDS(r->version));
	assert(ENDS(r->accessor) && ENDS(r->path));
	assert(r->lease_ms >= 0 && r->ttl_ms >= 0);
	for (const char *p = r->message; *p != '\0'; p++)
		assert((unsigned char)*p >= ' ' && *p != 0x7f);
	if (r->code != SECRET_OK) {
		assert(r->value == NULL && r->rights == 0);
		return;
	}
	if (op->kind == SECRET_READ || op->kind == SECRET_LOGIN || op->kind == SECRET_WRAP ||
	    op->kind == SECRET_UNWRAP)
		assert(r->value != NULL && secret_len(r->value) > 0);
	if (op->kind == SECRET_VERSION || op->kind == SECRET_READ)
		assert(r->version[0] != '\0');
	if (op->kind == SECRET_WRAP)
		assert(strcmp(r->path, "kv/data/n") == 0 && r->ttl_ms > 0);
}

/* What a login brought goes into the next request's header: in one line, or not at all. */
static void check_next(const struct secret_store_ops *ops, void *self)
{
	const struct secret_op op = {.kind = SECRET_VERSION, .version = "", .at_ms = 1};
	struct secret_request rq = {0};

	if (ops->build(self, &op, &rq, NULL) != 0)
		return;
	for (size_t i = 0; rq.headers[i] != NULL; i++)
		assert(strpbrk(rq.headers[i], "\r\n") == NULL);
	secret_request_fini(&rq);
}

static void check_driver(const struct secret_store_ops *ops, const struct secret_store_conf *conf,
			 const char *body, size_t size)
{
	static const long statuses[] = {200, 400, 307, 503};
	void *self;

	if (ops->open(&self, conf, NULL) != 0)
		abort();
	for (int k = 0; k < SECRET_NOPS; k++)
		for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
			const struct secret_op op = {.kind = (enum secret_op_kind)k,
						     .version = "1",
						     .token = "t",
						     .bundle = "{}"};
			struct header v[2];
			const struct secret_reply reply = {.status = statuses[i],
							   .body = body,
							   .len = size,
							   .headers = two_headers(v, body, body)};
			struct secret_result r = {0};

			ops->parse(self, &op, &reply, &r);
			check_result(&op, &r);
			if (k == SECRET_LOGIN && r.code == SECRET_OK &&
			    ops->take(self, &r, 1, NULL) == 0)
				check_next(ops, self);
			if (r.location[0] != '\0')
				(void)secret_address_of(ops, self, r.location);
			secret_result_fini(&r);
		}
	ops->close(self);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct secret_store_conf vault = {
		.address = "https://v", .name = "n", .role_id = "r", .credential = "s"};
	static const struct secret_store_conf aws = {
		.region = "r",
		.name = "n",
		.credential = "aws_access_key_id = A\naws_secret_access_key = B\n"};
	char *body = mem_zalloc(size + 1);
	struct secret_bundle b;

	if (size > 0)
		memcpy(body, data, size);
	check_driver(&secrets_vault, &vault, body, size);
	check_driver(&secrets_aws, &aws, body, size);
	if (secret_bundle_read(body, size, &b, NULL) == 0)
		assert(b.munge_key.n + b.slurm_key.n + b.slurm_jwks.n > 0);
	free(body);
	return 0;
}
