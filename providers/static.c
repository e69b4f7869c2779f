#include "providers/static.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

enum {
	CONCURRENCY_MAX = 32, /* io/proc.h runs at most 64 programs, scontrol among them */
	NUMBER_SIZE = 24,
	WORD_MAX = 128,           /* bytes of one word in a reply; an id is the longest */
	WORDS_MAX = 8,            /* words in one line */
	LIST_MAX = 1 << 17,       /* machines in one list */
	TAG_LEN = 8,              /* bytes of the cluster's uuid in an id */
	SLACK_MS = 15000,         /* burst-static's own time, on a slow disk */
	TOKEN_LIFE_MS = 86400000, /* any number will do: a record never expires */
};

struct machines { /* one provider section */
	char *program, *dir;
	char **on, **off, **status;
	uint32_t timeout_ms, jobs;
};

/* --- open, close ------------------------------------------------------------------------------ */

static char **copy_words(const char *const *words)
{
	size_t n = 0;
	char **out;

	while (words[n] != NULL)
		n++;
	out = mem_zalloc((n + 1) * sizeof(*out));
	for (size_t i = 0; i < n; i++)
		out[i] = mem_strdup(words[i]);
	return out;
}

static void free_words(char **words)
{
	for (size_t i = 0; words != NULL && words[i] != NULL; i++)
		free(words[i]);
	free(words);
}

/* Is the command set, and does it name the machine (%n or %a)? */
static bool names_node(const char *const *words)
{
	for (size_t i = 1; words != NULL && words[0] != NULL && words[i] != NULL; i++)
		for (const char *p = strchr(words[i], '%'); p != NULL; p = strchr(p + 2, '%'))
			if (p[1] == 'n' || p[1] == 'a')
				return true;
	return false;
}

static int check(const struct provider_conf *conf, const struct static_options *own, struct err *e)
{
	const struct {
		const char *name;
		const char *const *words;
	} commands[] = {{"on", own->on}, {"off", own->off}, {"status", own->status}};

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!names_node(commands[i].words))
			return err_set(e, ERR_INVALID,
				       "want %s = {\"/path/of/program\", ..., \"%%n\"}, where %%n "
				       "is the node's name",
				       commands[i].name);
	if (conf->url != NULL && conf->url[0] != '\0')
		return err_set(e, ERR_INVALID, "url: your own machines have no API");
	if (conf->credential != NULL)
		return err_set(e, ERR_INVALID,
			       "credential_file: name the file in the commands, which read it");
	if (own->records == NULL || own->program == NULL)
		return err_set(e, ERR_INVALID, "want records and program");
	if (conf->concurrency > CONCURRENCY_MAX)
		return err_set(e, ERR_INVALID, "concurrency: at most %d commands at a time",
			       CONCURRENCY_MAX);
	return 0;
}

static int static_open(void **self, const struct provider_conf *conf, struct err *e)
{
	static const struct static_options none;
	const struct static_options *own = conf->options != NULL ? conf->options : &none;
	struct machines *m;
	struct str dir;

	*self = NULL;
	if (check(conf, own, e) != 0)
		return -1;
	m = mem_zalloc(sizeof(*m));
	str_init(&dir, strlen(own->records) + strlen(conf->name) + 2);
	str_addf(&dir, "%s/%s", own->records, conf->name);
	m->dir = str_take(&dir);
	m->program = mem_strdup(own->program);
	m->on = copy_words(own->on);
	m->off = copy_words(own->off);
	m->status = copy_words(own->status);
	m->timeout_ms = conf->timeout_ms;
	m->jobs = conf->concurrency;
	*self = m;
	return 0;
}

static void static_close(void *self)
{
	struct machines *m = self;

	if (m == NULL)
		return;
	free(m->program);
	free(m->dir);
	free_words(m->on);
	free_words(m->off);
	free_words(m->status);
	free(m);
}

/* One machine per create and delete, so that a machine that does not answer holds up no other, and
 * `rate` and `concurrency` of the provider count machines. */
static struct provider_caps static_caps(const void *self)
{
	(void)self;
	return (struct provider_caps){
		.flags = PROVIDER_TOKENS | PROVIDER_TAGS | PROVIDER_MACHINES,
		.create_max = 1,
		.delete_max = 1,
		.token_ms = TOKEN_LIFE_MS,
	};
}

/* The machines are the admin's own, with their own disks; nobody bills them. */
static struct provider_terms static_terms(const void *self, const struct provider_place *place)
{
	(void)self;
	(void)place;
	return (struct provider_terms){.data = PROVIDER_DATA_NONE, .own_image = true};
}

/* --- requests --------------------------------------------------------------------------------- */

struct words { /* an argv while it grows */
	char **v;
	size_t n;
};

static void add(struct words *w, const char *text)
{
	w->v = mem_realloc(w->v, (w->n + 2) * sizeof(*w->v));
	w->v[w->n++] = mem_strdup(text);
	w->v[w->n] = NULL;
}

static void add_number(struct words *w, const char *option, size_t n)
{
	char text[NUMBER_SIZE];

	(void)snprintf(text, sizeof(text), "%zu", n);
	add(w, option);
	add(w, text);
}

static void add_command(struct words *w, const char *option, char *const *words)
{
	size_t n = 0;

	while (words[n] != NULL)
		n++;
	add_number(w, option, n);
	for (size_t i = 0; i < n; i++)
		add(w, words[i]);
}

static char **make_argv(const struct machines *m, const char *request)
{
	struct words w = {0};

	add(&w, m->program);
	add(&w, request);
	add(&w, "--dir");
	add(&w, m->dir);
	add_number(&w, "--timeout-ms", m->timeout_ms);
	add_number(&w, "--jobs", m->jobs);
	add_command(&w, "--on", m->on);
	add_command(&w, "--off", m->off);
	add_command(&w, "--status", m->status);
	return w.v;
}

/* Is it a cluster's uuid?  It must have the TAG_LEN bytes that an id takes of it. */
static bool is_cluster(const char *uuid)
{
	static const char plain[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "-";
	size_t n = strlen(uuid);

	return n >= TAG_LEN && n <= PROVIDER_WORD_MAX && uuid[strspn(uuid, plain)] == '\0';
}

static bool is_id(const char *id)
{
	size_t node = strcspn(id, ":");

	return node > 0 && node <= HOSTLIST_NAME_MAX && id[node] == ':' &&
	       strlen(id) <= PROVIDER_ID_MAX && strpbrk(id, " \t\r\n\\") == NULL;
}

/* The operation is in the body, not in argv: a repeat must have the same body (I4), while an admin
 * may correct the commands between two tries. */
static int add_body(const struct provider_op *op, struct str *body, struct err *e)
{
	const struct provider_create *c = &op->u.create;

	switch (op->kind) {
	case PROVIDER_CREATE:
		if (c->nwants != 1 || !hostlist_is_name(c->wants[0].node) ||
		    c->wants[0].gen > INT64_MAX || !is_cluster(c->cluster))
			return err_set(e, ERR_INVALID, "create: want one node with a plain name");
		if (c->place->market != PROVIDER_ON_DEMAND)
			return err_set(e, ERR_INVALID,
				       "your own machines are neither spot nor reserved");
		str_addf(body, "%s %s %" PRIu64 "\n", c->cluster, c->wants[0].node,
			 c->wants[0].gen);
		return 0;
	case PROVIDER_LIST:
		if (!is_cluster(op->u.list.cluster))
			return err_set(e, ERR_INVALID, "list: not a cluster's uuid");
		str_addf(body, "%s\n", op->u.list.cluster);
		return 0;
	case PROVIDER_DELETE:
		if (op->u.del.nids != 1 || !is_id(op->u.del.ids[0]))
			return err_set(e, ERR_INVALID, "delete: want one id of this provider");
		str_addf(body, "%s\n", op->u.del.ids[0]);
		return 0;
	case PROVIDER_QUOTES:
		return 0;
	case PROVIDER_LOGIN:
	case PROVIDER_NOTICES:
	case PROVIDER_REPORT:
	case PROVIDER_CONSOLE:
	case PROVIDER_TOPOLOGY:
	case PROVIDER_FABRIC_MAKE:
	case PROVIDER_FABRIC_LIST:
	case PROVIDER_FABRIC_DROP:
	case PROVIDER_STEP:
	case PROVIDER_NOPS:
		break;
	}
	return err_set(e, ERR_INVALID, "no such request");
}

/* A create waits for its turn at the machine, then at worst runs status, on, status, off, status; a
 * list reports the machines that are left as unknown after four deadlines of a command. */
static uint32_t deadline(const struct machines *m)
{
	return 7 * m->timeout_ms + SLACK_MS;
}

static int static_build(const void *self, const struct provider_op *op,
			struct provider_request *out, struct err *e)
{
	static const char *const requests[] = {
		[PROVIDER_CREATE] = "create", [PROVIDER_LIST] = "list",
		[PROVIDER_DELETE] = "delete", [PROVIDER_QUOTES] = "check",
		[PROVIDER_LOGIN] = "", /* never sent */
		[PROVIDER_NOTICES] = "",      [PROVIDER_FABRIC_MAKE] = "",
		[PROVIDER_FABRIC_LIST] = "",  [PROVIDER_FABRIC_DROP] = "",
		[PROVIDER_REPORT] = "",       [PROVIDER_CONSOLE] = "",
		[PROVIDER_TOPOLOGY] = ""};
	const struct machines *m = self;
	struct str body;

	assert((size_t)op->kind < sizeof(requests) / sizeof(requests[0]));
	str_init(&body, 512);
	if (add_body(op, &body, e) != 0) {
		str_fini(&body);
		return -1;
	}
	out->kind = PROVIDER_COMMAND;
	out->deadline_ms = deadline(m);
	out->argv = make_argv(m, requests[op->kind]);
	out->body_len = body.len;
	out->body = str_take(&body);
	return 0;
}

/* --- replies ---------------------------------------------------------------------------------- */

struct line { /* one line of a reply, split into words */
	char word[WORDS_MAX][WORD_MAX];
	int n;
	const char *rest; /* text after the first word; not NUL-terminated */
	size_t rest_len;
};

/* Split the line at *at and move *at past it.  Returns 0, with l->n 0 at the end; -1: malformed. */
static int next_line(const char **at, const char *end, struct line *l)
{
	const char *stop = *at < end ? memchr(*at, '\n', (size_t)(end - *at)) : NULL;
	const char *p = *at;

	l->n = 0;
	l->rest = NULL;
	l->rest_len = 0;
	if (p == end)
		return 0;
	if (stop == NULL)
		return -1;
	while (p < stop) {
		const char *space = memchr(p, ' ', (size_t)(stop - p));
		size_t len = (size_t)((space != NULL ? space : stop) - p);

		if (l->n < WORDS_MAX && len < WORD_MAX && memchr(p, '\0', len) == NULL) {
			memcpy(l->word[l->n], p, len);
			l->word[l->n++][len] = '\0';
		} else if (l->n == 0) {
			return -1;
		}
		p = space != NULL ? space + 1 : stop;
		if (l->rest == NULL) {
			l->rest = p;
			l->rest_len = (size_t)(stop - p);
		}
	}
	*at = stop + 1;
	return l->n > 0 ? 0 : -1;
}

/* Set the message for people and logs: one line of plain text. */
static void set_message(struct provider_result *out, const char *text, size_t len)
{
	size_t n = 0;

	for (; n < len && n < sizeof(out->message) - 1; n++)
		out->message[n] = text[n] >= ' ' && text[n] <= '~' ? text[n] : '?';
	out->message[n] = '\0';
}

static int read_number(const char *text, int64_t *out)
{
	*out = 0;
	if (text[0] == '\0' || strlen(text) > 18)
		return -1;
	for (; *text != '\0'; text++) {
		if (*text < '0' || *text > '9')
			return -1;
		*out = *out * 10 + (*text - '0');
	}
	return 0;
}

static void set_id(struct provider_instance *i)
{
	(void)snprintf(i->id, sizeof(i->id), "%s:%" PRIu64 ":%.8s", i->node, i->gen, i->cluster);
}

/* A machine that is up and has no address in its status is reached by its node name. */
static int set_addr(struct provider_instance *i, const char *addr, bool up)
{
	if (strcmp(addr, "-") == 0)
		addr = up && strlen(i->node) < sizeof(i->addr) ? i->node : "";
	if (strlen(addr) >= sizeof(i->addr))
		return -1;
	memcpy(i->addr, addr, strlen(addr) + 1);
	return 0;
}

/* --- replies to a create or delete: one line -------------------------------------------------- */

static int read_created(const struct provider_create *c, const struct line *l,
			struct provider_result *out)
{
	struct provider_instance *i;

	out->items = mem_zalloc(sizeof(*out->items));
	out->nitems = 1;
	i = &out->items[0].instance;
	(void)snprintf(i->cluster, sizeof(i->cluster), "%s", c->cluster);
	(void)snprintf(i->node, sizeof(i->node), "%s", c->wants[0].node);
	(void)snprintf(i->hostname, sizeof(i->hostname), "%s", c->wants[0].node);
	i->gen = c->wants[0].gen;
	i->state = PROVIDER_PENDING;
	set_id(i);
	if (l->n != 4 || strcmp(l->word[1], i->id) != 0 || set_addr(i, l->word[2], false) != 0)
		return -1;
	return read_number(l->word[3], &i->created_ms);
}

static int read_verdict(const struct line *l, struct provider_result *out)
{
	static const struct {
		const char *word;
		enum provider_code code;
	} words[] = {
		{"ok", PROVIDER_OK},
		{"capacity", PROVIDER_CAPACITY},
		{"not-found", PROVIDER_NOT_FOUND},
		{"conflict", PROVIDER_CONFLICT},
		{"not-yet", PROVIDER_NOT_YET},
		{"transient", PROVIDER_TRANSIENT},
		{"ambiguous", PROVIDER_AMBIGUOUS},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(words[i].word, l->word[0]) != 0)
			continue;
		out->code = words[i].code;
		if (out->code != PROVIDER_OK)
			set_message(out, l->rest, l->rest_len);
		return out->code != PROVIDER_NOT_YET || l->n < 2
			       ? 0
			       : read_number(l->word[1], &out->retry_after_ms);
	}
	return -1;
}

static int parse_one(const struct provider_op *op, const struct provider_reply *r,
		     struct provider_result *out)
{
	const char *at = r->body, *end = r->body + r->len;
	struct line l;

	if (next_line(&at, end, &l) != 0 || l.n == 0 || at != end || read_verdict(&l, out) != 0)
		return -1;
	if (out->code != PROVIDER_OK || op->kind == PROVIDER_QUOTES)
		return 0;
	if (op->kind == PROVIDER_CREATE)
		return read_created(&op->u.create, &l, out);
	out->items = mem_zalloc(sizeof(*out->items));
	out->nitems = 1;
	return 0;
}

/* --- replies to a list ------------------------------------------------------------------------ */

/* Returns -1 for an unknown word, which burst-static never sends. */
static int state_of(const char *word)
{
	static const char *const words[] = {
		[PROVIDER_UNKNOWN] = "unknown",   [PROVIDER_PENDING] = "pending",
		[PROVIDER_RUNNING] = "running",   [PROVIDER_RECLAIMING] = "",
		[PROVIDER_STOPPING] = "stopping", [PROVIDER_FAILED] = "failed",
		[PROVIDER_ENDED] = "ended",
	};

	for (int i = 0; i <= PROVIDER_ENDED; i++)
		if (words[i][0] != '\0' && strcmp(words[i], word) == 0)
			return i;
	return -1;
}

/* "instance NODE GENERATION CLUSTER STATE ADDRESS CREATED ENDED" */
static int read_instance(const struct line *l, struct provider_instance *i)
{
	int64_t gen;
	int state = l->n == 8 ? state_of(l->word[4]) : -1;

	if (state < 0 || !hostlist_is_name(l->word[1]) || read_number(l->word[2], &gen) != 0 ||
	    !is_cluster(l->word[3]) || read_number(l->word[6], &i->created_ms) != 0 ||
	    read_number(l->word[7], &i->ended_ms) != 0)
		return -1;
	memcpy(i->node, l->word[1], strlen(l->word[1]) + 1);
	memcpy(i->hostname, i->node, sizeof(i->node));
	memcpy(i->cluster, l->word[3], strlen(l->word[3]) + 1);
	i->gen = (uint64_t)gen;
	i->state = (enum provider_state)state;
	set_id(i);
	return set_addr(i, l->word[5], i->state == PROVIDER_RUNNING);
}

/* The last line has the number of lines before it, so that a truncated list is refused (I12). */
static int read_end(const struct line *l, size_t lines, const char *at, const char *end)
{
	int64_t n;

	return l->n == 2 && at == end && read_number(l->word[1], &n) == 0 && (size_t)n == lines
		       ? 0
		       : -1;
}

static int parse_list(const struct provider_reply *r, struct provider_result *out)
{
	const char *at = r->body, *end = r->body + r->len;
	struct line l;

	for (size_t lines = 0; lines <= LIST_MAX; lines++) {
		if (next_line(&at, end, &l) != 0 || l.n == 0)
			return -1;
		if (strcmp(l.word[0], "end") == 0)
			return read_end(&l, lines, at, end);
		if (strcmp(l.word[0], "instance") != 0) {
			/* "bad" or "transient": the unreadable record may be one of ours. */
			set_message(out, l.rest, l.rest_len);
			return -1;
		}
		if (l.n == 8 && strcmp(l.word[4], "absent") == 0)
			continue;
		if ((out->ninstances & (out->ninstances - 1)) == 0) /* full at each power of two */
			out->instances = mem_realloc(out->instances, (2 * out->ninstances +
								      1) * sizeof(*out->instances));
		out->instances[out->ninstances] = (struct provider_instance){0};
		if (read_instance(&l, &out->instances[out->ninstances++]) != 0)
			return -1;
	}
	return -1;
}

/* One offer for all machines, without a currency, at the lowest price: 0 would mean an unknown
 * price.  A pool's own `price` takes precedence. */
static void set_offer(struct provider_result *out)
{
	out->quotes = mem_zalloc(sizeof(*out->quotes));
	out->nquotes = 1;
	out->quotes[0].price_nano_h = 1;
}

static void static_parse(const void *self, const struct provider_op *op,
			 const struct provider_reply *r, struct provider_result *out)
{
	char text[64];
	int rc = -1;

	(void)self;
	if (r->status >= 0 && r->status <= 1 && r->body != NULL)
		rc = op->kind == PROVIDER_LIST ? parse_list(r, out) : parse_one(op, r, out);
	if (rc == 0) {
		if (op->kind == PROVIDER_QUOTES && out->code == PROVIDER_OK)
			set_offer(out);
		return;
	}
	(void)snprintf(text, sizeof(text), "burst-static: exit status %ld, no answer", r->status);
	if (out->message[0] == '\0')
		set_message(out, text, strlen(text));
	out->code = op->kind == PROVIDER_CREATE ? PROVIDER_AMBIGUOUS : PROVIDER_TRANSIENT;
	out->retry_after_ms = 0;
	free(out->items);
	out->items = NULL;
	out->nitems = 0;
	free(out->instances);
	out->instances = NULL;
	out->ninstances = 0;
}

const struct provider_ops provider_static = {
	.name = "static",
	.options = &static_options,
	.open = static_open,
	.close = static_close,
	.caps = static_caps,
	.terms = static_terms,
	.build = static_build,
	.parse = static_parse,
};
