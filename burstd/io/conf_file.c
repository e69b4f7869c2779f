#include "io/conf_file.h"

#include <assert.h>
#include <confuse.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/paths.h"
#include "core/conf_option.h"
#include "core/conf_text.h"

/* libconfuse's callbacks take no argument of ours.  Every section carries an option that no text
 * can set (it has neither a parser nor a printable name) and that points to the loader. */
static char loader_option[] = "\001loader";

struct loader {
	const char *name; /* of the file, for messages */
	struct conf *conf;
	struct err *e;
	bool failed;                /* *e is set; the first error is the one that counts */
	bool slurm, secrets, nodes; /* these sections were there */
	int lines[192]; /* of each option of conf_options in the present sections; 0: not given */
	struct conf_offer *offers; /* of the pool that is being read */
	size_t noffers;
};

static void fail(struct loader *l, int line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void fail(struct loader *l, int line, const char *fmt, ...)
{
	char text[200];
	va_list ap;

	if (l->failed)
		return;
	l->failed = true;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	(void)err_set(l->e, ERR_INVALID, "%.120s:%d: %s", l->name, line > 0 ? line : 1, text);
}

static const char *section_of(const cfg_t *cfg)
{
	return strcmp(cfg->name, "root") == 0 ? "" : cfg->name;
}

static struct loader *loader_of(const cfg_t *cfg)
{
	for (const cfg_opt_t *o = cfg->opts; o->name != NULL; o++)
		if (strcmp(o->name, loader_option) == 0)
			return (struct loader *)(void *)o->simple_value.ptr;
	abort(); /* every section is made by add_options() */
}

static void on_error(cfg_t *cfg, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));

static void unknown_option(cfg_t *cfg, const char *name)
{
	const char *section = section_of(cfg);

	fail(loader_of(cfg), cfg->line, "no such option \"%.40s\" %s%s; did you mean \"%s\"?", name,
	     section[0] == '\0'                       ? "outside the sections"
	     : section[0] == 'o'                      ? "in an "
	     : section[1] == 'e' || section[0] == 'n' ? "in "
						      : "in a ",
	     section, conf_option_nearest(section, name));
}

static void offer_twice(struct loader *l, int line, const char *title)
{
	int first = 1;

	for (size_t i = 0; i < l->noffers; i++)
		if (strcmp(l->offers[i].name, title) == 0)
			first = l->offers[i].line;
	fail(l, line, "offer \"%.60s\" is there twice; the first ends in line %d", title, first);
}

/* libconfuse does not say of which kind the section is: there may be both with that title. */
static void title_twice(cfg_t *cfg, const char *title)
{
	struct loader *l = loader_of(cfg);
	const struct conf_pool *pool = conf_pool_named(l->conf, title);
	const struct conf_provider *p = NULL;

	for (size_t i = 0; i < l->conf->nproviders; i++)
		if (strcmp(l->conf->providers[i].name, title) == 0)
			p = &l->conf->providers[i];
	if (strcmp(section_of(cfg), "pool") == 0)
		offer_twice(l, cfg->line, title);
	else if (p != NULL && pool != NULL)
		fail(l, cfg->line, "this kind of section has the title \"%.60s\" already", title);
	else
		fail(l, cfg->line, "%s \"%.60s\" is there twice; the first ends in line %d",
		     p != NULL ? "provider" : "pool", title,
		     p != NULL      ? p->line
		     : pool != NULL ? pool->line
				    : 1);
}

static void no_title(cfg_t *cfg, const char *section)
{
	fail(loader_of(cfg), cfg->line, "%s has no title: want %s \"NAME\" { ... }", section,
	     section);
}

/* The parser's words are for programmers: say the common ones better. */
static void on_error(cfg_t *cfg, const char *fmt, va_list ap)
{
	static const struct {
		const char *begin;
		void (*say)(cfg_t *cfg, const char *word);
	} better[] = {
		{"no such option '", unknown_option},
		{"found duplicate title '", title_twice},
		{"missing title for section '", no_title},
	};
	char text[160];
	size_t n;

	(void)vsnprintf(text, sizeof(text), fmt, ap);
	n = strlen(text);
	for (size_t i = 0; i < sizeof(better) / sizeof(better[0]); i++) {
		size_t len = strlen(better[i].begin);

		if (n <= len || strncmp(text, better[i].begin, len) != 0 || text[n - 1] != '\'')
			continue;
		text[n - 1] = '\0';
		better[i].say(cfg, text + len);
		return;
	}
	fail(loader_of(cfg), cfg->line, "%s", text);
}

/* An option was read: note where.  def.number is its place in conf_options. */
static int on_option(cfg_t *cfg, cfg_opt_t *opt)
{
	struct loader *l = loader_of(cfg);
	const struct conf_option *o = &conf_options[opt->def.number];
	int *line = &l->lines[opt->def.number];

	if (strcmp(o->section, section_of(cfg)) != 0) /* written as "slurm|conf" = */
		fail(l, cfg->line, "%s belongs inside of its section", o->name);
	else if (*line != 0 && !conf_option_is_list(o))
		fail(l, cfg->line, "%s is there twice, first in line %d", o->name, *line);
	*line = cfg->line;
	return l->failed ? -1 : 0;
}

/* --- a section, once it is whole ---------------------------------------------------------------
 */

static int find_uid(const char *user, uint32_t *out)
{
	const struct passwd *pw;
	char *end;
	unsigned long v;

	if (user[0] >= '0' && user[0] <= '9') {
		errno = 0;
		v = strtoul(user, &end, 10);
		*out = (uint32_t)v;
		/* (uid_t)-1 is "no user" to the kernel. */
		return errno == 0 && *end == '\0' && v < UINT32_MAX ? 0 : -1;
	}
	pw = getpwnam(user);
	if (pw == NULL)
		return -1;
	*out = pw->pw_uid;
	return 0;
}

static void set_users(struct loader *l, cfg_opt_t *opt, int line)
{
	struct conf *c = l->conf;
	unsigned n = cfg_opt_size(opt);

	if (n == 0 || l->failed)
		return;
	if (n > CONF_ADMINS_MAX) {
		fail(l, line, "admins: more than %d", CONF_ADMINS_MAX);
		return;
	}
	c->admins = mem_zalloc(n * sizeof(*c->admins));
	for (unsigned i = 0; i < n; i++) {
		const char *user = cfg_opt_getnstr(opt, i);

		if (find_uid(user, &c->admins[c->nadmins++]) < 0)
			fail(l, line, "admins: there is no user \"%.60s\"", user);
	}
}

/* Name an option in a message: `pool "h100": max_nodes`. */
static const char *label(char *out, size_t size, const cfg_t *cfg, const char *option)
{
	if (cfg->title != NULL)
		(void)snprintf(out, size, "%s \"%.30s\": %s", cfg->name, cfg->title, option);
	else
		(void)snprintf(out, size, "%s", option);
	return out;
}

static void set_argv(struct loader *l, cfg_t *cfg, const struct conf_option *o, void *object)
{
	cfg_opt_t *opt = cfg_getopt(cfg, o->name);
	struct err why = {0};
	char name[128];

	for (unsigned i = 0; i < cfg_opt_size(opt) && !l->failed; i++)
		if (conf_option_add_arg(o, object, cfg_opt_getnstr(opt, i), &why) < 0)
			fail(l, l->lines[o - conf_options], "%s: %.140s",
			     label(name, sizeof(name), cfg, o->name), why.msg);
}

static void set_option(struct loader *l, cfg_t *cfg, const struct conf_option *o, void *object)
{
	cfg_opt_t *opt = cfg_getopt(cfg, o->name);
	int line = l->lines[o - conf_options];
	const char *text = cfg_opt_size(opt) > 0 ? cfg_opt_getnstr(opt, 0) : o->initial;
	struct err why = {0};
	char name[128];

	if (o->type == CONF_USERS)
		set_users(l, opt, line);
	else if (conf_option_is_list(o))
		set_argv(l, cfg, o, object);
	else if (text == NULL)
		fail(l, cfg->line, "%s is missing (%s)", label(name, sizeof(name), cfg, o->name),
		     o->help);
	else if (conf_option_set(o, object, text, &why) < 0)
		fail(l, line, "%s: %.140s", label(name, sizeof(name), cfg, o->name), why.msg);
}

/* Give the options of a section their values, and forget its lines. */
static int set_section(struct loader *l, cfg_t *cfg, void *object)
{
	for (size_t i = 0; i < conf_noptions; i++) {
		if (strcmp(conf_options[i].section, section_of(cfg)) != 0)
			continue;
		set_option(l, cfg, &conf_options[i], object);
		l->lines[i] = 0;
	}
	return l->failed ? -1 : 0;
}

static int line_of(const struct loader *l, const char *section, const char *name)
{
	return l->lines[conf_option_find(section, name) - conf_options];
}

static int check_title(struct loader *l, const cfg_t *cfg)
{
	if (!conf_text_is_name(cfg->title))
		fail(l, cfg->line,
		     "%s \"%.40s\": want a name: letters, digits, '-', '_' and '.', at most %d",
		     cfg->name, cfg->title, PROVIDER_WORD_MAX);
	return l->failed ? -1 : 0;
}

static int on_slurm(cfg_t *cfg, cfg_opt_t *opt)
{
	struct loader *l = loader_of(cfg);

	(void)opt;
	if (l->slurm)
		fail(l, cfg->line, "slurm is there twice");
	l->slurm = true;
	return l->failed ? -1 : 0;
}

static int on_secrets(cfg_t *cfg, cfg_opt_t *opt)
{
	struct loader *l = loader_of(cfg);
	size_t k = 0;

	if (l->secrets)
		fail(l, cfg->line, "secrets is there twice");
	l->secrets = true;
	l->conf->secrets.line = cfg_opt_getnsec(opt, 0)->line;
	for (size_t i = 0; i < conf_noptions; i++)
		if (strcmp(conf_options[i].section, "secrets") == 0) {
			assert(k < CONF_SECRETS_MAX);
			l->conf->secrets.lines[k++] = l->lines[i];
		}
	return l->failed ? -1 : 0;
}

static int on_nodes(cfg_t *cfg, cfg_opt_t *opt)
{
	struct loader *l = loader_of(cfg);

	if (l->nodes)
		fail(l, cfg->line, "nodes is there twice");
	l->nodes = true;
	l->conf->nodes.line = cfg_opt_getnsec(opt, 0)->line;
	return l->failed ? -1 : 0;
}

static int on_provider(cfg_t *cfg, cfg_opt_t *opt)
{
	struct loader *l = loader_of(cfg);
	struct conf *c = l->conf;
	cfg_t *section = cfg_opt_getnsec(opt, cfg_opt_size(opt) - 1);
	struct conf_provider *p;

	if (check_title(l, section) < 0)
		return -1;
	c->providers = mem_realloc(c->providers, (c->nproviders + 1) * sizeof(*p));
	p = &c->providers[c->nproviders++];
	*p = (struct conf_provider){.name = mem_strdup(section->title),
				    .line = section->line,
				    .driver_line = line_of(l, "provider", "driver"),
				    .credential_line = line_of(l, "provider", "credential_file"),
				    .ca_line = line_of(l, "provider", "ca_file")};
	return set_section(l, section, p);
}

static void drop_offers(struct loader *l)
{
	for (size_t i = 0; i < l->noffers; i++) {
		for (size_t k = 0; k < conf_noptions; k++)
			if (strcmp(conf_options[k].section, "offer") == 0)
				conf_option_fini(&conf_options[k], &l->offers[i]);
		free(l->offers[i].name);
	}
	free(l->offers);
	l->offers = NULL;
	l->noffers = 0;
}

/* It is whole before its pool is. */
static int on_offer(cfg_t *cfg, cfg_opt_t *opt)
{
	struct loader *l = loader_of(cfg);
	cfg_t *section = cfg_opt_getnsec(opt, cfg_opt_size(opt) - 1);
	struct conf_offer *o;

	if (check_title(l, section) < 0)
		return -1;
	l->offers = mem_realloc(l->offers, (l->noffers + 1) * sizeof(*o));
	o = &l->offers[l->noffers++];
	*o = (struct conf_offer){.name = mem_strdup(section->title),
				 .line = section->line,
				 .provider_line = line_of(l, "offer", "provider")};
	return set_section(l, section, o);
}

/* The first option of the pool that is being read that says where to buy. */
static int place_line(const struct loader *l)
{
	int first = 0;

	for (size_t i = 0; i < conf_noptions; i++)
		if (conf_is_place(&conf_options[i]) && l->lines[i] != 0 &&
		    (first == 0 || l->lines[i] < first))
			first = l->lines[i];
	return first;
}

static int on_pool(cfg_t *cfg, cfg_opt_t *opt)
{
	struct loader *l = loader_of(cfg);
	struct conf *c = l->conf;
	cfg_t *section = cfg_opt_getnsec(opt, cfg_opt_size(opt) - 1);
	struct conf_pool *p;

	if (check_title(l, section) < 0)
		return -1;
	c->pools = mem_realloc(c->pools, (c->npools + 1) * sizeof(*p));
	p = &c->pools[c->npools++];
	*p = (struct conf_pool){.name = mem_strdup(section->title),
				.line = section->line,
				.nodes_line = line_of(l, "pool", "nodes"),
				.provider_line = line_of(l, "pool", "provider"),
				.place_line = place_line(l),
				.offers = l->offers,
				.noffers = l->noffers};
	l->offers = NULL;
	l->noffers = 0;
	return set_section(l, section, p);
}

/* --- the whole ---------------------------------------------------------------------------------
 */

/* The options of one section as libconfuse wants them: all are text, conf_option_set() knows
 * better. */
static size_t add_options(struct loader *l, const char *section, cfg_opt_t *out)
{
	size_t n = 0;

	out[n++] = (cfg_opt_t){
		.name = loader_option, .type = CFGT_PTR, .simple_value.ptr = (void **)(void *)l};
	for (size_t i = 0; i < conf_noptions; i++)
		if (strcmp(conf_options[i].section, section) == 0)
			out[n++] = (cfg_opt_t){
				.name = conf_options[i].name,
				.type = CFGT_STR,
				.flags = CFGF_NODEFAULT |
					 (conf_option_is_list(&conf_options[i]) ? CFGF_LIST : 0),
				.def.number = (long)i,
				.validcb = on_option};
	return n;
}

enum { SEC_TOP, SEC_SLURM, SEC_SECRETS, SEC_NODES, SEC_PROVIDER, SEC_POOL, SEC_OFFER, NSECTIONS };

static cfg_t *new_parser(struct loader *l)
{
	static const cfg_flag_t titled = CFGF_MULTI | CFGF_TITLE | CFGF_NO_TITLE_DUPES;
	const struct {
		const char *name;
		int parent; /* before it in this table */
		cfg_flag_t flags;
		cfg_validate_callback_t done;
	} sections[NSECTIONS] = {
		[SEC_TOP] = {"", 0, CFGF_NONE, NULL},
		[SEC_SLURM] = {"slurm", SEC_TOP, CFGF_NONE, on_slurm},
		[SEC_SECRETS] = {"secrets", SEC_TOP, CFGF_NONE, on_secrets},
		[SEC_NODES] = {"nodes", SEC_TOP, CFGF_NONE, on_nodes},
		[SEC_PROVIDER] = {"provider", SEC_TOP, titled, on_provider},
		[SEC_POOL] = {"pool", SEC_TOP, titled, on_pool},
		[SEC_OFFER] = {"offer", SEC_POOL, titled, on_offer},
	};
	const size_t most =
		conf_noptions + NSECTIONS + 2; /* the loader's own and the last, empty one */
	cfg_opt_t *opts[NSECTIONS];
	size_t n[NSECTIONS];
	cfg_t *cfg;

	for (int i = 0; i < NSECTIONS; i++) {
		int up = sections[i].parent;

		opts[i] = mem_zalloc(most * sizeof(*opts[i]));
		n[i] = add_options(l, sections[i].name, opts[i]);
		if (i != SEC_TOP)
			opts[up][n[up]++] = (cfg_opt_t){.name = sections[i].name,
							.type = CFGT_SEC,
							.flags = sections[i].flags,
							.subopts = opts[i],
							.validcb = sections[i].done};
	}
	cfg = mem_check(cfg_init(opts[SEC_TOP], CFGF_NONE)); /* copies them, with those below */
	(void)cfg_set_error_function(cfg, on_error);
	for (int i = 0; i < NSECTIONS; i++)
		free(opts[i]);
	return cfg;
}

/* libconfuse's lexer counts a line too many for each comment, takes no comment in a list, takes a
 * comment or a section that never ends, and replaces ${NAME} from the environment (then the file
 * would mean one thing to burstd and another to `burstctl config check`).  So comments are blanked
 * and the rest is refused before it sees the text. */
struct scan {
	struct loader *l;
	char *p;
	int line;
	int depth, opened; /* of braces; where the outermost is */
};

static void scan_blank(struct scan *s, size_t n)
{
	for (; n > 0; n--, s->p++) {
		if (*s->p == '\n')
			s->line++;
		else
			*s->p = ' ';
	}
}

static void scan_quoted(struct scan *s)
{
	char quote = *s->p++;

	for (; *s->p != quote; s->p++) {
		if (*s->p == '\\' && s->p[1] != '\n' && s->p[1] != '\0')
			s->p++;
		else if (*s->p == '\n' || *s->p == '\0') {
			fail(s->l, s->line, "a quote is not closed in its line");
			return;
		}
	}
	s->p++;
}

/* In an unquoted URL, "//" is no comment. */
static bool begins_token(const char *text, const char *p)
{
	return p == text || strchr(" \t\r\n={}()+,\"'", p[-1]) != NULL;
}

/* Of UTF-8: what word processors and web pages make of quotes. */
static bool is_curly(const char *p)
{
	static const char *const quotes[] = {"\xe2\x80\x98", "\xe2\x80\x99", "\xe2\x80\x9a",
					     "\xe2\x80\x9c", "\xe2\x80\x9d", "\xe2\x80\x9e",
					     "\xc2\xab",     "\xc2\xbb"};

	for (size_t i = 0; i < sizeof(quotes) / sizeof(quotes[0]); i++)
		if (strncmp(p, quotes[i], strlen(quotes[i])) == 0)
			return true;
	return false;
}

static void scan_char(struct scan *s)
{
	if (is_curly(s->p)) {
		fail(s->l, s->line, "a curly quote: write \" instead");
		return;
	}
	if (*s->p == '{' && s->depth++ == 0)
		s->opened = s->line;
	s->depth -= *s->p == '}';
	s->line += *s->p == '\n';
	s->p++;
}

static void scan_next(struct scan *s, const char *text)
{
	const char *end;

	if (*s->p == '"' || *s->p == '\'') {
		scan_quoted(s);
	} else if (*s->p == '#' || (strncmp(s->p, "//", 2) == 0 && begins_token(text, s->p))) {
		scan_blank(s, strcspn(s->p, "\n"));
	} else if (strncmp(s->p, "/*", 2) == 0) {
		end = strstr(s->p + 2, "*/");
		if (end == NULL)
			fail(s->l, s->line, "a comment is not closed");
		else
			scan_blank(s, (size_t)(end + 2 - s->p));
	} else {
		scan_char(s);
	}
}

static int clean_text(struct loader *l, char *text)
{
	struct scan s = {.l = l, .p = text, .line = 1};
	int line = 1;

	if (strncmp(text, "\xef\xbb\xbf", 3) == 0)
		fail(l, 1, "begins with a byte order mark (BOM): save the file without it");
	for (const char *p = text; *p != '\0' && !l->failed; p++) {
		if (*p == '\n')
			line++;
		else if (p[0] == '$' && p[1] == '{')
			fail(l, line,
			     "the environment is not looked at: write the value instead of ${...}");
		else if (((unsigned char)*p < ' ' && *p != '\t' && *p != '\r') || *p == 0x7f)
			fail(l, line, "a control byte");
	}
	while (*s.p != '\0' && !l->failed)
		scan_next(&s, text);
	if (s.depth > 0)
		fail(l, s.opened, "a brace is not closed");
	return l->failed ? -1 : 0;
}

/* Where a parser that gave no message stopped: sections have sections, two deep. */
static int last_line(cfg_t *cfg)
{
	int line = cfg->line;

	for (cfg_opt_t *o = cfg->opts; o->name != NULL; o++)
		for (unsigned i = 0; o->type == CFGT_SEC && i < cfg_opt_size(o); i++) {
			int below = last_line(cfg_opt_getnsec(o, i));

			line = below > line ? below : line;
		}
	return line;
}

static void parse(struct loader *l, char *text, size_t len)
{
	cfg_t *cfg = new_parser(l);
	char blank[] = " "; /* fmemopen() may refuse to open nothing */
	FILE *in = mem_check(fmemopen(len > 0 ? text : blank, len > 0 ? len : 1, "r"));

	if (cfg_parse_fp(cfg, in) != CFG_SUCCESS)
		fail(l, last_line(cfg), "syntax error");
	(void)fclose(in);
	l->conf->state_dir_line = line_of(l, "", "state_dir");
	l->conf->slurm_bin_line = line_of(l, "slurm", "bin_dir");
	l->conf->slurm_conf_line = line_of(l, "slurm", "conf");
	if (!l->failed && set_section(l, cfg, l->conf) == 0)
		if (set_section(l, cfg_getsec(cfg, "slurm"), l->conf) == 0 &&
		    set_section(l, cfg_getsec(cfg, "secrets"), l->conf) == 0)
			(void)set_section(l, cfg_getsec(cfg, "nodes"), l->conf);
	drop_offers(l); /* of a pool that did not end */
	(void)cfg_free(cfg);
}

int conf_file_parse(struct conf **out, const char *name, const char *text, struct err *e)
{
	struct loader l = {.name = name, .conf = conf_new(name), .e = e};
	size_t len = strnlen(text, CONF_FILE_MAX + 1);
	char *copy = mem_zalloc(len + 2);

	assert(conf_noptions <= sizeof(l.lines) / sizeof(l.lines[0]));
	*out = NULL;
	memcpy(copy, text, len);
	if (len > CONF_FILE_MAX)
		fail(&l, 1, "longer than %d bytes", CONF_FILE_MAX);
	else if (clean_text(&l, copy) == 0)
		parse(&l, copy, len);
	free(copy);
	if (l.failed || conf_finish(l.conf, e) < 0) {
		conf_free(l.conf);
		return -1;
	}
	*out = l.conf;
	return 0;
}

static int check_file(int fd, const char *path, struct err *e)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_set(e, ERR_IO, "%.150s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return err_set(e, ERR_AUTH, "%.150s: not a plain file", path);
	if (st.st_uid != 0 && st.st_uid != geteuid())
		return err_set(
			e, ERR_AUTH,
			"%.150s: belongs to uid %u: want it to be root's or our own (uid %u)", path,
			(unsigned)st.st_uid, (unsigned)geteuid());
	if ((st.st_mode & 022) != 0)
		return err_set(e, ERR_AUTH,
			       "%.150s: others than its owner may write it (mode %04o): chmod go-w",
			       path, (unsigned)st.st_mode & 07777);
	if (st.st_size > CONF_FILE_MAX)
		return err_set(e, ERR_LIMIT, "%.150s: longer than %d bytes", path, CONF_FILE_MAX);
	return 0;
}

static int read_all(int fd, char *buf, const char *path, struct err *e)
{
	size_t len = 0;
	ssize_t n;

	while ((n = read(fd, buf + len, CONF_FILE_MAX + 1 - len)) > 0)
		len += (size_t)n;
	if (n < 0)
		return err_set(e, ERR_IO, "%.150s: %s", path, strerror(errno));
	if (strncmp(buf, "\xff\xfe", 2) == 0 || strncmp(buf, "\xfe\xff", 2) == 0)
		return err_set(e, ERR_INVALID, "%.150s:1: is UTF-16: save the file as UTF-8", path);
	if (strlen(buf) != len)
		return err_set(e, ERR_INVALID, "%.150s: holds a zero byte", path);
	return 0;
}

/* What is in the file that this option names; once. */
static int load_text(char **out, const char *option, const char *path, struct err *e)
{
	int fd = -1, rc = 0;
	char *text = NULL;

	if (path == NULL || *out != NULL)
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return err_set(e, ERR_IO, "%s: %.150s: %s", option, path, strerror(errno));
	text = mem_zalloc(CONF_FILE_MAX + 2);
	rc = check_file(fd, path, e);
	if (rc == 0)
		rc = read_all(fd, text, path, e);
	if (rc == 0)
		*out = mem_strdup(text);
	else
		(void)err_wrap(e, "%s", option);
	free(text);
	(void)close(fd);
	return rc;
}

int conf_file_load_user_data(struct conf_provider *p, struct err *e)
{
	return load_text(&p->user_data, "user_data_file", p->user_data_file, e);
}

int conf_file_load_attest_ca(struct conf_provider *p, struct err *e)
{
	return load_text(&p->attest_ca, "attest_ca_file", p->attest_ca_file, e);
}

int conf_file_load_store_ca(const struct conf *c, char **out, struct err *e)
{
	*out = NULL;
	return load_text(out, "ca_file", c->secrets.ca_file, e);
}

int conf_file_load(struct conf **out, const char *path, struct err *e)
{
	/* O_NONBLOCK: a FIFO in its place must not hang us. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char *text = NULL;
	int rc = -1;

	*out = NULL;
	if (fd < 0 && errno == ENOENT && strcmp(path, PATHS_CONF) == 0)
		return err_set(e, ERR_IO,
			       "%s: %s; burstd looks nowhere else unless it is told: burstd "
			       "--config FILE, burstctl config check FILE, burstctl check FILE",
			       path, strerror(errno));
	if (fd < 0)
		return err_set(e, ERR_IO, "%.150s: %s", path, strerror(errno));
	if (check_file(fd, path, e) < 0)
		goto out;
	text = mem_zalloc(CONF_FILE_MAX + 2);
	if (read_all(fd, text, path, e) < 0)
		goto out;
	rc = conf_file_parse(out, path, text, e);
out:
	free(text);
	(void)close(fd);
	return rc;
}
