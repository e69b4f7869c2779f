/* aws_identity.c - Amazon EC2's instance identity document, signature "rsa2048".
 *
 * It is PKCS#7 with the document inside, signed by a certificate of the instance's region.  AWS
 * publishes these certificates; no CA issues them, so each is trusted by itself.  The document
 * stays the same for the life of the instance and has no nonce: it proves which instance it belongs
 * to, and nothing else.  The engine compares its start time with what the provider's API says. */
#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "providers/attest/private.h"

enum { PINS_MAX = 256, REGION_MAX = 31 };

struct pin {
	char region[REGION_MAX + 1];
	X509 *cert;
};

struct aws {
	struct pin pins[PINS_MAX];
	size_t n;
};

/* aws-identity.pem of the source tree, linked into the program so that the file can be neither
 * changed nor missing. */
extern const char attest_aws_shipped[];
__asm__(".pushsection .rodata\n"
	".global attest_aws_shipped\n"
	"attest_aws_shipped:\n"
	".incbin \"providers/attest/aws-identity.pem\"\n"
	".byte 0\n"
	".popsection\n");

static void drop_region(struct aws *a, const char *region)
{
	size_t kept = 0;

	for (size_t i = 0; i < a->n; i++)
		if (strcmp(a->pins[i].region, region) == 0)
			X509_free(a->pins[i].cert);
		else
			a->pins[kept++] = a->pins[i];
	a->n = kept;
}

/* Add the certificates of one region, from its heading to the next. */
static int add_region(struct aws *a, const char *region, const char *text, size_t len,
		      struct err *e)
{
	X509 *cert;
	int rc;

	drop_region(a, region); /* a later section replaces an earlier one */
	while ((rc = attest_next_cert(&cert, &text, &len, e)) == 1) {
		if (a->n == PINS_MAX) {
			X509_free(cert);
			return err_set(e, ERR_LIMIT, "more than %d certificates", PINS_MAX);
		}
		a->pins[a->n] = (struct pin){.cert = cert};
		memcpy(a->pins[a->n++].region, region, strlen(region) + 1);
	}
	return rc;
}

static const char *next_heading(const char *p, const char *end)
{
	for (; p < end; p++) {
		if (*p == '[')
			return p;
		p = memchr(p, '\n', (size_t)(end - p));
		if (p == NULL)
			return end;
	}
	return end;
}

static int add_all(struct aws *a, const char *text, size_t len, struct err *e)
{
	const char *end = text + len, *p = next_heading(text, end);

	if (p == end)
		return err_set(e, ERR_INVALID, "no line with a region in brackets");
	while (p < end) {
		const char *close = memchr(p, ']', (size_t)(end - p)), *next;
		char region[REGION_MAX + 1] = "";

		if (close == NULL || close - p < 2 || close - p > REGION_MAX)
			return err_set(e, ERR_INVALID, "malformed region heading");
		memcpy(region, p + 1, (size_t)(close - p) - 1);
		next = next_heading(close, end);
		if (add_region(a, region, close, (size_t)(next - close), e) < 0)
			return err_wrap(e, "region %s", region);
		p = next;
	}
	return 0;
}

static void aws_close(void *self)
{
	struct aws *a = self;

	for (size_t i = 0; a != NULL && i < a->n; i++)
		X509_free(a->pins[i].cert);
	free(a);
}

static int aws_open(void **self, const struct attest_conf *conf, struct err *e)
{
	struct aws *a = mem_zalloc(sizeof(*a));

	*self = NULL;
	if (add_all(a, attest_aws_shipped, strlen(attest_aws_shipped), e) < 0 ||
	    (conf->trust != NULL && add_all(a, conf->trust, conf->trust_len, e) < 0)) {
		ERR_clear_error();
		aws_close(a);
		return -1;
	}
	*self = a;
	return 0;
}

static int read_document(const json_t *o, struct attest_identity *out, struct err *e)
{
	char at[FMT_TIME_SIZE];

	if (attest_word(o, "accountId", true, out->account, sizeof(out->account), e) < 0 ||
	    attest_word(o, "region", true, out->region, sizeof(out->region), e) < 0 ||
	    attest_word(o, "instanceId", true, out->instance, sizeof(out->instance), e) < 0 ||
	    attest_word(o, "pendingTime", true, at, sizeof(at), e) < 0 ||
	    attest_word(o, "availabilityZone", false, out->zone, sizeof(out->zone), e) < 0 ||
	    attest_word(o, "imageId", false, out->image, sizeof(out->image), e) < 0 ||
	    attest_word(o, "instanceType", false, out->type, sizeof(out->type), e) < 0)
		return -1;
	if (fmt_time_parse(at, &out->created_ms, e) < 0)
		return err_wrap(e, "identity document: pendingTime");
	return 0;
}

/* Only certificates of the region where the node was bought count: the document does not choose its
 * region.  *by: the one that signed it. */
static int verify(const struct aws *a, const char *region, PKCS7 *p7, json_t **json, X509 **by,
		  struct err *e)
{
	bool known = false;

	*json = NULL;
	for (size_t i = 0; i < a->n; i++) {
		int rc;

		if (strcmp(a->pins[i].region, region) != 0)
			continue;
		known = true;
		*by = a->pins[i].cert;
		rc = attest_check_key(*by, e) == 0 ? envelope_verify(p7, *by, json, e) : -1;
		if (rc != 0)
			return rc == 1 ? 0 : -1;
	}
	return err_set(e, ERR_AUTH, "identity document: %s %.40s",
		       known ? "it is not signed by AWS in" : "no certificate for region", region);
}

static int aws_verify(const void *self, const struct attest_expect *want, const char *doc,
		      size_t len, int64_t now_ms, struct attest_identity *out, struct err *e)
{
	PKCS7 *p7;
	X509 *by = NULL;
	json_t *json = NULL;
	int rc;

	*out = (struct attest_identity){.created_ms = 0};
	if (want->region == NULL)
		return err_set(e, ERR_INVALID, "identity document: no region is expected");
	if (envelope_open(&p7, doc, len, e) < 0)
		return -1;
	rc = verify(self, want->region, p7, &json, &by, e);
	if (rc == 0)
		rc = read_document(json, out, e);
	if (rc == 0)
		rc = attest_match(out, want, e);
	if (rc < 0)
		*out = (struct attest_identity){.created_ms = 0};
	else
		rc = attest_check_time(by, now_ms, e);
	json_decref(json);
	PKCS7_free(p7);
	ERR_clear_error();
	return rc;
}

const struct attest_ops attest_aws = {
	.kind = ATTEST_AWS, .open = aws_open, .close = aws_close, .verify = aws_verify};
