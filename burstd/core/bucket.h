/* bucket.h - a token bucket; time is passed in. */
#ifndef BURSTD_BUCKET_H
#define BURSTD_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

struct bucket {
	uint32_t size, gains; /* most tokens it holds; tokens gained in every_ms; 0: no limit */
	uint32_t every_ms;
	int64_t level; /* tokens x every_ms, so that no part of one is lost */
	int64_t at_ms;
};

/* Each is full at the beginning. */
void bucket_init(struct bucket *b, uint32_t per_s, int64_t now_ms); /* it holds a second's tokens */
/* It holds `size` tokens and gains `gains` of them, evenly, in every_ms; 0: in a second. */
void bucket_init_with(struct bucket *b, uint32_t size, uint32_t gains, uint32_t every_ms,
		      int64_t now_ms);
bool bucket_take(struct bucket *b, int64_t now_ms);             /* false: there is none */
int64_t bucket_next_ms(const struct bucket *b, int64_t now_ms); /* when one can be taken */
/* Take n tokens, or as many as there are. */
void bucket_take_some(struct bucket *b, uint32_t n, int64_t now_ms);
/* When it will have n tokens, or be full if n is more than it holds. */
int64_t bucket_full_ms(const struct bucket *b, uint32_t n, int64_t now_ms);
uint32_t bucket_has(const struct bucket *b, int64_t now_ms); /* tokens; UINT32_MAX: no limit */

#endif
