/* metadata_lab.h - the metadata service of a simulated cloud and who asks it. */
#ifndef TESTS_METADATA_LAB_H
#define TESTS_METADATA_LAB_H

#include "imds_lab.h"

#include <jansson.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/mem.h"
#include "providers/attest/registry.h"

#define NOW   INT64_C(1795000000000) /* 2026-11-18T11:06:40Z, a Wednesday */
#define GCP   "/computeMetadata/v1/"
#define V     "api-version=2021-02-01"
#define NONCE "0123456789abcdef0123456789abcdef"

static struct { /* what was asked last, and the answer that came later */
	struct http_answer an;
	unsigned nlater;
	uint64_t ticket;
	struct http_answer later;
} A;

static inline void on_later(void *ctx, uint64_t ticket, const struct http_answer *an)
{
	assert_ptr_equal(ctx, &A);
	free(A.later.body);
	A.nlater++;
	A.ticket = ticket;
	A.later = *an;
}

static inline int setup_as(enum identity_kind kind, int64_t now)
{
	memset(&A, 0, sizeof(A));
	imds_lab_open(kind, now);
	W.imds.later = on_later;
	W.imds.ctx = &A;
	return 0;
}

/* Certificates have the time of the clock. */
static inline int setup_gcp(void **state)
{
	(void)state;
	return setup_as(IDENTITY_GCP, clock_wall_ms());
}

static inline int setup_azure(void **state)
{
	(void)state;
	return setup_as(IDENTITY_AZURE, clock_wall_ms());
}

static inline int setup_azure_then(void **state)
{
	(void)state;
	return setup_as(IDENTITY_AZURE, NOW);
}

static inline int teardown(void **state)
{
	(void)state;
	free(A.an.body);
	free(A.later.body);
	imds_lab_close();
	return 0;
}

struct said { /* headers */
	const char *flavor, *metadata, *forwarded;
};

static inline const char *header_of(void *from, const char *name)
{
	const struct said *s = from;

	if (strcasecmp(name, "Metadata-Flavor") == 0)
		return s->flavor;
	if (strcasecmp(name, "Metadata") == 0)
		return s->metadata;
	return strcasecmp(name, "X-Forwarded-For") == 0 ? s->forwarded : NULL;
}

/* target: path, and what is behind '?'; body NULL: GET.  The answer's text, until the next one. */
static inline const char *ask_as(struct said said, const char *from, const char *target,
				 const char *body)
{
	static char text[16384];
	char path[256] = "";
	size_t n = strcspn(target, "?");
	struct http_request rq = {.method = body != NULL ? "POST" : "GET",
				  .path = path,
				  .query = target[n] == '?' ? target + n + 1 : "",
				  .body = body != NULL ? body : "",
				  .len = body != NULL ? strlen(body) : 0,
				  .from = from,
				  .ticket = 77,
				  .header = header_of,
				  .headers_from = &said};

	assert_true(n < sizeof(path));
	memcpy(path, target, n);
	free(A.an.body);
	A.an = (struct http_answer){.status = 500};
	imds_handle(&W.imds, &rq, &A.an, W.now);
	(void)snprintf(text, sizeof(text), "%.*s", (int)A.an.len,
		       A.an.body != NULL ? A.an.body : "");
	return text;
}

static inline struct cloud_instance *first(void)
{
	return cloud_of_row(&W.cloud, 0);
}

static void *verifier;

static inline void open_verifier(enum attest_kind kind, const char *path)
{
	struct attest_conf conf = {0};
	struct err e = {0};
	char text[8192];
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	conf.trust = text;
	conf.trust_len = fread(text, 1, sizeof(text), f);
	(void)fclose(f);
	if (attest_find(kind)->open(&verifier, &conf, &e) != 0)
		fail_msg("%s", e.msg);
}

/* 0, or the error's code; of whom the document is, in *id. */
static inline int judge(enum attest_kind kind, const char *nonce, const char *doc, struct err *e,
			struct attest_identity *id)
{
	const struct attest_expect want = {.nonce = nonce};
	int rc;

	open_verifier(kind, W.cert);
	rc = attest_find(kind)->verify(verifier, &want, doc, strlen(doc), W.now, id, e);
	attest_find(kind)->close(verifier);
	return rc == 0 ? 0 : (int)e->code;
}

#define T(f, begin) cmocka_unit_test_setup_teardown(f, setup_##begin, teardown)

#endif
