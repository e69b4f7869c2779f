/* fuzz_call.c - bytes of a file in the spool (burstd/base/call.c, burstd/io/spool_former.c).
 *
 * The first byte says what the rest is: 0, a file as it is; 1, a file whose sum is made right, as
 * no chance would make it; else the values of an end, and one byte of the file that is another
 * then.  What is read is what was written, byte for byte; all else is refused. */
#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/call.h"
#include "base/fnv.h"
#include "base/mem.h"
#include "io/spool_private.h"

enum { SUM = 17 }; /* its digits, and the end of the line */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whatever is read of it: it has one meaning, and writes as the bytes that are there. */
static bool is_call(const char *bytes, size_t size)
{
	char again[CALL_END];
	struct call_end c;

	if (!call_end_read(&c, bytes, size))
		return false;
	assert(c.kind < CALL_NKINDS && c.file < CALL_NFILES);
	assert(c.list_len <= CALL_LIST_MAX && c.file_len <= CALL_FILE_MAX);
	assert(c.list_len + c.file_len + CALL_END == size);
	call_end_print(&c, fnv_bytes(FNV_BEGIN, bytes, size - CALL_END), again);
	assert(memcmp(again, bytes + size - CALL_END, CALL_END) == 0);
	return true;
}

static void check(const char *bytes, size_t size)
{
	struct spool_call c = {.name = "x"};
	const bool former = spool_read_former(&c, bytes, size);

	assert(!former || bytes[0] == 'J');
	assert(!former || ((unsigned)c.kind < CALL_NKINDS && c.age_ms == INT64_MAX));
	assert(!former || (c.list_len == 0 && c.file == NULL && !c.early));
	assert(!(is_call(bytes, size) && former)); /* not both: a former one ends with Z */
}

static void check_signed(char *bytes, size_t size)
{
	static const char digits[] = "0123456789abcdef";
	uint64_t sum;

	if (size < CALL_END)
		return;
	sum = fnv_bytes(FNV_BEGIN, bytes, size - SUM);
	for (size_t i = 0; i < SUM - 1; i++)
		bytes[size - SUM + i] = digits[sum >> (60 - 4 * i) & 15];
	bytes[size - 1] = '\n';
	(void)is_call(bytes, size);
}

struct wish { /* what a fuzzer says of an end */
	uint8_t kind, file;
	int64_t at_ms, boot_ms;
	uint16_t list_len, at;
	uint8_t turn;
};

static size_t take(void *to, size_t n, const uint8_t *data, size_t size)
{
	n = n < size ? n : size;
	memcpy(to, data, n);
	return n;
}

/* With the bytes that are left as both parts. */
static void check_made(const uint8_t *data, size_t size)
{
	struct wish w = {0};
	const size_t used = take(&w, sizeof(w), data, size), n = size - used;
	struct call_end c = {.kind = w.kind % CALL_NKINDS,
			     .file = w.file % CALL_NFILES,
			     .at_ms = w.at_ms,
			     .boot_ms = w.boot_ms,
			     .list_len = n > 0 ? w.list_len % n : 0};
	char *bytes = mem_zalloc(n + CALL_END), *at;
	struct call_end got;

	c.file_len = n - c.list_len;
	memcpy(bytes, data + used, n);
	call_end_print(&c, fnv_bytes(FNV_BEGIN, bytes, n), bytes + n);
	assert(is_call(bytes, n + CALL_END) && call_end_read(&got, bytes, n + CALL_END));
	assert(got.kind == c.kind && got.file == c.file && got.list_len == c.list_len);
	assert(got.at_ms == c.at_ms && got.boot_ms == c.boot_ms && got.file_len == c.file_len);
	at = &bytes[w.at % (n + CALL_END)];
	*at = (char)(*at ^ w.turn);
	assert(is_call(bytes, n + CALL_END) == (w.turn == 0));
	assert(!is_call(bytes, n + CALL_END - 1));
	free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const size_t n = size > 0 ? size - 1 : 0;
	char *bytes;

	if (n == 0)
		return 0;
	if (data[0] > 1) {
		check_made(data + 1, n);
		return 0;
	}
	bytes = mem_zalloc(n); /* of its own, so that a byte too many is seen */
	memcpy(bytes, data + 1, n);
	if (data[0] == 0)
		check(bytes, n);
	else
		check_signed(bytes, n);
	free(bytes);
	return 0;
}
