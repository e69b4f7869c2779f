/* small_conf.h - a configuration with two providers, to which pools are added, without a file. */
#ifndef TESTS_SMALL_CONF_H
#define TESTS_SMALL_CONF_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "core/conf.h"
#include "core/conf_option.h"

static inline void set(const char *section, const char *name, void *object, const char *text)
{
	struct err e = {0};

	if (conf_option_set(conf_option_find(section, name), object, text, &e) < 0)
		fail_msg("%s %s: %s", section, name, e.msg);
}

static inline void add_provider(struct conf *c, const char *name, int line)
{
	struct conf_provider *p;

	c->providers = mem_realloc(c->providers, (c->nproviders + 1) * sizeof(*p));
	p = &c->providers[c->nproviders++];
	*p = (struct conf_provider){.name = mem_strdup(name), .line = line};
	set("provider", "driver", p, "sim");
}

static inline void add_pool(struct conf *c, const char *name, const char *provider,
			    const char *nodes, int line)
{
	struct conf_pool *p;

	c->pools = mem_realloc(c->pools, (c->npools + 1) * sizeof(*p));
	p = &c->pools[c->npools++];
	*p = (struct conf_pool){.name = mem_strdup(name),
				.line = line + 9,
				.nodes_line = line,
				.provider_line = line + 1};
	set("pool", "nodes", p, nodes);
	set("pool", "provider", p, provider);
	set("pool", "type", p, "t");
	set("pool", "region", p, "r");
}

/* Give every option that has no initial value a good one. */
static inline struct conf *small_conf(void)
{
	struct conf *c = conf_new("burstd.conf");

	set("", "cluster", c, "lab");
	set("", "currency", c, "EUR");
	set("", "report_zone", c, "UTC");
	set("", "state_dir", c, "/s");
	add_provider(c, "one", 5);
	add_provider(c, "two", 6);
	return c;
}

static inline struct conf_budget *add_budget(struct conf *c, const char *name, int line)
{
	struct conf_budget *b;

	c->budgets = mem_realloc(c->budgets, (c->nbudgets + 1) * sizeof(*b));
	b = &c->budgets[c->nbudgets++];
	*b = (struct conf_budget){.name = mem_strdup(name), .line = line};
	set("budget", "period", b, "month");
	set("budget", "amount", b, "100");
	return b;
}

static inline void note_change(void *ctx, const struct conf_change *change)
{
	struct str *all = ctx;

	if (change->option == NULL) /* a whole provider or pool: only one side has it */
		assert_true((change->from == NULL) != (change->to == NULL));
	conf_change_print(change, all);
	str_adds(all, "\n");
}

static inline void check_diff(const struct conf *old, const struct conf *next, const char *want)
{
	struct str all;

	str_init(&all, 4096);
	conf_diff(old, next, note_change, &all);
	assert_string_equal(all.p, want);
	str_fini(&all);
}

#endif
