/* ironic_list.c - a list: who an instance is, its allocation says; what it does, its machine.
 *
 * Ironic shows neither in the list of the other, so two lists are read side by side, both sorted by
 * the allocation's uuid: a page of machines, whose states go into the cursor, then the allocations
 * up to where that page ends, then the next page of machines.
 *
 *	GET /v1/nodes?associated=true&sort_key=instance_uuid&limit=30&marker=MACHINE
 *	GET /v1/allocations?sort_key=uuid&limit=500&marker=ALLOCATION
 *
 * The allocations alone say which instances there are: of one whose machine is missing (it came
 * between the two requests) only the state is not known.  A full page has a "next", and what that
 * leads to may be empty.
 *
 * An allocation whose machine has not been deployed is a create under way, which nobody else may
 * take for an instance: it is listed only if it has been so for long, and then as one that failed,
 * so that it is removed. */
#include "providers/ironic_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "providers/common/words.h"

enum {
	MACHINES = 30,       /* of a page: their states have to fit into a cursor */
	ALLOCATIONS = 500,   /* of a page; a server may give less */
	ROWS_MAX = 100000,   /* of a reply */
	KEY = 12,            /* last digits of a uuid: random, and enough to tell 30 apart */
	CREATE_MS = 1800000, /* the longest create (cloud/steps.c) */
};

enum state { /* of a machine with an instance; as letters, in a cursor */
	     FREE = 'u',
	     PENDING = 'p',
	     RUNNING = 'r',
	     FAILED = 'f',
	     STOPPING = 's',
	     OTHER = '?',
};

/* docs.openstack.org/ironic/latest/user/states.html.  In "error" it could not be undeployed. */
static const struct {
	const char *word;
	enum state state;
} states[] = {
	{"available", FREE},         {"manageable", FREE},      {"deploying", PENDING},
	{"wait call-back", PENDING}, {"deploy hold", PENDING},  {"rebuild", PENDING},
	{"active", RUNNING},         {"deploy failed", FAILED}, {"deleting", STOPPING},
	{"error", STOPPING},         {"cleaning", STOPPING},    {"clean wait", STOPPING},
	{"clean failed", STOPPING},
};

/* "n ALLOCATION MACHINE UUID": a page of machines; "a ALLOCATION MACHINE UUID", and a line for each
 * machine: one of allocations.  The last of each that was read, and the uuid up to which machines
 * were; "-" none, "~" all. */
struct place {
	char what, alloc[IRONIC_UUID_SIZE], node[IRONIC_UUID_SIZE], upto[IRONIC_UUID_SIZE];
	const char *lines; /* in the cursor; "x123456789abc DETAIL\n" */
};

static int read_place(const struct provider_op *op, struct place *at)
{
	const char *p = provider_cursor(op);

	*at = (struct place){.what = 'n', .lines = ""};
	if (p[0] == '\0')
		return 0;
	at->what = p[0];
	if ((at->what != 'n' && at->what != 'a') || p[1] != ' ')
		return -1;
	p += 2;
	if (!ironic_word(&p, ' ', at->alloc, sizeof(at->alloc)) ||
	    !ironic_word(&p, ' ', at->node, sizeof(at->node)) ||
	    !ironic_word(&p, '\n', at->upto, sizeof(at->upto)))
		return -1;
	at->lines = p;
	return 0;
}

static int go_on(const struct provider_op *op, struct provider_result *out, const struct place *at)
{
	struct str s;
	int rc;

	str_init(&s, PROVIDER_CURSOR_MAX);
	str_addf(&s, "%c %s %s %s\n%s", at->what, ironic_or_none(at->alloc),
		 ironic_or_none(at->node), ironic_or_none(at->upto), at->lines);
	rc = s.full ? -1 : rest_more(op, out, s.p);
	str_fini(&s);
	return rc;
}

/* --- requests ---------------------------------------------------------------------------------
 */

/* The member of a machine that the address is in. */
static void put_fields(const struct ironic *i, struct rest_call *c)
{
	char fields[160];

	(void)snprintf(fields, sizeof(fields),
		       "uuid,instance_uuid,provision_state,power_state,target_power_state,"
		       "last_error,%.*s",
		       (int)strcspn(i->address, "."), i->address);
	rest_query(c, "fields", fields);
}

int ironic_list_build(const struct ironic *i, const struct provider_op *op, struct rest_call *c,
		      struct err *e)
{
	bool machines;
	struct place at;
	const char *marker;

	if (read_place(op, &at) != 0)
		return err_set(e, ERR_INVALID, "list: unknown cursor");
	machines = at.what == 'n';
	marker = machines ? at.node : at.alloc;
	rest_begin(c, &i->rest, "GET", machines ? "/v1/nodes" : "/v1/allocations");
	if (machines) {
		rest_query(c, "associated", "true");
		put_fields(i, c);
	} else {
		rest_query(c, "fields", "uuid,name,state,last_error,created_at");
	}
	rest_query(c, "sort_key", machines ? "instance_uuid" : "uuid");
	rest_query_number(c, "limit", machines ? MACHINES : ALLOCATIONS);
	rest_query_given(c, "marker", marker);
	return 0;
}

/* --- machines ---------------------------------------------------------------------------------
 */

/* A machine that runs and is off has no job any more; on its way on again it is what it was. */
static enum state state_of(const struct doc_at *o)
{
	const char *word = doc_word(o, "provision_state");

	if (strcmp(word, "active") == 0 && strcmp(doc_word(o, "power_state"), "power off") == 0 &&
	    !doc_has(o, "target_power_state"))
		return STOPPING;
	for (size_t k = 0; k < sizeof(states) / sizeof(states[0]); k++)
		if (strcmp(states[k].word, word) == 0)
			return states[k].state;
	return OTHER;
}

static const char *key_of(const char *uuid)
{
	size_t n = strlen(uuid);

	return n > KEY ? uuid + n - KEY : uuid;
}

/* A line of the cursor.  room: for what is told besides, an address or an error. */
static void add_line(const struct ironic *i, const struct doc_at *o, const char *uuid, size_t room,
		     struct str *lines)
{
	const char *secrets[REST_SECRETS_MAX];
	char detail[160] = "";
	enum state state = state_of(o);
	const char *text = doc_word(o, state == FAILED ? "last_error" : i->address);

	for (size_t k = 0; k < REST_SECRETS_MAX; k++)
		secrets[k] = i->rest.secrets[k];
	if (room > sizeof(detail))
		room = sizeof(detail);
	if (state == FAILED)
		words_show(detail, room, text, secrets, REST_SECRETS_MAX);
	else if (words_is_plain(text, PROVIDER_ADDR_MAX))
		(void)snprintf(detail, sizeof(detail), "%s", text);
	str_addf(lines, "%c%s %s\n", (char)state, key_of(uuid), detail);
}

/* Is it behind what was read before? */
static void check_order(const struct doc_at *o, const char *key, const char *uuid, char last[])
{
	if (strcmp(uuid, last) <= 0)
		doc_wrong(o, key, "them sorted");
	(void)snprintf(last, IRONIC_UUID_SIZE, "%s", uuid);
}

static int read_machines(const struct ironic *i, const struct provider_op *op, struct doc *d,
			 struct place *at, struct provider_result *out)
{
	/* A line has at least a letter, a key and an address. */
	enum { LINE = 1 + KEY + 1 + PROVIDER_ADDR_MAX + 1, ALL = PROVIDER_CURSOR_MAX - 120 };
	struct doc_at list = doc_list(&d->top, "nodes", MACHINES);
	bool more = doc_has(&d->top, "next");
	struct str lines;
	int rc;

	str_init(&lines, ALL);
	for (size_t k = 0; k < list.n && doc_good(d); k++) {
		struct doc_at o = doc_item(&list, k);
		char uuid[IRONIC_UUID_SIZE] = "";

		ironic_uuid(&o, "uuid", at->node);
		ironic_uuid(&o, "instance_uuid", uuid);
		check_order(&o, "instance_uuid", uuid, at->upto);
		add_line(i, &o, uuid, ALL - lines.len - (list.n - k - 1) * LINE - (1 + KEY + 2) - 1,
			 &lines);
	}
	if (more && list.n == 0)
		doc_wrong(&d->top, "nodes", "machines before the next page");
	if (!more)
		(void)snprintf(at->upto, sizeof(at->upto), "~");
	at->what = 'a';
	at->lines = lines.p;
	rc = lines.full ? -1 : go_on(op, out, at);
	str_fini(&lines);
	return rc;
}

/* --- allocations ------------------------------------------------------------------------------
 */

/* The line of that instance; NULL: there is none. */
static const char *find_line(const struct place *at, const char *uuid)
{
	const char *key = key_of(uuid);
	const size_t n = strlen(key);

	for (const char *p = at->lines; *p != '\0'; p += strcspn(p, "\n"), p += *p == '\n')
		if (strncmp(p + 1, key, n) == 0 && p[1 + n] == ' ')
			return p;
	return NULL;
}

static void copy_detail(char *out, size_t size, const char *line)
{
	const char *from = strchr(line, ' ') + 1;

	(void)snprintf(out, size, "%.*s", (int)strcspn(from, "\n"), from);
}

static void add_failure(struct provider_result *out, const char *id, enum provider_code code,
			const char *words)
{
	struct provider_failure *f = rest_add_failure(out, id);

	f->code = code;
	(void)snprintf(f->message, sizeof(f->message), "%s", words);
}

static enum provider_state running_state(enum state s)
{
	switch (s) {
	case PENDING:
		return PROVIDER_PENDING;
	case RUNNING:
		return PROVIDER_RUNNING;
	case STOPPING:
		return PROVIDER_STOPPING;
	case FAILED:
		return PROVIDER_FAILED;
	default:
		return PROVIDER_UNKNOWN;
	}
}

/* false: a create is under way. */
static bool read_unused(bool old, enum state s, struct provider_instance *in,
			struct provider_result *out)
{
	if (!old)
		return false;
	in->state = s == FREE ? PROVIDER_FAILED : PROVIDER_UNKNOWN;
	if (s == FREE)
		add_failure(out, in->id, PROVIDER_TRANSIENT, "allocated, and never deployed");
	return true;
}

/* What an allocation of ours does; false: it is not to be shown. */
static bool read_state(const struct ironic *i, const struct provider_op *op, const struct place *at,
		       const struct doc_at *o, struct provider_instance *in,
		       struct provider_result *out)
{
	const char *line = find_line(at, in->id), *secrets[REST_SECRETS_MAX];
	const char *error = doc_word(o, "last_error");
	char words[160];

	for (size_t k = 0; k < REST_SECRETS_MAX; k++)
		secrets[k] = i->rest.secrets[k];
	if (strcmp(doc_word(o, "state"), "error") == 0) {
		words_show(words, sizeof(words), error, secrets, REST_SECRETS_MAX);
		in->state = PROVIDER_FAILED;
		add_failure(out, in->id, ironic_alloc_error(error), words);
		return true;
	}
	if (line == NULL || line[0] == FREE)
		return read_unused(op->at_ms - in->created_ms > CREATE_MS,
				   line != NULL ? FREE : OTHER, in, out);
	in->state = running_state((enum state)line[0]);
	copy_detail(words, sizeof(words), line);
	if (in->state == PROVIDER_FAILED)
		add_failure(out, in->id, PROVIDER_TRANSIENT, words);
	else
		copy_detail(in->addr, sizeof(in->addr), line);
	return true;
}

static void read_one(const struct ironic *i, const struct provider_op *op, const struct place *at,
		     const struct doc_at *o, struct provider_result *out)
{
	struct provider_instance who = {0};

	if (names_unpack(&ironic_form, doc_word(o, "name"), op->u.list.cluster, &who) ==
	    NAMES_FOREIGN)
		return;
	doc_id(o, "uuid", who.id, sizeof(who.id));
	who.created_ms = doc_time(o, "created_at");
	if (read_state(i, op, at, o, &who, out))
		*rest_add_instance(out) = who;
}

static int read_allocations(const struct ironic *i, const struct provider_op *op, struct doc *d,
			    struct place *at, struct provider_result *out)
{
	struct doc_at list = doc_list(&d->top, "allocations", ROWS_MAX);
	bool more = doc_has(&d->top, "next"), cut = false;

	for (size_t k = 0; k < list.n && doc_good(d); k++) {
		struct doc_at o = doc_item(&list, k);
		char uuid[IRONIC_UUID_SIZE] = "";

		ironic_uuid(&o, "uuid", uuid);
		cut = strcmp(uuid, at->upto) > 0 && doc_good(d);
		if (cut)
			break;
		check_order(&o, "uuid", uuid, at->alloc);
		read_one(i, op, at, &o, out);
	}
	if (more && list.n == 0)
		doc_wrong(&d->top, "allocations", "some before the next page");
	if (!more && !cut)
		return rest_more(op, out, "");
	if (cut) {
		at->what = 'n';
		at->lines = "";
	}
	return go_on(op, out, at);
}

int ironic_list_read(const struct ironic *i, const struct provider_op *op, struct doc *d,
		     struct provider_result *out)
{
	struct place at;

	if (read_place(op, &at) != 0)
		return -1;
	if (at.what == 'n')
		return read_machines(i, op, d, &at, out);
	return read_allocations(i, op, d, &at, out);
}
