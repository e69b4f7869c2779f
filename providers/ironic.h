/* ironic.h - the driver for OpenStack's Ironic on its own (docs/providers/ironic.md).
 *
 * An instance is an allocation: its id is the allocation's uuid, its name says which node of which
 * cluster it is (names.h), and Ironic makes both in one step, before any machine runs.  A machine
 * is no instance: it is deployed again and again, for anybody.  So a machine is undeployed only if
 * Ironic has just said that its instance_uuid is the allocation that is to end; what follows from
 * an older answer is asked for again (ironic_private.h). */
#ifndef PROVIDERS_IRONIC_H
#define PROVIDERS_IRONIC_H

#include "core/conf_option.h"
#include "core/provider.h"

struct ironic_options { /* provider_conf.options; NULL or "": not given */
	const char *image, *image_checksum, *kernel, *ramdisk;
	const char *traits, *address;
	/* Of Keystone (common/keystone.h); without user, project and application_credential there
	 * is none. */
	const char *application_credential, *user, *user_domain, *project, *project_domain;
	const char *region, *interface;
};

extern const struct provider_ops provider_ironic;
extern const struct conf_driver ironic_options; /* ironic_options.c */

#endif
