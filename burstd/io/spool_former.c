/* Reads files of hooks of an earlier version, which contain what they would have sent to the
 * control socket: a frame 'J' with the head, 'L' and 'F' with the lists, 'Z' at the end. */
#include <jansson.h>
#include <string.h>

#include "base/frame.h"
#include "io/spool_private.h"

struct frame {
	char type;
	const char *body;
	size_t len;
};

/* The frame at *at; false: there is no whole one. */
static bool next_frame(struct frame *f, const char *bytes, size_t len, size_t *at)
{
	const unsigned char *h = (const unsigned char *)bytes + *at;
	const size_t left = len - *at;

	if (left < FRAME_HEADER)
		return false;
	f->type = bytes[*at];
	f->len = (size_t)h[1] << 24 | (size_t)h[2] << 16 | (size_t)h[3] << 8 | h[4];
	f->body = bytes + *at + FRAME_HEADER;
	if (f->len > left - FRAME_HEADER)
		return false;
	*at += FRAME_HEADER + f->len;
	return true;
}

static bool read_head(struct spool_call *c, const struct frame *f)
{
	json_error_t je;
	json_t *root = json_loadb(f->body, f->len, JSON_REJECT_DUPLICATES, &je);
	const char *op = "", *kind = "";
	int k = 0;

	(void)json_unpack(root, "{s?s,s?s}", "op", &op, "kind", &kind);
	while (k < CALL_NKINDS && strcmp(kind, call_kind_str((enum call_kind)k)) != 0)
		k++;
	c->kind = (enum call_kind)k;
	k = k < CALL_NKINDS && strcmp(op, "call") == 0;
	json_decref(root);
	return k != 0;
}

bool spool_read_former(struct spool_call *c, const char *bytes, size_t len)
{
	struct frame f;
	size_t at = 0;

	if (!next_frame(&f, bytes, len, &at) || f.type != FRAME_JSON || !read_head(c, &f))
		return false;
	while (next_frame(&f, bytes, len, &at) && f.type != 'Z')
		if (f.type != 'L' && f.type != 'F')
			return false;
	c->age_ms = INT64_MAX;
	return f.type == 'Z' && at == len;
}
