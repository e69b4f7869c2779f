#include "cli/first_conf.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "core/conf.h"
#include "providers/options.h"

enum { WIDTH = 16 }; /* of an option's name in the file, at least */

static const char *value_of(const char *word)
{
	return strchr(word, '=') + 1;
}

/* --- which option is meant -----------------------------------------------------------------------
 */

struct name { /* [SECTION.]OPTION */
	char section[16], option[48];
};

static int split(struct name *n, const char *word, struct err *e)
{
	const char *end = strchr(word, '='),
		   *dot = end == NULL ? NULL : memchr(word, '.', (size_t)(end - word));
	const char *option = dot != NULL ? dot + 1 : word;

	*n = (struct name){.section = ""};
	if (end == NULL || end == option)
		return err_set(e, ERR_INVALID, "\"%.100s\": want OPTION=VALUE", word);
	if ((size_t)(option - word) > sizeof(n->section) ||
	    (size_t)(end - option) >= sizeof(n->option))
		return err_set(e, ERR_INVALID, "\"%.100s\": no such option", word);
	if (dot != NULL)
		memcpy(n->section, word, (size_t)(dot - word));
	memcpy(n->option, option, (size_t)(end - option));
	return 0;
}

/* Sections of which there may be several are for the admin to write. */
static bool is_served(const char *section)
{
	static const char *const served[] = {"", "slurm", "secrets", "nodes", "provider", "pool"};

	for (size_t i = 0; i < sizeof(served) / sizeof(served[0]); i++)
		if (strcmp(served[i], section) == 0)
			return true;
	return false;
}

static const struct conf_option *in_section(const struct first_conf *f, const char *section,
					    const char *option)
{
	const struct conf_option *o = conf_option_find(section, option);

	if (o == NULL && f->driver != NULL && strcmp(section, "provider") == 0)
		o = conf_option_of(f->driver, option);
	return o;
}

static int find_driver(struct first_conf *f, char **words, struct err *e)
{
	for (; *words != NULL; words++) {
		struct name n;

		if (split(&n, *words, e) != 0)
			return -1;
		if (strcmp(n.option, "driver") != 0 ||
		    (n.section[0] != '\0' && strcmp(n.section, "provider") != 0))
			continue;
		f->driver = conf_driver_find(provider_options, value_of(*words));
		if (f->driver == NULL)
			return err_set(e, ERR_INVALID, "there is no driver \"%.50s\"",
				       value_of(*words));
	}
	return 0;
}

static int add(struct first_conf *f, const struct conf_option *o, const char *word, struct err *e)
{
	if (o == conf_option_find("pool", "provider"))
		return err_set(e, ERR_INVALID, "provider: init names that section itself");
	if (first_conf_get(f, o->section, o->name) != NULL)
		return err_set(e, ERR_INVALID, "%s is given twice", o->name);
	if (f->n == FIRST_CONF_WORDS_MAX)
		return err_set(e, ERR_LIMIT, "more than %d options", FIRST_CONF_WORDS_MAX);
	f->options[f->n] = o;
	f->words[f->n++] = word;
	return 0;
}

static int take(struct first_conf *f, const char *word, struct err *e)
{
	static const char *const alone[] = {"", "provider", "pool"};
	const char *const *sections = alone;
	size_t n = sizeof(alone) / sizeof(alone[0]), found = 0;
	const char *named[1];
	struct name name;

	if (split(&name, word, e) != 0)
		return -1;
	if (name.section[0] != '\0') {
		named[0] = name.section;
		sections = named;
		n = is_served(name.section);
	}
	for (size_t i = 0; i < n; i++) {
		const struct conf_option *o = in_section(f, sections[i], name.option);

		/* `region` is for both, and `image` of a pool for those who have several. */
		if (o != NULL && found > 0 && strcmp(o->section, "pool") == 0 && !conf_is_place(o))
			continue;
		if (o != NULL && add(f, o, word, e) != 0)
			return -1;
		found += o != NULL;
	}
	if (found == 0)
		return err_set(
			e, ERR_INVALID, "%.*s: no such option%s; see burstctl config options",
			(int)strcspn(word, "="), word, f->driver != NULL ? "" : " without driver=");
	return 0;
}

int first_conf_init(struct first_conf *f, const char *pool, char **words, struct err *e)
{
	*f = (struct first_conf){.pool = pool};
	if (find_driver(f, words, e) != 0)
		return -1;
	for (; *words != NULL; words++)
		if (take(f, *words, e) != 0)
			return -1;
	return 0;
}

const char *first_conf_get(const struct first_conf *f, const char *section, const char *name)
{
	for (size_t i = 0; i < f->n; i++)
		if (strcmp(f->options[i]->section, section) == 0 &&
		    strcmp(f->options[i]->name, name) == 0)
			return value_of(f->words[i]);
	return NULL;
}

void first_conf_add(struct first_conf *f, const char *section, const char *name, const char *word)
{
	const struct conf_option *o = conf_option_find(section, name);

	assert(o != NULL && strchr(word, '=') != NULL && f->n < FIRST_CONF_WORDS_MAX);
	f->options[f->n] = o;
	f->words[f->n++] = word;
}

/* --- what must be given --------------------------------------------------------------------------
 */

static void look_for(const struct first_conf *f, const struct conf_option *o, bool needed,
		     first_conf_fn fn, void *ctx)
{
	if (needed && first_conf_get(f, o->section, o->name) == NULL)
		fn(ctx, o);
}

/* A pool without offers has a type and a region of its own; how many nodes it has is known. */
static bool is_needed(const struct conf_option *o)
{
	bool in_pool = strcmp(o->section, "pool") == 0;

	if (in_pool && (strcmp(o->name, "type") == 0 || strcmp(o->name, "region") == 0))
		return true;
	if (in_pool && strcmp(o->name, "max_nodes") == 0)
		return false;
	return o->initial == NULL &&
	       (in_pool || o->section[0] == '\0' || strcmp(o->section, "provider") == 0);
}

void first_conf_missing(const struct first_conf *f, first_conf_fn fn, void *ctx)
{
	for (size_t i = 0; i < conf_noptions; i++)
		look_for(f, &conf_options[i], is_needed(&conf_options[i]), fn, ctx);
	for (size_t i = 0; f->driver != NULL && i < f->driver->noptions; i++)
		look_for(f, &f->driver->options[i], is_needed(&f->driver->options[i]), fn, ctx);
}

/* --- the file ------------------------------------------------------------------------------------
 */

static void add_quoted(struct str *out, const char *text, size_t n)
{
	str_adds(out, "\"");
	for (size_t i = 0; i < n; i++)
		str_addf(out, "%s%c", text[i] == '"' || text[i] == '\\' ? "\\" : "", text[i]);
	str_adds(out, "\"");
}

/* A command is cut at blanks, other lists at commas. */
static void add_list(struct str *out, const struct conf_option *o, const char *text)
{
	const char *cut = o->type == CONF_ARGV || o->type == CONF_HOOK ? " " : ",";
	const char *between = "";

	str_adds(out, "{");
	while (*text != '\0') {
		size_t n = strcspn(text, cut);

		if (n > 0) {
			str_adds(out, between);
			add_quoted(out, text, n);
			between = ", ";
		}
		text += n + (text[n] != '\0');
	}
	str_adds(out, "}");
}

static void add_option(const struct conf_option *o, const char *value, const char *before,
		       struct str *out)
{
	str_addf(out, "%s%-*s = ", before, WIDTH, o->name);
	if (conf_option_is_list(o))
		add_list(out, o, value);
	else if (o->type == CONF_COUNT || o->type == CONF_YES)
		str_adds(out, value);
	else
		add_quoted(out, value, strlen(value));
	str_adds(out, "\n");
}

static bool any_of(const struct first_conf *f, const char *section)
{
	for (size_t i = 0; i < f->n; i++)
		if (strcmp(f->options[i]->section, section) == 0)
			return true;
	return false;
}

/* In the order of the tables, which is that of the manual, whatever that of the words is. */
static void add_given(const struct first_conf *f, const char *section,
		      const struct conf_option *options, size_t n, struct str *out)
{
	for (size_t i = 0; i < n; i++) {
		const struct conf_option *o = &options[i];
		const char *value = first_conf_get(f, o->section, o->name);

		if (value != NULL && strcmp(o->section, section) == 0)
			add_option(o, value, section[0] != '\0' ? "\t" : "", out);
	}
}

static void add_options(const struct first_conf *f, const char *section, struct str *out)
{
	add_given(f, section, conf_options, conf_noptions, out);
	add_given(f, section, f->driver->options, f->driver->noptions, out);
}

/* name: NULL for a section that has none. */
static void add_section(const struct first_conf *f, const char *section, const char *name,
			struct str *out)
{
	if (!any_of(f, section))
		return;
	str_addf(out, "\n%s ", section);
	if (name != NULL) {
		add_quoted(out, name, strlen(name));
		str_adds(out, " ");
	}
	str_adds(out, "{\n");
	if (strcmp(section, "pool") == 0)
		add_option(conf_option_find("pool", "provider"), f->driver->name, "\t", out);
	add_options(f, section, out);
	str_adds(out, "}\n");
}

void first_conf_write(const struct first_conf *f, struct str *out)
{
	assert(f->driver != NULL);
	str_adds(out,
		 "# Written by `burstctl init`.  burstd.conf(5) has all options, with offers, "
		 "budgets\n"
		 "# and alerts; `burstctl config check` looks at a change before it counts.\n");
	add_options(f, "", out);
	add_section(f, "slurm", NULL, out);
	add_section(f, "secrets", NULL, out);
	add_section(f, "nodes", NULL, out);
	add_section(f, "provider", f->driver->name, out);
	add_section(f, "pool", f->pool, out);
}
