#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/plain.h"

/* Keep the message on one line: it may quote text from anywhere. */
static void set_msg(struct err *e, const char *text)
{
	size_t n = strnlen(text, sizeof(e->msg) - 1);

	memcpy(e->msg, text, n);
	e->msg[n] = '\0';
	plain_make(e->msg, '?');
}

int err_set(struct err *e, enum err_code code, const char *fmt, ...)
{
	char text[sizeof(e->msg)]; /* e->msg may be an argument */
	va_list ap;

	if (e != NULL) {
		va_start(ap, fmt);
		(void)vsnprintf(text, sizeof(text), fmt, ap);
		va_end(ap);
		e->code = (int)code;
		set_msg(e, text);
	}
	return -1;
}

enum err_code err_of_errno(int errnum)
{
	switch (errnum) {
	case EACCES:
	case EPERM:
	case EISDIR:
	case ENOTDIR:
	case ELOOP: /* a link, where none is followed */
		return ERR_AUTH;
	default:
		return ERR_IO;
	}
}

int err_wrap(struct err *e, const char *fmt, ...)
{
	char prefix[120]; /* at least half is left for the cause */
	char text[sizeof(prefix) + 2 + sizeof(e->msg)];
	va_list ap;

	if (e != NULL) {
		va_start(ap, fmt);
		(void)vsnprintf(prefix, sizeof(prefix), fmt, ap);
		va_end(ap);
		(void)snprintf(text, sizeof(text), "%s: %s", prefix, e->msg);
		set_msg(e, text);
	}
	return -1;
}
