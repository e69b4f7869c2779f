#include "core/attest.h"

#include <assert.h>
#include <string.h>

static const char *const kinds[ATTEST_NKINDS] = {
	[ATTEST_NONE] = "none",
	[ATTEST_AWS] = "aws-rsa2048",
	[ATTEST_GCP] = "gcp-jwt",
	[ATTEST_AZURE] = "azure-attested",
};

const char *attest_kind_str(enum attest_kind k)
{
	assert(k < ATTEST_NKINDS);
	return kinds[k];
}

int attest_kind_parse(const char *word)
{
	for (int k = 0; k < ATTEST_NKINDS; k++)
		if (strcmp(kinds[k], word) == 0)
			return k;
	return -1;
}

/* None of these is a secret: the error may show both values. */
static int same(const char *what, const char *is, const char *want, struct err *e)
{
	if (want == NULL || strcmp(is, want) == 0)
		return 0;
	return err_set(e, ERR_AUTH, "the identity document is of %s '%.80s', not '%.80s'", what, is,
		       want);
}

int attest_match(const struct attest_identity *id, const struct attest_expect *want, struct err *e)
{
	if (same("account", id->account, want->account, e) < 0 ||
	    same("region", id->region, want->region, e) < 0 ||
	    same("instance", id->instance, want->instance, e) < 0 ||
	    same("nonce", id->nonce, want->nonce, e) < 0)
		return -1;
	return 0;
}
