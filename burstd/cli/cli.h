/* cli.h - burstctl: a table of commands, each of which asks burstd something and shows the answer.
 *
 * It speaks the control protocol and nothing else, so whatever it can do, a script can do too.
 * Results go to standard output, complaints to standard error, and the exit code says which kind it
 * was. */
#ifndef BURSTD_CLI_H
#define BURSTD_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "base/err.h"
#include "base/opt.h"
#include "cli/out.h"

enum cli_exit {
	CLI_OK,
	CLI_FAILED,      /* refused, or it went wrong */
	CLI_USAGE,       /* the command line makes no sense */
	CLI_UNREACHABLE, /* burstd does not answer */
};

struct cli {
	const char *socket;
	int64_t timeout_ms; /* of one question */
	bool json, help, version;
	struct out out;
};

struct cli_command {
	const char *name;     /* one or two words */
	const char *operands; /* as --help shows them; "" */
	int min, max;         /* how many operands */
	bool hidden;          /* not for people: the lists leave it out */
	bool local;           /* its words are not for burstd: names of files, say */
	bool folds;           /* sentences and tables: no word is cut on a terminal (cli/fold.h) */
	const char *summary;  /* one line, no full stop */
	const char *about;    /* more sentences, or "" */
	const char *example;  /* whole command lines */
	const struct opt *opts;
	size_t nopts;
	const void *initial; /* what the options fill, as it is before that */
	size_t size;
	/* Return an enum cli_exit; complaints have been made. */
	int (*run)(const struct cli *c, const void *args, char **operands);
};

extern const struct cli_command cmd_status, cmd_nodes, cmd_node_show, cmd_events, cmd_drain,
	cmd_terminate, cmd_notice, cmd_pause, cmd_resume, cmd_retry, cmd_pools, cmd_plan, cmd_check,
	cmd_config_check, cmd_config_show, cmd_config_options, cmd_reconcile, cmd_reload, cmd_audit,
	cmd_audit_verify, cmd_secrets_show, cmd_secrets_enroll, cmd_secrets_rotate, cmd_version,
	cmd_complete;

/* The table, in the order of the help, and the options that every command has. */
extern const struct cli_command *const cli_commands[];
extern const size_t cli_ncommands;
extern const struct opt cli_globals[];
extern const size_t cli_nglobals;

/* The command that the first words name, or NULL; *used: how many of them. */
const struct cli_command *cli_find(char **words, int n, int *used);

/* All of burstctl but the process: returns the exit code. */
int cli_main(int argc, char **argv);

/* "burstctl: WHAT" on standard error; return rc. */
int cli_complain(int rc, const char *what);

/* Ask burstd; takes request (an object, without "v").  CLI_OK: *reply is the caller's
 * (json_decref()). Else it is NULL, *e says why in one sentence, and nothing was printed. */
int cli_ask(const struct cli *c, json_t *request, json_t **reply, struct err *e);
/* Likewise, and complain. */
int cli_ask_loudly(const struct cli *c, json_t *request, json_t **reply);

/* Likewise, and show it: as JSON if that is wanted. */
int cli_show(const struct cli *c, json_t *request,
	     void (*show)(const struct cli *c, const json_t *reply));

/* A secret from fd, without the blanks at its end: the first line of it, or all there is, which on
 * a terminal is the same.  NULL: out has it.  Else one sentence why not, and out has nothing: half
 * a secret is none, so it must be read to its end, and be whole there.  A text of several lines, or
 * what somebody types, ends with a line break, an object of JSON with its brace; one line in a pipe
 * may end without, as `bao -field` writes it. */
const char *cli_read_secret(int fd, bool first_line, char *out, size_t size);

/* What an answer holds; "" or 0 when it does not: an older burstd must not make us fail. */
const char *cli_text(const json_t *object, const char *key);
int64_t cli_int(const json_t *object, const char *key);
/* Row i of the array called key; NULL past its end. */
const json_t *cli_row(const json_t *object, const char *key, size_t i);

/* --since of events and records: either the number in the first column after which they begin, or
 * a time (cli/when.h); the other one is -1, and without text both are.  CLI_USAGE: text is neither,
 * and the user was told. */
struct cli_since {
	int64_t seq, ms;
};
int cli_since(const char *text, struct cli_since *out);

/* For --json: the answer as burstd gave it, less "ok". */
void cli_print_json(const struct cli *c, json_t *reply);

#endif
