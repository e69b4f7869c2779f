/* meta.h - what a metadata service says of the machine's end, and what we call it.
 *
 * Pure: texts in, notices out.  A text that is not what the service should say is an error, never a
 * notice: a proxy that answers everything with a page must not look like a preemption. */
#ifndef AGENT_META_H
#define AGENT_META_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	META_ID_MAX = 96,
	META_DETAIL_MAX = 160,
	META_NOTICES_MAX = 8, /* of one answer */
};

enum notice_type {
	NOTICE_PREEMPT, /* the most urgent first */
	NOTICE_MAINTENANCE,
	NOTICE_REBALANCE,
	NOTICE_FAULTY,
	NOTICE_SHUTDOWN,
	NOTICE_TYPES
};

struct notice {
	enum notice_type type;
	int64_t deadline;     /* ms since 1970; 0: not said */
	char id[META_ID_MAX]; /* the same for the same event, each time it is seen */
	char detail[META_DETAIL_MAX];
};

const char *notice_name(enum notice_type t);

/* RFC 3339, "Mon, 19 Sep 2016 18:29:47 GMT", "21 Jan 2019 09:00:43 GMT".  -1: neither. */
int meta_time(const char *text, int64_t *out_ms);

/* Each: how many notices (max META_NOTICES_MAX), or -1: not understood. */
int meta_aws_action(const char *text, size_t len, struct notice *out);
int meta_aws_rebalance(const char *text, size_t len, struct notice *out);
int meta_aws_maintenance(const char *text, size_t len, struct notice *out);
/* now_ms: GCP does not say when; it is 30 s from when it is seen. */
int meta_gcp_preempted(const char *text, size_t len, int64_t now_ms, struct notice *out);
int meta_gcp_maintenance(const char *text, size_t len, struct notice *out);
/* Of the machine `name` ("": of any that are named); id is the EventId, to acknowledge it. */
int meta_azure(const char *text, size_t len, const char *name, struct notice *out);
/* Of a file or a command: empty: none, unless `any`; else TYPE [UNIX TIME], "preempt" when there is
 * another text. */
int meta_line(const char *text, size_t len, bool any, struct notice *out);

#endif
