/* ctl_client.h - a blocking client of the control socket, with a deadline, for burstctl. */
#ifndef BURSTD_CTL_CLIENT_H
#define BURSTD_CTL_CLIENT_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Send one JSON request to the socket at path and wait for the answer.  *reply is the caller's
 * (free()), NULL on failure.  ERR_NOTSENT: nothing listens there. */
int ctl_client_ask(const char *path, const char *json, uint32_t timeout_ms, char **reply,
		   size_t *len, struct err *e);

#endif
