/* conf.h - agent.conf, which node-init writes.
 *
 * It has one `key = value` a line, comment lines begin with `#`, durations are as in
 * burstd.conf(5).  An unknown line is an error with its number: with half a configuration the
 * dead-man's switch might not be armed. */
#ifndef AGENT_CONF_H
#define AGENT_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/origin.h"
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
	struct origin urls[AGENT_URLS_MAX];
	size_t nurls;
	char ca[AGENT_TEXT_MAX], cert[AGENT_TEXT_MAX], key[AGENT_TEXT_MAX];
	char node[AGENT_NODE_MAX];
	int64_t generation;
	char provider[AGENT_TEXT_MAX];
	enum agent_cloud cloud; /* which metadata service has notices, and in which format */
	struct origin metadata;
	char key_version_file[AGENT_TEXT_MAX];
	char keys_command[AGENT_TEXT_MAX]; /* "": the agent does not fetch keys */
	char hosts_file[AGENT_TEXT_MAX];   /* "": not changed */
	int64_t heartbeat, poll;           /* milliseconds, like all times here */
	int64_t deadman, deadman_job;
	char poweroff[AGENT_TEXT_MAX];
	char local_command[AGENT_TEXT_MAX];
	int64_t local_after;
	char unmount_command[AGENT_TEXT_MAX]; /* "": nothing is unmounted */
	int64_t unmount_before;
	char notice_file[AGENT_TEXT_MAX], notice_command[AGENT_TEXT_MAX];
	char state_command[AGENT_TEXT_MAX]; /* "": do not ask why the machine stops */
	int64_t health;
	int64_t gpus; /* 0: not checked */
	char gpu_command[AGENT_TEXT_MAX], health_command[AGENT_TEXT_MAX];
	char error_command[AGENT_TEXT_MAX];
	int64_t command_timeout;
	char proc[AGENT_TEXT_MAX]; /* /proc, except in tests */
};

/* Parse the text of a file; missing keys have their defaults.  name: for messages. */
int agent_conf_parse(struct agent_conf *c, const char *name, const char *text, struct err *e);
/* Load a plain file that only this user can read and write. */
int agent_conf_load(struct agent_conf *c, const char *path, struct err *e);
/* Append every key with its default and a line of help. */
void agent_conf_help(struct str *out);

#endif
