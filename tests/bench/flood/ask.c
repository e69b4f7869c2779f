/* ask.c - what the control socket takes to answer, as burst-prolog and burstctl see it. */
#include "flood.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/paths.h"
#include "io/ctl_client.h"

enum { PATIENCE_MS = 2000, GAP_MS = 20 };

static int64_t now_us(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

int ask(unsigned long n)
{
	const struct timespec gap = {.tv_nsec = (long)GAP_MS * 1000000};

	for (unsigned long i = 0; i < n; i++) {
		int64_t began = now_us();
		char *reply = NULL;
		size_t len = 0;
		int rc = ctl_client_ask(PATHS_SOCKET, "{\"v\":1,\"op\":\"status\"}", PATIENCE_MS,
					&reply, &len, NULL);

		rc = rc != 0 || strncmp(reply, "{\"ok\":true", 10) != 0;
		(void)printf("%d %lld\n", rc, (long long)(now_us() - began));
		free(reply);
		(void)nanosleep(&gap, NULL);
	}
	return 0;
}
