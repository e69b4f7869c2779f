/* The words for events and reasons, in the journal and for people; node.c has those for states. */
#include <assert.h>
#include <string.h>

#include "core/node.h"

static const char *const events[NODE_EV_NTYPES] = {
	[NODE_EV_START] = "start",
	[NODE_EV_NOTSENT] = "not-sent",
	[NODE_EV_THROTTLED] = "throttled",
	[NODE_EV_CREATED] = "created",
	[NODE_EV_LOST] = "lost",
	[NODE_EV_REFUSED] = "refused",
	[NODE_EV_SEEN] = "seen",
	[NODE_EV_ABSENT] = "absent",
	[NODE_EV_REGISTERED] = "registered",
	[NODE_EV_RELEASE] = "released",
	[NODE_EV_DELETED] = "delete-accepted",
	[NODE_EV_DELETE_FAILED] = "delete-failed",
	[NODE_EV_DELETE_DENIED] = "delete-denied",
	[NODE_EV_TIMER] = "timer",
	[NODE_EV_RESTART] = "restart",
	[NODE_EV_NOTICE] = "notice",
	[NODE_EV_SIGNALLED] = "signalled",
	[NODE_EV_PROVEN] = "proven",
};

static const struct {
	const char *word, *text;
} reasons[NODE_NREASONS] = {
	[NODE_BECAUSE_NONE] = {"", ""},
	[NODE_BECAUSE_SUSPENDED] = {"suspended", "Slurm powered it down"},
	[NODE_BECAUSE_CAPACITY] = {"capacity", "the provider has no capacity"},
	[NODE_BECAUSE_QUOTA] = {"quota", "the account's quota at the provider is used up"},
	[NODE_BECAUSE_DENIED] = {"denied", "the provider refuses our credentials"},
	[NODE_BECAUSE_INVALID] = {"invalid", "the provider rejects the request"},
	[NODE_BECAUSE_LIMIT] = {"limit", "the pool's limit is reached"},
	[NODE_BECAUSE_LOST] = {"lost", "the provider lost the request"},
	[NODE_BECAUSE_BOOT] = {"boot-timeout", "it did not register in time"},
	[NODE_BECAUSE_ENDED] = {"ended", "its machine ended"},
	[NODE_BECAUSE_RECLAIMED] = {"reclaimed", "the provider took its capacity back"},
	[NODE_BECAUSE_REPLACED] = {"replaced", "Slurm wants it powered up afresh"},
	[NODE_BECAUSE_OPERATOR] = {"operator", "an admin's order"},
	[NODE_BECAUSE_DISK] = {"disk-full", "the disk of burstd is full"},
	[NODE_BECAUSE_MAINTENANCE] = {"maintenance", "the provider stopped it for maintenance"},
	[NODE_BECAUSE_FAULTY] = {"faulty", "its host is broken"},
	[NODE_BECAUSE_BREACH] = {"breach", "its claim to the cluster's keys was misused"},
	[NODE_BECAUSE_INIT] = {"boot-failed", "its boot failed"},
	[NODE_BECAUSE_UNREACHABLE] = {"unreachable", "the provider cannot be reached"},
	[NODE_BECAUSE_STOPPED] = {"stopped", "its machine stopped as it booted"},
	[NODE_BECAUSE_GANG] = {"gang", "its job lacks another node"},
	[NODE_BECAUSE_BUDGET] = {"budget", "no money is left for its job"},
};

const char *node_event_str(enum node_event_type t)
{
	assert(t < NODE_EV_NTYPES);
	return events[t];
}

const char *node_reason_str(enum node_reason r)
{
	assert(r < NODE_NREASONS);
	return reasons[r].word;
}

const char *node_reason_text(enum node_reason r)
{
	assert(r < NODE_NREASONS);
	return reasons[r].text;
}

int node_reason_parse(const char *word)
{
	for (int r = 0; r < NODE_NREASONS; r++)
		if (strcmp(word, reasons[r].word) == 0)
			return r;
	return -1;
}
