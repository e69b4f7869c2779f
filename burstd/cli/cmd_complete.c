/* Prints what could come next on a command line, for the shells' completion.  It uses the tables of
 * the parser, so that nothing can be missing. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/paths.h"
#include "cli/cli.h"
#include "core/conf.h"
#include "core/conf_option.h"
#include "core/node.h"
#include "core/reclaim.h"
#include "io/conf_file.h"
#include "providers/options.h"

enum {
	ASK_MS = 300,      /* a user waits with a finger on the key */
	PATIENCE_MS = 500, /* for all pages together; what has come until then is shown */
	WORDS_MAX = 256,
};

struct line {                              /* what stands before the word that is being typed */
	const struct cli_command *command; /* NULL: not named yet */
	char *names[2];                    /* the first words that are no options */
	int nnames;
	int operands;              /* of the command */
	const char *last;          /* the last of those */
	const struct opt *pending; /* the word is the value of this option */
	bool only_operands;        /* "--" was there */
};

struct typed {
	const struct cli *c;
	const char *lead; /* stays before each answer: "--pool=", "h100-1," */
	size_t lead_len;
	const char *word; /* what is to be completed */
};

static void offer(const struct typed *t, const char *answer)
{
	if (strncmp(answer, t->word, strlen(t->word)) == 0)
		(void)fprintf(t->c->out.f, "%.*s%s\n", (int)t->lead_len, t->lead, answer);
}

/* --- values ------------------------------------------------------------------------------------
 */

static void offer_states(const struct typed *t)
{
	offer(t, "none");
	for (int s = 0; s < NODE_NSTATES; s++)
		offer(t, node_state_str((enum node_state)s));
}

static void offer_kinds(const struct typed *t)
{
	for (int k = 0; k < PROVIDER_NNOTICES; k++)
		offer(t, reclaim_kind_str((enum provider_notice_kind)k));
}

static void offer_fabrics(const struct typed *t)
{
	static const char *const words[] = {"ib", "roce", "efa", "gib"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		offer(t, words[i]);
}

static void offer_names(const struct typed *t, const json_t *r, const char *list)
{
	const json_t *one;

	for (size_t i = 0; (one = cli_row(r, list, i)) != NULL; i++)
		offer(t, cli_text(one, "name"));
}

static void offer_pools(const struct typed *t, bool providers)
{
	struct cli quick = *t->c;
	struct err e;
	json_t *r;

	quick.timeout_ms = ASK_MS;
	if (cli_ask(&quick, json_pack("{s:s}", "op", "status"), &r, &e) != CLI_OK)
		return;
	offer_names(t, r, "pools");
	if (providers)
		offer_names(t, r, "providers");
	json_decref(r);
}

/* Whoever names one may have just written it into the file, and burstd need not run. */
static void offer_providers(const struct typed *t)
{
	struct cli quick = *t->c;
	struct conf *conf;
	struct err e;
	json_t *r;

	quick.timeout_ms = ASK_MS;
	if (cli_ask(&quick, json_pack("{s:s}", "op", "status"), &r, &e) == CLI_OK) {
		offer_names(t, r, "providers");
		json_decref(r);
	} else if (conf_file_load(&conf, PATHS_CONF, provider_options, &e) == 0) {
		for (size_t i = 0; i < conf->nproviders; i++)
			offer(t, conf->providers[i].name);
		conf_free(conf);
	}
}

static void offer_nodes(const struct typed *t)
{
	struct cli quick = *t->c;
	int64_t until = clock_boot_ms() + PATIENCE_MS;
	char *after = mem_strdup("");
	bool more = true;

	quick.timeout_ms = ASK_MS;
	while (more && clock_boot_ms() < until) {
		const json_t *node;
		struct err e;
		json_t *r;

		if (cli_ask(&quick, json_pack("{s:s, s:s}", "op", "nodes", "after", after), &r,
			    &e) != CLI_OK)
			break;
		for (size_t i = 0; (node = cli_row(r, "nodes", i)) != NULL; i++)
			offer(t, cli_text(node, "name"));
		free(after);
		after = mem_strdup(cli_text(r, "next"));
		more = after[0] != '\0';
		json_decref(r);
	}
	free(after);
}

/* Those of the first page that the user may see; a budget of each user has many lines. */
static void offer_budgets(const struct typed *t)
{
	struct cli quick = *t->c;
	const char *last = "";
	const json_t *b;
	struct err e;
	json_t *r;

	quick.timeout_ms = ASK_MS;
	if (cli_ask(&quick, json_pack("{s:s}", "op", "budgets"), &r, &e) != CLI_OK)
		return;
	for (size_t i = 0; (b = cli_row(r, "budgets", i)) != NULL; i++) {
		if (strcmp(cli_text(b, "name"), last) != 0)
			offer(t, cli_text(b, "name"));
		last = cli_text(b, "name");
	}
	json_decref(r);
}

static void offer_alerts(const struct typed *t)
{
	struct cli quick = *t->c;
	struct err e;
	json_t *r;

	quick.timeout_ms = ASK_MS;
	if (cli_ask(&quick, json_pack("{s:s, s:i}", "op", "alerts", "count", 0), &r, &e) != CLI_OK)
		return;
	offer_names(t, r, "receivers");
	json_decref(r);
}

/* In "h100-1,h1" the last name is being typed; within brackets only the user knows. */
static void offer_node_list(struct typed t)
{
	const char *comma = strrchr(t.word, ',');

	if (strrchr(t.word, '[') > strrchr(t.word, ']'))
		return;
	if (comma != NULL) {
		t.lead_len += (size_t)(comma + 1 - t.word);
		t.word = comma + 1;
	}
	offer_nodes(&t);
}

/* In "account,cl" the last word is being typed. */
static void offer_keys(struct typed t)
{
	static const char *const words[] = {"account",  "user",   "partition", "qos",  "wckey",
					    "provider", "market", "pool",      "type", "class",
					    "day",      "month",  "job",       "node"};
	const char *comma = strrchr(t.word, ',');

	if (comma != NULL) {
		t.lead_len += (size_t)(comma + 1 - t.word);
		t.word = comma + 1;
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		offer(&t, words[i]);
}

/* "nodes=", of the sections that init writes. */
static void offer_settings(const struct typed *t)
{
	for (size_t i = 0; i < conf_noptions; i++) {
		const char *section = conf_options[i].section;
		char word[64];

		if (section[0] != '\0' && strcmp(section, "provider") != 0 &&
		    strcmp(section, "pool") != 0)
			continue;
		(void)snprintf(word, sizeof(word), "%s=", conf_options[i].name);
		offer(t, word);
	}
}

static bool is_one_of(const char *kind, size_t n, const char *name)
{
	return strlen(name) == n && strncmp(kind, name, n) == 0;
}

/* kind: the value's name in --help.  The shell itself knows files better. */
static void offer_values(const struct typed *t, const char *kind, size_t n)
{
	if (is_one_of(kind, n, "FILE") || is_one_of(kind, n, "PATH"))
		(void)fputs("@files\n", t->c->out.f);
	else if (is_one_of(kind, n, "POOL"))
		offer_pools(t, false);
	else if (is_one_of(kind, n, "BUDGET"))
		offer_budgets(t);
	else if (is_one_of(kind, n, "ALERT"))
		offer_alerts(t);
	else if (is_one_of(kind, n, "STATE"))
		offer_states(t);
	else if (is_one_of(kind, n, "KIND"))
		offer_kinds(t);
	else if (is_one_of(kind, n, "FABRIC"))
		offer_fabrics(t);
	else if (is_one_of(kind, n, "KEYS"))
		offer_keys(*t);
	else if (is_one_of(kind, n, "NODE") || is_one_of(kind, n, "NAME"))
		offer_nodes(t);
	else if (is_one_of(kind, n, "NODES"))
		offer_node_list(*t);
	else if (is_one_of(kind, n, "OPTION=VALUE..."))
		offer_settings(t);
}

/* --- commands and options ----------------------------------------------------------------------
 */

/* The word of each command that follows `first` ("": the first word), once each. */
static void offer_commands(const struct typed *t, const char *first)
{
	size_t len = strlen(first);
	char last[64] = "";

	for (size_t i = 0; i < cli_ncommands; i++) {
		const char *name = cli_commands[i]->name;
		char word[64];

		if (cli_commands[i]->hidden ||
		    (len > 0 && (strncmp(name, first, len) != 0 || name[len] != ' ')))
			continue;
		(void)snprintf(word, sizeof(word), "%s", name + (len > 0 ? len + 1 : 0));
		word[strcspn(word, " ")] = '\0';
		if (strcmp(word, last) != 0)
			offer(t, word);
		memcpy(last, word, sizeof(last));
	}
	if (strcmp(first, "node") == 0) /* "node NAME" is "node show NAME" */
		offer_nodes(t);
}

static void offer_table(const struct typed *t, const struct opt *opts, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char word[64];

		(void)snprintf(word, sizeof(word), "--%s", opts[i].name);
		offer(t, word);
	}
}

static const struct opt *find_in(const struct opt *opts, size_t n, const char *word)
{
	size_t len = strcspn(word + 2, "=");

	for (size_t i = 0; i < n; i++) {
		if (word[1] == '-' && strlen(opts[i].name) == len &&
		    strncmp(opts[i].name, word + 2, len) == 0)
			return &opts[i];
		if (word[1] != '-' && word[2] == '\0' && opts[i].letter == word[1])
			return &opts[i];
	}
	return NULL;
}

static const struct opt *find_option(const struct line *l, const char *word)
{
	const struct opt *o = find_in(cli_globals, cli_nglobals, word);

	if (o == NULL && l->command != NULL)
		o = find_in(l->command->opts, l->command->nopts, word);
	return o;
}

/* --- the line ----------------------------------------------------------------------------------
 */

static void take_operand(struct line *l, char *word)
{
	int used;

	l->last = word;
	/* A command of one word may begin the name of another. */
	if (l->nnames == 2 || (l->command != NULL && l->command->max > 0)) {
		l->operands += l->command != NULL;
		return;
	}
	l->names[l->nnames++] = word;
	l->command = cli_find(l->names, l->nnames, &used);
	if (l->command != NULL)
		l->operands = l->nnames - used;
}

static void take(struct line *l, char *word)
{
	if (l->pending != NULL) {
		l->pending = NULL;
	} else if (!l->only_operands && strcmp(word, "--") == 0) {
		l->only_operands = true;
	} else if (l->only_operands || word[0] != '-' || word[1] == '\0') {
		take_operand(l, word);
	} else {
		const struct opt *o = find_option(l, word);

		l->pending = o != NULL && o->arg != NULL && strchr(word, '=') == NULL ? o : NULL;
	}
}

/* What --help calls the operand in hand: "NODES" of "NODES | --all". */
static void offer_operand(const struct typed *t, const struct line *l)
{
	const char *p = l->command->operands + strspn(l->command->operands, "[");
	size_t n = strcspn(p, " ]");

	if (l->operands < l->command->max && is_one_of(p, n, "COMMAND"))
		offer_commands(t, l->operands > 0 ? l->last : "");
	else if (l->operands < l->command->max && strcmp(p, "POOL | PROVIDER]") == 0)
		offer_pools(t, true);
	else if (l->operands == 0 && is_one_of(p, n, "PROVIDER"))
		offer_providers(t);
	else if (l->operands == 1 && is_one_of(p, n, "PROVIDER"))
		offer_values(t, "FILE", 4);
	else if (l->operands < l->command->max)
		offer_values(t, p, n);
}

static void offer_option(const struct typed *t, const struct line *l)
{
	const char *equals = strchr(t->word, '=');
	const struct opt *o = equals != NULL ? find_option(l, t->word) : NULL;
	struct typed value = {t->c, t->word, equals != NULL ? (size_t)(equals + 1 - t->word) : 0,
			      equals != NULL ? equals + 1 : ""};

	if (o != NULL && o->arg != NULL) {
		offer_values(&value, o->arg, strlen(o->arg));
	} else if (equals == NULL) {
		offer_table(t, cli_globals, cli_nglobals);
		if (l->command != NULL)
			offer_table(t, l->command->opts, l->command->nopts);
	}
}

static int run_complete(const struct cli *c, const void *args, char **operands)
{
	struct line l = {0};
	struct typed t = {c, "", 0, ""};
	int n = 0;

	(void)args;
	while (operands[n] != NULL)
		n++;
	for (int i = 0; i + 1 < n; i++)
		take(&l, operands[i]);
	if (n > 0)
		t.word = t.lead = operands[n - 1];
	if (l.pending != NULL)
		offer_values(&t, l.pending->arg, strlen(l.pending->arg));
	else if (!l.only_operands && t.word[0] == '-')
		offer_option(&t, &l);
	else if (l.command != NULL)
		offer_operand(&t, &l);
	if (l.pending == NULL && (l.only_operands || t.word[0] != '-') &&
	    (l.command == NULL || (l.nnames == 1 && l.operands == 0)))
		offer_commands(&t, l.nnames > 0 ? l.names[0] : "");
	return CLI_OK;
}

const struct cli_command cmd_complete = {
	.name = "complete",
	.operands = "[WORD...]",
	.max = WORDS_MAX,
	.local = true,
	.hidden = true,
	.summary = "print the possible next words of a command line, for the completion of shells",
	.about = "The words are those after burstctl; the last one is being typed, and "
		 "may be empty.\nPut -- before them.  \"@files\" stands for file names.",
	.example = "burstctl complete -- node sh",
	.run = run_complete,
};
