/* options.h - the command line of the simulator itself. */
#ifndef SIMCLOUD_OPTIONS_H
#define SIMCLOUD_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "providers/simcloud/identity.h"

enum { OPTIONS_ADDR_SIZE = 64 };

struct options { /* pointers are into argv */
	char address[OPTIONS_ADDR_SIZE];
	uint16_t port;
	const char *token_file, *admin_token_file, *aws_key_file, *config, *state;
	const char *boot, *run_dir, *hosts_extra, *subnet;
	const char *metadata; /* as given; NULL: no metadata service */
	char metadata_address[OPTIONS_ADDR_SIZE];
	uint16_t metadata_port;
	enum identity_kind metadata_as;
	const char *identity;
	uint64_t seed;
	bool help, version;
};

extern const char options_help[];

/* -1: *e says what is wrong. */
int options_parse(struct options *o, int argc, char **argv, struct err *e);
bool options_is_loopback(const char *address);

#endif
