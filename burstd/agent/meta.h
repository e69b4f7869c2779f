/* meta.h - parses what a metadata service says about the end of the machine.
 *
 * Pure: texts in, notices out.  An unexpected text is an error, never a notice: a proxy that
 * answers every request with a page must not look like a preemption.  id and detail of a notice
 * have the service's own words, with any bytes in them but NUL: whoever passes them on escapes
 * them.  Only an id of Azure's, which is sent back as it came, is checked. */
#ifndef AGENT_META_H
#define AGENT_META_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	META_ID_MAX = 96,
	META_DETAIL_MAX = 160,
	META_NOTICES_MAX = 8, /* in one answer */
};

enum notice_type {
	NOTICE_PREEMPT, /* in order of urgency */
	NOTICE_MAINTENANCE,
	NOTICE_REBALANCE,
	NOTICE_FAULTY,
	NOTICE_SHUTDOWN,
	NOTICE_TYPES
};

struct notice {
	enum notice_type type;
	int64_t deadline;     /* ms since 1970; 0: not said */
	char id[META_ID_MAX]; /* the same each time the event is seen */
	char detail[META_DETAIL_MAX];
};

const char *notice_name(enum notice_type t);

/* Parse RFC 3339, "Mon, 19 Sep 2016 18:29:47 GMT" or "21 Jan 2019 09:00:43 GMT".  -1: none of
 * these. */
int meta_time(const char *text, int64_t *out_ms);

/* Each returns how many notices there are (at most META_NOTICES_MAX); -1: unexpected text. */
int meta_aws_action(const char *text, size_t len, struct notice *out);
int meta_aws_rebalance(const char *text, size_t len, struct notice *out);
int meta_aws_maintenance(const char *text, size_t len, struct notice *out);
/* now_ms: GCP gives no time; it is 30 s from when the notice is seen. */
int meta_gcp_preempted(const char *text, size_t len, int64_t now_ms, struct notice *out);
int meta_gcp_maintenance(const char *text, size_t len, struct notice *out);
/* For the machine `name` ("": any); id is the EventId, to acknowledge it. */
int meta_azure(const char *text, size_t len, const char *name, struct notice *out);
/* From a file or a command: TYPE [UNIX TIME]; any other text is "preempt"; an empty text is no
 * notice, unless `any`. */
int meta_line(const char *text, size_t len, bool any, struct notice *out);

#endif
