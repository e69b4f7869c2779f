/* bucket.h - a token bucket; time is passed in. */
#ifndef BURSTD_BUCKET_H
#define BURSTD_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

struct bucket {
	uint32_t per_s; /* tokens gained per second, and the most it holds; 0: no limit */
	int64_t milli;  /* thousandths of a token */
	int64_t at_ms;
};

void bucket_init(struct bucket *b, uint32_t per_s, int64_t now_ms); /* full */
bool bucket_take(struct bucket *b, int64_t now_ms);                 /* one token, if there is one */
int64_t bucket_next_ms(const struct bucket *b, int64_t now_ms);     /* when one can be taken */

#endif
