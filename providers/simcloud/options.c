#include "providers/simcloud/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char options_help[] =
	"usage: simcloud [options]\n"
	"       simcloud audit --meter FILE|URL --wanted FILE [options]\n"
	"\n"
	"A simulated cloud with an HTTP API, faults on demand and a billing meter.  It\n"
	"prints its URL on standard output once it listens.  SIGTERM or SIGINT ends it,\n"
	"and its instances with it.\n"
	"\n"
	"  --listen ADDR:PORT       where to listen; port 0: any (default 127.0.0.1:0)\n"
	"  --token-file FILE        the bearer token the API asks for; mode 0600;\n"
	"                           without it the API is open, on loopback only\n"
	"  --admin-token-file FILE  the same for /admin/\n"
	"  --aws-key-file FILE      also serve EC2's API at /, for requests signed with\n"
	"                           this key (AWS credentials format); mode 0600\n"
	"  --config FILE            JSON: behaviour, offers, limits\n"
	"  --state FILE             append the billing meter to FILE, and go on from it\n"
	"  --seed N                 seed of all random choices (default 1)\n"
	"  --subnet CIDR            addresses of instances (default 10.77.0.0/16)\n"
	"  --metadata ADDR:PORT     serve the metadata of instances here; the caller's\n"
	"                           address says which one asks\n"
	"  --metadata-as CLOUD      imitate aws, gcp or azure there (default aws)\n"
	"  --identity FILE          the certificate that verifies identity documents; the\n"
	"                           key that signs them is FILE.key; both are made if\n"
	"                           need be\n"
	"  --boot PROGRAM           run PROGRAM for each instance; absolute path\n"
	"  --run-dir DIR            directories of instances and their hosts file;\n"
	"                           absolute path, needed with --boot\n"
	"  --hosts-extra FILE       lines to put on top of the instances' hosts file\n"
	"  --help                   print this\n"
	"  --version                print the version\n"
	"\n"
	"See also: simcloud audit --help, and the manual page simcloud(1).\n";

static int parse_listen(char address[OPTIONS_ADDR_SIZE], uint16_t *out, const char *option,
			const char *text, struct err *e)
{
	const char *colon = strrchr(text, ':'), *from = text;
	size_t len = colon != NULL ? (size_t)(colon - text) : 0;
	unsigned long port;
	char *end = NULL;

	if (len > 2 && text[0] == '[' && text[len - 1] == ']') {
		from++;
		len -= 2;
	}
	if (colon == NULL || len == 0 || len >= OPTIONS_ADDR_SIZE)
		return err_set(e, ERR_INVALID, "%s %s: want ADDR:PORT", option, text);
	errno = 0;
	port = strtoul(colon + 1, &end, 10);
	if (colon[1] < '0' || colon[1] > '9' || *end != '\0' || errno != 0 || port > UINT16_MAX)
		return err_set(e, ERR_INVALID, "%s %s: want a port from 0 to 65535", option, text);
	memcpy(address, from, len);
	address[len] = '\0';
	*out = (uint16_t)port;
	return 0;
}

static int parse_seed(struct options *o, const char *text, struct err *e)
{
	char *end = NULL;

	errno = 0;
	o->seed = strtoull(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0)
		return err_set(e, ERR_INVALID, "--seed %s: want a number", text);
	return 0;
}

bool options_is_loopback(const char *address)
{
	return strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0;
}

static int check(const struct options *o, struct err *e)
{
	bool open = o->token_file == NULL || o->admin_token_file == NULL;

	if (open && !options_is_loopback(o->address))
		return err_set(
			e, ERR_INVALID,
			"--listen %s is not loopback: want --token-file and --admin-token-file",
			o->address);
	if (o->identity != NULL && o->metadata == NULL)
		return err_set(e, ERR_INVALID, "--identity: needs --metadata");
	if (o->metadata_as != IDENTITY_AWS && (o->metadata == NULL || o->aws_key_file != NULL))
		return err_set(
			e, ERR_INVALID,
			"--metadata-as: gcp and azure need --metadata, and exclude --aws-key-file");
	if (o->boot != NULL && o->run_dir == NULL)
		return err_set(e, ERR_INVALID, "--boot: needs --run-dir");
	if (o->boot == NULL && (o->run_dir != NULL || o->hosts_extra != NULL))
		return err_set(e, ERR_INVALID, "--run-dir, --hosts-extra: need --boot");
	return 0;
}

static int set(struct options *o, int c, struct err *e)
{
	const char **const text[] = {
		['t'] = &o->token_file,   ['a'] = &o->admin_token_file,
		['c'] = &o->config,       ['s'] = &o->state,
		['b'] = &o->boot,         ['r'] = &o->run_dir,
		['x'] = &o->hosts_extra,  ['n'] = &o->subnet,
		['e'] = &o->aws_key_file, ['i'] = &o->identity,
	};

	if (c == 'l')
		return parse_listen(o->address, &o->port, "--listen", optarg, e);
	if (c == 'm') {
		o->metadata = optarg;
		return parse_listen(o->metadata_address, &o->metadata_port, "--metadata", optarg,
				    e);
	}
	if (c == 'k')
		return identity_kind_parse(optarg, &o->metadata_as, e) == 0
			       ? 0
			       : err_wrap(e, "--metadata-as %s", optarg);
	if (c == 'S')
		return parse_seed(o, optarg, e);
	if (c == 'h')
		o->help = true;
	else if (c == 'v')
		o->version = true;
	else if (c > 0 && (size_t)c < sizeof(text) / sizeof(text[0]) && text[c] != NULL)
		*text[c] = optarg;
	else
		return err_set(e, ERR_INVALID, "see simcloud --help");
	return 0;
}

int options_parse(struct options *o, int argc, char **argv, struct err *e)
{
	/* clang-format off */
	static const struct option known[] = {
		{"listen", 1, NULL, 'l'},
		{"token-file", 1, NULL, 't'},
		{"config", 1, NULL, 'c'},
		{"admin-token-file", 1, NULL, 'a'},
		{"aws-key-file", 1, NULL, 'e'},
		{"state", 1, NULL, 's'},
		{"seed", 1, NULL, 'S'},
		{"subnet", 1, NULL, 'n'},
		{"metadata", 1, NULL, 'm'},
		{"metadata-as", 1, NULL, 'k'},
		{"identity", 1, NULL, 'i'},
		{"boot", 1, NULL, 'b'},
		{"run-dir", 1, NULL, 'r'},
		{"hosts-extra", 1, NULL, 'x'},
		{"help", 0, NULL, 'h'},
		{"version", 0, NULL, 'v'},
		{0},
	};
	/* clang-format on */
	int c;

	*o = (struct options){.address = "127.0.0.1", .subnet = "10.77.0.0/16", .seed = 1};
	while ((c = getopt_long(argc, argv, "", known, NULL)) != -1)
		if (set(o, c, e) != 0)
			return -1;
	if (o->help || o->version)
		return 0;
	if (optind != argc)
		return err_set(e, ERR_INVALID, "unexpected argument: %s; see simcloud --help",
			       argv[optind]);
	return check(o, e);
}
