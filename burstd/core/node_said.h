/* node_said.h - parses the body of a request of a node (/v1/node/...), JSON, into fixed buffers.
 *
 * Root of the node can send anything: no allocation, no recursion, each text has a limit and is
 * made printable, and a member that comes twice is refused.  Unknown members are skipped, for a
 * node's image may be newer than burstd. */
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

struct node_said { /* the members of all requests; "" and 0: not given */
	char node[HOSTLIST_NAME_MAX + 1], key_version[NODE_WORD_MAX + 1];
	char type[NODE_WORD_MAX + 1], id[NODE_TEXT_MAX + 1], detail[NODE_TEXT_MAX + 1];
	char step[NODE_WORD_MAX + 1], why[NODE_WHY_MAX + 1];
	char hardware[NODE_WHY_MAX + 1]; /* as slurmd -C prints it, from CPUs= on */
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

/* Parse all of text.  -1: it is not such a body. */
int node_said_read(struct node_said *s, const char *text, size_t len);
/* Parse "steps"; of more than NODE_STEPS_MAX the first ones and the very last are kept. */
int node_report_read(struct node_report *p, const struct jpull_value *steps);

#endif
