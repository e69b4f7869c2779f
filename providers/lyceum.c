/* lyceum.c - Lyceum's VMs.  Its description is not public: what is said here is from
 *	[R] replies recorded from it in July 2026, and what was seen meanwhile:
 *	    github.com/onticlabs/skypilot-lyceum @ 69947998, tests/fixtures and README (C1 to C12)
 *	[C] the vendor's command line, lyceum-cli 1.2.2 from PyPI
 *	[D] docs.lyceum.technology
 *
 *	POST   /api/v2/external/vms/create   one VM; repeated: another [R]
 *	GET    /api/v2/external/vms/list     all that there are, and were, on one page [R C4]
 *	DELETE /api/v2/external/vms/ID       404: there is none (any more) [R]
 *	GET    /api/v2/external/pricing      the same everywhere: there are no regions [R C3]
 *
 * Neither tags nor tokens, nor user-data: who a VM is, its display name says from the create. */
#include "providers/lyceum.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/ipaddr.h"
#include "base/mem.h"
#include "providers/common/names.h"
#include "providers/common/rest.h"
#include "providers/common/rfc3339.h"

enum {
	NAME_MAX_BYTES = 64, /* not documented: a modest guess */
	KEY_MAX = 4000,
	GPU_DIGITS = 3,
	PROFILE_SIZE = 32,
	ADDRESS_SIZE = 64,
	WRONGS_MAX = 1000,
	PRICES_MAX = 10000, /* the list has some dozens */
};

#define API "/api/v2/external"

/* Errors have a text, and no code [R].  A 500 with another text may have made something: lists and
 * creates fail so now and then.  402 ("Insufficient credits") is of funds [C]. */
static const struct rest_row errors[] = {
	{.ops = REST_OP(PROVIDER_CREATE),
	 .status = 500,
	 .says = "could not be provisioned",
	 .means = PROVIDER_CAPACITY},
};

static const struct rest_api api = {
	.auth = REST_BEARER,
	.error_message = "detail",
	.rows = errors,
	.nrows = sizeof(errors) / sizeof(errors[0]),
};

/* All that was ever seen in one are lower-case letters, digits and dashes [R]. */
static const struct provider_names form = {.max = NAME_MAX_BYTES};

/* Nobody says that a failed one costs nothing: it is deleted. */
static const struct rest_state states[] = {
	{"pending", PROVIDER_PENDING},  {"provisioning", PROVIDER_PENDING},
	{"ready", PROVIDER_RUNNING},    {"running", PROVIDER_RUNNING},
	{"terminated", PROVIDER_ENDED}, {"failed", PROVIDER_FAILED},
	{"error", PROVIDER_FAILED},
};

struct lyceum {
	struct rest rest; /* the first, so that it is this */
	char *public_key;
};

/* --- open, close ------------------------------------------------------------------------------ */

static void lyceum_close(void *self)
{
	struct lyceum *l = self;

	if (l == NULL)
		return;
	rest_fini(&l->rest);
	free(l->public_key);
	free(l);
}

/* "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5... comment": the kind is in the base64 once more, with its
 * length (RFC 4253, 6.6), so that nothing else is taken for a key, and no private one is sent.  The
 * key without its comment; NULL: it is none. */
static char *public_key(const char *line)
{
	static const char *const begins[] = {"ssh-", "ecdsa-", "sk-"};
	const size_t kind = strcspn(line, " ");
	const char *base64 = line + kind + strspn(line + kind, " ");
	const size_t len = strcspn(base64, " ");
	unsigned char bytes[KEY_MAX];
	size_t n = 0;
	bool known = false;
	struct str key;

	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		known = known || strncmp(line, begins[i], strlen(begins[i])) == 0;
	if (!known || !base64_decode(BASE64_PLAIN, base64, len, bytes, sizeof(bytes), &n) ||
	    n < 4 + kind || memcmp(bytes, "\0\0\0", 3) != 0 || bytes[3] != kind ||
	    memcmp(bytes + 4, line, kind) != 0)
		return NULL;
	str_init(&key, kind + len + 1);
	str_add(&key, line, kind);
	str_adds(&key, " ");
	str_add(&key, base64, len);
	return str_take(&key);
}

static int set_options(struct lyceum *l, const struct provider_conf *conf, struct err *e)
{
	const struct lyceum_options *o = conf->options;
	const char *key = o != NULL && o->ssh_public_key != NULL ? o->ssh_public_key : "";

	if (conf->user_data != NULL && conf->user_data[0] != '\0')
		return err_set(e, ERR_INVALID, "user_data_file: Lyceum's VMs get no user-data");
	l->public_key = public_key(key);
	return l->public_key != NULL
		       ? 0
		       : err_set(e, ERR_INVALID,
				 "want ssh_public_key, such as \"ssh-ed25519 AAAA...\": Lyceum "
				 "makes no VM without");
}

static int lyceum_open(void **self, const struct provider_conf *conf, struct err *e)
{
	struct provider_conf at = *conf;
	struct lyceum *l = mem_zalloc(sizeof(*l));

	*self = NULL;
	if (at.url == NULL || at.url[0] == '\0')
		at.url = "https://api.lyceum.technology";
	if (rest_init(&l->rest, &api, &at, e) != 0) {
		free(l);
		return -1;
	}
	if (set_options(l, conf, e) != 0) {
		lyceum_close(l);
		return -1;
	}
	*self = l;
	return 0;
}

/* The name is there from birth, as a tag would be.  No limit of requests is documented. */
static struct provider_caps lyceum_caps(const void *self)
{
	(void)self;
	return (struct provider_caps){
		.flags = PROVIDER_TAGS, .create_max = 1, .delete_max = 1, .names = &form};
}

/* Prices are of a second [R], "billed by the second" [D]; nobody speaks of a minimum. */
static struct provider_terms lyceum_terms(const void *self, const struct provider_place *place)
{
	(void)self;
	(void)place;
	return (struct provider_terms){.quantum_ms = 1000, .data = PROVIDER_DATA_NONE};
}

/* --- create ----------------------------------------------------------------------------------- */

/* "h100.8x", as the price list has it after "spot.": 8 GPUs of the hardware profile h100.  Never 0,
 * which Lyceum takes for 1, and bills [R C8].  false: it is no such type. */
static bool read_type(const char *type, char profile[PROFILE_SIZE], unsigned *gpus)
{
	size_t n = strspn(type, "abcdefghijklmnopqrstuvwxyz0123456789_-");
	const char *count = type + n + 1;
	size_t digits;

	if (n == 0 || n >= PROFILE_SIZE || type[n] != '.')
		return false;
	digits = strspn(count, "0123456789");
	if (digits == 0 || digits > GPU_DIGITS || count[0] == '0' ||
	    strcmp(count + digits, "x") != 0)
		return false;
	memcpy(profile, type, n);
	profile[n] = '\0';
	*gpus = (unsigned)strtoul(count, NULL, 10);
	return true;
}

static int check_create(const struct provider_create *op, struct err *e)
{
	if (op->nwants != 1 || op->place->market == PROVIDER_RESERVED)
		return err_set(e, ERR_INVALID,
			       "create: Lyceum sells one VM a call, on-demand or spot");
	if (provider_in_fabric(op->place))
		return err_set(e, ERR_INVALID, "create: Lyceum puts no VM into a fabric");
	if (op->user_data != NULL)
		return err_set(e, ERR_INVALID, "create: Lyceum's VMs get no user-data");
	return 0;
}

/* The count is looked at in instance_specs only, and what is not said is the vendor's default: so
 * everything is said [R C8, C9]. */
static int build_create(const struct lyceum *l, struct rest_call *c,
			const struct provider_create *op, struct err *e)
{
	char name[NAMES_SIZE], profile[PROFILE_SIZE];
	unsigned gpus;

	if (check_create(op, e) != 0 || names_pack(name, &form, op->cluster, op->wants, e) != 0)
		return -1;
	if (!read_type(op->place->type, profile, &gpus))
		return err_set(e, ERR_INVALID,
			       "type %.40s: want a hardware profile and a number of GPUs, such as "
			       "h100.8x",
			       op->place->type);
	rest_open(c, NULL, '{');
	rest_text(c, "user_public_key", l->public_key);
	rest_text(c, "hardware_profile", profile);
	rest_open(c, "instance_specs", '{');
	rest_number(c, "gpu_count", gpus);
	rest_close(c, '}');
	rest_text(c, "instance_type", provider_market_str(op->place->market));
	rest_text(c, "display_name", name);
	rest_close(c, '}');
	return 0;
}

/* A VM without our name would be one that no list shows as ours; and it may be another's, so it is
 * not deleted either.  Its id is read first, so that people are told of it. */
static int read_created(const struct provider_create *c, struct doc *d, struct provider_result *out)
{
	struct provider_instance *i;
	char name[NAMES_SIZE];

	if (names_pack(name, &form, c->cluster, c->wants, NULL) != 0)
		return -1;
	i = rest_created(c, out);
	doc_id(&d->top, "vm_id", i->id, sizeof(i->id));
	if (strcmp(doc_word(&d->top, "display_name"), name) != 0)
		doc_wrong(&d->top, "display_name", "the name that was asked for");
	return 0;
}

/* --- list ------------------------------------------------------------------------------------- */

/* A terminated VM is listed for ever, unless one asks not to see them [R C4].  In a list of all,
 * "total" is the number of its rows [R]; whether it counts what was left out nobody says.  So if it
 * differs, all are asked for, and there it must not: half a list is none. */
#define LIVE ""
#define ALL  "all"

static bool wants_all(const struct provider_op *op)
{
	return strcmp(provider_cursor(op), ALL) == 0;
}

/* An address is "HOST" or "HOST:PORT", and IPv6 has brackets then [R C2]; a ready VM may have none
 * yet [R C10].  One that cannot be read is none: it must not cost the list. */
static void read_address(const struct doc_at *o, char out[PROVIDER_ADDR_MAX + 1])
{
	char host[PROVIDER_ADDR_MAX + 1];
	const char *said = doc_word(o, "ip_address");
	const bool bracketed = said[0] == '[';
	const char *colon = strchr(said, ':');
	size_t n = strlen(said);

	if (bracketed)
		n = strcspn(++said, "]");
	else if (colon != NULL && colon == strrchr(said, ':'))
		n = (size_t)(colon - said);
	if (n > PROVIDER_ADDR_MAX)
		return;
	memcpy(host, said, n);
	host[n] = '\0';
	if (ipaddr_is(host))
		memcpy(out, host, n + 1);
}

static int read_list(const struct provider_op *op, struct doc *d, struct provider_result *out)
{
	struct doc_at list = doc_list(&d->top, "vms", SIZE_MAX);

	if (doc_int(&d->top, "total") != (int64_t)list.n) {
		if (!wants_all(op))
			return rest_more(op, out, ALL);
		doc_wrong(&d->top, "total", "the number of VMs in the list");
	}
	for (size_t k = 0; k < list.n && doc_good(d); k++) {
		struct doc_at o = doc_item(&list, k);
		struct provider_instance who = {0};

		if (names_unpack(&form, doc_word(&o, "display_name"), op->u.list.cluster, &who) ==
		    NAMES_FOREIGN)
			continue;
		doc_id(&o, "vm_id", who.id, sizeof(who.id));
		read_address(&o, who.addr);
		who.created_ms = doc_time_if(&o, "created_at"); /* some have no zone [R] */
		who.state = rest_state(states, sizeof(states) / sizeof(states[0]),
				       doc_word(&o, "status"));
		*rest_add_instance(out) = who;
		if (who.state == PROVIDER_FAILED)
			rest_failed_for_no_reason(out, who.id, "Lyceum");
	}
	return rest_more(op, out, "");
}

/* --- delete ----------------------------------------------------------------------------------- */

static int read_deleted(const struct provider_op *op, struct doc *d, struct provider_result *out)
{
	const char *id = op->u.del.ids[0], *said = doc_word(&d->top, "vm_id");

	if (said[0] != '\0' && strcmp(said, id) != 0)
		doc_wrong(&d->top, "vm_id", "the VM that was to be deleted");
	rest_deleted(op, PROVIDER_OK, out);
	return 0;
}

/* --- prices ----------------------------------------------------------------------------------- */

/* What has this price: "on-demand.h100.8x" is a market and a type.  The vendor's own client looks
 * for it under group_by, where no reply had it [R C3, C].  false: nothing that pools buy. */
static bool read_meter(const struct provider_op *op, const struct doc_at *o,
		       struct provider_quote *q)
{
	const char *said = doc_word(o, "applies_to.hardware_profile");
	char profile[PROFILE_SIZE];
	unsigned gpus;

	if (strcmp(doc_word(o, "meter_slug"), "vm_running") != 0)
		return false;
	if (said[0] == '\0')
		said = doc_word(o, "group_by.hardware_profile");
	for (int m = PROVIDER_ON_DEMAND; m <= PROVIDER_SPOT; m++) {
		const char *market = provider_market_str((enum provider_market)m);
		const size_t n = strlen(market);

		if (strncmp(said, market, n) != 0 || said[n] != '.')
			continue;
		q->market = (enum provider_market)m;
		said += n + 1;
		(void)snprintf(q->type, sizeof(q->type), "%s", said);
		return read_type(said, profile, &gpus) && rest_wants_type(op, said);
	}
	return false;
}

/* Prices are texts, for a unit of time that is a second [R C3]; in dollars [C]. */
static int64_t read_price(const struct doc_at *o)
{
	static const struct {
		const char *word;
		int64_t in_hour;
	} units[] = {{"second", 3600}, {"minute", 60}, {"hour", 1}};
	const char *unit = doc_word(o, "unit");

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		int64_t nano;

		if (strcmp(unit, units[i].word) != 0)
			continue;
		nano = doc_money(o, "unit_price", 1);
		if (nano <= INT64_MAX / units[i].in_hour)
			return nano * units[i].in_hour;
		doc_wrong(o, "unit_price", "a price that is not so high");
	}
	doc_wrong(o, "unit", "second, minute or hour");
	return 0;
}

static int read_quotes(const struct provider_op *op, struct doc *d, struct provider_result *out)
{
	struct doc_at list = doc_list(&d->top, "prices", PRICES_MAX);

	out->quotes = mem_zalloc((list.n + 1) * sizeof(*out->quotes));
	for (size_t k = 0; k < list.n; k++) {
		struct doc_at o = doc_item(&list, k);
		struct provider_quote q = {.currency = "USD"};

		if (!read_meter(op, &o, &q))
			continue;
		q.price_nano_h = read_price(&o);
		out->quotes[out->nquotes++] = q;
	}
	return 0;
}

/* ---------------------------------------------------------------------------------------------- */

static int lyceum_build(const void *self, const struct provider_op *op,
			struct provider_request *out, struct err *e)
{
	const struct lyceum *l = self;
	struct rest_call c;
	int rc = 0;

	switch (op->kind) {
	case PROVIDER_CREATE:
		rest_begin(&c, &l->rest, "POST", API "/vms/create");
		rc = build_create(l, &c, &op->u.create, e);
		break;
	case PROVIDER_LIST:
		rest_begin(&c, &l->rest, "GET", API "/vms/list");
		if (!wants_all(op))
			rest_query(&c, "include_terminated", "false");
		break;
	case PROVIDER_DELETE:
		rest_begin(&c, &l->rest, "DELETE", API "/vms");
		rc = rest_delete_one(&c, op, "Lyceum", e);
		break;
	case PROVIDER_QUOTES:
		rest_begin(&c, &l->rest, "GET", API "/pricing");
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
		return read_deleted(op, d, out);
	case PROVIDER_QUOTES:
		return read_quotes(op, d, out);
	default:
		return -1;
	}
}

/* A request that is malformed is answered by a list of what is wrong, as FastAPI does [D]: tell the
 * first, as "instance_specs.gpu_count: Input should be a valid integer". */
static void say_wrong(const struct rest *r, const struct provider_reply *reply,
		      struct provider_result *out)
{
	struct doc_at list, first, place;
	struct str text;
	struct doc d;

	(void)doc_load(&d, reply->body, reply->len);
	list = doc_list(&d.top, "detail", WRONGS_MAX);
	first = doc_item(&list, 0);
	place = doc_list(&first, "loc", WRONGS_MAX);
	str_init(&text, DOC_BYTES_MAX);
	for (size_t k = 1; k < place.n; k++) { /* after "body" or "query" */
		struct doc_at part = doc_item(&place, k);

		str_addf(&text, "%s%s", k > 1 ? "." : "", doc_word(&part, NULL));
	}
	str_addf(&text, "%s%s", place.n > 1 ? ": " : "", doc_word(&first, "msg"));
	if (doc_good(&d) && doc_has(&first, "msg"))
		rest_message(r, reply, text.p, out);
	str_fini(&text);
	doc_fini(&d);
}

static void lyceum_parse(const void *self, const struct provider_op *op,
			 const struct provider_reply *reply, struct provider_result *out)
{
	const struct lyceum *l = self;

	rest_parse(&l->rest, op, reply, read_reply, out);
	if (reply->status == 422)
		say_wrong(&l->rest, reply, out);
}

const struct provider_ops provider_lyceum = {
	.name = "lyceum",
	.options = &lyceum_options,
	.open = lyceum_open,
	.close = lyceum_close,
	.caps = lyceum_caps,
	.terms = lyceum_terms,
	.build = lyceum_build,
	.parse = lyceum_parse,
};
