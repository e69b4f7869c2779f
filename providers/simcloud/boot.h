/* boot.h - instances that are real: one child process each, which is the instance.
 *
 * A child runs in a session of its own with a clean environment, dies with simcloud, and is killed
 * with its whole process group.  What it makes beyond that (namespaces, daemons) must hang off its
 * life, as `unshare --kill-child` does. */
#ifndef SIMCLOUD_BOOT_H
#define SIMCLOUD_BOOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct uv_loop_s; /* libuv's loop; opaque, so that this header does not pull in uv.h */
struct boot;

struct boot_instance { /* borrowed */
	uint32_t row;
	const char *id, *node, *addr, *type;
	const char *user_data; /* NULL: none */
	size_t user_data_len;
};

/* The process of that row is gone.  Called from the loop, never from boot_start() or boot_kill().
 */
typedef void (*boot_exited_fn)(void *ctx, uint32_t row);

/* Directories for the instances, and the file "hosts" for all of them, come under run_dir.
 * metadata: where the metadata service is, for the program; NULL: there is none. */
int boot_open(struct boot **out, struct uv_loop_s *loop, const char *program, const char *run_dir,
	      const char *metadata, struct err *e);
void boot_on_exit(struct boot *b, boot_exited_fn fn, void *ctx);
int boot_start(struct boot *b, const struct boot_instance *i, struct err *e);
void boot_kill(struct boot *b, uint32_t row); /* unknown rows are ignored */
unsigned boot_count(const struct boot *b);    /* processes there are */
void boot_close(struct boot *b); /* kills and forgets what is left; frees from the loop */

#endif
