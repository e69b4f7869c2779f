/* imds_private.h - the metadata service from within: what its files share; nobody else includes it.
 *
 * imds.c answers in EC2's words, imds_gcp.c in Google's, imds_azure.c in Azure's. */
#ifndef SIMCLOUD_IMDS_PRIVATE_H
#define SIMCLOUD_IMDS_PRIVATE_H

#include "base/fmt.h"
#include "base/str.h"
#include "providers/simcloud/imds.h"

enum { IMDS_TEXT_MAX_BYTES = 1 << 17 };

struct asked {
	struct imds *m;
	struct cloud_instance *i;
	const struct meter_row *row;
	int64_t now;
	struct str out;
};

/* Writes the answer for a path to a->out; false: the path has no value now. */
typedef bool (*tell_fn)(struct asked *a);

struct imds_path {
	const char *path;
	tell_fn tell;
};

/* --- imds_tell.c --- */

tell_fn imds_find(const struct imds_path *paths, size_t n, const char *path); /* NULL: none */
void imds_answer(struct http_answer *an, struct asked *a); /* 200, with what is in a->out */
bool imds_tell_id(struct asked *a);
bool imds_tell_address(struct asked *a);
bool imds_tell_type(struct asked *a);
bool imds_tell_zone(struct asked *a);
bool imds_tell_region(struct asked *a);
bool imds_tell_name(struct asked *a);
bool imds_tell_user_data(struct asked *a);
const char *imds_second(char out[FMT_TIME_SIZE], int64_t ms); /* 2026-01-02T03:04:05Z */

/* --- imds_gcp_answer.c --- */

void imds_gcp_mark(struct http_answer *an); /* the header that all of Google's answers have */
/* Answer with the value in a->out, as Google sends it. */
void imds_gcp_answer(struct asked *a, struct http_answer *an);
/* The etag of what is in a->out now. */
uint64_t imds_etag(const struct asked *a);

/* --- imds_wait.c: answers that are held until what was asked for changes --- */

/* Hold the answer until the value has another etag, or until until_ms.  false: too many wait. */
bool imds_hold(struct asked *a, uint64_t ticket, tell_fn tell, uint64_t etag, int64_t until_ms);

/* --- imds_gcp.c, imds_azure.c --- */

void imds_gcp(struct asked *a, const struct http_request *rq, struct http_answer *an);
void imds_azure(struct asked *a, const struct http_request *rq, struct http_answer *an);

#endif
