#include "core/bucket.h"

enum { TOKEN = 1000 };

void bucket_init(struct bucket *b, uint32_t per_s, int64_t now_ms)
{
	*b = (struct bucket){.per_s = per_s, .milli = (int64_t)per_s * TOKEN, .at_ms = now_ms};
}

static int64_t level(const struct bucket *b, int64_t now_ms)
{
	int64_t full = (int64_t)b->per_s * TOKEN;
	int64_t since = now_ms > b->at_ms ? now_ms - b->at_ms : 0;
	int64_t v;

	if (since > 1000) /* a second fills it */
		return full;
	v = b->milli + since * b->per_s;
	return v < full ? v : full;
}

bool bucket_take(struct bucket *b, int64_t now_ms)
{
	int64_t v;

	if (b->per_s == 0)
		return true;
	v = level(b, now_ms);
	if (v < TOKEN)
		return false;
	b->milli = v - TOKEN;
	b->at_ms = now_ms;
	return true;
}

int64_t bucket_next_ms(const struct bucket *b, int64_t now_ms)
{
	int64_t lack;

	if (b->per_s == 0)
		return now_ms;
	lack = TOKEN - level(b, now_ms);
	return lack <= 0 ? now_ms : now_ms + (lack + b->per_s - 1) / b->per_s;
}
