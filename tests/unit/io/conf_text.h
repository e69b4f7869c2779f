/* conf_text.h - small configurations, as texts, for the tests of conf_file.c. */
#ifndef TESTS_CONF_TEXT_H
#define TESTS_CONF_TEXT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "io/conf_file.h"
#include "providers/options.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

#define HEAD "cluster = lab\ncurrency = EUR\n"
#define NODES                                                                                      \
	"secrets { driver = vault ca_file = \"/ca\" }\nnodes { listen = \"0.0.0.0:8443\" url = "   \
	"{\"https://b:8443\"} "                                                                    \
	"conf_server = {\"c:6817\"} }\n"
#define SIM      "provider sim { driver = sim }\n"
#define POOL_END "provider = sim type = t region = r max_nodes = 8 max_rate = \"300\" }\n"
#define POOL     "pool p { nodes = \"c[1-8]\" " POOL_END

/* Parse a configuration, which must be good; the caller's. */
static inline struct conf *parsed(const char *text)
{
	struct conf *c;
	struct err e = {0};

	if (conf_file_parse(&c, "f", text, provider_options, &e) < 0)
		fail_msg("%s", e.msg);
	return c;
}

#endif
