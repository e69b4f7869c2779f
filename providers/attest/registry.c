#include "providers/attest/registry.h"

#include "providers/attest/private.h"

const struct attest_ops *attest_find(enum attest_kind k)
{
	static const struct attest_ops *const all[ATTEST_NKINDS] = {
		[ATTEST_AWS] = &attest_aws,
		[ATTEST_GCP] = &attest_gcp,
		[ATTEST_AZURE] = &attest_azure,
	};

	return k < ATTEST_NKINDS ? all[k] : NULL;
}
