/* fuzz_frame.c - bytes of the control socket: frames, and the call they make up
 * (burstd/base/frame.c, burstd/io/ctl_collect.c).
 *
 * The first byte says how the rest is cut into reads.  However it is cut, the outcome is the same,
 * nothing is held beyond the caps, and what is whole is NUL-terminated. */
#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/frame.h"
#include "io/ctl_server.h"

enum { MAX_FILE = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct outcome {
	bool fine, done;
	unsigned frames;
	size_t held;
	struct ctl_call call; /* its strings are collect's */
	struct ctl_collect *collect;
};

static int on_frame(void *ctx, enum frame_type type, const char *data, size_t len, struct err *e)
{
	struct outcome *o = ctx;

	assert(len <= FRAME_PAYLOAD_MAX);
	assert(data[len] == '\0');
	o->frames++;
	return ctl_collect_frame(o->collect, (int)type, data, len, e);
}

static void check(const struct outcome *o)
{
	assert(o->held <= CTL_HEAD_MAX + FRAME_LIST_MAX + MAX_FILE);
	if (!o->done)
		return;
	assert(strlen(o->call.head) <= CTL_HEAD_MAX);
	assert(o->call.list_len <= FRAME_LIST_MAX && o->call.list[o->call.list_len] == '\0');
	assert(o->call.file == NULL || o->call.file[o->call.file_len] == '\0');
	assert(o->call.file == NULL || (o->call.file_len <= MAX_FILE && !o->call.dropped));
}

static void feed(struct outcome *o, const uint8_t *data, size_t size, size_t step)
{
	struct frame_reader r;
	struct err e = {0};

	*o = (struct outcome){.fine = true, .collect = ctl_collect_new(MAX_FILE)};
	frame_reader_init(&r);
	for (size_t at = 0; o->fine && at < size; at += step) {
		size_t n = size - at < step ? size - at : step;

		o->fine = frame_reader_feed(&r, data + at, n, on_frame, o, &e) == 0;
		assert(o->fine || e.code != ERR_NONE);
	}
	frame_reader_fini(&r);
	o->held = ctl_collect_held(o->collect);
	o->done = o->fine && ctl_collect_done(o->collect);
	if (o->done)
		ctl_collect_get(o->collect, &o->call);
	check(o);
}

static void compare(const struct outcome *a, const struct outcome *b)
{
	assert(a->fine == b->fine && a->done == b->done && a->frames == b->frames);
	assert(a->held == b->held);
	if (!a->done)
		return;
	assert(a->call.list_len == b->call.list_len && a->call.file_len == b->call.file_len);
	assert(memcmp(a->call.list, b->call.list, a->call.list_len) == 0);
	assert(a->call.dropped == b->call.dropped && a->call.truncated == b->call.truncated);
	assert((a->call.file == NULL) == (b->call.file == NULL));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct outcome whole, cut;

	if (size == 0)
		return 0;
	feed(&whole, data + 1, size - 1, size);
	feed(&cut, data + 1, size - 1, (size_t)data[0] + 1);
	compare(&whole, &cut);
	ctl_collect_free(whole.collect);
	ctl_collect_free(cut.collect);
	return 0;
}
