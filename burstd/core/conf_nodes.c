/* Checks the sections nodes and secrets, and sets for each provider how its machines prove their
 * identity, or that they have a token instead. */
#include <string.h>

#include "core/conf.h"
#include "core/conf_option.h"
#include "core/conf_private.h"
#include "core/secret_store.h"

/* How machines prove their identity; auto: by what the driver's cloud signs, else by a callback. */
static enum conf_attest attest_of(const struct conf_provider *p)
{
	if (p->attest_as != CONF_ATTEST_AUTO)
		return (enum conf_attest)p->attest_as;
	return p->own_options != NULL ? (enum conf_attest)p->own_options->attest
				      : CONF_ATTEST_CALLBACK;
}

/* Have its machines no user-data?  Nor has a provider that only the journal names. */
static bool has_no_user_data(const struct conf_provider *p)
{
	return !conf_is_given(p->driver) ||
	       (p->own_options != NULL && p->own_options->attest == CONF_ATTEST_OFF);
}

static int finish_attest(const struct conf *c, struct conf_provider *p, struct err *e)
{
	p->attest = attest_of(p);
	if (p->attest == CONF_ATTEST_OFF)
		return 0;
	if (has_no_user_data(p))
		return err_set(e, ERR_INVALID,
			       "%.120s:%d: provider \"%.40s\": attest must be off: driver %.30s "
			       "has no user-data",
			       c->path, p->line, p->name, p->driver);
	if (p->attest == CONF_ATTEST_AZURE && p->attest_ca_file == NULL)
		return err_set(e, ERR_INVALID,
			       "%.120s:%d: provider \"%.40s\": attest = azure: attest_ca_file is "
			       "missing",
			       c->path, p->line, p->name);
	if (p->user_data_file != NULL)
		return err_set(e, ERR_INVALID,
			       "%.120s:%d: provider \"%.40s\": user_data_file: with section nodes "
			       "burstd writes the user-data: remove it, or set attest = off",
			       c->path, p->line, p->name);
	return 0;
}

/* A provider whose machines get the keys by their user-data. */
static int finish_voucher(const struct conf *c, struct conf_provider *p, struct err *e)
{
	static const char *const why = "with release = user-data";

	if (p->attest_as == CONF_ATTEST_OFF || has_no_user_data(p))
		return 0;
	if (p->attest_as != CONF_ATTEST_AUTO)
		return err_set(e, ERR_INVALID,
			       "%.120s:%d: provider \"%.40s\": attest: %s burstd does not check "
			       "identities: want auto or off",
			       c->path, p->line, p->name, why);
	if (p->user_data_file != NULL)
		return err_set(e, ERR_INVALID,
			       "%.120s:%d: provider \"%.40s\": user_data_file: %s burstd writes "
			       "the user-data: remove it, or set attest = off",
			       c->path, p->line, p->name, why);
	p->vouchers = true;
	return 0;
}

/* Nodes that reach the secret store, but not burstd. */
static int finish_vouchers(struct conf *c, struct err *e)
{
	const struct conf_nodes *n = &c->nodes;
	int line = n->line != 0 ? n->line : conf_secrets_line(c, "release");

	if (conf_is_given(n->listen) || n->urls != NULL)
		return err_set(e, ERR_INVALID,
			       "%.120s:%d: nodes: release = user-data is for machines that do not "
			       "reach burstd: remove listen and url",
			       c->path, line);
	if (n->conf_servers == NULL)
		return err_set(e, ERR_INVALID, "%.120s:%d: nodes: conf_server is missing", c->path,
			       line);
	if (!conf_is_given(c->secrets.ca_file))
		return err_set(e, ERR_INVALID,
			       "%.120s:%d: secrets: ca_file is missing: machines check Vault's "
			       "certificate with it",
			       c->path, conf_secrets_line(c, "release"));
	for (size_t i = 0; i < c->nproviders; i++)
		if (finish_voucher(c, &c->providers[i], e) < 0)
			return -1;
	return 0;
}

int conf_check_release(const struct conf_secrets *s, unsigned flags, struct err *e)
{
	if (s->release == CONF_BROKER || (flags & SECRET_WRAPS) != 0)
		return 0;
	return err_set(
		e, ERR_INVALID,
		"secrets: driver %.40s cannot make wrapping tokens: want release = \"broker\"",
		s->driver);
}

const char *conf_cloud(const struct conf_provider *p)
{
	switch (p->attest) {
	case CONF_ATTEST_AWS:
		return "aws";
	case CONF_ATTEST_GCP:
		return "gcp";
	case CONF_ATTEST_AZURE:
		return "azure";
	default:
		return p->driver;
	}
}

const char *conf_auth_type(const struct conf *c)
{
	if (c->nodes.conf_servers == NULL)
		return NULL;
	return c->nodes.auth == CONF_AUTH_SLURM ? "auth/slurm" : "auth/munge";
}

int conf_nodes_finish(struct conf *c, struct err *e)
{
	const struct conf_nodes *n = &c->nodes;

	for (size_t i = 0; i < c->nproviders; i++)
		c->providers[i].attest = CONF_ATTEST_OFF;
	if (conf_is_given(c->secrets.driver) && c->secrets.release == CONF_USER_DATA)
		return finish_vouchers(c, e);
	if (!conf_is_given(n->listen))
		return n->urls == NULL && n->conf_servers == NULL
			       ? 0
			       : err_set(e, ERR_INVALID,
					 "%.120s:%d: nodes: listen is missing (ADDRESS:PORT)",
					 c->path, n->line);
	if (n->urls == NULL || n->conf_servers == NULL)
		return err_set(e, ERR_INVALID, "%.120s:%d: nodes: %s is missing", c->path, n->line,
			       n->urls == NULL ? "url" : "conf_server");
	if (!conf_is_given(c->secrets.driver))
		return err_set(e, ERR_INVALID,
			       "%.120s:%d: nodes: machines get the cluster's keys from a secret "
			       "store: driver of section secrets is missing",
			       c->path, n->line);
	/* Machines do not trust the system's certificates. */
	if (strcmp(c->secrets.driver, "vault") == 0 && c->secrets.release == CONF_WRAP &&
	    !conf_is_given(c->secrets.ca_file))
		return err_set(e, ERR_INVALID,
			       "%.120s:%d: secrets: ca_file is missing: with release = wrap "
			       "machines check Vault's certificate with it",
			       c->path, conf_secrets_line(c, "driver"));
	for (size_t i = 0; i < c->nproviders; i++)
		if (finish_attest(c, &c->providers[i], e) < 0)
			return -1;
	return 0;
}
