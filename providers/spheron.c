/* spheron.c - Spheron, which sells the machines of others.  It publishes no description of its API;
 * what is here was read in programs that use it, and that is all that is known:
 *
 *	[S] SkyPilot, sky/provision/spheron/ and sky/catalog/data_fetchers/fetch_spheron.py
 *	[P] a client in Python, "measured against the live API" in 2026-09, which cites a manual
 *	[T] a client in TypeScript, used against the live service in 2026-05
 *
 *	POST   /api/deployments                  one machine of one offer; repeated: another [S P T]
 *	GET    /api/deployments?page&limit&teamId   in pages [S], or a list alone [S T]; teamId [T]
 *	DELETE /api/deployments/ID               400 before its minimum runtime, 400 again after [S
 *T] GET    /api/gpu-offers?page&limit        offers with prices in USD [S P T]
 *
 * There are neither tokens nor tags: who a deployment is, its name says. */
#include "providers/spheron.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/secret.h"
#include "providers/common/names.h"
#include "providers/common/rest.h"
#include "providers/common/words.h"
#include "providers/spheron_offer.h"

enum {
	PAGE = 100,        /* [S] */
	PAGE_MAX = 100000, /* of a list that has no pages */
	AGAIN_MS = 15000,  /* if it does not say when: not faster than every 10 s [P] */
};

#define WINDOW_MS  900000
#define MINIMUM_MS 1200000

/* "10 deployment creates / 15 min / user" and "250 requests / 15 min / IP" [P], which is dealt out
 * here; elsewhere the vendor says 100.  Whether a window is fixed or slides it does not say: so in
 * no 15 minutes is there more.  A bucket that begins full would have to gain so little that a job
 * of 16 machines waited, and cost, for half an hour instead of 15 minutes.  10 s more, since
 * requests may arrive closer to each other than they were sent.  Of the others size and gains
 * count. */
static const struct provider_limit limits[PROVIDER_NOPS] = {
	[PROVIDER_CREATE] = {.window = {10, WINDOW_MS + 10000}},
	[PROVIDER_LIST] = {.requests = {10, 110, WINDOW_MS}},
	[PROVIDER_DELETE] = {.requests = {10, 90, WINDOW_MS}},
	[PROVIDER_QUOTES] = {.requests = {5, 15, WINDOW_MS}},
};

/* RATE_LIMIT_EXCEEDED is known, and that refusals for lack of funds speak of balance or credit [P].
 * *Invented*: OFFER_UNAVAILABLE and "Offer not found", which are simcloud's words. */
static const struct rest_row errors[] = {
	{.code = "RATE_LIMIT_EXCEEDED", .means = PROVIDER_RATE},
	{.ops = REST_OP(PROVIDER_CREATE), .code = "OFFER_UNAVAILABLE", .means = PROVIDER_CAPACITY},
	{.ops = REST_OP(PROVIDER_CREATE),
	 .status = 400,
	 .says = "Offer not found",
	 .means = PROVIDER_CAPACITY},
	{.ops = REST_OP(PROVIDER_CREATE),
	 .status = 400,
	 .says = "alance",
	 .means = PROVIDER_DENIED},
	{.ops = REST_OP(PROVIDER_CREATE), .status = 400, .says = "redit", .means = PROVIDER_DENIED},
	{.ops = REST_OP(PROVIDER_CREATE), .status = 404, .means = PROVIDER_INVALID},
};

/* Errors of a delete are a title, and a message that says more [T]; others may be.  The message of
 * a create that was refused with 400, for a reason that neither code nor title tells.  Whole
 * phrases, since a message may speak of a balance or of credit for any reason.  *Invented*: all of
 * them. */
static const struct rest_row messages[] = {
	{.says = "Offer not found", .means = PROVIDER_CAPACITY},
	{.says = "nsufficient balance", .means = PROVIDER_DENIED},
	{.says = "nsufficient credit", .means = PROVIDER_DENIED},
	{.says = "nsufficient funds", .means = PROVIDER_DENIED},
	{.says = "enough balance", .means = PROVIDER_DENIED},
	{.says = "enough credit", .means = PROVIDER_DENIED},
	{.says = "enough funds", .means = PROVIDER_DENIED},
};
static const struct rest_api by_message = {
	.rows = messages,
	.nrows = sizeof(messages) / sizeof(messages[0]),
};

/* Whoever has Python-urllib's name gets 403 [P]; what has none is not known. */
static const char *const headers[] = {"User-Agent: burstd", NULL};

static const struct rest_api api = {
	.auth = REST_BEARER,
	.headers = headers,
	.error_code = "code",
	.error_message = "error",
	.error_wait = "retryAfter", /* seconds [P] */
	.wait_unit_ms = 1000,
	.shows_code = true,
	.rows = errors,
	.nrows = sizeof(errors) / sizeof(errors[0]),
};

/* No more is known of names than that they are texts: so only what fits everywhere. */
static const struct provider_names form = {.max = 63};

/* A stopped one keeps its disk, and bills; there is no way to start it again [P].  Whether one that
 * failed still bills nobody says: see state_of(). */
static const struct rest_state states[] = {
	{"deploying", PROVIDER_PENDING}, {"running", PROVIDER_RUNNING},
	{"stopped", PROVIDER_STOPPING},  {"failed", PROVIDER_FAILED},
	{"terminated", PROVIDER_ENDED},  {"terminated-provider", PROVIDER_ENDED},
};

struct spheron {
	struct rest rest; /* the first, so that it is this */
	char *team, *ssh_key, *operating_system;
	char *user_data; /* a secret may be in it */
};

/* --- open, close ------------------------------------------------------------------------------ */

static void spheron_close(void *self)
{
	struct spheron *s = self;

	if (s == NULL)
		return;
	rest_fini(&s->rest);
	secret_wipe(&s->user_data);
	free(s->team);
	free(s->ssh_key);
	free(s->operating_system);
	free(s);
}

static char *copy(const char *text)
{
	return mem_strdup(text != NULL ? text : "");
}

static int set_options(struct spheron *s, const struct spheron_options *o, struct err *e)
{
	s->team = copy(o->team);
	s->ssh_key = copy(o->ssh_key);
	s->operating_system = copy(o->operating_system);
	if (s->team[0] != '\0' && s->ssh_key[0] != '\0' && s->operating_system[0] != '\0')
		return 0;
	return err_set(e, ERR_INVALID,
		       "want team, ssh_key and operating_system: Spheron deploys nothing without");
}

/* A command of cloud-init must start it. */
static int check_user_data(const char *text, struct err *e)
{
	if (text == NULL || strncmp(text, "#!", 2) == 0)
		return 0;
	return err_set(e, ERR_INVALID,
		       "user-data must be a script, with \"#!\" at its beginning: Spheron passes "
		       "only commands on to cloud-init");
}

static int spheron_open(void **self, const struct provider_conf *conf, struct err *e)
{
	static const struct spheron_options none;
	const char *text =
		conf->user_data != NULL && conf->user_data[0] != '\0' ? conf->user_data : NULL;
	struct provider_conf at = *conf;
	struct spheron *s = mem_zalloc(sizeof(*s));

	*self = NULL;
	if (at.url == NULL || at.url[0] == '\0')
		at.url = "https://app.spheron.ai";
	if (rest_init(&s->rest, &api, &at, e) != 0) {
		free(s);
		return -1;
	}
	if (set_options(s, conf->options != NULL ? conf->options : &none, e) != 0 ||
	    check_user_data(text, e) != 0) {
		spheron_close(s);
		return -1;
	}
	s->user_data = text != NULL ? mem_strdup(text) : NULL;
	*self = s;
	return 0;
}

static struct provider_caps spheron_caps(const void *self)
{
	(void)self;
	/* A name is there from birth, as a tag would be. */
	return (struct provider_caps){.flags = PROVIDER_TAGS,
				      .create_max = 1,
				      .delete_max = 1,
				      .names = &form,
				      .limits = limits};
}

/* A machine bills for 20 minutes at least, or longer where its offer says so [P]; after that by the
 * second or by the minute, which nobody says for sure.  It boots one of Spheron's images. */
static struct provider_terms spheron_terms(const void *self, const struct provider_place *place)
{
	struct provider_terms t = {.minimum_ms = MINIMUM_MS};
	struct spheron_offer o;

	(void)self;
	if (spheron_offer_read(&o, place, NULL) == 0)
		t.data = o.cloud_init ? PROVIDER_DATA_SCRIPT : PROVIDER_DATA_NONE;
	return t;
}

/* --- create ----------------------------------------------------------------------------------- */

#define SCRIPT "/root/burst-user-data"

/* Spheron makes a script of cloudInit, in which all of writeFiles comes after runcmd [T]: so the
 * commands bring the text with them.  Whatever it is, cloud-init's logs have no more than this. */
static void add_user_data(struct rest_call *c, const char *text)
{
	char *coded = words_base64(text);
	struct str line;

	str_init(&line, REST_BODY_MAX);
	line.secret = true;
	str_adds(&line, "(umask 077 && echo ");
	str_adds(&line, coded);
	str_adds(&line, " | base64 -d >" SCRIPT " && chmod 700 " SCRIPT " && " SCRIPT
			"; rc=$?; rm -f " SCRIPT "; exit $rc)");
	c->bad = c->bad || line.full;
	rest_open(c, "cloudInit", '{');
	rest_open(c, "runcmd", '[');
	rest_text(c, NULL, line.p);
	rest_close(c, ']');
	rest_close(c, '}');
	str_fini(&line);
	secret_wipe(&coded);
}

static int check_create(const struct provider_create *op, const struct spheron_offer *o,
			const char *user_data, struct err *e)
{
	if (op->nwants != 1)
		return err_set(e, ERR_INVALID, "create: Spheron deploys one machine a call");
	if (provider_in_fabric(op->place))
		return err_set(e, ERR_INVALID, "create: Spheron puts no machine into a fabric");
	if (user_data != NULL && !o->cloud_init)
		return err_set(e, ERR_INVALID,
			       "offer %s has no cloud-init: its machines would never run the "
			       "user-data; take an offer with supportsCloudInit",
			       op->place->type);
	return check_user_data(user_data, e);
}

static int build_create(const struct spheron *s, struct rest_call *c,
			const struct provider_create *op, struct err *e)
{
	const char *user_data = op->user_data != NULL ? op->user_data : s->user_data;
	struct spheron_offer o;
	char name[NAMES_SIZE];

	if (spheron_offer_read(&o, op->place, e) != 0 || check_create(op, &o, user_data, e) != 0 ||
	    names_pack(name, &form, op->cluster, &op->wants[0], e) != 0)
		return -1;
	rest_open(c, NULL, '{');
	rest_text(c, "provider", o.provider);
	rest_text(c, "offerId", op->place->type);
	rest_text(c, "gpuType", o.gpu);
	rest_number(c, "gpuCount", o.count);
	rest_text(c, "region", op->place->region);
	rest_text(c, "operatingSystem", s->operating_system);
	rest_text(c, "instanceType", o.kind);
	rest_text(c, "teamId", s->team);
	rest_text(c, "sshKeyId", s->ssh_key);
	rest_text(c, "name", name);
	if (user_data != NULL)
		add_user_data(c, user_data);
	rest_close(c, '}');
	return 0;
}

/* --- deployments ------------------------------------------------------------------------------ */

/* One that failed may bill until it is deleted; Spheron lists the dead for good, and refuses to
 * delete them, so there must be an end: when it says since when it has stopped. */
static enum provider_state state_of(const struct doc_at *o)
{
	enum provider_state state =
		rest_state(states, sizeof(states) / sizeof(states[0]), doc_word(o, "status"));

	return state == PROVIDER_FAILED && doc_has_time(o, "stoppedAt") ? PROVIDER_ENDED : state;
}

static void read_deployment(const struct doc_at *o, struct provider_instance *i)
{
	const char *addr = doc_word(o, "ipAddress"); /* there before the machine is [P] */

	doc_id(o, "id", i->id, sizeof(i->id));
	if (strlen(addr) <= PROVIDER_ADDR_MAX)
		memcpy(i->addr, addr, strlen(addr) + 1);
	i->state = state_of(o);
	i->created_ms = doc_time_if(o, "createdAt");
	if (i->state == PROVIDER_ENDED)
		i->ended_ms = doc_time_if(o, "stoppedAt");
	/* A reclaimed spot machine, or a broken host [S]. */
	i->taken = strcmp(doc_word(o, "status"), "terminated-provider") == 0;
}

/* Is it the one that was asked for, as far as it says? */
static bool is_wanted(const struct provider_create *c, const struct doc_at *o,
		      struct provider_instance *i)
{
	const char *name = doc_word(o, "name");
	bool is = !doc_has(o, "name") ||
		  (names_unpack(&form, name, c->cluster, i) == NAMES_OURS &&
		   strcmp(i->node, c->wants[0].node) == 0 && i->gen == c->wants[0].gen);

	(void)snprintf(i->cluster, sizeof(i->cluster), "%s", c->cluster);
	(void)snprintf(i->node, sizeof(i->node), "%s", c->wants[0].node);
	i->gen = c->wants[0].gen;
	return is;
}

/* One with another name may be another's: it is neither taken nor deleted, and people are told its
 * id. */
static int read_created(const struct provider_create *c, struct doc *d, struct provider_result *out)
{
	out->items = mem_zalloc(sizeof(*out->items));
	out->nitems = 1;
	read_deployment(&d->top, &out->items[0].instance);
	if (!is_wanted(c, &d->top, &out->items[0].instance))
		doc_wrong(&d->top, "name", "the name that was asked for");
	return 0;
}

static struct doc_at deployments_of(struct doc *d)
{
	if (json_is_array(d->root))
		return doc_list(&d->top, NULL, PAGE_MAX);
	return doc_list(&d->top, doc_has(&d->top, "deployments") ? "deployments" : "data",
			PAGE_MAX);
}

/* Without a count of pages or rows a full one is not the last; one that is longer is no page.  The
 * server may have pages that are shorter than was asked for. */
static bool has_more(const struct provider_op *op, const struct doc *d, size_t n)
{
	if (!json_is_array(d->root) && doc_has(&d->top, "totalPages"))
		return (uint64_t)doc_int(&d->top, "totalPages") > rest_page(op);
	if (!json_is_array(d->root) && doc_has(&d->top, "total"))
		return n > 0 && (uint64_t)doc_int(&d->top, "total") > rest_page(op) * n;
	return n == PAGE;
}

/* The cursor is the next page, and the first id of this one: a server that does not know pages
 * answers with the same again, and has told all by then. */
static int end_page(const struct provider_op *op, struct doc *d, const struct doc_at *list,
		    struct provider_result *out)
{
	const char *before = strchr(provider_cursor(op), ' ');
	char first[PROVIDER_ID_MAX + 1] = "", next[PROVIDER_ID_MAX + 32];
	struct doc_at o;

	if (list->n > 0) {
		o = doc_item(list, 0);
		(void)snprintf(first, sizeof(first), "%s", doc_word(&o, "id"));
	}
	if (!has_more(op, d, list->n) ||
	    (first[0] != '\0' && before != NULL && strcmp(before + 1, first) == 0))
		return rest_more(op, out, "");
	(void)snprintf(next, sizeof(next), "%llu %s", (unsigned long long)rest_page(op) + 1, first);
	return rest_more(op, out, next);
}

static int read_list(const struct provider_op *op, struct doc *d, struct provider_result *out)
{
	struct doc_at list = deployments_of(d);

	for (size_t k = 0; k < list.n && doc_good(d); k++) {
		struct doc_at o = doc_item(&list, k);
		struct provider_instance who = {0};

		if (names_unpack(&form, doc_word(&o, "name"), op->u.list.cluster, &who) ==
		    NAMES_FOREIGN)
			continue;
		read_deployment(&o, &who);
		*rest_add_instance(out) = who;
		if (who.state == PROVIDER_FAILED)
			rest_failed_for_no_reason(out, who.id, "Spheron");
	}
	return doc_good(d) ? end_page(op, d, &list, out) : -1;
}

/* --- delete ----------------------------------------------------------------------------------- */

/* 400 with canTerminate: it has ended already, or is too young, and must wait for that many minutes
 * [S T]. */
static bool read_refused_delete(const struct provider_op *op, const struct provider_reply *reply,
				struct provider_result *out)
{
	struct doc d;
	bool is = doc_load(&d, reply->body, reply->len) && doc_has(&d.top, "canTerminate") &&
		  !doc_flag(&d.top, "canTerminate") && doc_good(&d);

	if (is) {
		enum provider_state state = rest_state(states, sizeof(states) / sizeof(states[0]),
						       doc_word(&d.top, "currentStatus"));
		bool ended = state == PROVIDER_ENDED || state == PROVIDER_FAILED;
		int64_t min = doc_has(&d.top, "timeRemaining")
				      ? doc_money(&d.top, "timeRemaining", 1)
				      : 0;
		int64_t ms = doc_good(&d) ? min / 1000000 * 60 : 0;

		rest_deleted(op, ended ? PROVIDER_OK : PROVIDER_NOT_YET, out);
		if (!ended)
			out->retry_after_ms = ms <= 0                  ? AGAIN_MS
					      : ms < REST_RETRY_MAX_MS ? ms
								       : REST_RETRY_MAX_MS;
	}
	doc_fini(&d);
	return is;
}

/* ---------------------------------------------------------------------------------------------- */

static int spheron_build(const void *self, const struct provider_op *op,
			 struct provider_request *out, struct err *e)
{
	const struct spheron *s = self;
	struct rest_call c;
	int rc = 0;

	switch (op->kind) {
	case PROVIDER_CREATE:
		rest_begin(&c, &s->rest, "POST", "/api/deployments");
		rc = build_create(s, &c, &op->u.create, e);
		break;
	case PROVIDER_LIST:
		rest_begin(&c, &s->rest, "GET", "/api/deployments");
		rest_query_number(&c, "page", rest_page(op));
		rest_query_number(&c, "limit", PAGE);
		rest_query(&c, "teamId", s->team); /* the current one may be changed by people */
		break;
	case PROVIDER_DELETE:
		rest_begin(&c, &s->rest, "DELETE", "/api/deployments");
		rc = rest_delete_one(&c, op, "Spheron", e);
		break;
	case PROVIDER_QUOTES:
		rest_begin(&c, &s->rest, "GET", "/api/gpu-offers");
		rest_query_number(&c, "page", rest_page(op));
		rest_query_number(&c, "limit", PAGE);
		break;
	default:
		return err_set(e, ERR_INVALID, "there is no such request");
	}
	return rest_finish(&c, rc, out, provider_op_str(op->kind), e);
}

static int read_reply(const struct rest *r, const struct provider_op *op, struct doc *d,
		      struct provider_result *out)
{
	(void)r;
	switch (op->kind) {
	case PROVIDER_CREATE:
		return read_created(&op->u.create, d, out);
	case PROVIDER_LIST:
		return read_list(op, d, out);
	case PROVIDER_DELETE:
		rest_deleted(op, PROVIDER_OK, out);
		return 0;
	case PROVIDER_QUOTES:
		return spheron_offer_quotes(op, d, out);
	default:
		return -1;
	}
}

/* Add the message to the words of an error, and to its meaning if that was not clear. */
static void read_message(const struct rest *r, const struct provider_op *op,
			 const struct provider_reply *reply, struct provider_result *out)
{
	const char *said[3];
	struct str text;
	struct doc d;

	(void)doc_load(&d, reply->body, reply->len);
	said[0] = doc_word(&d.top, "code");
	said[1] = doc_word(&d.top, "error");
	said[2] = doc_word(&d.top, "message");
	if (said[2][0] != '\0' && out->message[0] != '\0') {
		str_init(&text, DOC_BYTES_MAX);
		for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++)
			str_addf(&text, "%s%s", text.len > 0 && said[i][0] != '\0' ? ": " : "",
				 said[i]);
		rest_message(r, reply, text.p, out);
		str_fini(&text);
	}
	if (op->kind == PROVIDER_CREATE && reply->status == 400 && out->code == PROVIDER_INVALID)
		out->code = rest_code(&by_message, op->kind, reply->status, "", said[2], out->code);
	doc_fini(&d);
}

static void spheron_parse(const void *self, const struct provider_op *op,
			  const struct provider_reply *reply, struct provider_result *out)
{
	const struct spheron *s = self;

	if (op->kind == PROVIDER_DELETE && op->u.del.nids != 1) {
		out->code = PROVIDER_INVALID;
		return;
	}
	if (op->kind == PROVIDER_DELETE && reply->status == 400 &&
	    read_refused_delete(op, reply, out))
		return;
	rest_parse(&s->rest, op, reply, read_reply, out);
	if (!rest_succeeded(reply))
		read_message(&s->rest, op, reply, out);
}

const struct provider_ops provider_spheron = {
	.name = "spheron",
	.options = &spheron_options,
	.open = spheron_open,
	.close = spheron_close,
	.caps = spheron_caps,
	.terms = spheron_terms,
	.build = spheron_build,
	.parse = spheron_parse,
};
