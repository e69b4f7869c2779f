#include "ledger/complete.h"

#include <string.h>

#include "ledger/export.h"
#include "ledger/report.h"
#include "ledger/settings.h"

/* The values of options that have a few. */
static const struct {
	const char *option, *values;
} of_options[] = {{"focus", "1.2 1.4"},
		  {"view", "provider internal"},
		  {"format", "plain focus cur"},
		  {"shared", "even proportional none"},
		  {"allow", "unpriced unsettled unended quarantined"}};

struct typed {
	const char *const *names; /* of the commands */
	size_t nnames;
	const char *lead; /* stays before each answer: "--by=", "account," */
	size_t lead_len;
	const char *word; /* what is to be completed */
	struct str *out;
};

static void offer(const struct typed *t, const char *answer, size_t len)
{
	const size_t n = strlen(t->word);

	if (len >= n && strncmp(answer, t->word, n) == 0)
		str_addf(t->out, "%.*s%.*s\n", (int)t->lead_len, t->lead, (int)len, answer);
}

/* Each word of the list. */
static void offer_list(const struct typed *t, const char *list, const char *between)
{
	while (*list != '\0') {
		const size_t len = strcspn(list, between);

		offer(t, list, len);
		list += len + (list[len] != '\0');
	}
}

/* --- values ------------------------------------------------------------------------------------
 */

/* In "account,us" the last word is being typed. */
static void offer_keys(struct typed t)
{
	const char *comma = strrchr(t.word, ',');

	if (comma != NULL && t.lead_len == 0)
		t.lead = t.word;
	if (comma != NULL) {
		t.lead_len += (size_t)(comma + 1 - t.word);
		t.word = comma + 1;
	}
	for (int k = 0; k < REPORT_NKEYS; k++)
		if (k != REPORT_CURRENCY)
			offer(&t, report_key_str((enum report_key)k),
			      strlen(report_key_str((enum report_key)k)));
}

static void offer_forms(const struct typed *t)
{
	const char *form;

	for (size_t i = 0; (form = export_form_str(i)) != NULL; i++)
		offer(t, form, strlen(form));
}

static void offer_value(const struct typed *t, const struct opt *o)
{
	if (strcmp(o->arg, "FILE") == 0 || strcmp(o->arg, "PATH") == 0)
		str_adds(t->out, "@files\n"); /* the shell knows them better */
	else if (strcmp(o->name, "by") == 0)
		offer_keys(*t);
	for (size_t i = 0; i < sizeof(of_options) / sizeof(of_options[0]); i++)
		if (strcmp(o->name, of_options[i].option) == 0)
			offer_list(t, of_options[i].values, " ");
}

/* --- options -----------------------------------------------------------------------------------
 */

static bool is_word(const char *text, size_t len, const char *word)
{
	return strlen(word) == len && strncmp(text, word, len) == 0;
}

static bool is_command(const char *const *names, size_t n, const char *word, size_t len)
{
	for (size_t i = 0; i < n; i++)
		if (strcspn(names[i], " ") == len && strncmp(names[i], word, len) == 0)
			return true;
	return false;
}

bool complete_is_for(const char *const *names, size_t nnames, const struct opt *o,
		     const char *command)
{
	const size_t head = strcspn(o->help, ":");

	if (command == NULL || o->help[head] == '\0' ||
	    !is_command(names, nnames, o->help, strcspn(o->help, " ,:")))
		return true;
	for (size_t at = 0; at < head; at += strspn(o->help + at, " ,")) {
		const size_t len = strcspn(o->help + at, " ,:");

		if (is_word(o->help + at, len, command))
			return true;
		at += len;
	}
	return false;
}

static const struct opt *find_option(const char *word)
{
	const size_t len = strcspn(word, "=");

	for (size_t i = 0; i < settings_noptions; i++) {
		const struct opt *o = &settings_options[i];

		if (strncmp(word, "--", 2) == 0 ? is_word(word + 2, len - 2, o->name)
						: word[0] == '-' && word[1] == o->letter &&
							  word[1] != '\0' && word[2] == '\0')
			return o;
	}
	return NULL;
}

static void offer_options(const struct typed *t, const char *command)
{
	const char *equals = strchr(t->word, '=');
	const struct opt *o = equals != NULL ? find_option(t->word) : NULL;

	if (o != NULL && o->arg != NULL) {
		struct typed value = *t;

		value.lead = t->word;
		value.lead_len = (size_t)(equals + 1 - t->word);
		value.word = equals + 1;
		offer_value(&value, o);
	}
	for (size_t i = 0; equals == NULL && i < settings_noptions; i++) {
		struct str s;

		if (!complete_is_for(t->names, t->nnames, &settings_options[i], command))
			continue;
		str_init(&s, 64);
		str_addf(&s, "--%s", settings_options[i].name);
		offer(t, s.p, s.len);
		str_fini(&s);
	}
}

/* --- operands ----------------------------------------------------------------------------------
 */

/* The first word of each command, once. */
static void offer_commands(const struct typed *t)
{
	for (size_t i = 0; i < t->nnames; i++) {
		const size_t len = strcspn(t->names[i], " ");
		size_t k = 0;

		while (strncmp(t->names[k], t->names[i], len) != 0 ||
		       strcspn(t->names[k], " ") != len)
			k++;
		if (k == i)
			offer(t, t->names[i], len);
	}
}

/* What follows the command's word: "draft|close MONTH", "FORM", "--check". */
static void offer_operand(const struct typed *t, const char *rest)
{
	while (*rest != '\0') {
		const size_t len = strcspn(rest, "|"), word = strcspn(rest, " |");

		if (is_word(rest, word, "FORM"))
			offer_forms(t);
		else if (is_word(rest, word, "FILE"))
			str_adds(t->out, "@files\n");
		else if (*rest >= 'a' && *rest <= 'z')
			offer(t, rest, word);
		rest += len + (rest[len] != '\0');
	}
}

/* noperands: of them there are so many already; first: the first of these. */
static void offer_operands(const struct typed *t, const char *command, size_t noperands,
			   const char *first)
{
	for (size_t i = 0; i < t->nnames; i++) {
		const char *rest = t->names[i] + strcspn(t->names[i], " ");

		if (!is_word(t->names[i], (size_t)(rest - t->names[i]), command))
			continue;
		rest += strspn(rest, " ");
		/* "import FILE": behind a word of its own a command may have a file. */
		if (noperands == 0)
			offer_operand(t, rest);
		else if (noperands == 1 && is_word(rest, strcspn(rest, " "), first) &&
			 strstr(rest, " FILE") != NULL)
			str_adds(t->out, "@files\n");
	}
}

void complete_words(const char *const *names, size_t nnames, char *const *words, size_t nwords,
		    struct str *out)
{
	struct typed t = {names, nnames, "", 0, nwords > 0 ? words[nwords - 1] : "", out};
	const struct opt *pending = NULL;
	const char *command = NULL, *first = NULL;
	size_t operands = 0;

	for (size_t i = 0; i + 1 < nwords; i++) {
		const struct opt *o = pending == NULL ? find_option(words[i]) : NULL;

		if (pending == NULL && words[i][0] != '-' && command != NULL)
			first = operands++ == 0 ? words[i] : first;
		else if (pending == NULL && words[i][0] != '-')
			command = words[i];
		pending = o != NULL && o->arg != NULL && strchr(words[i], '=') == NULL ? o : NULL;
	}
	if (pending != NULL)
		offer_value(&t, pending);
	else if (t.word[0] == '-')
		offer_options(&t, command);
	else if (command == NULL)
		offer_commands(&t);
	else
		offer_operands(&t, command, operands, first);
}
