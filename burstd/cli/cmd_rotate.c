/* Replaces one of the cluster's keys: shows the plan and the progress, and gives the orders. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "cli/cli.h"

enum { CREDENTIAL_SIZE = 8192, NAMES_SHOWN = 10 };

struct rotate_args {
	bool plan, munge, jwks, status, now, abort, resume;
	const char *credential; /* a file */
	int64_t in_ms, life_ms; /* 0: not said */
};

static const struct rotate_args rotate_initial = {.in_ms = 0};

#define AT(field) offsetof(struct rotate_args, field)

static const struct opt rotate_opts[] = {
	{"plan", 0, OPT_FLAG, NULL, "show the steps, burstd's and yours", AT(plan), 0, 0},
	{"munge", 0, OPT_FLAG, NULL, "begin to replace munge's key", AT(munge), 0, 0},
	{"jwks", 0, OPT_FLAG, NULL, "begin to replace the key in slurm.jwks", AT(jwks), 0, 0},
	{"status", 0, OPT_FLAG, NULL, "show the progress (default)", AT(status), 0, 0},
	{"switch", 0, OPT_FLAG, NULL, "put the new key in use, once it is staged", AT(now), 0, 0},
	{"in", 0, OPT_DURATION, "TIME", "with --switch: how long from now (default and least: 60s)",
	 AT(in_ms), 60000, INT64_C(86400000)},
	{"abort", 0, OPT_FLAG, NULL, "remove the new key, before it is in use", AT(abort), 0, 0},
	{"resume", 0, OPT_FLAG, NULL, "continue, with another credential", AT(resume), 0, 0},
	{"credential", 0, OPT_TEXT, "FILE",
	 "file with the credential to write the bundle; -: standard input", AT(credential), 0, 0},
	{"token-life", 0, OPT_DURATION, "TIME",
	 "with --jwks: longest life of a token (default: 5m)", AT(life_ms), 1000,
	 INT64_C(86400000)},
};

#undef AT

/* --- what is shown -----------------------------------------------------------------------------
 */

static void line(const struct cli *c, const char *name, const char *text)
{
	char *clean = out_people(text);

	(void)fprintf(c->out.f, "%-10s", name);
	out_text(&c->out, OUT_PLAIN, clean);
	(void)fputc('\n', c->out.f);
	free(clean);
}

static void show_nodes(const struct cli *c, const json_t *s)
{
	const json_t *n = json_object_get(s, "nodes"), *names = json_object_get(s, "lacking");
	struct str text;

	str_init(&text, 4096);
	str_addf(&text,
		 "%" PRId64 " have it, %" PRId64 " have another, %" PRId64 " have not reported",
		 cli_int(n, "have"), cli_int(n, "lack"), cli_int(n, "unheard"));
	if (cli_int(n, "drained") > 0)
		str_addf(&text, ", %" PRId64 " drained for that", cli_int(n, "drained"));
	if (cli_int(n, "others") > 0)
		str_addf(&text, "; %" PRId64 " have their keys from elsewhere",
			 cli_int(n, "others"));
	if (cli_int(n, "fixed") > 0)
		str_addf(&text,
			 "; %" PRId64
			 " got theirs in user-data, and are drained when the key changes",
			 cli_int(n, "fixed"));
	line(c, "nodes", text.p);
	str_clear(&text);
	for (size_t i = 0; i < json_array_size(names) && i < NAMES_SHOWN; i++)
		str_addf(&text, "%s%s", i > 0 ? ", " : "",
			 json_string_value(json_array_get(names, i)));
	if (json_array_size(names) > NAMES_SHOWN)
		str_adds(&text, ", ...");
	if (text.len > 0)
		line(c, "without", text.p);
	str_fini(&text);
}

static bool is_munge(const json_t *s)
{
	return strcmp(cli_text(s, "kind"), "munge") == 0;
}

static bool has(const json_t *s, const char *key)
{
	return json_is_true(json_object_get(s, key));
}

static const char *next_munge(const json_t *s, const char *phase)
{
	bool command = has(s, "switch_command");

	if (strcmp(phase, "staged") == 0)
		return command ? "when munge_key_next is on all machines that burstd did not buy: "
				 "burstctl secrets rotate --switch"
			       : "when munge_key_next is on all machines that burstd did not buy, "
				 "and somebody is there to restart munged on them: burstctl "
				 "secrets rotate --switch";
	if (strcmp(phase, "window") == 0)
		return "at that time nodes restart munged, and so must all other machines";
	if (command && cli_text(s, "error")[0] != '\0')
		return "switch_command is run again each minute until it succeeds";
	return "nodes restart munged with the new key";
}

static const char *next_of(const json_t *s)
{
	static const struct {
		const char *phase, *next;
	} all[] = {
		{"staging", "the new key is written beside the old one"},
		{"spreading", "nodes fetch it; nodes that have not within 10 minutes are drained"},
		{"loading", "slurmctld is told to read both keys"},
		{"aging", "the old key stays as long as a token of it may be valid"},
		{"dropping", "the old key is removed"},
		{"aborting", "the new key is removed"}};
	const char *phase = cli_text(s, "phase");

	if (has(s, "needs_credential") && strcmp(phase, "staging") == 0)
		return "it needs the error repaired, and a credential: burstctl secrets rotate "
		       "--resume, or --abort";
	if (has(s, "needs_credential"))
		return "it needs a credential: burstctl secrets rotate --resume";
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (strcmp(phase, all[i].phase) == 0)
			return all[i].next;
	if (is_munge(s))
		return next_munge(s, phase);
	if (strcmp(phase, "staged") == 0)
		return "when slurmctld's own slurm.jwks has both keys: burstctl secrets rotate "
		       "--switch";
	return "the new key is in use";
}

static int show(const struct cli *c, const json_t *r)
{
	const json_t *s = json_object_get(r, "rotation");
	char when[OUT_TIME_SIZE], text[160];

	if (s == NULL) {
		(void)fputs("no secret store is configured\n", c->out.f);
		return CLI_OK;
	}
	if (strcmp(cli_text(s, "phase"), "idle") == 0) {
		line(c, "state", "no key was ever rotated");
	} else {
		(void)snprintf(text, sizeof(text), "%s: %s, since %s", cli_text(s, "kind"),
			       cli_text(s, "phase"), out_time(when, cli_int(s, "since_ms")));
		line(c, "state", text);
	}
	line(c, "version", cli_text(s, "current"));
	show_nodes(c, s);
	if (strcmp(cli_text(s, "phase"), "window") == 0)
		line(c, "switch", out_time(when, cli_int(s, "switch_ms")));
	if (has(s, "alien"))
		line(c, "ended", "somebody else wrote the bundle meanwhile");
	if (cli_text(s, "error")[0] != '\0')
		line(c, "error", cli_text(s, "error"));
	if (has(s, "runs"))
		line(c, "next", next_of(s));
	return CLI_OK;
}

/* --- the plan ----------------------------------------------------------------------------------
 */

static void plan_begin(const struct cli *c, const json_t *s, const char *which)
{
	FILE *f = c->out.f;

	if (has(s, "wrapped"))
		(void)fprintf(f,
			      "1. You: burstctl secrets rotate --%s, with a wrapping token of the "
			      "AppRole\n   \"%s\" on standard input.\n",
			      which, cli_text(s, "role"));
	else
		(void)fprintf(f, "1. You: burstctl secrets rotate --%s.\n", which);
	(void)fputs("   burstd writes the new key beside the old one; nodes fetch it.  Nodes that\n"
		    "   have not within 10 minutes get no more jobs.\n",
		    f);
}

static void plan_fetch(const struct cli *c, const json_t *s, const char *member)
{
	FILE *f = c->out.f;

	if (strcmp(cli_text(s, "driver"), "vault") == 0)
		/* The command is to be copied: break it here, before a terminal does elsewhere. */
		(void)fprintf(f, "     bao kv get -mount=%s -field=%s \\\n       %s | base64 -d\n",
			      cli_text(s, "mount"), member, cli_text(s, "name"));
	else
		(void)fprintf(f, "     %s of \"%s\", base64\n", member, cli_text(s, "name"));
}

static void plan_munge(const struct cli *c, const json_t *s)
{
	FILE *f = c->out.f;

	plan_begin(c, s, "munge");
	(void)fputs(
		"2. You: copy the new key to every machine that burstd did not buy: those of\n"
		"   slurmctld, slurmdbd and slurmrestd, of users, and other nodes.  Beside the\n"
		"   old one, not in its place:\n",
		f);
	plan_fetch(c, s, "munge_key_next");
	(void)fputs(
		"3. You: burstctl secrets rotate --switch --in 2m.  At that time all of them,\n"
		"   and you on yours, put the new key in the old one's place and restart\n"
		"   munged, within seconds.  Jobs run on; requests to slurmctld meanwhile fail\n"
		"   or wait.\n",
		f);
	(void)fputs(has(s, "switch_command")
			    ? "   On burstd's own machine switch_command does it.\n"
			    : "   On burstd's own machine, too: there is no switch_command.\n",
		    f);
	(void)fprintf(
		f,
		"4. Nodes that boot meanwhile are replaced; nodes that have not followed in 5\n"
		"   minutes are drained.\n"
		"Until 45 s before the switch: burstctl secrets rotate --abort.  After it\n"
		"the old key is in version %s.\n",
		cli_text(s, "current"));
}

static void plan_jwks(const struct cli *c, const json_t *s)
{
	FILE *f = c->out.f;

	plan_begin(c, s, "jwks");
	if (has(s, "switch_command"))
		(void)fputs(
			"2. switch_command puts slurm.jwks on slurmctld's machine, each time it\n"
			"   changes.  You: copy it to those of slurmdbd and users (sackd):\n",
			f);
	else
		(void)fputs(
			"2. You: copy slurm.jwks, which has both keys, to the machines of "
			"slurmctld,\n"
			"   slurmdbd and users (sackd), then burstctl secrets rotate --switch:\n",
			f);
	plan_fetch(c, s, "slurm_jwks");
	(void)fputs(
		"3. burstd runs scontrol reconfigure, makes the new key the default, and waits\n"
		"   for all nodes.\n"
		"4. After twice the life of a token it removes the old key.  Then you: copy\n"
		"   slurm.jwks once more.\n"
		"No service is interrupted.  Until step 3: burstctl secrets rotate --abort.\n",
		f);
}

static int plan(const struct cli *c, const struct rotate_args *a, const json_t *r)
{
	const json_t *s = json_object_get(r, "rotation");

	if (s == NULL)
		return show(c, r);
	if (has(s, "runs"))
		(void)fputs("a rotation is under way already\n", c->out.f);
	line(c, "version", cli_text(s, "current"));
	show_nodes(c, s);
	if (!a->jwks) {
		(void)fputs("\nmunge's key:\n", c->out.f);
		plan_munge(c, s);
	}
	if (!a->munge) {
		(void)fputs("\nthe key of slurm.jwks:\n", c->out.f);
		plan_jwks(c, s);
	}
	return CLI_OK;
}

/* --- what is asked -----------------------------------------------------------------------------
 */

static int ask_status(const struct cli *c, json_t **r)
{
	return cli_ask_loudly(c, json_pack("{s:s}", "op", "secrets-rotation"), r);
}

static int run_show(const struct cli *c, const struct rotate_args *a)
{
	json_t *r;
	int rc = ask_status(c, &r);

	if (rc != CLI_OK)
		return rc;
	if (c->json)
		cli_print_json(c, r);
	else
		rc = a->plan ? plan(c, a, r) : show(c, r);
	json_decref(r);
	return rc;
}

/* From a file, or a pipe: never from the command line, which everybody on the host can read. */
static int read_credential(const char *file, char out[CREDENTIAL_SIZE])
{
	bool piped = strcmp(file, "-") == 0;
	int fd = piped ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC);
	const char *why;
	char text[300];

	if (piped && isatty(fd))
		(void)fputs("credential: ", stderr);
	why = fd >= 0 ? cli_read_secret(fd, false, out, CREDENTIAL_SIZE) : strerror(errno);
	if (fd >= 0 && !piped)
		(void)close(fd);
	(void)snprintf(text, sizeof(text), "no credential from %.200s: %s",
		       piped ? "standard input" : file, why != NULL ? why : "");
	return why == NULL ? CLI_OK : cli_complain(CLI_USAGE, text);
}

/* With Vault the credential comes by standard input, as with enroll; other stores use burstd's own,
 * unless --credential is given. */
static int credential(const struct cli *c, const struct rotate_args *a, char out[CREDENTIAL_SIZE])
{
	json_t *r;
	const json_t *s;
	bool wanted;
	int rc;

	out[0] = '\0';
	if (a->credential != NULL)
		return read_credential(a->credential, out);
	if (a->abort || a->now)
		return CLI_OK;
	rc = ask_status(c, &r);
	if (rc != CLI_OK)
		return rc;
	s = json_object_get(r, "rotation");
	wanted = has(s, "wrapped");
	json_decref(r);
	return wanted ? read_credential("-", out) : CLI_OK;
}

static int run_order(const struct cli *c, const struct rotate_args *a)
{
	const char *verb = a->now ? "switch" : a->abort ? "abort" : a->resume ? "resume" : "start";
	char *text = mem_zalloc(CREDENTIAL_SIZE);
	int rc = credential(c, a, text);
	json_t *rq, *r;

	if (rc == CLI_OK) {
		rq = json_pack("{s:s, s:s}", "op", "secrets-rotate", "verb", verb);
		if (a->munge || a->jwks)
			(void)json_object_set_new(rq, "kind",
						  json_string(a->munge ? "munge" : "jwks"));
		if (a->in_ms > 0)
			(void)json_object_set_new(rq, "in_ms", json_integer(a->in_ms));
		if (a->life_ms > 0)
			(void)json_object_set_new(rq, "token_life_ms", json_integer(a->life_ms));
		if (text[0] != '\0' &&
		    json_object_set_new(rq, "credential", json_string(text)) != 0) {
			json_decref(rq);
			rc = cli_complain(CLI_USAGE, "the credential is not UTF-8");
		} else {
			rc = cli_ask_loudly(c, rq, &r);
			json_decref(r);
		}
	}
	explicit_bzero(text, CREDENTIAL_SIZE);
	free(text);
	return rc == CLI_OK ? run_show(c, &rotate_initial) : rc;
}

static int run_rotate(const struct cli *c, const void *args, char **operands)
{
	const struct rotate_args *a = args;
	int orders = a->now + a->abort + a->resume;
	bool begins = (a->munge || a->jwks) && !a->plan;

	(void)operands;
	if (orders + begins + a->status + a->plan > 1 || (a->munge && a->jwks && !a->plan) ||
	    (orders > 0 && (a->munge || a->jwks)))
		return cli_complain(CLI_USAGE, "want one of --plan, --munge, --jwks, --switch, "
					       "--abort, --resume and --status");
	if (a->in_ms > 0 && !a->now)
		return cli_complain(CLI_USAGE, "--in goes with --switch");
	if (a->life_ms > 0 && !a->jwks)
		return cli_complain(CLI_USAGE, "--token-life goes with --jwks");
	if (orders == 0 && !begins)
		return run_show(c, a);
	return run_order(c, a);
}

const struct cli_command cmd_secrets_rotate = {
	.name = "secrets rotate",
	.operands = "",
	.summary = "replace munge's key, or the key of slurm.jwks, by a new one",
	.about = "--plan shows the steps, burstd's and yours; --munge or --jwks begins; "
		 "nodes get the new key beside the old one, and with --switch all use "
		 "it.  You give the credential that may write the bundle, for this "
		 "rotation only: with Vault a wrapping token of a separate AppRole, on "
		 "standard input.  docs/secrets.md, \"Rotation\".",
	.example = "burstctl secrets rotate --plan",
	.opts = rotate_opts,
	.nopts = sizeof(rotate_opts) / sizeof(rotate_opts[0]),
	.initial = &rotate_initial,
	.size = sizeof(rotate_initial),
	.folds = true,
	.run = run_rotate,
};
