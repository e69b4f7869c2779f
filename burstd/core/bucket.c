#include "core/bucket.h"

void bucket_init(struct bucket *b, uint32_t per_s, int64_t now_ms)
{
	bucket_init_with(b, per_s, per_s, 0, now_ms);
}

void bucket_init_with(struct bucket *b, uint32_t size, uint32_t gains, uint32_t every_ms,
		      int64_t now_ms)
{
	*b = (struct bucket){.size = size,
			     .gains = gains,
			     .every_ms = every_ms > 0 ? every_ms : 1000,
			     .at_ms = now_ms};
	b->level = (int64_t)size * b->every_ms;
}

static int64_t level(const struct bucket *b, int64_t now_ms)
{
	int64_t full = (int64_t)b->size * b->every_ms;
	int64_t since = now_ms > b->at_ms ? now_ms - b->at_ms : 0;
	int64_t v;

	if (since > full / b->gains) /* full by now */
		return full;
	v = b->level + since * b->gains;
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

	if (b->gains == 0)
		return;
	v = level(b, now_ms) - (int64_t)n * b->every_ms;
	b->level = v > 0 ? v : 0;
	b->at_ms = now_ms;
}

int64_t bucket_next_ms(const struct bucket *b, int64_t now_ms)
{
	return bucket_full_ms(b, 1, now_ms);
}

int64_t bucket_full_ms(const struct bucket *b, uint32_t n, int64_t now_ms)
{
	int64_t lack;

	if (b->gains == 0)
		return now_ms;
	lack = (int64_t)(n < b->size ? n : b->size) * b->every_ms - level(b, now_ms);
	return lack <= 0 ? now_ms : now_ms + (lack + b->gains - 1) / b->gains;
}

uint32_t bucket_has(const struct bucket *b, int64_t now_ms)
{
	return b->gains == 0 ? UINT32_MAX : (uint32_t)(level(b, now_ms) / b->every_ms);
}
