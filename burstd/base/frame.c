#include "base/frame.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void frame_header(unsigned char out[FRAME_HEADER], uint32_t len)
{
	out[0] = FRAME_JSON;
	out[1] = (unsigned char)(len >> 24);
	out[2] = (unsigned char)(len >> 16);
	out[3] = (unsigned char)(len >> 8);
	out[4] = (unsigned char)len;
}

void frame_reader_init(struct frame_reader *r)
{
	*r = (struct frame_reader){0};
}

void frame_reader_fini(struct frame_reader *r)
{
	free(r->body);
	*r = (struct frame_reader){0};
}

static int start_body(struct frame_reader *r, struct err *e)
{
	const unsigned char *h = r->head;
	size_t len = (size_t)h[1] << 24 | (size_t)h[2] << 16 | (size_t)h[3] << 8 | h[4];

	if (h[0] != FRAME_JSON)
		return err_set(e, ERR_INVALID, "not a frame: type 0x%02x", h[0]);
	if (len > FRAME_PAYLOAD_MAX)
		return err_set(e, ERR_LIMIT, "frame of %zu bytes, at most %d", len,
			       FRAME_PAYLOAD_MAX);
	r->body = mem_zalloc(len + 1);
	r->want = len;
	r->len = 0;
	return 0;
}

static int finish_body(struct frame_reader *r, frame_fn fn, void *ctx, struct err *e)
{
	char *body = r->body;
	int rc;

	r->body = NULL;
	r->nhead = 0;
	rc = fn(ctx, body, r->want, e);
	free(body);
	return rc;
}

int frame_reader_feed(struct frame_reader *r, const void *data, size_t n, frame_fn fn, void *ctx,
		      struct err *e)
{
	const char *p = data;

	while (n > 0) {
		size_t take;

		if (r->body == NULL) {
			take = FRAME_HEADER - r->nhead < n ? FRAME_HEADER - r->nhead : n;
			memcpy(r->head + r->nhead, p, take);
			r->nhead += take;
			if (r->nhead == FRAME_HEADER && start_body(r, e) != 0)
				return -1;
		} else {
			take = r->want - r->len < n ? r->want - r->len : n;
			memcpy(r->body + r->len, p, take);
			r->len += take;
		}
		p += take;
		n -= take;
		if (r->body != NULL && r->len == r->want && finish_body(r, fn, ctx, e) != 0)
			return -1;
	}
	return 0;
}

int frame_reader_at_rest(const struct frame_reader *r)
{
	return r->nhead == 0;
}
