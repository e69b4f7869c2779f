/* options.h - the drivers that burstd.conf may name, each with its options.
 *
 * Whoever reads or explains burstd.conf needs these tables and no driver: burstctl has them alone.
 */
#ifndef PROVIDERS_OPTIONS_H
#define PROVIDERS_OPTIONS_H

struct conf_driver;

extern const struct conf_driver *const provider_options[]; /* by name; NULL-terminated */

#endif
