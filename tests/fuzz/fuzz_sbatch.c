/* fuzz_sbatch.c - any bytes as a batch script: it is refused with its line, or what was read of it
 * can be sent to burstd. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include <jansson.h>

#include "base/hostlist.h"
#include "cli/sbatch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char *text)
{
	json_t *j;

	if (text == NULL)
		return;
	assert(text[0] != '\0' && strlen(text) <= SBATCH_WORD_MAX);
	j = json_string(text); /* UTF-8 */
	assert(j != NULL);
	json_decref(j);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err e = {0};
	struct sbatch s;

	if (sbatch_parse(&s, (const char *)data, size, &e) != 0) {
		assert(strncmp(e.msg, "line ", 5) == 0);
		return 0;
	}
	assert(s.nodes >= 0 && s.nodes <= HOSTLIST_NAMES_MAX);
	assert(s.limit_ms == SBATCH_NOT_SAID || s.limit_ms == SBATCH_UNLIMITED || s.limit_ms > 0);
	check_text(s.partition);
	check_text(s.account);
	check_text(s.constraint);
	check_text(s.comment);
	check_text(s.gpus);
	sbatch_fini(&s);
	return 0;
}
