/* audit.h - the judge: from the billing meter and from what slurmctld wanted, what was wrong.
 *
 * It never asks burstd.  The definitions are those of docs/simcloud.md:
 *   duplicate: two live instances of one node name at once, not counting an older generation whose
 *              delete was accepted; an instant with n of them counts n - 1 times.
 *   leaked:    the time beyond the grace that an instance lives while nobody wants its node;
 * outside all wanted intervals a node is unwanted. */
#ifndef SIMCLOUD_AUDIT_H
#define SIMCLOUD_AUDIT_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "providers/simcloud/meter.h"

enum {
	AUDIT_NODE_SIZE = 128,
	AUDIT_FINDINGS_MAX = 1000, /* reported one by one; the sums include the rest */
	AUDIT_GRACE_MS = 150000,   /* promise P1 */
};

struct audit_wanted {
	char node[AUDIT_NODE_SIZE];
	int64_t start_ms, end_ms; /* INT64_MAX: still wanted */
};

struct audit_finding {
	bool leaked; /* else duplicate */
	uint32_t row;
	int64_t from_ms, ms;
};

struct audit_opts {
	const char *cluster; /* only instances with this tag; "": all */
	int64_t grace_ms;
	int64_t now_ms; /* -1: the last time the meter knows */
};

struct audit_result {
	uint32_t instances;
	int64_t instance_ms, cost_nano, duplicate_ms, leaked_ms, now_ms;
	const char *currency; /* the meter's; "" without instances */
	struct audit_finding *findings;
	size_t nfindings;
};

/* Lines "node start_ms end_ms|-", '#' starts a comment.  Sorted by node and start; free() it.
 * -1: *out is NULL and *e names the line. */
int audit_read_wanted(struct audit_wanted **out, size_t *n, const char *text, struct err *e);

/* wanted as audit_read_wanted() gives it. */
void audit_run(struct audit_result *out, const struct meter *m, const struct audit_wanted *wanted,
	       size_t nwanted, const struct audit_opts *o);
void audit_result_fini(struct audit_result *r);

void audit_write(const struct audit_result *r, const struct meter *m, bool json, struct str *s);

#endif
