#include "ledger/sink.h"

#include <errno.h>
#include <string.h>

static int put_file(void *ctx, const char *text, size_t len, struct err *e)
{
	if (fwrite(text, 1, len, ctx) != len)
		return err_set(e, err_of_errno(errno), "write: %s", strerror(errno));
	return 0;
}

struct sink sink_file(FILE *f)
{
	return (struct sink){.put = put_file, .ctx = f};
}

static int put_str(void *ctx, const char *text, size_t len, struct err *e)
{
	struct str *s = ctx;

	str_add(s, text, len);
	return s->full ? err_set(e, ERR_LIMIT, "more than %zu bytes", s->max) : 0;
}

struct sink sink_str(struct str *s)
{
	return (struct sink){.put = put_str, .ctx = s};
}

int sink_flush(const struct sink *to, struct str *s, struct err *e)
{
	int rc = s->full ? err_set(e, ERR_LIMIT, "a text of more than %zu bytes", s->max)
			 : to->put(to->ctx, s->p, s->len, e);

	str_clear(s);
	return rc;
}
