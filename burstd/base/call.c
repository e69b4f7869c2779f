#include "base/call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fnv.h"

enum { /* offsets of the values in the text that ends a file */
       KIND_AT = 19,
       AT_MS_AT = KIND_AT + 11 + 7,
       BOOT_MS_AT = AT_MS_AT + 20 + 9,
       LIST_AT = BOOT_MS_AT + 20 + 6,
       FILE_AT = LIST_AT + 10 + 6,
       STATE_AT = FILE_AT + 10 + 7,
       SUM_DIGITS = 16,
       BEFORE_SUM = CALL_END - SUM_DIGITS - 1,
};

static const char *const kinds[CALL_NKINDS] = {
	[CALL_RESUME] = "resume",
	[CALL_SUSPEND] = "suspend",
	[CALL_RESUME_FAIL] = "resume-fail",
};

static const char *const files[CALL_NFILES] = {
	[CALL_FILE_NONE] = "none",
	[CALL_FILE_SENT] = "sent",
	[CALL_FILE_MISSING] = "missing",
	[CALL_FILE_DROPPED] = "dropped",
};

const char *call_kind_str(enum call_kind k)
{
	return kinds[k];
}

void call_end_print(const struct call_end *c, uint64_t sum, char out[CALL_END])
{
	char text[CALL_END + 64];

	(void)snprintf(text, sizeof(text),
		       "\nburst-call 2 kind=%-11s at_ms=%020lld boot_ms=%020lld list=%010zu "
		       "file=%010zu state=%-7s sum=",
		       kinds[c->kind], (long long)c->at_ms, (long long)c->boot_ms, c->list_len,
		       c->file_len, files[c->file]);
	sum = fnv_bytes(sum, text, BEFORE_SUM);
	(void)snprintf(text + BEFORE_SUM, SUM_DIGITS + 2, "%016llx\n", (unsigned long long)sum);
	memcpy(out, text, CALL_END);
}

/* The index of the word at `at`, which a blank follows; -1: none. */
static int find(const char *const *words, int n, const char *at)
{
	for (int i = 0; i < n; i++) {
		const size_t len = strlen(words[i]);

		if (strncmp(at, words[i], len) == 0 && at[len] == ' ')
			return i;
	}
	return -1;
}

static bool scan(struct call_end *out, const char end[CALL_END])
{
	char text[CALL_END + 1];
	int k, f;

	memcpy(text, end, CALL_END);
	text[CALL_END] = '\0';
	k = find(kinds, CALL_NKINDS, text + KIND_AT);
	f = find(files, CALL_NFILES, text + STATE_AT);
	if (k < 0 || f < 0)
		return false;
	*out = (struct call_end){.kind = (enum call_kind)k,
				 .file = (enum call_file)f,
				 .at_ms = strtoll(text + AT_MS_AT, NULL, 10),
				 .boot_ms = strtoll(text + BOOT_MS_AT, NULL, 10),
				 .list_len = (size_t)strtoull(text + LIST_AT, NULL, 10),
				 .file_len = (size_t)strtoull(text + FILE_AT, NULL, 10)};
	return true;
}

/* Accept only bytes that print as the very same bytes: then there is no other reading of them. */
bool call_end_read(struct call_end *out, const char *bytes, size_t size)
{
	char again[CALL_END];

	if (size < CALL_END || !scan(out, bytes + (size - CALL_END)) ||
	    out->list_len > CALL_LIST_MAX || out->file_len > CALL_FILE_MAX ||
	    out->list_len + out->file_len + CALL_END != size)
		return false;
	call_end_print(out, fnv_bytes(FNV_BEGIN, bytes, size - CALL_END), again);
	return memcmp(again, bytes + (size - CALL_END), CALL_END) == 0;
}
