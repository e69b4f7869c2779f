/* fuzz_frame.c - bytes of the control socket: frames (burstd/base/frame.c).
 *
 * The first byte says how the rest is cut into reads.  However it is cut, the outcome is the same,
 * nothing is held beyond the cap, and what is whole is NUL-terminated. */
#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fnv.h"
#include "base/frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct outcome {
	bool fine, at_rest;
	int code;
	unsigned frames;
	uint64_t bodies;
};

static int on_frame(void *ctx, const char *data, size_t len, struct err *e)
{
	struct outcome *o = ctx;

	assert(len <= FRAME_PAYLOAD_MAX);
	assert(data[len] == '\0');
	o->bodies = fnv_bytes(fnv_bytes(o->bodies, &len, sizeof(len)), data, len);
	/* A server stops after one; here it is one that says so. */
	return ++o->frames > 0 && len == 4 && data[0] == 's' ? err_set(e, ERR_LIMIT, "enough") : 0;
}

static void feed(struct outcome *o, const uint8_t *data, size_t size, size_t step)
{
	struct frame_reader r;
	struct err e = {0};

	*o = (struct outcome){.fine = true, .bodies = FNV_BEGIN};
	frame_reader_init(&r);
	for (size_t at = 0; o->fine && at < size; at += step) {
		size_t n = size - at < step ? size - at : step;

		o->fine = frame_reader_feed(&r, data + at, n, on_frame, o, &e) == 0;
		assert(o->fine || e.code != ERR_NONE);
		assert(r.body == NULL || r.want <= FRAME_PAYLOAD_MAX);
	}
	o->code = e.code;
	o->at_rest = o->fine && frame_reader_at_rest(&r);
	frame_reader_fini(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct outcome whole, cut;

	if (size == 0)
		return 0;
	feed(&whole, data + 1, size - 1, size);
	feed(&cut, data + 1, size - 1, (size_t)data[0] + 1);
	assert(whole.fine == cut.fine && whole.code == cut.code);
	assert(whole.frames == cut.frames && whole.bodies == cut.bodies);
	assert(whole.at_rest == cut.at_rest);
	return 0;
}
