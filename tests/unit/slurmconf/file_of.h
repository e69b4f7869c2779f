/* file_of.h - a file of Slurm's from a text in the test. */
#ifndef BURSTD_TEST_SLURMCONF_FILE_OF_H
#define BURSTD_TEST_SLURMCONF_FILE_OF_H

#include <string.h>

#include "base/mem.h"
#include "slurmconf/line.h"

static inline struct slurmconf_file file_of(const char *path, const char *text)
{
	struct slurmconf_file f;

	assert_int_equal(slurmconf_file_init(&f, path, mem_strdup(text), strlen(text), NULL), 0);
	return f;
}

#endif
