/* imds_tell.c - values that several clouds serve alike, and the table lookup of a path. */
#include <string.h>

#include "providers/simcloud/imds_private.h"

bool imds_tell_id(struct asked *a)
{
	char id[METER_ID_SIZE];

	str_adds(&a->out, meter_id(id, a->i->row));
	return true;
}

bool imds_tell_address(struct asked *a)
{
	char addr[ADDR_TEXT_SIZE];

	str_adds(&a->out, addr_text(addr, a->i->addr));
	return true;
}

bool imds_tell_type(struct asked *a)
{
	str_adds(&a->out, a->row->type);
	return true;
}

bool imds_tell_zone(struct asked *a)
{
	str_adds(&a->out, a->row->zone);
	return true;
}

bool imds_tell_region(struct asked *a)
{
	str_adds(&a->out, a->row->region);
	return true;
}

bool imds_tell_name(struct asked *a)
{
	str_adds(&a->out, a->row->node);
	return true;
}

bool imds_tell_user_data(struct asked *a)
{
	const struct userdata *u = a->i->user_data;

	if (u != NULL)
		str_add(&a->out, u->bytes, u->len);
	return u != NULL;
}

/* To the second, as EC2 writes them: 2026-01-02T03:04:05Z. */
const char *imds_second(char out[FMT_TIME_SIZE], int64_t ms)
{
	char *dot;

	(void)fmt_time(out, ms);
	dot = strrchr(out, '.');
	if (dot != NULL)
		memcpy(dot, "Z", 2);
	return out;
}

tell_fn imds_find(const struct imds_path *paths, size_t n, const char *path)
{
	for (size_t k = 0; k < n; k++)
		if (strcmp(paths[k].path, path) == 0)
			return paths[k].tell;
	return NULL;
}

void imds_answer(struct http_answer *an, struct asked *a)
{
	an->status = 200;
	an->len = a->out.len;
	an->body = str_take(&a->out);
}
