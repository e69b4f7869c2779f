/* imds_gcp_answer.c - how Google sends a value: with a header, and with an ETag of the value. */
#include <stdio.h>

#include "providers/simcloud/imds_private.h"

#define FNV_START UINT64_C(14695981039346656037)
#define FNV_PRIME UINT64_C(1099511628211)

uint64_t imds_etag(const struct asked *a)
{
	uint64_t h = FNV_START;

	for (size_t i = 0; i < a->out.len; i++)
		h = (h ^ (unsigned char)a->out.p[i]) * FNV_PRIME;
	return h;
}

void imds_gcp_mark(struct http_answer *an)
{
	an->more[0] = (struct http_more){"Metadata-Flavor", "Google"};
}

void imds_gcp_answer(struct asked *a, struct http_answer *an)
{
	imds_gcp_mark(an);
	an->more[1].name = "ETag";
	(void)snprintf(an->more[1].value, sizeof(an->more[1].value), "%016llx",
		       (unsigned long long)imds_etag(a));
	an->type = "application/text";
	imds_answer(an, a);
}
