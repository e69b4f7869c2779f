/* conf.h - agent.conf: what node-init tells the agent.
 *
 * One `key = value` a line, `#` begins a comment line, durations as in burstd.conf(5).  A line that
 * is not understood is an error with its number, never a guess: an agent with half a configuration
 * would be a dead-man's switch that nobody set. */
#ifndef AGENT_CONF_H
#define AGENT_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/place.h"
#include "base/err.h"
#include "base/str.h"

enum {
	AGENT_CONF_MAX = 16384, /* bytes of file */
	AGENT_URLS_MAX = 8,
	AGENT_NODE_MAX = 64,
	AGENT_TEXT_MAX = 256, /* a path or a command */
};

enum agent_cloud { AGENT_NO_CLOUD, AGENT_AWS, AGENT_GCP, AGENT_AZURE, AGENT_OCI };

struct agent_conf {
	struct place urls[AGENT_URLS_MAX];
	size_t nurls;
	char ca[AGENT_TEXT_MAX], cert[AGENT_TEXT_MAX], key[AGENT_TEXT_MAX];
	char node[AGENT_NODE_MAX];
	int64_t generation;
	char provider[AGENT_TEXT_MAX];
	enum agent_cloud cloud; /* of the provider: who tells of interruptions, and how */
	struct place metadata;
	char key_version_file[AGENT_TEXT_MAX];
	char keys_command[AGENT_TEXT_MAX]; /* "": they are fetched by somebody else */
	char hosts_file[AGENT_TEXT_MAX];   /* "": it stays as it is */
	int64_t heartbeat, poll;           /* milliseconds, as all times here */
	int64_t deadman, deadman_job;
	char poweroff[AGENT_TEXT_MAX];
	char local_command[AGENT_TEXT_MAX];
	int64_t local_after;
	char notice_file[AGENT_TEXT_MAX], notice_command[AGENT_TEXT_MAX];
	char state_command[AGENT_TEXT_MAX]; /* "": why we are stopped is not asked */
	int64_t health;
	int64_t gpus; /* 0: not looked at */
	char gpu_command[AGENT_TEXT_MAX], health_command[AGENT_TEXT_MAX];
	char error_command[AGENT_TEXT_MAX];
	int64_t command_timeout;
	char proc[AGENT_TEXT_MAX]; /* /proc, but in tests */
};

/* Text of a file to *c; what is not in it has its default.  `name` is for messages. */
int agent_conf_parse(struct agent_conf *c, const char *name, const char *text, struct err *e);
/* From a plain file of ours that nobody else can write or read. */
int agent_conf_load(struct agent_conf *c, const char *path, struct err *e);
/* Every key with its default and one line of help. */
void agent_conf_help(struct str *out);

#endif
