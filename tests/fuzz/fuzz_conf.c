/* Any bytes at all as burstd.conf: it is refused with FILE:LINE, or what it means can be written
 * out and read again to the same. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "io/conf_file.h"
#include "providers/options.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool ok)
{
	if (!ok)
		abort();
}

static void check_message(const char *msg)
{
	size_t digits = strspn(msg + 2, "0123456789");

	check(strncmp(msg, "f:", 2) == 0 && digits > 0 && msg[2 + digits] == ':');
	check(strlen(msg) > 2 + digits + 2 && strchr(msg, '\n') == NULL);
}

static void check_print(const struct conf *c)
{
	struct conf *again;
	struct err e = {0};
	struct str a, b;

	str_init(&a, CONF_PRINT_MAX);
	str_init(&b, CONF_PRINT_MAX);
	conf_print(c, &a);
	check(!a.full);
	if (conf_file_parse(&again, "f", a.p, provider_options, &e) < 0) {
		(void)fprintf(stderr, "%s\n%s\n", a.p, e.msg);
		abort();
	}
	conf_print(again, &b);
	check(strcmp(a.p, b.p) == 0);
	check(conf_may_replace(c, again, &e) == 0);
	conf_free(again);
	str_fini(&a);
	str_fini(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = mem_zalloc(size + 1);
	struct conf *c;
	struct err e = {0};

	if (size > 0)
		memcpy(text, data, size);
	if (conf_file_parse(&c, "f", text, provider_options, &e) == 0)
		check_print(c);
	else
		check_message(e.msg);
	conf_free(c);
	free(text);
	return 0;
}
