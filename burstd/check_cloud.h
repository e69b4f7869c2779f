/* check_cloud.h - `burstd --check --provider NAME`: asks a provider whether it would serve burstd.
 *
 * It sends what only looks: a login, if the driver has one, a list of this cluster's instances and
 * the quotes.  It buys nothing, deletes nothing and leaves no trace in state_dir, so it can run
 * before burstd was ever started, and beside it. */
#ifndef BURSTD_CHECK_CLOUD_H
#define BURSTD_CHECK_CLOUD_H

#include <stdbool.h>

/* Ask the provider of that name in the configuration at path, and print on standard output what
 * came of it: lines, or one JSON object.  true: nothing is wrong.  If run by root, it becomes the
 * user that burstd runs as. */
bool check_cloud(const char *path, const char *name, bool json);

#endif
