/* fuzz_invoice.c - any bytes as a provider's invoice, in each format: it is refused by name and
 * line, or each item in it is one that the ledger can book. */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/plain.h"
#include "ledger/invoice_file.h"

enum { NOVEMBER = 1793491200, DECEMBER = 1796083200 }; /* 2026, UTC */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int knows(void *ctx, const char *instance, struct err *e)
{
	(void)ctx;
	(void)e;
	return instance[0] == 'i';
}

static void check(const struct invoice_file *f)
{
	assert(f->rows > 0 && f->n > 0 && f->n <= INVOICE_ITEMS_MAX && f->left_out >= 0);
	assert(strlen(f->currency) == 3 && strlen(f->number) <= INVOICE_NUMBER_MAX);
	assert(plain_is(f->number));
	for (size_t i = 0; i < f->n; i++) {
		const struct invoice_item *x = &f->items[i];

		assert(plain_is(x->name) && strlen(x->name) <= INVOICE_NAME_MAX);
		assert(x->line > 1);
		assert(x->start_s >= NOVEMBER && x->end_s <= DECEMBER && x->start_s <= x->end_s);
		assert(x->kind != LEDGER_INVOICE_INSTANCE || x->instance[0] == 'i');
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const int fd = memfd_create("invoice", 0);
	char path[40];

	assert(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	for (int format = 0; format < 2 * INVOICE_NFORMATS; format++) {
		const struct invoice_ask ask = {.path = path,
						.format = (enum invoice_format)(format / 2),
						.number = format % 2 == 0 ? NULL : "A1",
						.start_s = NOVEMBER,
						.end_s = DECEMBER,
						.knows = knows};
		struct invoice_file f;
		struct err e = {0};

		if (invoice_file_read(&f, &ask, &e) == 0)
			check(&f);
		else
			assert(strncmp(e.msg, path, strlen(path)) == 0 && plain_is(e.msg));
		invoice_file_fini(&f);
	}
	(void)close(fd);
	return 0;
}
