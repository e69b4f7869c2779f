#include "check_cloud.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fmt.h"
#include "base/mem.h"
#include "base/str.h"
#include "check.h"
#include "check_cloud_private.h"
#include "check_private.h"
#include "core/rates.h"
#include "core/tariff.h"
#include "core/terms.h"
#include "io/conf_file.h"
#include "providers/options.h"
#include "store/state_dir.h"

enum { WORDS_MAX = 4096 }; /* bytes of one line */

/* What was found, in the order in which people read it. */
struct report {
	json_t *checks; /* objects of "check", "state" and "says" */
	unsigned wrong;
};

enum state { GOOD, WRONG, UNTRIED };

static const char *const state_words[] = {
	[GOOD] = "ok", [WRONG] = "wrong", [UNTRIED] = "not-tried"};

/* Takes says.  The row is the report's; more members may be added. */
static json_t *add(struct report *r, const char *what, enum state state, struct str *says)
{
	json_t *row = json_pack("{s:o, s:s, s:o}", "check", check_plain(what), "state",
				state_words[state], "says", check_plain(says->p));

	str_fini(says);
	r->wrong += state == WRONG;
	(void)json_array_append_new(r->checks, mem_check(row));
	return row;
}

static void add_text(struct report *r, const char *what, enum state state, const char *text)
{
	struct str s;

	str_init(&s, WORDS_MAX);
	str_adds(&s, text);
	(void)add(r, what, state, &s);
}

/* --- the account -------------------------------------------------------------------------------
 */

/* "denied: WORDS" */
static struct str failure(const struct check_cloud_answer *a)
{
	struct str s;

	str_init(&s, WORDS_MAX);
	if (a->answered)
		str_addf(&s, "%s%s", provider_code_str(a->code), a->words[0] != '\0' ? ": " : "");
	else
		str_adds(&s, "no answer: ");
	str_adds(&s, a->words);
	return s;
}

/* Every cloud lists only to those it knows, while some show their prices to all. */
static void judge_credential(struct report *r, const struct check_cloud *c)
{
	const struct check_cloud_answer *a =
		c->has_login && c->login.code != PROVIDER_OK ? &c->login : &c->list;
	struct str s;

	if (a->answered && a->code == PROVIDER_DENIED) {
		str_init(&s, WORDS_MAX);
		str_addf(&s, "refused: %s", a->words);
		(void)add(r, "credential", WRONG, &s);
	} else if (a->answered && a->code == PROVIDER_OK) {
		add_text(r, "credential", GOOD,
			 c->provider->credential_file != NULL || c->has_login
				 ? "taken"
				 : "none is configured, and none was asked for");
	} else {
		add_text(r, "credential", UNTRIED, "not known: the provider has not judged it");
	}
}

/* A session is worth a line only if there is none. */
static void judge_login(struct report *r, const struct check_cloud *c)
{
	struct str s;

	if (c->login.code == PROVIDER_OK)
		return;
	s = failure(&c->login);
	(void)add(r, "login", WRONG, &s);
}

/* uuid: as state_dir_look() has found the cluster's. */
static void judge_list(struct report *r, const struct check_cloud *c, int uuid)
{
	struct str s;
	json_t *row;

	if (c->login.code != PROVIDER_OK) {
		add_text(r, "list", UNTRIED, "without a session nothing can be asked");
		return;
	}
	if (c->list.code != PROVIDER_OK) {
		s = failure(&c->list);
		(void)add(r, "list", WRONG, &s);
		return;
	}
	str_init(&s, WORDS_MAX);
	if (uuid > 0)
		str_adds(&s, "no instance is this cluster's: burstd has not run yet");
	else if (uuid < 0)
		str_adds(&s, "which instances are this cluster's is not known");
	else
		str_addf(&s, "%zu %s this cluster's", c->instances,
			 c->instances == 1 ? "instance is" : "instances are");
	row = add(r, "list", GOOD, &s);
	if (uuid >= 0)
		(void)json_object_set_new(row, "instances", json_integer((json_int_t)c->instances));
}

static void judge_quotes(struct report *r, const struct check_cloud *c)
{
	struct str s;

	if (c->login.code != PROVIDER_OK) {
		add_text(r, "quotes", UNTRIED, "without a session nothing can be asked");
	} else if (c->ntypes == 0) {
		add_text(r, "quotes", UNTRIED, "no pool buys there");
	} else if (c->quotes.code != PROVIDER_OK) {
		s = failure(&c->quotes);
		(void)add(r, "quotes", WRONG, &s);
	} else {
		str_init(&s, WORDS_MAX);
		str_addf(&s, "%zu", c->nquoted);
		(void)add(r, "quotes", GOOD, &s);
	}
}

/* A session and prices are shown by then; a right to buy only a purchase would show. */
static void note_untried(struct report *r, const struct check_cloud *c)
{
	const unsigned flags = c->ops->caps(c->self).flags;
	struct str s;

	str_init(&s, WORDS_MAX);
	str_adds(&s, "whether it may create and delete");
	if ((flags & PROVIDER_FABRICS) != 0)
		str_adds(&s, ", make fabrics");
	if ((flags & PROVIDER_TELLS) != 0)
		str_adds(&s, ", read notices");
	if ((flags & PROVIDER_REPORTS) != 0)
		str_adds(&s, ", report broken hosts");
	if ((flags & PROVIDER_CONSOLES) != 0)
		str_adds(&s, ", read console logs");
	if ((flags & PROVIDER_PATHS) != 0)
		str_adds(&s, ", say where machines are");
	str_adds(&s, ": only doing it would show");
	(void)add(r, "rights", UNTRIED, &s);
}

/* burstd learns the difference from the first answer; other programs on this machine do not. */
static void judge_clock(struct report *r, const struct check_cloud *c)
{
	char text[FMT_DUR_SIZE];
	struct str s;

	if (c->ahead_ms == 0)
		return;
	str_init(&s, WORDS_MAX);
	str_addf(&s, "this machine's is %s %s the provider's: some refuse signatures for that",
		 fmt_duration(text, c->ahead_ms > 0 ? c->ahead_ms : -c->ahead_ms),
		 c->ahead_ms > 0 ? "behind" : "ahead of");
	(void)add(r, "clock", WRONG, &s);
}

/* --- its offers --------------------------------------------------------------------------------
 */

struct offer {
	const struct conf_pool *pool;
	const struct conf_offer *o;
	char name[2 * PROVIDER_WORD_MAX + 32]; /* for people */
};

/* "h100.8x in eu, spot: " */
static struct str begin_offer(const struct conf_offer *o)
{
	struct str s;

	str_init(&s, WORDS_MAX);
	str_addf(&s, "%s in %s%s%s, %s: ", o->type, o->region, o->zone[0] != '\0' ? " " : "",
		 o->zone, provider_market_str((enum provider_market)o->market));
	return s;
}

static void put_place(json_t *row, const struct offer *f)
{
	const struct conf_offer *o = f->o;

	(void)json_object_set_new(row, "pool", check_plain(f->pool->name));
	(void)json_object_set_new(row, "offer", check_plain(o->name));
	(void)json_object_set_new(row, "type", check_plain(o->type));
	(void)json_object_set_new(row, "region", check_plain(o->region));
	(void)json_object_set_new(row, "zone", check_plain(o->zone));
	(void)json_object_set_new(
		row, "market", json_string(provider_market_str((enum provider_market)o->market)));
}

/* The words or options that the provider does not know; "" if it has such an offer. */
static void say_lack(struct str *s, const struct conf_offer *o, enum tariff_lack lack)
{
	switch (lack) {
	case TARIFF_SOLD:
		break;
	case TARIFF_TYPE:
		str_addf(s, "the provider knows no type %s", o->type);
		break;
	case TARIFF_REGION:
		str_addf(s, "the provider has that type, but not in region %s", o->region);
		break;
	case TARIFF_ZONE:
		str_addf(s, "the provider has that type there, but not in zone %s", o->zone);
		break;
	case TARIFF_MARKET:
		str_addf(s, "the provider does not sell that as %s",
			 provider_market_str((enum provider_market)o->market));
		break;
	}
}

static struct provider_terms terms_of(const struct check_cloud *c, const struct conf_offer *o)
{
	const struct provider_place place = conf_place(o);
	const struct provider_terms known = terms_known(c->ops, c->self, &place);

	return tariff_terms(c->quoted, c->nquoted, o, &known);
}

static void say_terms(struct str *s, const struct provider_terms *t)
{
	static const char *const stock[] = {[PROVIDER_STOCK_UNSAID] =
						    "the provider does not say whether any is free",
					    [PROVIDER_STOCK_NONE] = "none is free now",
					    [PROVIDER_STOCK_SOME] = "some are free now"};

	str_addf(s, "; %s", stock[t->stock]);
	terms_print(t, s);
}

/* What nobody says is left out. */
static void put_terms(json_t *row, const struct provider_terms *t)
{
	if (t->stock != PROVIDER_STOCK_UNSAID)
		(void)json_object_set_new(row, "free",
					  json_boolean(t->stock == PROVIDER_STOCK_SOME));
	if (t->quantum_ms != 0)
		(void)json_object_set_new(row, "quantum_ms", json_integer(t->quantum_ms));
	if (t->minimum_ms != 0)
		(void)json_object_set_new(row, "minimum_ms",
					  json_integer(t->minimum_ms > 0 ? t->minimum_ms : 0));
	if (t->data != PROVIDER_DATA_UNSAID)
		(void)json_object_set_new(row, "user_data", json_string(terms_data_str(t->data)));
	if (t->data_max != 0)
		(void)json_object_set_new(row, "user_data_max", json_integer(t->data_max));
	if (t->interconnect[0] != '\0')
		(void)json_object_set_new(row, "interconnect", check_plain(t->interconnect));
}

/* For `node` of the pool, which has sockets and cores besides. */
static void put_machine(json_t *row, const struct tariff_machine *m)
{
	if (m->cpus != 0) {
		(void)json_object_set_new(row, "cpus", json_integer(m->cpus));
		(void)json_object_set_new(row, "gpus", json_integer(m->gpus));
	}
	if (m->memory_mb != 0)
		(void)json_object_set_new(row, "memory_mb", json_integer((json_int_t)m->memory_mb));
}

/* An offer that the provider has. */
static void judge_price(struct report *r, const struct check_cloud *c, const struct offer *f)
{
	const char *currency = c->conf->currency;
	int64_t set = rates_set_price(c->conf, f->o, clock_wall_ms());
	int64_t price = set > 0 ? set : tariff_price(c->quoted, c->nquoted, f->o, currency);
	const struct provider_terms terms = terms_of(c, f->o);
	const struct tariff_machine machine = tariff_machine(c->quoted, c->nquoted, f->o);
	struct str s = begin_offer(f->o);
	char text[FMT_MONEY_SIZE];
	json_t *row;

	if (price > 0)
		str_addf(&s, "%s %s per hour%s", fmt_money(text, price), currency,
			 set == 0                    ? ""
			 : set == f->o->price_nano_h ? ", as burstd.conf says"
						     : ", as prices.conf says");
	else
		str_addf(&s,
			 "the provider names no price in %s: \"price\" is missing, and nothing is "
			 "bought without",
			 currency);
	say_terms(&s, &terms);
	row = add(r, f->name, price > 0 ? GOOD : WRONG, &s);
	put_place(row, f);
	if (price > 0)
		(void)json_object_set_new(row, "price", json_string(fmt_money(text, price)));
	(void)json_object_set_new(row, "currency", json_string(currency));
	put_terms(row, &terms);
	put_machine(row, &machine);
}

static void judge_offer(struct report *r, const struct check_cloud *c, const struct offer *f)
{
	const struct provider_caps caps = c->ops->caps(c->self);
	const bool quoted = c->ntypes > 0 && c->quotes.code == PROVIDER_OK;
	enum tariff_lack lack =
		quoted ? tariff_lack(c->quoted, c->nquoted, f->o, &caps) : TARIFF_SOLD;
	const struct check_driver driver = {c->provider, c->ops, c->self};
	struct str s = begin_offer(f->o);
	struct err e = {0};
	enum state state = WRONG;

	if (check_provider_builds(&driver, f->pool, f->o, &e) != 0) {
		str_adds(&s, e.msg);
	} else if (c->login.code != PROVIDER_OK || !quoted) {
		str_adds(&s, "without quotes nothing is known of it");
		state = UNTRIED;
	} else if (lack != TARIFF_SOLD) {
		say_lack(&s, f->o, lack);
	} else {
		str_fini(&s);
		judge_price(r, c, f);
		return;
	}
	put_place(add(r, f->name, state, &s), f);
}

static void judge_offers(struct report *r, const struct check_cloud *c)
{
	for (size_t i = 0; i < c->conf->npools; i++) {
		size_t n;
		struct offer f = {.pool = &c->conf->pools[i]};
		const struct conf_offer *rungs = conf_rungs(f.pool, &n);

		for (size_t k = 0; k < n; k++) {
			if (&c->conf->providers[rungs[k].provider_index] != c->provider)
				continue;
			f.o = &rungs[k];
			if (f.o->name[0] == '\0')
				(void)snprintf(f.name, sizeof(f.name), "pool \"%.63s\"",
					       f.pool->name);
			else
				(void)snprintf(f.name, sizeof(f.name),
					       "offer \"%.63s\" of pool \"%.63s\"", f.o->name,
					       f.pool->name);
			judge_offer(r, c, &f);
		}
	}
}

/* --- all of it ---------------------------------------------------------------------------------
 */

static void judge(struct report *r, const struct check_cloud *c, int uuid)
{
	judge_credential(r, c);
	judge_login(r, c);
	judge_list(r, c, uuid);
	judge_quotes(r, c);
	note_untried(r, c);
	judge_clock(r, c);
	judge_offers(r, c);
}

static void no_such(struct report *r, const struct conf *conf, const char *name)
{
	struct str s;

	str_init(&s, WORDS_MAX);
	str_addf(&s, "%s has no provider \"%.63s\"%s", conf->path, name,
		 conf->nproviders > 0 ? "; there are:" : ", nor any other");
	for (size_t i = 0; i < conf->nproviders; i++)
		str_addf(&s, "%s %s", i > 0 ? "," : "", conf->providers[i].name);
	(void)add(r, "configuration", WRONG, &s);
}

/* The problems of check.c and check_provider.c: "FILE:LINE: ..." */
static void take_problems(struct report *r, struct check *c)
{
	const json_t *p;

	for (size_t i = 0; (p = json_array_get(c->list, i)) != NULL; i++)
		add_text(r, "configuration", WRONG, json_string_value(p));
	json_decref(c->list);
}

static void look(struct report *r, struct conf *conf, struct conf_provider *p)
{
	struct check check = {.conf = conf, .list = json_array()};
	struct check_cloud c = {.conf = conf, .provider = p};
	char uuid[STATE_DIR_UUID_SIZE];
	struct err e = {0};
	int uuid_rc;

	check_become_burstd(&check);
	c.ops = check_provider_open(&check, p, &c.self);
	uuid_rc = state_dir_look(conf->state_dir, uuid, &e);
	if (uuid_rc < 0)
		check_problem(&check, conf->state_dir_line, "state_dir: %s", e.msg);
	c.cluster = uuid_rc == 0 ? uuid : CHECK_NO_UUID;
	take_problems(r, &check);
	if (c.ops == NULL)
		return;
	check_cloud_ask(&c);
	judge(r, &c, uuid_rc);
	c.ops->close(c.self);
	free(c.quoted);
}

static void print_text(const struct report *r)
{
	static const char *const heads[] = {
		[GOOD] = "ok", [WRONG] = "not ok", [UNTRIED] = "not tried"};
	const json_t *row;

	for (size_t i = 0; (row = json_array_get(r->checks, i)) != NULL; i++) {
		const char *state = json_string_value(json_object_get(row, "state"));
		enum state k = UNTRIED;
		struct str s;

		while (k > GOOD && strcmp(state, state_words[k]) != 0)
			k--;
		str_init(&s, 2 * WORDS_MAX);
		str_addf(&s, "%s: %s: %s", heads[k],
			 json_string_value(json_object_get(row, "check")),
			 json_string_value(json_object_get(row, "says")));
		check_say(stdout, s.p);
		str_fini(&s);
	}
}

/* People may look at the JSON on a terminal, too: escape all but ASCII. */
static void print_json(const struct report *r, const char *path, const char *name)
{
	json_t *all = json_pack("{s:o, s:o, s:b, s:O}", "path", check_plain(path), "provider",
				check_plain(name), "good", r->wrong == 0, "checks", r->checks);

	(void)json_dumpf(all, stdout, JSON_COMPACT | JSON_ENSURE_ASCII);
	(void)printf("\n");
	json_decref(all);
}

bool check_cloud(const char *path, const char *name, bool json)
{
	struct report r = {.checks = json_array()};
	struct conf *conf = NULL;
	struct err e = {0};
	uint32_t at;

	if (conf_file_load(&conf, path, provider_options, &e) != 0) {
		add_text(&r, "configuration", WRONG, e.msg);
	} else {
		at = conf_provider_named(conf, name);
		if (at < conf->nproviders)
			look(&r, conf, &conf->providers[at]);
		else
			no_such(&r, conf, name);
	}
	if (json)
		print_json(&r, path, name);
	else
		print_text(&r);
	conf_free(conf);
	json_decref(r.checks);
	return r.wrong == 0;
}
