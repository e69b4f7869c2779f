#include "core/conf_alert.h"

#include <string.h>

#include "base/ipaddr.h"
#include "core/conf.h"
#include "core/conf_option.h"

enum { URL_MAX = 2048 }; /* bytes */

const char *conf_alert_kind_str(enum conf_alert_kind k)
{
	static const char *const words[] = {[CONF_ALERT_WEBHOOK] = "webhook",
					    [CONF_ALERT_SLACK] = "slack",
					    [CONF_ALERT_SMTP] = "smtp"};

	return words[k];
}

const struct conf_alert *conf_alert_named(const struct conf *c, const char *name)
{
	for (size_t i = 0; i < c->nalerts; i++)
		if (strcmp(c->alerts[i].name, name) == 0)
			return &c->alerts[i];
	return NULL;
}

bool conf_alert_is_for(const struct conf_alert *a, const char *budget)
{
	for (char *const *b = a->budgets; b != NULL && *b != NULL; b++)
		if (strcmp(*b, budget) == 0)
			return true;
	return a->budgets == NULL;
}

/* --- which options a kind has --------------------------------------------------------------------
 */

enum {
	OF_WEBHOOK = 1 << CONF_ALERT_WEBHOOK,
	OF_SLACK = 1 << CONF_ALERT_SLACK,
	OF_SMTP = 1 << CONF_ALERT_SMTP
};

/* Options that some kinds have only, and the kinds that need them. */
static const struct {
	const char *name;
	unsigned of, needed;
} options[] = {
	{"url", OF_WEBHOOK | OF_SMTP, OF_SMTP},
	{"url_file", OF_WEBHOOK | OF_SLACK, OF_SLACK},
	{"secret_file", OF_WEBHOOK, OF_WEBHOOK},
	{"from", OF_SMTP, OF_SMTP},
	{"to", OF_SMTP, OF_SMTP},
	{"user", OF_SMTP, 0},
	{"password_file", OF_SMTP, 0},
};

bool conf_alert_takes(const struct conf_alert *a, const struct conf_option *o)
{
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (strcmp(options[i].name, o->name) == 0)
			return (options[i].of & 1U << a->kind) != 0;
	return true;
}

bool conf_alert_needs(const struct conf_alert *a, const struct conf_option *o)
{
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (strcmp(options[i].name, o->name) == 0)
			return (options[i].needed & 1U << a->kind) != 0;
	return false;
}

/* --- URLs ----------------------------------------------------------------------------------------
 */

/* What stands behind "SCHEME://"; NULL: it is another scheme. */
static const char *behind(const char *url, const char *scheme)
{
	size_t n = strlen(scheme);

	return strncmp(url, scheme, n) == 0 && strncmp(url + n, "://", 3) == 0 ? url + n + 3 : NULL;
}

static bool is_clean(const char *rest)
{
	for (const char *p = rest; *p != '\0'; p++)
		if (*p <= ' ' || *p > '~' || strchr("\"\\<>", *p) != NULL)
			return false;
	/* A name before the host would be a password in the file. */
	return strcspn(rest, "/?#") > 0 && strcspn(rest, "@") >= strcspn(rest, "/?#");
}

bool conf_alert_is_near(const char *url)
{
	const char *rest = strstr(url, "://");

	return rest != NULL && ipaddr_host_is_loopback(rest + 3);
}

int conf_alert_check_url(enum conf_alert_kind k, const char *url, struct err *e)
{
	bool mail = k == CONF_ALERT_SMTP;
	const char *plain = behind(url, mail ? "smtp" : "http");
	const char *rest = plain != NULL ? plain : behind(url, mail ? "smtps" : "https");

	if (strlen(url) > URL_MAX)
		return err_set(e, ERR_LIMIT, "longer than %d bytes", URL_MAX);
	if (rest == NULL || !is_clean(rest))
		return err_set(e, ERR_INVALID, "want %s",
			       mail ? "smtp://HOST[:PORT] or smtps://HOST[:PORT]"
				    : "https://HOST[:PORT]/PATH");
	if (mail && rest[strcspn(rest, "/?#")] != '\0')
		return err_set(e, ERR_INVALID, "want smtp://HOST[:PORT], without a path");
	if (plain != NULL && !mail && !conf_alert_is_near(url))
		return err_set(e, ERR_INVALID,
			       "http:// only to this host (127.0.0.1, [::1], localhost): want "
			       "https://");
	return 0;
}

/* --- lines
 * -----------------------------------------------------------------------------------------
 */

int conf_alert_line(const struct conf_alert *a, const char *option)
{
	size_t k = 0;

	for (size_t i = 0; i < conf_noptions; i++) {
		if (strcmp(conf_options[i].section, "alert") != 0)
			continue;
		if (strcmp(conf_options[i].name, option) == 0 && a->lines[k] != 0)
			return a->lines[k];
		k++;
	}
	return a->line;
}
