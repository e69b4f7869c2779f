/* cli.h - burstctl: a table of commands; each sends burstd a request and shows the answer.
 *
 * It uses only the control protocol, so a script can do whatever burstctl can.  Results go to
 * standard output, errors to standard error, and the exit code says what kind of error it was. */
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
	CLI_FAILED,      /* the request was refused, or failed */
	CLI_USAGE,       /* the command line is wrong */
	CLI_UNREACHABLE, /* burstd does not answer */
};

struct cli {
	const char *socket; /* NULL: the usual one */
	int64_t timeout_ms; /* of one request; 0: the usual */
	bool json, help, version;
	struct out out;
};

struct cli_command {
	const char *name;     /* one or two words */
	const char *operands; /* as --help shows them; "" */
	int min, max;         /* how many operands */
	bool hidden;          /* lists and help leave it out */
	bool local;           /* its operands are not names of burstd's: file names, say */
	bool folds;           /* its output is wrapped between words on a terminal (cli/fold.h) */
	const char *summary;  /* one line, no full stop */
	const char *about;    /* more sentences, or "" */
	const char *example;  /* whole command lines */
	const struct opt *opts;
	size_t nopts;
	const void *initial; /* the defaults of the struct that the options fill in */
	size_t size;
	/* Returns an enum cli_exit, after printing any error. */
	int (*run)(const struct cli *c, const void *args, char **operands);
};

extern const struct cli_command cmd_status, cmd_nodes, cmd_node_show, cmd_events, cmd_drain,
	cmd_terminate, cmd_notice, cmd_pause, cmd_resume, cmd_retry, cmd_pools, cmd_plan, cmd_check,
	cmd_config_check, cmd_config_show, cmd_config_options, cmd_reconcile, cmd_reload, cmd_audit,
	cmd_audit_verify, cmd_secrets_show, cmd_secrets_enroll, cmd_secrets_rotate, cmd_version,
	cmd_complete, cmd_provider_check, cmd_budget_list, cmd_budget_show, cmd_balance, cmd_report,
	cmd_cost_job, cmd_budget_set, cmd_budget_import, cmd_budget_override, cmd_budget_revoke,
	cmd_budget_overrides, cmd_budget_alerts, cmd_budget_alert_test, cmd_slurm_conf, cmd_init,
	cmd_image_check, cmd_image_status, cmd_image_stop, cmd_image_resume;

/* The table, in the order of the help; the options of every command. */
extern const struct cli_command *const cli_commands[];
extern const size_t cli_ncommands;
extern const struct opt cli_globals[];
extern const size_t cli_nglobals;

/* The command that the first words name, or NULL; *used: of how many words. */
const struct cli_command *cli_find(char **words, int n, int *used);

/* main() of burstctl: returns the exit code. */
int cli_main(int argc, char **argv);

/* Print "burstctl: WHAT" on standard error; return rc. */
int cli_complain(int rc, const char *what);

/* Find the burstd that belongs to this burstctl, for what only burstd can do, as with its drivers:
 * beside it, in ../sbin, or "burstd", which means PATH's.  Returns out or that word. */
const char *cli_find_burstd(char *out, size_t size);

/* Ask burstd; takes request (an object, without "v").  CLI_OK: *reply is the caller's
 * (json_decref()).  Else it is NULL, *e says why in one sentence, and nothing was printed. */
int cli_ask(const struct cli *c, json_t *request, json_t **reply, struct err *e);
/* Likewise, and print the error. */
int cli_ask_loudly(const struct cli *c, json_t *request, json_t **reply);

/* Likewise, of burst-ledger. */
int cli_ask_ledger(const struct cli *c, json_t *request, json_t **reply);

/* cli_ask_loudly(), and show the answer: by show(), or with --json as JSON. */
int cli_show(const struct cli *c, json_t *request,
	     void (*show)(const struct cli *c, const json_t *reply));

/* Read a secret from fd, without trailing blanks: the first line or, without first_line,
 * everything; on a terminal always one line.  NULL: out has it.  Else a sentence says why not, and
 * out is empty: half a secret is useless, so it must be complete.  A typed line, or a text of
 * several lines, must end with a line break, a JSON object with its brace; a single line in a pipe
 * need not, as `bao -field` writes none. */
const char *cli_read_secret(int fd, bool first_line, char *out, size_t size);

/* A member of an answer; "" or 0 if it is missing, as with an older burstd. */
const char *cli_text(const json_t *object, const char *key);
int64_t cli_int(const json_t *object, const char *key);
/* Row i of the array `key`; NULL past its end. */
const json_t *cli_row(const json_t *object, const char *key, size_t i);

/* Parse --since of events and audit records: a number as in the first column, after which to begin,
 * or a time (cli/when.h).  The other member is -1; without text both are.  CLI_USAGE: text is
 * neither, and the error is printed. */
struct cli_since {
	int64_t seq, ms;
};
int cli_since(const char *text, struct cli_since *out);

/* For --json: print burstd's answer without "ok". */
void cli_print_json(const struct cli *c, json_t *reply);

#endif
