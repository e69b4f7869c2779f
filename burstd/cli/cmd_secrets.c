/* The secret store: shows its state, and gives burstd its own credential for it. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/fmt.h"
#include "cli/cli.h"

enum {
	TOKEN_SIZE = 1026, /* with its line break */
	LOOK_EVERY_MS = 200,
	LOOKS = 300, /* a minute: three addresses that do not answer take that long */
};

static void field(const struct out *o, const char *name, const char *text)
{
	char *clean = out_people(text);

	(void)fprintf(o->f, "%-14s", name);
	out_text(o, OUT_PLAIN, clean);
	(void)fputc('\n', o->f);
	free(clean);
}

static void show_rotation(const struct cli *c, const json_t *s)
{
	const char *error = cli_text(s, "rotation_error");
	char text[400];

	if (cli_text(s, "rotation")[0] == '\0')
		return;
	(void)snprintf(text, sizeof(text), "%.60s%s%.300s", cli_text(s, "rotation"),
		       error[0] != '\0' ? ", blocked: " : "", error);
	field(&c->out, "rotation", text);
}

static void show(const struct cli *c, const json_t *r)
{
	const json_t *s = json_object_get(r, "secrets");
	char text[160], age[OUT_AGO_SIZE], tokens[48] = "";

	if (s == NULL) {
		(void)fputs("no secret store is configured\n", c->out.f);
		return;
	}
	field(&c->out, "driver", cli_text(s, "driver"));
	field(&c->out, "address", cli_text(s, "address"));
	field(&c->out, "state", cli_text(s, "phase"));
	field(&c->out, "version", cli_text(s, "version"));
	(void)out_age(age, cli_int(s, "ok_ms"), cli_int(r, "now_ms"));
	field(&c->out, "last answer", age);
	if (cli_int(s, "user_data") > 0) /* few sites have these */
		(void)snprintf(tokens, sizeof(tokens), "%" PRId64 " in user-data, ",
			       cli_int(s, "user_data"));
	(void)snprintf(text, sizeof(text),
		       "%" PRId64 " wrapped, %" PRId64 " brokered, %s%" PRId64 " refused, %" PRId64
		       " waiting",
		       cli_int(s, "wrapped"), cli_int(s, "brokered"), tokens, cli_int(s, "failed"),
		       cli_int(s, "waiting"));
	field(&c->out, "keys", text);
	if (cli_text(s, "error")[0] != '\0')
		field(&c->out, "error", cli_text(s, "error"));
	show_rotation(c, s);
}

static int run_show(const struct cli *c, const void *args, char **operands)
{
	(void)args;
	(void)operands;
	return cli_show(c, json_pack("{s:s}", "op", "secrets"), show);
}

const struct cli_command cmd_secrets_show = {
	.name = "secrets show",
	.operands = "",
	.summary = "show whether the secret store answers, and the current version of the keys",
	.about = "",
	.example = "burstctl secrets show",
	.folds = true,
	.run = run_show,
};

/* --- enrolment ---------------------------------------------------------------------------------
 */

static int begin(const struct cli *c, const char *token)
{
	json_t *r, *rq = json_pack("{s:s}", "op", "secrets-enroll");
	int rc;

	if (json_object_set_new(rq, "token", json_string(token)) != 0) {
		json_decref(rq);
		return cli_complain(CLI_USAGE, "the wrapping token is not UTF-8");
	}
	rc = cli_ask_loudly(c, rq, &r);
	json_decref(r);
	return rc;
}

/* Wait while burstd asks Vault. */
static int wait_for_end(const struct cli *c)
{
	const struct timespec pause = {0, LOOK_EVERY_MS * 1000000L};

	for (int i = 0; i < LOOKS; i++) {
		json_t *r;
		const json_t *s;
		int rc = cli_ask_loudly(c, json_pack("{s:s}", "op", "secrets"), &r);

		if (rc != CLI_OK)
			return rc;
		s = json_object_get(r, "secrets");
		if (strcmp(cli_text(s, "enrolment"), "busy") != 0) {
			bool done = strcmp(cli_text(s, "enrolment"), "done") == 0;

			if (done && c->json)
				cli_print_json(c, r);
			else if (done)
				(void)fputs("enrolled: burstd logs in with its new credential\n",
					    c->out.f);
			else
				rc = cli_complain(CLI_FAILED, cli_text(s, "enrolment_error"));
			json_decref(r);
			return rc;
		}
		json_decref(r);
		(void)nanosleep(&pause, NULL);
	}
	return cli_complain(CLI_FAILED, "Vault does not answer: see \"burstctl secrets show\"");
}

/* From a pipe or a terminal, never from the command line, which everybody on the host can read. */
static int read_token(char token[TOKEN_SIZE])
{
	const char *why;
	char text[160];

	if (isatty(STDIN_FILENO))
		(void)fputs("wrapping token: ", stderr);
	why = cli_read_secret(STDIN_FILENO, true, token, TOKEN_SIZE);
	(void)snprintf(text, sizeof(text), "no wrapping token from standard input: %s",
		       why != NULL ? why : "");
	return why == NULL ? CLI_OK : cli_complain(CLI_USAGE, text);
}

static int run_enroll(const struct cli *c, const void *args, char **operands)
{
	char token[TOKEN_SIZE];
	int rc = read_token(token);

	(void)args;
	(void)operands;
	if (rc == CLI_OK)
		rc = begin(c, token);
	explicit_bzero(token, sizeof(token));
	return rc == CLI_OK ? wait_for_end(c) : rc;
}

const struct cli_command cmd_secrets_enroll = {
	.name = "secrets enroll",
	.operands = "",
	.summary = "give burstd its credential for Vault, from a wrapping token on standard input",
	.about = "burstd looks where the token is from, unwraps the secret_id in it, "
		 "keeps that in credential_file of the section secrets (mode 0600) and "
		 "logs in with it.  A token that was used before is an alarm: somebody "
		 "else has read the secret_id.",
	.example = "burstctl secrets enroll </run/user/0/wrapping-token",
	.run = run_enroll,
};
