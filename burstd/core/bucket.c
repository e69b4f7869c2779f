#include "core/bucket.h"

enum { TOKEN = 1000 };

void bucket_init(struct bucket *b, uint32_t per_s, int64_t now_ms)
{
	bucket_init_with(b, per_s, per_s, now_ms);
}

void bucket_init_with(struct bucket *b, uint32_t size, uint32_t per_s, int64_t now_ms)
{
	*b = (struct bucket){
		.size = size, .per_s = per_s, .milli = (int64_t)size * TOKEN, .at_ms = now_ms};
}

static int64_t level(const struct bucket *b, int64_t now_ms)
{
	int64_t full = (int64_t)b->size * TOKEN;
	int64_t since = now_ms > b->at_ms ? now_ms - b->at_ms : 0;
	int64_t v;

	if (since > full / b->per_s) /* full by now */
		return full;
	v = b->milli + since * b->per_s;
	return v < full ? v : full;
}

bool bucket_take(struct bucket *b, int64_t now_ms)
{
	if (bucket_has(b, now_ms) == 0)
		return false;
	bucket_take_some(b, 1, now_ms);
	return true;
}

void bucket_take_some(struct bucket *b, uint32_t n, int64_t now_ms)
{
	int64_t v;

	if (b->per_s == 0)
		return;
	v = level(b, now_ms) - (int64_t)n * TOKEN;
	b->milli = v > 0 ? v : 0;
	b->at_ms = now_ms;
}

int64_t bucket_next_ms(const struct bucket *b, int64_t now_ms)
{
	return bucket_full_ms(b, 1, now_ms);
}

int64_t bucket_full_ms(const struct bucket *b, uint32_t n, int64_t now_ms)
{
	int64_t lack;

	if (b->per_s == 0)
		return now_ms;
	lack = (int64_t)(n < b->size ? n : b->size) * TOKEN - level(b, now_ms);
	return lack <= 0 ? now_ms : now_ms + (lack + b->per_s - 1) / b->per_s;
}

uint32_t bucket_has(const struct bucket *b, int64_t now_ms)
{
	return b->per_s == 0 ? UINT32_MAX : (uint32_t)(level(b, now_ms) / TOKEN);
}
