/* Checks the sections alert, once budgets are known. */
#include <string.h>

#include "core/conf.h"
#include "core/conf_option.h"
#include "core/conf_private.h"

/* -1, with FILE:LINE of the option and the section's name in front. */
static int bad(const struct conf *c, const struct conf_alert *a, const char *option,
	       const struct err *why, struct err *e)
{
	return err_set(e, ERR_INVALID, "%.120s:%d: alert \"%.63s\": %s: %.140s", c->path,
		       conf_alert_line(a, option), a->name, option, why->msg);
}

static bool is_given(const struct conf_alert *a, const struct conf_option *o)
{
	const void *field = (const char *)a + o->offset;

	return conf_option_is_list(o) ? *(char *const *const *)field != NULL
				      : conf_is_given(*(char *const *)field);
}

static int check_options(const struct conf *c, const struct conf_alert *a, struct err *e)
{
	const char *kind = conf_alert_kind_str((enum conf_alert_kind)a->kind);
	struct err why;

	for (size_t i = 0; i < conf_noptions; i++) {
		const struct conf_option *o = &conf_options[i];

		if (strcmp(o->section, "alert") != 0 || strcmp(o->name, "kind") == 0)
			continue;
		if (is_given(a, o) && !conf_alert_takes(a, o))
			(void)err_set(&why, ERR_INVALID,
				      a->kind == CONF_ALERT_SLACK && strcmp(o->name, "url") == 0
					      ? "Slack's is a secret: put it into url_file"
					      : "not with kind = %s",
				      kind);
		else if (!is_given(a, o) && conf_alert_needs(a, o))
			(void)err_set(&why, ERR_INVALID, "missing: kind = %s needs it", kind);
		else
			continue;
		return bad(c, a, o->name, &why, e);
	}
	return 0;
}

static int check_pairs(const struct conf *c, const struct conf_alert *a, struct err *e)
{
	bool url = conf_is_given(a->url), file = a->url_file != NULL;
	struct err why;

	if (url && file) {
		(void)err_set(&why, ERR_INVALID, "url says another one: set one of them");
		return bad(c, a, "url_file", &why, e);
	}
	if (!url && !file) {
		(void)err_set(&why, ERR_INVALID, "missing: set url, or url_file");
		return bad(c, a, "url", &why, e);
	}
	if (url && conf_alert_check_url((enum conf_alert_kind)a->kind, a->url, &why) < 0)
		return bad(c, a, "url", &why, e);
	if (conf_is_given(a->user) == (a->password_file != NULL))
		return 0;
	(void)err_set(&why, ERR_INVALID, "set both, user and password_file, or none");
	return bad(c, a, a->password_file != NULL ? "password_file" : "user", &why, e);
}

static int check_budgets(const struct conf *c, const struct conf_alert *a, struct err *e)
{
	struct err why;

	for (char *const *b = a->budgets; b != NULL && *b != NULL; b++)
		if (conf_budget_named(c, *b) == NULL) {
			(void)err_set(&why, ERR_INVALID, "there is no budget \"%.63s\"", *b);
			return bad(c, a, "budgets", &why, e);
		}
	return 0;
}

int conf_alerts_finish(struct conf *c, struct err *e)
{
	if (c->nalerts > CONF_ALERTS_MAX)
		return err_set(e, ERR_LIMIT, "%.120s:%d: more than %d sections alert", c->path,
			       c->alerts[CONF_ALERTS_MAX].line, CONF_ALERTS_MAX);
	for (size_t i = 0; i < c->nalerts; i++) {
		const struct conf_alert *a = &c->alerts[i];

		if (conf_alert_named(c, a->name) != a)
			return err_set(e, ERR_INVALID, "%.120s:%d: alert \"%s\" is defined twice",
				       c->path, a->line, a->name);
		if (check_options(c, a, e) < 0 || check_pairs(c, a, e) < 0 ||
		    check_budgets(c, a, e) < 0)
			return -1;
	}
	return 0;
}
