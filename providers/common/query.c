#include "providers/common/query.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/fmt.h"

enum { NAME_MAX_BYTES = 160 }; /* LaunchTemplateConfigs.1.Overrides.100.AvailabilityZone and more */

static bool is_unreserved(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '_' || c == '.' || c == '~';
}

void query_escape(struct str *s, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		size_t plain = i;

		while (plain < len && is_unreserved((unsigned char)text[plain]))
			plain++;
		if (plain > i) {
			str_add(s, text + i, plain - i);
			i = plain - 1;
		} else {
			str_addf(s, "%%%02X", (unsigned)(unsigned char)text[i]);
		}
	}
}

void query_begin(struct str *s, const char *action, const char *version)
{
	str_addf(s, "Action=%s&Version=%s", action, version);
}

void query_add(struct str *s, const char *value, const char *name, ...)
{
	char text[NAME_MAX_BYTES];
	va_list ap;
	int n;

	va_start(ap, name);
	n = vsnprintf(text, sizeof(text), name, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof(text)) {
		s->full = true; /* a name cut short would be another parameter */
		return;
	}
	str_addf(s, "&%s=", text);
	query_escape(s, value, strlen(value));
}

void query_add_given(struct str *s, const char *value, const char *name)
{
	if (value != NULL && value[0] != '\0')
		query_add(s, value, "%s", name);
}

void query_add_number(struct str *s, uint64_t value, const char *name)
{
	char text[FMT_U64_SIZE];

	query_add(s, fmt_u64(text, value), "%s", name);
}
