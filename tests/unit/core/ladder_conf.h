/* ladder_conf.h - pools and offers for tests of the ladder, as burstd.conf would have them. */
#ifndef TESTS_LADDER_CONF_H
#define TESTS_LADDER_CONF_H

#include "core/ladder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "core/conf_option.h"
#include "core/constraint.h"
#include "core/jurisdiction.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const int64_t now = INT64_C(1767362400000); /* 2026-01-02T14:00:00Z */

enum { MINUTE = 60000 };

static const char *const only_eu[] = {"EU", NULL};

static void set(const char *section, const char *name, void *object, const char *text)
{
	const struct conf_option *o = conf_option_find(section, name);
	struct err e = {0};

	if ((conf_option_is_list(o) ? conf_option_add_arg(o, object, text, &e)
				    : conf_option_set(o, object, text, &e)) < 0)
		fail_msg("%s %s: %s", section, name, e.msg);
}

static struct conf *empty_conf(void)
{
	static const char *const providers[] = {"aws", "lambda"};
	struct conf *c = conf_new("test.conf");

	c->providers = mem_zalloc(COUNT(providers) * sizeof(*c->providers));
	c->nproviders = COUNT(providers);
	for (size_t i = 0; i < COUNT(providers); i++) {
		c->providers[i].name = mem_strdup(providers[i]);
		c->providers[i].driver = mem_strdup(providers[i]);
	}
	c->pools = mem_zalloc(sizeof(*c->pools));
	c->npools = 1;
	c->pools[0].name = mem_strdup("p");
	for (size_t i = 0; i < conf_noptions; i++)
		if (strcmp(conf_options[i].section, "pool") == 0 &&
		    conf_options[i].initial != NULL && !conf_option_is_list(&conf_options[i]))
			set("pool", conf_options[i].name, c->pools, conf_options[i].initial);
	set("pool", "nodes", c->pools, "n[1-9]");
	return c;
}

static struct conf_offer *add_offer(struct conf_pool *p, const char *name, const char *provider,
				    const char *region, const char *market)
{
	struct conf_offer *o;

	p->offers = mem_realloc(p->offers, (p->noffers + 1) * sizeof(*o));
	o = &p->offers[p->noffers++];
	*o = (struct conf_offer){.name = mem_strdup(name)};
	set("offer", "provider", o, provider);
	set("offer", "type", o, "p5");
	set("offer", "region", o, region);
	set("offer", "zone", o, name);
	set("offer", "market", o, market);
	set("offer", "jurisdiction", o, "");
	return o;
}

static void finish(struct conf *c)
{
	struct err e = {0};

	if (conf_finish(c, &e) != 0)
		fail_msg("%s", e.msg);
}

#endif
