/* node_said.h - what a node with a certificate says (/v1/node/...), from JSON into fixed places.
 *
 * Whoever is root there may say anything: no allocation, no recursion, each text has its limit and
 * is made printable, and a member that comes twice is refused.  Members that are not known are
 * passed over, for a node's image may be newer than burstd. */
#ifndef BURSTD_NODE_SAID_H
#define BURSTD_NODE_SAID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hostlist.h"
#include "base/jpull.h"

enum {
	NODE_TEXT_MAX = 255,
	NODE_WORD_MAX = 63,
	NODE_WHY_MAX = 511,
	NODE_STEPS_MAX = 64, /* of one report; node-init has some 22 */
};

struct node_said { /* all that any request has; "" and 0: it says nothing of that */
	char node[HOSTLIST_NAME_MAX + 1], key_version[NODE_WORD_MAX + 1];
	char type[NODE_WORD_MAX + 1], id[NODE_TEXT_MAX + 1], detail[NODE_TEXT_MAX + 1];
	char step[NODE_WORD_MAX + 1], why[NODE_WHY_MAX + 1];
	int64_t generation, deadline, total_ms, cert_until;
	bool faulty;
	struct jpull_value csr, steps; /* borrowed from the text */
};

struct node_report { /* the steps of one boot */
	struct {
		char name[NODE_WORD_MAX + 1], result[16], why[NODE_TEXT_MAX + 1];
		int64_t ms;
	} steps[NODE_STEPS_MAX];
	size_t n;
};

/* All of text is read, or -1. */
int node_said_read(struct node_said *s, const char *text, size_t len);
/* What is in "steps"; more of them than fit do no harm.  None: n is 0. */
int node_report_read(struct node_report *p, const struct jpull_value *steps);

#endif
