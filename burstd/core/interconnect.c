#include "core/interconnect.h"

#include <string.h>

static const char *const kinds[] = {"none", "ib", "roce", "efa", "gib"};

/* Read a number and move *at behind it; 0: no number from 1 to max. */
static uint32_t number(const char **at, uint32_t max)
{
	uint32_t v = 0;

	if (**at == '0')
		return 0;
	for (; **at >= '0' && **at <= '9' && v <= max; ++*at)
		v = v * 10 + (uint32_t)(**at - '0');
	return v <= max ? v : 0;
}

int interconnect_parse(const char *text, struct interconnect *out, struct err *e)
{
	size_t n = strcspn(text, ":");
	const char *at = text + n;

	*out = (struct interconnect){.kind = NULL};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (n == strlen(kinds[i]) && memcmp(text, kinds[i], n) == 0)
			out->kind = kinds[i];
	if (out->kind != NULL && *at == '\0')
		return 0;
	if (out->kind != NULL && out->kind != kinds[0] && *at++ == ':') {
		out->ports = number(&at, INTERCONNECT_PORTS_MAX);
		if (out->ports > 0 && *at++ == 'x')
			out->gbits = number(&at, INTERCONNECT_GBITS_MAX);
		if (out->gbits > 0 && *at == '\0')
			return 0;
	}
	return err_set(e, ERR_INVALID,
		       "\"%.40s\": want none, or ib, roce, efa or gib, optionally followed by "
		       ":PORTSxGBITS, such as ib:8x400",
		       text);
}
