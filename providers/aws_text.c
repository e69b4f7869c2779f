#include "providers/aws_private.h"

#include <string.h>

#include "providers/common/rfc3339.h"

bool aws_is_plain(const char *text, size_t max)
{
	for (const char *p = text; *p != '\0'; p++)
		if (*p <= ' ' || *p > '~')
			return false;
	return text[0] != '\0' && strlen(text) <= max;
}

int64_t aws_seconds_read(const char **p, char between)
{
	enum { END = 19 };
	char text[END + 2];
	int64_t ms;

	if (strnlen(*p, END) < END || (*p)[10] != between)
		return -1;
	memcpy(text, *p, END);
	text[10] = 'T';
	memcpy(text + END, "Z", 2);
	if (rfc3339_parse(text, &ms) != 0 || ms < 0)
		return -1;
	*p += END;
	return ms / 1000;
}

int64_t aws_time_read(const char *text)
{
	int64_t ms;

	return rfc3339_parse(text, &ms) == 0 && ms > 0 ? ms : 0;
}
