#include "providers/sim.h"

#include <stdlib.h>
#include <string.h>

#include "base/jpull.h"
#include "base/mem.h"
#include "providers/common/rest.h"
#include "providers/common/rows.h"
#include "providers/common/words.h"
#include "providers/sim_private.h"

enum {
	BATCH_MAX = 1000, /* instances in one create, ids in one delete, and in one page */
	TOKEN_MAX = 128,
	TOKEN_LIFE_MS = 86400000,
	NOTICES_MAX = 1000, /* in one answer */
	POLL_MS = 2000,     /* before an operation is asked about, unless the provider says */
	POLL_MAX_MS = 60000,
	USER_DATA_MAX = 64 << 10, /* simcloud(1) */
};

/* The only fields of a list that sim_parse() reads: with ten thousand rows every byte counts. */
#define LIST_FIELDS "cluster,name,generation,id,state,address,created_ms,ended_ms,reclaim_ms"
#define LIST_PATH   "/v1/instances?limit=1000&fields=" LIST_FIELDS

/* What is not in it, such as "internal", may have taken effect. */
static const struct rest_row errors[] = {
	{.code = "capacity", .means = PROVIDER_CAPACITY},
	{.code = "quota", .means = PROVIDER_QUOTA},
	{.code = "denied", .means = PROVIDER_DENIED},
	{.code = "invalid", .means = PROVIDER_INVALID},
	{.code = "token-mismatch", .means = PROVIDER_CONFLICT},
	{.code = "not-yet", .means = PROVIDER_NOT_YET},
	{.code = "rate", .means = PROVIDER_RATE},
	{.ops = REST_OP(PROVIDER_FABRIC_DROP), .code = "not-found", .means = PROVIDER_NOT_FOUND},
	{.status = 404, .means = PROVIDER_INVALID}, /* the path is unknown, not an instance */
	{.code = "not-found", .means = PROVIDER_NOT_FOUND}, /* one of a delete */
};

static const struct rest_api api = {
	.auth = REST_BEARER,
	.open = true,
	.error_code = "error.code",
	.error_message = "error.message",
	.error_wait = "error.retry_after_ms",
	.wait_unit_ms = 1,
	.request_id = "X-Request-Id",
	.rows = errors,
	.nrows = sizeof(errors) / sizeof(errors[0]),
};

/* --- open, close ------------------------------------------------------------------------------ */

static int sim_open(void **self, const struct provider_conf *conf, struct err *e)
{
	struct rest *r = mem_zalloc(sizeof(*r));
	int rc = rest_init(r, &api, conf, e);

	if (rc != 0) {
		free(r);
		r = NULL;
	}
	*self = r;
	return rc;
}

static void sim_close(void *self)
{
	if (self != NULL)
		rest_fini(self);
	free(self);
}

static struct provider_caps sim_caps(const void *self)
{
	(void)self;
	return (struct provider_caps){
		.flags = PROVIDER_TOKENS | PROVIDER_TAGS | PROVIDER_GANGS | PROVIDER_TELLS |
			 PROVIDER_REPORTS | PROVIDER_FABRICS | PROVIDER_CONSOLES | PROVIDER_PATHS |
			 PROVIDER_IMAGES,
		.create_max = BATCH_MAX,
		.delete_max = BATCH_MAX,
		.paths_max = BATCH_MAX,
		.token_ms = TOKEN_LIFE_MS,
	};
}

/* As docs/simcloud.md says; what its machines boot is sim-boot, or nothing. */
static struct provider_terms sim_terms(const void *self, const struct provider_place *place)
{
	(void)self;
	(void)place;
	return (struct provider_terms){
		.data = PROVIDER_DATA_ANY, .data_max = USER_DATA_MAX, .own_image = true};
}

/* --- requests --------------------------------------------------------------------------------- */

static bool is_word(const char *text, size_t max)
{
	return text[0] == '\0' || words_is_plain(text, max);
}

static bool is_create(const struct provider_create *c)
{
	const struct provider_place *p = c->place;

	if (c->nwants == 0 || c->nwants > BATCH_MAX || !words_is_plain(c->token, TOKEN_MAX) ||
	    !words_is_plain(c->cluster, PROVIDER_WORD_MAX) ||
	    !is_word(p->type, PROVIDER_WORD_MAX) || !is_word(p->region, PROVIDER_WORD_MAX) ||
	    !is_word(p->zone, PROVIDER_WORD_MAX) ||
	    (provider_in_fabric(p) && !is_word(p->fabric, PROVIDER_WORD_MAX)) ||
	    !is_word(provider_image(p, ""), PROVIDER_IMAGE_MAX))
		return false;
	for (size_t i = 0; i < c->nwants; i++)
		if (!words_is_plain(c->wants[i].node, HOSTLIST_NAME_MAX) ||
		    c->wants[i].gen > INT64_MAX)
			return false;
	return true;
}

static int build_create(struct rest_call *c, const struct provider_create *op, struct err *e)
{
	if (!is_create(op))
		return err_set(e, ERR_INVALID, "create: 1 to %d instances of plain names",
			       BATCH_MAX);
	rest_open(c, NULL, '{');
	rest_text(c, "token", op->token);
	rest_text(c, "cluster", op->cluster);
	rest_text(c, "type", op->place->type);
	rest_text(c, "region", op->place->region);
	rest_text(c, "zone", op->place->zone);
	rest_text(c, "market", provider_market_str(op->place->market));
	if (provider_in_fabric(op->place))
		rest_text(c, "fabric", op->place->fabric);
	if (provider_image(op->place, "")[0] != '\0')
		rest_text(c, "image", op->place->image);
	if (op->user_data != NULL)
		rest_text(c, "user_data", op->user_data);
	rest_open(c, "instances", '[');
	for (size_t i = 0; i < op->nwants; i++) {
		rest_open(c, NULL, '{');
		rest_text(c, "name", op->wants[i].node);
		rest_number(c, "generation", op->wants[i].gen);
		rest_number(c, "group", op->wants[i].group);
		rest_close(c, '}');
	}
	rest_close(c, ']');
	rest_close(c, '}');
	return 0;
}

static int build_ids(struct rest_call *c, const struct provider_op *op, struct err *e)
{
	const bool ends = op->kind == PROVIDER_DELETE;
	const char *const *ids = ends ? op->u.del.ids : op->u.topology.ids;
	const size_t n = ends ? op->u.del.nids : op->u.topology.nids;
	const char *what = provider_op_str(op->kind);

	if (n == 0 || n > BATCH_MAX)
		return err_set(e, ERR_INVALID, "%s: want 1 to %d ids", what, BATCH_MAX);
	rest_open(c, NULL, '{');
	rest_open(c, "ids", '[');
	for (size_t i = 0; i < n; i++) {
		if (!words_is_plain(ids[i], PROVIDER_ID_MAX))
			return err_set(e, ERR_INVALID, "%s: not an id of this provider", what);
		rest_text(c, NULL, ids[i]);
	}
	rest_close(c, ']');
	rest_close(c, '}');
	return 0;
}

static int build_fabric(struct rest_call *c, const struct provider_op *op, struct err *e)
{
	const char *cluster = op->u.fabric.cluster, *name = op->u.fabric.name;

	if (!is_word(cluster, PROVIDER_WORD_MAX) ||
	    (op->kind != PROVIDER_FABRIC_LIST && !words_is_plain(name, PROVIDER_WORD_MAX)))
		return err_set(e, ERR_INVALID, "fabric: not a plain name");
	if (op->kind == PROVIDER_FABRIC_LIST) {
		rest_query_number(c, "limit", BATCH_MAX);
		rest_query(c, "cluster", cluster);
		rest_query_given(c, "cursor", provider_cursor(op));
	} else if (op->kind == PROVIDER_FABRIC_DROP) {
		rest_part(c, name);
	} else {
		rest_open(c, NULL, '{');
		rest_text(c, "cluster", cluster);
		rest_text(c, "name", name);
		rest_close(c, '}');
	}
	return 0;
}

static int build_report(struct rest_call *c, const char *id, const char *words, struct err *e)
{
	if (!words_is_plain(id, PROVIDER_ID_MAX))
		return err_set(e, ERR_INVALID, "report: want an id of this provider");
	rest_part(c, id);
	rest_part(c, "report");
	rest_open(c, NULL, '{');
	rest_text(c, "reason", words);
	rest_close(c, '}');
	return 0;
}

static int build_console(struct rest_call *c, const char *id, struct err *e)
{
	if (!words_is_plain(id, PROVIDER_ID_MAX))
		return err_set(e, ERR_INVALID, "console: want an id of this provider");
	rest_part(c, id);
	rest_part(c, "console");
	return 0;
}

/* Has the create become an operation, which is asked about? */
static bool is_polled(const struct provider_op *op)
{
	return op->kind == PROVIDER_CREATE && provider_cursor(op)[0] != '\0';
}

static int build_rest(struct rest_call *c, const struct provider_op *op, struct err *e)
{
	switch (op->kind) {
	case PROVIDER_CREATE:
		return build_create(c, &op->u.create, e);
	case PROVIDER_LIST:
		rest_query(c, "cluster", op->u.list.cluster);
		rest_query_given(c, "cursor", provider_cursor(op));
		return 0;
	case PROVIDER_DELETE:
	case PROVIDER_TOPOLOGY: /* has the same body */
		return build_ids(c, op, e);
	case PROVIDER_NOTICES:
		rest_query_number(c, "wait", op->u.notices.wait_ms);
		rest_query(c, "after", provider_cursor(op));
		rest_query(c, "cluster", op->u.notices.cluster);
		return 0;
	case PROVIDER_REPORT:
		return build_report(c, op->u.report.id, op->u.report.words, e);
	case PROVIDER_CONSOLE:
		return build_console(c, op->u.console.id, e);
	case PROVIDER_FABRIC_MAKE:
	case PROVIDER_FABRIC_LIST:
	case PROVIDER_FABRIC_DROP:
		return build_fabric(c, op, e);
	default:
		return 0;
	}
}

static int sim_build(const void *self, const struct provider_op *op, struct provider_request *out,
		     struct err *e)
{
	static const struct {
		const char *method, *path;
	} ways[PROVIDER_NOPS] = {
		[PROVIDER_CREATE] = {"POST", "/v1/instances"},
		[PROVIDER_LIST] = {"GET", LIST_PATH},
		[PROVIDER_DELETE] = {"POST", "/v1/instances/delete"},
		[PROVIDER_QUOTES] = {"GET", "/v1/offers"},
		[PROVIDER_NOTICES] = {"GET", "/v1/notices"},
		[PROVIDER_REPORT] = {"POST", "/v1/instances"},
		[PROVIDER_CONSOLE] = {"GET", "/v1/instances"},
		[PROVIDER_TOPOLOGY] = {"POST", "/v1/topology"},
		[PROVIDER_FABRIC_MAKE] = {"POST", "/v1/fabrics"},
		[PROVIDER_FABRIC_LIST] = {"GET", "/v1/fabrics"},
		[PROVIDER_FABRIC_DROP] = {"DELETE", "/v1/fabrics"},
	};
	struct rest_call c;

	if (is_polled(op)) {
		rest_begin(&c, self, "GET", "/v1/operations");
		rest_part(&c, op->cursor);
		return rest_end(&c, out, "create", e);
	}
	if (op->kind >= PROVIDER_NOPS || ways[op->kind].method == NULL)
		return err_set(e, ERR_INVALID, "there is no such request");
	rest_begin(&c, self, ways[op->kind].method, ways[op->kind].path);
	return rest_finish(&c, build_rest(&c, op, e), out, provider_op_str(op->kind), e);
}

/* --- rows of replies ---------------------------------------------------------------------------
 */

/* Any other word is unknown. */
static const struct rest_state states[] = {
	{"booting", PROVIDER_PENDING},   {"pending", PROVIDER_PENDING},
	{"running", PROVIDER_RUNNING},   {"reclaiming", PROVIDER_RECLAIMING},
	{"stopping", PROVIDER_STOPPING}, {"failed", PROVIDER_FAILED},
	{"ended", PROVIDER_ENDED},
};

/* An overlong or missing state is unknown: the instance exists (I14). */
static enum provider_state state_of(const struct jpull_value *v)
{
	char word[32];

	(void)jpull_text(v, word, sizeof(word));
	return rest_state(states, sizeof(states) / sizeof(states[0]), word);
}

/* Fields of an instance, in the usual order in a row of any reply. */
enum field {
	CLUSTER,
	NAME,
	GENERATION,
	ID,
	STATE,
	ADDRESS,
	HOSTNAME,
	CREATED_MS,
	RECLAIM_MS,
	ENDED_MS,
	ERROR,
	NFIELDS
};

static const char *const fields[NFIELDS] = {
	[CLUSTER] = "cluster",       [NAME] = "name",
	[GENERATION] = "generation", [ID] = "id",
	[STATE] = "state",           [ADDRESS] = "address",
	[HOSTNAME] = "hostname",     [CREATED_MS] = "created_ms",
	[RECLAIM_MS] = "reclaim_ms", [ENDED_MS] = "ended_ms",
	[ERROR] = "error",
};

/* Read id, state, address and times; 0 or -1. */
static int read_body(struct provider_instance *i, const struct jpull_value *v)
{
	if (jpull_text(&v[ID], i->id, sizeof(i->id)) != 1 ||
	    !words_is_plain(i->id, PROVIDER_ID_MAX) ||
	    jpull_text(&v[ADDRESS], i->addr, sizeof(i->addr)) < 0 ||
	    jpull_text(&v[HOSTNAME], i->hostname, sizeof(i->hostname)) < 0 ||
	    jpull_int(&v[CREATED_MS], &i->created_ms) < 0 ||
	    jpull_int(&v[ENDED_MS], &i->ended_ms) < 0 ||
	    jpull_int(&v[RECLAIM_MS], &i->reclaim_ms) < 0)
		return -1;
	i->taken = i->reclaim_ms != 0;
	i->state = state_of(&v[STATE]);
	return 0;
}

static int read_tags(struct provider_instance *i, const struct jpull_value *v)
{
	int64_t gen;
	int name = jpull_text(&v[NAME], i->node, sizeof(i->node));
	int number = jpull_int(&v[GENERATION], &gen);

	i->gen = (uint64_t)gen;
	return name == 1 && number == 1 && hostlist_is_name(i->node) ? 0 : -1;
}

/* What the error of one row of a create or delete means. */
static enum provider_code row_error(enum provider_op_kind kind, const struct jpull_value *v,
				    struct provider_result *out)
{
	enum provider_code code;
	struct doc d;
	int64_t ms;

	(void)doc_load(&d, v[ERROR].p, v[ERROR].n);
	code = rest_code(&api, kind, 200, doc_word(&d.top, "code"), "", rest_senseless(kind));
	ms = doc_int_if(&d.top, "retry_after_ms");
	ms = ms < REST_RETRY_MAX_MS ? ms : REST_RETRY_MAX_MS;
	out->retry_after_ms = ms > out->retry_after_ms ? ms : out->retry_after_ms;
	doc_fini(&d);
	return code;
}

struct reading { /* what a list of rows answers, and its result */
	const struct provider_op *op;
	struct provider_result *out;
};

/* The reply must list exactly the requested nodes, in that order; otherwise none of it is
 * trusted. */
static int read_created(void *ctx, size_t n, const struct jpull_value *v)
{
	const struct reading *of = ctx;
	const struct provider_create *c = &of->op->u.create;
	struct provider_item *item = &of->out->items[n];
	struct provider_instance *i = &item->instance;

	if (read_tags(i, v) != 0 || strcmp(i->node, c->wants[n].node) != 0 ||
	    i->gen != c->wants[n].gen)
		return -1;
	if (v[ERROR].type != JPULL_NONE)
		item->code = row_error(PROVIDER_CREATE, v, of->out);
	else
		item->code = read_body(i, v) == 0 ? PROVIDER_OK : PROVIDER_AMBIGUOUS;
	memcpy(i->cluster, c->cluster, strlen(c->cluster) + 1);
	of->out->nitems++;
	return 0;
}

/* Why it failed; what is said of a create that was refused is meant here, too. */
static void read_failure(struct provider_result *out, const char *id, const struct jpull_value *v)
{
	struct provider_failure *f = rest_add_failure(out, id);
	struct doc d;

	(void)doc_load(&d, v->p, v->n);
	f->code = rest_code(&api, PROVIDER_CREATE, 200, doc_word(&d.top, "code"), "",
			    PROVIDER_TRANSIENT);
	(void)snprintf(f->message, sizeof(f->message), "%.150s", doc_word(&d.top, "message"));
	doc_fini(&d);
}

/* Unreadable tags count as none, whoever's instance it is (core/provider.h).  The other fields must
 * be readable if it is ours; of others only the id must. */
static int read_listed(void *ctx, size_t n, const struct jpull_value *v)
{
	const struct reading *of = ctx;
	struct provider_instance *i = rest_add_instance(of->out);
	int tag = jpull_text(&v[CLUSTER], i->cluster, sizeof(i->cluster));
	bool ours = tag == 1 && strcmp(i->cluster, of->op->u.list.cluster) == 0;

	(void)n;
	if (tag < 0 && v[CLUSTER].type != JPULL_STRING)
		return -1; /* a tag that is not a string may be ours, mangled */
	if (read_tags(i, v) != 0) {
		i->node[0] = '\0';
		i->gen = 0;
	}
	if (read_body(i, v) == 0) {
		if (i->state == PROVIDER_FAILED)
			read_failure(of->out, i->id, &v[ERROR]);
		return 0;
	}
	if (ours || i->id[0] == '\0')
		return -1;
	i->addr[0] = i->hostname[0] = '\0';
	return 0;
}

static int read_deleted(void *ctx, size_t n, const struct jpull_value *v)
{
	const struct reading *of = ctx;
	struct provider_item *item = &of->out->items[n];

	if (jpull_text(&v[ID], item->instance.id, sizeof(item->instance.id)) != 1 ||
	    strcmp(item->instance.id, of->op->u.del.ids[n]) != 0)
		return -1;
	if (v[ERROR].type != JPULL_NONE)
		item->code = row_error(PROVIDER_DELETE, v, of->out);
	else if (v[STATE].type == JPULL_STRING)
		item->instance.state = state_of(&v[STATE]);
	else
		return -1;
	of->out->nitems++;
	return 0;
}

static int read_rows(const struct provider_op *op, const struct provider_reply *reply,
		     struct provider_result *out)
{
	struct jpull_value cursor = {.type = JPULL_NONE};
	struct reading ctx = {op, out};
	struct rows rows = {"instances", fields, NFIELDS, BATCH_MAX, read_listed, &ctx, NULL};

	if (op->kind == PROVIDER_CREATE) {
		rows.max = op->u.create.nwants;
		rows.fn = read_created;
	} else if (op->kind == PROVIDER_DELETE) {
		rows.list = "results";
		rows.max = op->u.del.nids;
		rows.fn = read_deleted;
	}
	if (op->kind != PROVIDER_LIST)
		out->items = mem_zalloc(rows.max * sizeof(*out->items));
	if (rows_read(&rows, reply->body, reply->len, op->kind == PROVIDER_LIST ? &cursor : NULL) !=
	    0)
		return -1;
	if (op->kind == PROVIDER_CREATE && !rest_ids_differ(out))
		return -1;
	if (op->kind != PROVIDER_LIST)
		return out->nitems == rows.max ? 0 : -1;
	/* Without a cursor the list may be incomplete (I12). */
	if (jpull_text(&cursor, out->cursor, sizeof(out->cursor)) != 1)
		return -1;
	return rest_more(op, out, out->cursor);
}

/* A notice that is malformed or of an unknown kind is only counted. */
static int read_notices(struct doc *d, struct provider_result *out)
{
	struct doc_at list = doc_list(&d->top, "notices", NOTICES_MAX);

	doc_text(&d->top, "cursor", out->cursor, sizeof(out->cursor));
	out->notices = mem_zalloc((list.n + 1) * sizeof(*out->notices));
	for (size_t i = 0; i < list.n && doc_good(d); i++) {
		struct provider_notice *n = &out->notices[out->nnotices];
		struct doc_at o = doc_item(&list, i);

		doc_id(&o, "id", n->id, sizeof(n->id));
		n->at_ms = doc_int_if(&o, "at_ms");
		if (provider_notice_parse(doc_word(&o, "kind"), &n->kind) != 0)
			doc_wrong(&o, "kind", "a kind of notice");
		if (doc_forgive(d))
			out->nunread++;
		else
			out->nnotices++;
	}
	return 0;
}

/* Skip other clusters' fabrics, which a provider that does not filter lists, too. */
static int read_fabrics(const struct provider_op *op, struct doc *d, struct provider_result *out)
{
	struct doc_at list = doc_list(&d->top, "fabrics", BATCH_MAX);

	doc_text(&d->top, "cursor", out->cursor, sizeof(out->cursor));
	out->fabrics = mem_zalloc((list.n + 1) * sizeof(*out->fabrics));
	for (size_t i = 0; i < list.n && doc_good(d); i++) {
		struct provider_fabric *f = &out->fabrics[out->nfabrics];
		struct doc_at o = doc_item(&list, i);

		if (strcmp(doc_word(&o, "cluster"), op->u.fabric.cluster) != 0)
			continue;
		doc_text(&o, "name", f->name, sizeof(f->name));
		out->nfabrics += !doc_forgive(d);
	}
	return rest_more(op, out, out->cursor);
}

static int read_doc(const struct rest *r, const struct provider_op *op, struct doc *d,
		    struct provider_result *out)
{
	(void)r;
	switch (op->kind) {
	case PROVIDER_QUOTES:
		return sim_quotes_read(d, out);
	case PROVIDER_NOTICES:
		return read_notices(d, out);
	case PROVIDER_FABRIC_LIST:
		return read_fabrics(op, d, out);
	case PROVIDER_TOPOLOGY:
		return sim_paths_read(d, out);
	case PROVIDER_REPORT:
		return 0; /* the status says that it was accepted */
	case PROVIDER_CONSOLE:
		rest_console(d, "console", out);
		return 0;
	default:
		return doc_has(&d->top, NULL) ? 0 : -1;
	}
}

/* 202: the create is an operation that goes on. */
static int read_operation(const struct rest *r, const struct provider_op *op, struct doc *d,
			  struct provider_result *out)
{
	(void)r;
	(void)op;
	doc_id(&d->top, "operation", out->cursor, PROVIDER_ID_MAX + 1);
	out->code = PROVIDER_MORE;
	return 0;
}

static void parse_accepted(const void *self, const struct provider_op *op,
			   const struct provider_reply *reply, struct provider_result *out)
{
	rest_parse(self, op, reply, read_operation, out);
	if (out->code == PROVIDER_MORE)
		out->retry_after_ms = headers_retry_after_ms(&reply->headers, POLL_MAX_MS);
	if (out->code == PROVIDER_MORE && out->retry_after_ms == 0)
		out->retry_after_ms = POLL_MS;
}

static void sim_parse(const void *self, const struct provider_op *op,
		      const struct provider_reply *reply, struct provider_result *out)
{
	if (op->kind == PROVIDER_CREATE && reply->status == 202) {
		parse_accepted(self, op, reply, out);
		return;
	}
	if (op->kind > PROVIDER_DELETE || !rest_succeeded(reply))
		rest_parse(self, op, reply, read_doc, out);
	else if (read_rows(op, reply, out) != 0)
		rest_unreadable(self, op, reply, "", out);
	/* The operation is forgotten, not refused: its machines may exist. */
	if (is_polled(op) && reply->status == 404)
		out->code = PROVIDER_AMBIGUOUS;
	else if (op->kind == PROVIDER_CREATE && op->u.create.place->of_unit && reply->status == 404)
		out->code = PROVIDER_NOT_YET; /* the fabric is not there */
}

const struct provider_ops provider_sim = {
	.name = "sim",
	.open = sim_open,
	.close = sim_close,
	.caps = sim_caps,
	.terms = sim_terms,
	.request_id = rest_request_id,
	.build = sim_build,
	.parse = sim_parse,
};
