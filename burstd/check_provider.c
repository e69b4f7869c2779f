/* Checks each provider by its driver: do its files exist, can it be opened, can it build a create
 * of each offer? */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/secret.h"
#include "base/str.h"
#include "check.h"
#include "check_private.h"
#include "core/conf_option.h"
#include "core/rates.h"
#include "core/terms.h"
#include "io/conf_file.h"
#include "providers/common/names.h"
#include "providers/registry.h"

/* Generations begin at the clock (ADR 5): as long as in the year 2100. */
#define CHECK_GEN UINT64_C(4102444800000)

static const struct provider_ops *find_driver(struct check *c, const struct conf_provider *p)
{
	const struct provider_ops *ops = provider_find(p->driver);
	struct str known;

	if (ops != NULL)
		return ops;
	str_init(&known, CHECK_PROBLEM_MAX / 2);
	for (size_t i = 0; provider_drivers[i] != NULL; i++)
		str_addf(&known, "%s%s", i > 0 ? ", " : "", provider_drivers[i]->name);
	check_problem(c, p->driver_line, "provider \"%s\": no driver \"%s\"; there are: %s",
		      p->name, p->driver, known.p);
	str_fini(&known);
	return NULL;
}

static void check_executable(struct check *c, const struct conf_provider *p, const char *option,
			     const char *path)
{
	if (path != NULL && faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) != 0)
		check_problem(c, p->line, "provider \"%s\": %s: %s: %s", p->name, option, path,
			      strerror(errno));
}

static const char *first_word(char *const *argv)
{
	return argv != NULL ? argv[0] : NULL;
}

/* The programs that the driver's own options name. */
static void check_own_programs(struct check *c, const struct conf_provider *p)
{
	for (size_t i = 0; p->own != NULL && i < p->own_options->noptions; i++) {
		const struct conf_option *o = &p->own_options->options[i];
		const void *field = (const char *)p->own + o->offset;

		if (o->type == CONF_ARGV)
			check_executable(c, p, o->name, first_word(*(char *const *const *)field));
		else if (o->type == CONF_PROGRAM)
			check_executable(c, p, o->name, *(char *const *)field);
	}
}

/* What machines of this offer need to become nodes.  The text that burstd writes for them is
 * checked when there is one, before the create. */
static int check_boot(const struct check_driver *d, const struct provider_place *place,
		      struct err *e)
{
	const struct provider_terms t = terms_known(d->ops, d->self, place);
	struct err why = {0};

	if (terms_take_data(&t, d->provider->user_data, e) != 0)
		return -1;
	if (d->provider->bootstrap != CONF_BOOTSTRAP_USER_DATA || terms_boot(&t, &why) == 0)
		return 0;
	return err_set(e, ERR_INVALID,
		       "%s; set bootstrap of the provider: image, if the provider's image has "
		       "burst-node in it; ssh, if a program of yours installs it there",
		       why.msg);
}

int check_provider_builds(const struct check_driver *d, const struct conf_pool *p,
			  const struct conf_offer *o, struct err *e)
{
	const struct provider_place place = conf_place(o);
	const struct provider_want want = {.node = p->nodes->names[0], .gen = CHECK_GEN};
	struct provider_op op = {.kind = PROVIDER_CREATE};
	struct provider_request rq = {0};

	op.u.create = (struct provider_create){.cluster = CHECK_NO_UUID,
					       .token = "check",
					       .place = &place,
					       .wants = &want,
					       .nwants = 1};
	if (o->in_fabric != NULL && (d->ops->caps(d->self).flags & PROVIDER_FABRICS) == 0)
		return err_set(e, ERR_INVALID, "fabric: driver %s has none", d->ops->name);
	if (d->ops->build(d->self, &op, &rq, e) != 0)
		return -1;
	provider_request_fini(&rq);
	return check_boot(d, &place, e);
}

/* Does each node of the pool fit into a name there?  The first is tried by a create, all here. */
static void check_names(struct check *c, const struct conf_pool *p, const struct conf_offer *o,
			const struct provider_names *form)
{
	char name[NAMES_SIZE];
	struct err e = {0};
	size_t bad = 0;

	for (size_t i = 0; form != NULL && i < p->nodes->n; i++) {
		const struct provider_want want = {.node = p->nodes->names[i], .gen = CHECK_GEN};

		bad += names_pack(name, form, CHECK_NO_UUID, &want, bad == 0 ? &e : NULL) != 0;
	}
	if (bad > 0)
		check_problem(c, p->nodes_line,
			      "pool \"%s\": nodes: provider \"%s\" has the node in the name of its "
			      "instance: %s%s",
			      p->name, o->provider, e.msg, bad > 1 ? ", and others likewise" : "");
}

static bool check_rung(struct check *c, const struct check_driver *d, const struct conf_pool *p,
		       const struct conf_offer *o)
{
	struct err e = {0};

	if (check_provider_builds(d, p, o, &e) == 0)
		return true;
	if (o->name[0] == '\0')
		check_problem(c, p->line, "pool \"%s\": %s", p->name, e.msg);
	else
		check_problem(c, o->line, "offer \"%s\" of pool \"%s\": %s", o->name, p->name,
			      e.msg);
	return false;
}

/* Note an offer that cannot be bought without a price.  The file is valid all the same. */
static void check_price(const struct check *c, const struct conf_pool *p,
			const struct conf_offer *o, const struct provider_caps *caps)
{
	struct str s;

	if (rates_set_price(c->conf, o, clock_wall_ms()) != 0 ||
	    provider_says_prices(caps, (enum provider_market)o->market, c->conf->currency))
		return;
	str_init(&s, CHECK_PROBLEM_MAX);
	str_addf(&s, "note: %s:%d: ", c->conf->path, o->name[0] != '\0' ? o->line : p->line);
	if (o->name[0] != '\0')
		str_addf(&s, "offer \"%s\" of ", o->name);
	str_addf(&s,
		 "pool \"%s\" needs a \"price\": provider \"%s\" publishes no prices of %s "
		 "instances in %s, and nothing is bought at an unknown price",
		 p->name, o->provider, provider_market_str((enum provider_market)o->market),
		 c->conf->currency);
	check_say(stderr, s.p);
	str_fini(&s);
}

static void check_pools(struct check *c, const struct conf_provider *p,
			const struct provider_ops *ops, const void *self)
{
	const struct provider_caps caps = ops->caps(self);
	const struct check_driver driver = {p, ops, self};

	for (size_t i = 0; i < c->conf->npools; i++) {
		size_t n;
		const struct conf_offer *rungs = conf_rungs(&c->conf->pools[i], &n);

		for (size_t k = 0; k < n; k++) {
			if (&c->conf->providers[rungs[k].provider_index] != p)
				continue;
			if (!check_rung(c, &driver, &c->conf->pools[i], &rungs[k]))
				continue;
			check_price(c, &c->conf->pools[i], &rungs[k], &caps);
			check_names(c, &c->conf->pools[i], &rungs[k], caps.names);
		}
	}
}

const struct provider_ops *check_provider_open(struct check *c, struct conf_provider *p,
					       void **self)
{
	const struct provider_ops *ops = find_driver(c, p);
	struct provider_conf pc;
	struct secret *secret = NULL;
	struct err e = {0};

	if (p->ca_file != NULL && faccessat(AT_FDCWD, p->ca_file, R_OK, AT_EACCESS) != 0)
		check_problem(c, p->ca_line, "provider \"%s\": ca_file: %s: %s", p->name,
			      p->ca_file, strerror(errno));
	check_own_programs(c, p);
	if (p->credential_file != NULL && secret_load(&secret, p->credential_file, &e) != 0) {
		check_problem(c, p->credential_line, "provider \"%s\": credential_file: %s",
			      p->name, e.msg);
		return NULL; /* a driver that needs one would only complain about that */
	}
	if (conf_file_load_user_data(p, &e) != 0)
		check_problem(c, p->line, "provider \"%s\": %s", p->name, e.msg);
	pc = conf_for_driver(p, secret != NULL ? secret_text(secret) : NULL);
	if (ops != NULL && ops->open(self, &pc, &e) != 0) {
		check_problem(c, p->line, "provider \"%s\": %s", p->name, e.msg);
		ops = NULL;
	}
	secret_free(secret);
	return ops;
}

void check_provider(struct check *c, struct conf_provider *p)
{
	const struct provider_ops *ops;
	void *self;

	if (check_out_of_sight(p->credential_file))
		return;
	ops = check_provider_open(c, p, &self);
	if (ops == NULL)
		return;
	check_pools(c, p, ops, self);
	ops->close(self);
}
