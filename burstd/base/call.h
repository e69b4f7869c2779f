/* call.h - the file that burst-hook leaves in the spool for one call of slurmctld.
 *
 * Three parts, without anything between them:
 *
 *   the node list, as slurmctld gave it      list_len bytes
 *   the resume file, as it is                file_len bytes
 *   the end, one line of CALL_END bytes:
 *   "\nburst-call 2 kind=resume      at_ms=... boot_ms=... list=... file=... state=sent sum=...\n"
 *
 * The end has the lengths of what is before it and a checksum of all of that and of itself, so that
 * a file that is not whole, or not what was written, is known (F54, F55): a hook that was killed,
 * a power cut before the bytes were on the disk.  The checksum is no protection from somebody who
 * may write to the spool; owner and mode of the directory are.
 *
 * burst-hook writes with this, so it needs nothing but libc. */
#ifndef BURSTD_CALL_H
#define BURSTD_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CALL_LIST_MAX = 1 << 17,  /* bytes: an argv string cannot be longer (MAX_ARG_STRLEN) */
	CALL_FILE_MAX = 16 << 20, /* bytes: a longer resume file is left out */
	CALL_END = 154,           /* bytes of the last part */
	/* Milliseconds.  A hook ends within two seconds; one that is this old may have been given
	 * up by slurmctld meanwhile. */
	CALL_FRESH_MS = 1200,
};

enum call_kind { CALL_RESUME, CALL_SUSPEND, CALL_RESUME_FAIL, CALL_NKINDS };

enum call_file {                    /* what became of the resume file */
		 CALL_FILE_NONE,    /* slurmctld named none */
		 CALL_FILE_SENT,    /* it is there, whole */
		 CALL_FILE_MISSING, /* slurmctld named one that cannot be read */
		 CALL_FILE_DROPPED, /* it is longer than CALL_FILE_MAX, or could not be read to its
				     * end: do not use what is there of it */
		 CALL_NFILES
};

struct call_end {
	enum call_kind kind;
	enum call_file file;
	int64_t at_ms;   /* when the hook was started, by the wall clock; for people */
	int64_t boot_ms; /* the same by CLOCK_BOOTTIME, which nobody can set */
	size_t list_len, file_len;
};

const char *call_kind_str(enum call_kind k); /* "resume", "suspend", "resume-fail" */

/* Write the end.  sum: fnv_bytes() of the two parts before it, from FNV_BEGIN (base/fnv.h). */
void call_end_print(const struct call_end *c, uint64_t sum, char out[CALL_END]);

/* Read the end of a file of size bytes.  false: it is not one that call_end_print() wrote for these
 * bytes. */
bool call_end_read(struct call_end *out, const char *bytes, size_t size);

#endif
