/* openstack_list.c - servers, as lists show them: whose they are, and how they do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "providers/common/rfc3339.h"
#include "providers/common/rows.h"
#include "providers/common/words.h"
#include "providers/openstack_private.h"

enum {
	QUESTIONS_MAX = 20,  /* about one create; then what is missing is open */
	QUESTIONS_QUICK = 5, /* so many are a second apart, the others ... */
	PAUSE_MS = 3000,     /* ... this long */
	WORD_SIZE = 40,
	POWER_RUNNING = 1, /* nova/compute/power_state.py */
	NAME_SIZE = 256,   /* of a server's longest name */
};

/* No filter, and no limit: with any of them Nova leaves out, without a word, the servers of a cell
 * that does not answer.  Without it shows them as rows without a name (2.69), and the list fails.
 */
void openstack_list_build(struct rest_call *c, const struct provider_op *op)
{
	rest_query_given(c, "marker", provider_cursor(op));
}

/* --- rows --------------------------------------------------------------------------------------
 */

/* In about the order in which Nova writes them. */
enum field {
	ID,
	NAME,
	STATUS,
	METADATA,
	CREATED,
	ADDRESSES,
	LAUNCHED,
	TASK,
	POWER,
	FAULT,
	TAGS,
	NFIELDS
};

static const char *const fields[NFIELDS] = {
	[ID] = "id",
	[NAME] = "name",
	[STATUS] = "status",
	[METADATA] = "metadata",
	[CREATED] = "created",
	[ADDRESSES] = "addresses",
	[LAUNCHED] = "OS-SRV-USG:launched_at",
	[TASK] = "OS-EXT-STS:task_state",
	[POWER] = "OS-EXT-STS:power_state",
	[FAULT] = "fault",
	[TAGS] = "tags",
};

struct reading {
	const struct openstack *s;
	const struct provider_op *op;
	const char *cluster;
	struct provider_result *out;
	struct members members;
	char tag[OPENSTACK_TAG_MAX + 1], batch[WORD_SIZE + PROVIDER_WORD_MAX];
	char last[PROVIDER_ID_MAX + 1]; /* id of the row before */
	bool blind;                     /* a cell is away */
};

static bool has_tag(const struct jpull_value *tags, const char *tag)
{
	bool has = false;
	struct jpull j;

	if (tags->type != JPULL_ARRAY)
		return false;
	jpull_init(&j, tags->p, tags->n);
	(void)jpull_enter(&j, '[');
	while (jpull_item(&j)) {
		struct jpull_value v = jpull_take(&j);

		has = has || jpull_is(&v, tag);
	}
	return has;
}

/* Join the values KEY, KEY-2, KEY-3 ... into one text. */
static struct str join(const struct doc *d, const char *key)
{
	struct str out;

	str_init(&out, MEMBERS_TEXT_MAX);
	for (int part = 1; part <= OPENSTACK_PARTS; part++) {
		char name[32];
		const char *value;

		(void)snprintf(name, sizeof(name), part > 1 ? "%s-%d" : "%s", key, part);
		value = doc_word(&d->top, name);
		if (value[0] == '\0')
			break;
		str_adds(&out, value);
	}
	return out;
}

/* The number at the end of its name: from 1 on, if its create made several. */
static void who(struct reading *r, const struct jpull_value *name, struct provider_instance *i)
{
	char text[NAME_SIZE];
	const char *dash;

	(void)jpull_text(name, text, sizeof(text));
	dash = strrchr(text, '-');
	if (r->members.nodes != NULL && r->members.nodes->n == 1)
		members_who(&r->members, "1", 1, i);
	else
		members_who(&r->members, dash != NULL ? dash + 1 : "", 1, i);
}

/* Is it ours?  Then its cluster, node and generation are set.  Either the tag or the metadata is
 * enough: who changes one of them by mistake must not hide a machine from us. */
static bool is_ours(struct reading *r, const struct jpull_value *v, struct provider_instance *i)
{
	struct str names, gens;
	struct doc d = {0};
	bool ours;

	(void)doc_load(&d, v[METADATA].p, v[METADATA].n);
	ours = has_tag(&v[TAGS], r->tag) ||
	       strcmp(doc_word(&d.top, OPENSTACK_CLUSTER), r->cluster) == 0;
	if (ours) {
		(void)snprintf(i->cluster, sizeof(i->cluster), "%s", r->cluster);
		(void)snprintf(r->batch, sizeof(r->batch), "%.100s",
			       doc_word(&d.top, OPENSTACK_BATCH));
		names = join(&d, OPENSTACK_NODE);
		gens = join(&d, OPENSTACK_GEN);
		members_read(&r->members, &names, &gens);
		who(r, &v[NAME], i);
	}
	doc_fini(&d);
	return ours;
}

/* --- a server ----------------------------------------------------------------------------------
 */

/* Whatever does not run and is no error: burstd never stops, pauses or shelves a server, so it is
 * on its way out, and bills. */
static const struct rest_state states[] = {
	{"ACTIVE", PROVIDER_RUNNING},        {"BUILD", PROVIDER_PENDING},
	{"ERROR", PROVIDER_FAILED},          {"DELETED", PROVIDER_ENDED},
	{"SOFT_DELETED", PROVIDER_STOPPING}, {"SHUTOFF", PROVIDER_STOPPING},
	{"PAUSED", PROVIDER_STOPPING},       {"SUSPENDED", PROVIDER_STOPPING},
	{"SHELVED", PROVIDER_STOPPING},      {"SHELVED_OFFLOADED", PROVIDER_STOPPING},
	{"REBOOT", PROVIDER_RUNNING},        {"HARD_REBOOT", PROVIDER_RUNNING},
	{"MIGRATING", PROVIDER_RUNNING},     {"PASSWORD", PROVIDER_RUNNING},
	{"REBUILD", PROVIDER_RUNNING},       {"RESCUE", PROVIDER_RUNNING},
	{"RESIZE", PROVIDER_RUNNING},        {"VERIFY_RESIZE", PROVIDER_RUNNING},
	{"REVERT_RESIZE", PROVIDER_RUNNING},
};

/* In ERROR is also a server that an admin's reset-state, or a failed resize, snapshot or migration
 * put there: its job may run on. */
static bool has_run_and_runs(const struct jpull_value *v)
{
	char launched[WORD_SIZE];
	int64_t power;

	return jpull_text(&v[LAUNCHED], launched, sizeof(launched)) == 1 && launched[0] != '\0' &&
	       jpull_int(&v[POWER], &power) == 1 && power == POWER_RUNNING;
}

static enum provider_state state_of(const struct jpull_value *v)
{
	char word[WORD_SIZE];
	enum provider_state state;

	(void)jpull_text(&v[STATUS], word, sizeof(word));
	state = rest_state(states, sizeof(states) / sizeof(states[0]), word);
	if (state == PROVIDER_FAILED && has_run_and_runs(v))
		state = PROVIDER_UNKNOWN;
	if (state != PROVIDER_ENDED &&
	    (jpull_is(&v[TASK], "deleting") || jpull_is(&v[TASK], "soft-deleting")))
		state = PROVIDER_STOPPING;
	return state;
}

struct address {
	char addr[PROVIDER_ADDR_MAX + 1];
	int rank; /* 0: there is none */
};

/* A fixed address is the machine's own; one of IPv4 is what most clusters have. */
static void read_address(struct jpull *j, struct address *best)
{
	struct address a = {.rank = 2};
	struct jpull_value key;

	(void)jpull_enter(j, '{');
	while (jpull_key(j, &key)) {
		struct jpull_value v = jpull_take(j);

		if (jpull_is(&key, "addr") && jpull_text(&v, a.addr, sizeof(a.addr)) != 1)
			a.addr[0] = '\0';
		else if (jpull_is(&key, "version"))
			a.rank += v.n == 1 && v.p[0] == '4';
		else if (jpull_is(&key, "OS-EXT-IPS:type") && jpull_is(&v, "floating"))
			a.rank -= 2;
	}
	a.rank++;
	if (a.rank > best->rank && words_is_plain(a.addr, PROVIDER_ADDR_MAX))
		*best = a;
}

/* {"NETWORK": [{"addr": ..., "version": 4}], ...} */
static void read_addresses(const struct openstack *s, const struct jpull_value *v, char *out)
{
	const char *wanted = s->o.address_network;
	struct address best = {.rank = 0};
	struct jpull_value key;
	struct jpull j;

	if (v->type != JPULL_OBJECT)
		return;
	jpull_init(&j, v->p, v->n);
	(void)jpull_enter(&j, '{');
	while (jpull_key(&j, &key)) {
		if (wanted[0] != '\0' && !jpull_is(&key, wanted)) {
			(void)jpull_take(&j);
			continue;
		}
		(void)jpull_enter(&j, '[');
		while (jpull_item(&j))
			read_address(&j, &best);
	}
	if (jpull_end(&j))
		memcpy(out, best.addr, sizeof(best.addr));
}

/* Id and time must be readable, for an instance of ours without them is no use (I12). */
static int read_body(const struct openstack *s, const struct jpull_value *v,
		     struct provider_instance *i)
{
	char created[WORD_SIZE];

	if (jpull_text(&v[ID], i->id, sizeof(i->id)) != 1 ||
	    !words_is_plain(i->id, PROVIDER_ID_MAX) ||
	    jpull_text(&v[CREATED], created, sizeof(created)) < 0 ||
	    (created[0] != '\0' &&
	     (rfc3339_parse(created, &i->created_ms) != 0 || i->created_ms < 0)))
		return -1;
	i->state = state_of(v);
	read_addresses(s, &v[ADDRESSES], i->addr);
	return 0;
}

/* --- why it failed -----------------------------------------------------------------------------
 */

/* Only what says something about the place, or the account; a server that a host could not start is
 * none of these. */
static enum provider_code meaning(const char *words)
{
	static const struct {
		const char *says;
		enum provider_code means;
	} rows[] = {
		{"No valid host", PROVIDER_CAPACITY},
		{"Insufficient compute resources", PROVIDER_CAPACITY},
		{"uota exceeded", PROVIDER_QUOTA},
		{"Maximum number of ports exceeded", PROVIDER_QUOTA},
		{"over a limit", PROVIDER_QUOTA},
		{"xceeded for quota", PROVIDER_QUOTA}, /* Cinder's: of volumes ... */
		{"xceeds allowed ", PROVIDER_QUOTA},   /* ... of gigabytes */
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strstr(words, rows[i].says) != NULL)
			return rows[i].means;
	return PROVIDER_TRANSIENT;
}

/* The words may end with a blank. */
static void add_failure(const struct reading *r, const struct provider_instance *i,
			const struct jpull_value *fault)
{
	struct provider_failure *f = rest_add_failure(r->out, i->id);
	char *end;
	struct doc d;

	(void)doc_load(&d, fault->p, fault->n);
	f->code = meaning(doc_word(&d.top, "message"));
	words_show(f->message, sizeof(f->message), doc_word(&d.top, "message"),
		   (const char *const *)r->s->keystone.secrets, REST_SECRETS_MAX);
	for (end = f->message + strlen(f->message); end > f->message && end[-1] == ' ';)
		*--end = '\0';
	doc_fini(&d);
}

/* --- a list ------------------------------------------------------------------------------------
 */

static int read_listed(void *ctx, size_t n, const struct jpull_value *v)
{
	struct reading *r = ctx;
	struct provider_instance i = {0};

	(void)n;
	if (jpull_text(&v[ID], r->last, sizeof(r->last)) != 1)
		return -1;
	r->blind = v[NAME].type == JPULL_NONE && jpull_is(&v[STATUS], "UNKNOWN");
	if (r->blind)
		return -1;
	if (!is_ours(r, v, &i))
		return 0;
	if (read_body(r->s, v, &i) != 0)
		return -1;
	if (i.state == PROVIDER_FAILED)
		add_failure(r, &i, &v[FAULT]);
	*rest_add_instance(r->out) = i;
	return 0;
}

/* {"rel": "next"} among the links of the list: there is more. */
static bool has_next(const struct jpull_value *links)
{
	struct doc_at list;
	struct doc d = {0};
	bool next = false;

	if (links->type == JPULL_NONE)
		return false;
	(void)doc_load(&d, links->p, links->n);
	list = doc_list(&d.top, NULL, OPENSTACK_PAGE_MAX);
	for (size_t i = 0; i < list.n; i++) {
		struct doc_at o = doc_item(&list, i);

		next = next || strcmp(doc_word(&o, "rel"), "next") == 0;
	}
	doc_fini(&d);
	return next;
}

/* --- what has become of a create ---------------------------------------------------------------
 */

static int read_made(void *ctx, size_t n, const struct jpull_value *v)
{
	struct reading *r = ctx;
	const struct provider_create *c = &r->op->u.create;
	struct provider_instance i = {0};

	(void)n;
	if (!is_ours(r, v, &i) || strcmp(r->batch, c->token) != 0)
		return 0;
	for (size_t k = 0; k < c->nwants; k++) {
		struct provider_item *item = &r->out->items[k];

		if (strcmp(c->wants[k].node, i.node) != 0 || c->wants[k].gen != i.gen)
			continue;
		if (item->code == PROVIDER_OK || read_body(r->s, v, &i) != 0)
			return -1;
		if (i.state == PROVIDER_FAILED)
			i.state = PROVIDER_PENDING; /* a list says so, and why */
		*item = (struct provider_item){.code = PROVIDER_OK, .instance = i};
		return 0;
	}
	return -1; /* of our create, and none of it */
}

static int end_question(const struct provider_op *op, struct provider_result *out)
{
	char reservation[OPENSTACK_RESERVATION + 1];
	size_t seen = 0;
	unsigned count;

	for (size_t k = 0; k < out->nitems; k++)
		seen += out->items[k].code == PROVIDER_OK;
	if (!rest_ids_differ(out) ||
	    !openstack_cursor_read(provider_cursor(op), reservation, &count))
		return -1;
	if (seen == out->nitems || count + 1 >= QUESTIONS_MAX)
		return 0;
	free(out->items);
	out->items = NULL;
	out->nitems = 0;
	if (openstack_cursor_write(out, reservation, count + 1) != 0)
		return -1;
	if (count + 1 >= QUESTIONS_QUICK)
		out->retry_after_ms = PAUSE_MS;
	return 0;
}

/* --- both --------------------------------------------------------------------------------------
 */

int openstack_list_parse(const struct openstack *s, const struct provider_op *op,
			 const struct provider_reply *reply, struct provider_result *out,
			 const char **why)
{
	const bool polled = op->kind == PROVIDER_CREATE;
	struct reading r = {.s = s, .op = op, .out = out};
	struct jpull_value links = {.type = JPULL_NONE};
	const struct rows rows = {.list = "servers",
				  .fields = fields,
				  .nfields = NFIELDS,
				  .max = OPENSTACK_ROWS_MAX,
				  .fn = polled ? read_made : read_listed,
				  .ctx = &r,
				  .cursor = "servers_links"};
	int rc;

	r.cluster = polled ? op->u.create.cluster : op->u.list.cluster;
	openstack_tag(r.tag, r.cluster);
	members_init(&r.members);
	if (polled) {
		out->nitems = op->u.create.nwants;
		out->items = mem_zalloc(out->nitems * sizeof(*out->items));
		for (size_t i = 0; i < out->nitems; i++)
			out->items[i].code = PROVIDER_AMBIGUOUS;
	}
	rc = rows_read(&rows, reply->body, reply->len, &links);
	members_fini(&r.members);
	*why = r.blind ? "a cell of Nova is away: its servers are not shown" : "";
	if (rc != 0)
		return -1;
	if (polled)
		return end_question(op, out);
	if (has_next(&links) && r.last[0] == '\0')
		return -1;
	return rest_more(op, out, has_next(&links) ? r.last : "");
}
