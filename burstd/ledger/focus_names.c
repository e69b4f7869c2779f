#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "ledger/ascii.h"
#include "ledger/focus_private.h"
#include "ledger/pseudonym.h"

static const struct focus_driver drivers[] = {
	{"aws", "AWS", "Amazon Elastic Compute Cloud"},
	{"azure", "Microsoft", "Virtual Machines"},
	{"gcp", "Google Cloud", "Compute Engine"},
	{"ironic", "OpenStack", "Bare Metal (Ironic)"},
	{"lambda", "Lambda", "On-Demand Cloud"},
	{"lyceum", "Lyceum", "Virtual Machines by Lyceum"},
	{"oci", "Oracle", "OCI Compute"},
	{"openstack", "OpenStack", "Compute (Nova)"},
	{"sim", "simcloud", "Simulated Machines"},
	{"spheron", "Spheron", "Spheron Deployments"},
	{"static", "Static Machines", "Static Machines"},
};

static const struct focus_driver unknown = {"cloud", "Unknown", "Machines"};

const struct focus_driver *focus_driver(const char *driver)
{
	for (size_t i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++)
		if (strcmp(drivers[i].driver, driver) == 0)
			return &drivers[i];
	return &unknown;
}

const char *focus_provider_name(const char *driver)
{
	return focus_driver(driver)->name;
}

const struct focus_provider *focus_find_provider(const struct focus_options *o, const char *name)
{
	static const struct focus_provider none = {"", "", "", "", ""};

	for (size_t i = 0; i < o->nproviders; i++)
		if (strcmp(o->providers[i].name, name) == 0)
			return &o->providers[i];
	return &none;
}

void focus_clear(struct focus_line *l)
{
	l->full |= l->text.full;
	str_clear(&l->text);
}

const char *focus_time(struct focus_line *l, int64_t t_s)
{
	char text[FMT_TIME_SIZE];

	focus_clear(l);
	str_adds(&l->text, fmt_time(text, t_s * 1000));
	l->text.len = (size_t)(strrchr(l->text.p, '.') - l->text.p); /* no fraction */
	str_adds(&l->text, "Z");
	return l->text.p;
}

/* Without an account the configured name is what tells two apart. */
const char *focus_billing_account(struct focus_line *l)
{
	focus_clear(l);
	if (l->o->view == FOCUS_INTERNAL) {
		str_adds(&l->text, "burst:");
		ascii_id(&l->text, l->o->cluster);
		return l->text.p;
	}
	str_addf(&l->text, "%s:", l->driver->driver);
	ascii_id(&l->text, l->provider->account[0] != '\0' ? l->provider->account : l->c->provider);
	return l->text.p;
}

/* AWS has three of these. */
static const char *arn_partition(const char *region)
{
	return strncmp(region, "cn-", 3) == 0       ? "aws-cn"
	       : strncmp(region, "us-gov-", 7) == 0 ? "aws-us-gov"
						    : "aws";
}

const char *focus_resource(struct focus_line *l)
{
	const bool arn = strcmp(l->driver->driver, "aws") == 0 && l->c->region[0] != '\0' &&
			 l->provider->account[0] != '\0';

	focus_clear(l);
	if (l->o->view == FOCUS_INTERNAL) {
		str_adds(&l->text, "burst:");
		ascii_id(&l->text, l->o->cluster);
		str_adds(&l->text, "/");
	}
	if (arn) {
		str_addf(&l->text, "arn:%s:ec2:", arn_partition(l->c->region));
		ascii_id(&l->text, l->c->region);
		str_adds(&l->text, ":");
		ascii_id(&l->text, l->provider->account);
		str_adds(&l->text, ":instance/");
	} else {
		str_addf(&l->text, "%s:", l->driver->driver);
		ascii_id(&l->text, l->c->provider);
		str_adds(&l->text, "/");
	}
	ascii_id(&l->text, l->c->instance);
	return l->text.p;
}

const char *focus_user(struct focus_line *l)
{
	const struct secret *key = l->o->site_key;
	char pseudonym[PSEUDONYM_SIZE];

	focus_clear(l);
	str_adds(&l->text, key != NULL ? pseudonym_of(pseudonym, key, l->c->user) : l->c->user);
	return l->text.p;
}
