/* fuzz_console.c - any bytes as the console log of a machine: what is shown of it is short, plain
 * text in whole lines, and never the secret that a script has printed below it. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/plain.h"
#include "core/console.h"
#include "core/provider.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SECRET "Hunter2Hunter2"
#define PRINTS "\npassword: " SECRET "\n"

static void check_shown(const char *text)
{
	size_t len = strlen(text);

	assert(len > 0 && len <= CONSOLE_SHOWN_MAX && text[0] != '\n' && text[len - 1] == '\n');
	for (const char *p = text; *p != '\0';) {
		size_t n = *p == '\n' ? 1 : plain_shown(p);

		assert(n > 0 && (p[0] != '\n' || p[1] != '\n'));
		p += n;
	}
}

/* As burstd does with what a provider answers. */
static char *shown(const char *log, size_t len)
{
	char *end = console_end(log, len), *text;

	assert((end == NULL) == (len == 0));
	if (end == NULL)
		return NULL;
	assert(strlen(end) == (len < PROVIDER_CONSOLE_MAX ? len : PROVIDER_CONSOLE_MAX));
	text = console_show(end);
	free(end);
	if (text != NULL)
		check_shown(text);
	return text;
}

/* Repeats the bytes until they exceed what is shown. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const size_t times = size > 256 ? 1 + CONSOLE_SHOWN_MAX / size : 1, len = times * size;
	char *log = mem_zalloc(len + sizeof(PRINTS)), *text;

	for (size_t i = 0; i < times; i++)
		memcpy(log + i * size, data, size);
	text = shown(log, len);
	if (text == NULL || strstr(text, SECRET) == NULL) {
		free(text);
		memcpy(log + len, PRINTS, sizeof(PRINTS));
		text = shown(log, len + sizeof(PRINTS) - 1);
		assert(text != NULL && strstr(text, SECRET) == NULL);
	}
	free(text);
	free(log);
	return 0;
}
