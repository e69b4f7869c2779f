#include "base/headers.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"

void headers_add(struct headers *h, const char *name, const char *value)
{
	struct header *v = (struct header *)(uintptr_t)h->v;

	if ((h->n & (h->n - 1)) == 0) /* as many as there is room for */
		v = mem_realloc(v, (h->n == 0 ? 1 : 2 * h->n) * sizeof(*v));
	v[h->n++] = (struct header){mem_strdup(name), mem_strdup(value)};
	h->v = v;
}

void headers_free(struct headers *h)
{
	for (size_t i = 0; i < h->n; i++) {
		char *value = (char *)(uintptr_t)h->v[i].value;

		explicit_bzero(value, strlen(value));
		free(value);
		free((void *)(uintptr_t)h->v[i].name);
	}
	free((void *)(uintptr_t)h->v);
	*h = (struct headers){0};
}

bool headers_has_control(const char *text)
{
	for (; *text != '\0'; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			return true;
	return false;
}

const char *headers_get(const struct headers *h, const char *name)
{
	size_t i = 0;

	while (i < h->n && strcasecmp(h->v[i].name, name) != 0)
		i++;
	if (i == h->n || h->v[i].value[0] == '\0' || headers_has_control(h->v[i].value))
		return NULL;
	return h->v[i].value;
}

int64_t headers_retry_after_ms(const struct headers *h, int64_t max_ms)
{
	const char *p = headers_get(h, "Retry-After");
	int64_t ms = 0;

	for (; p != NULL && *p != '\0'; p++) {
		if (!isdigit((unsigned char)*p))
			return 0;
		ms = ms * 10 + (*p - '0') * INT64_C(1000);
		if (ms > max_ms)
			ms = max_ms;
	}
	return ms;
}
