/* boot.h - real instances: each is one child process.
 *
 * A child runs in a session of its own with a clean environment, dies with simcloud, and is killed
 * with its whole process group.  Its namespaces and daemons must end with it, as
 * `unshare --kill-child` makes them. */
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

/* The process of that row has exited.  Called from the loop, never from boot_start() or
 * boot_kill().
 */
typedef void (*boot_exited_fn)(void *ctx, uint32_t row);

/* run_dir gets a directory for each instance, and the file "hosts" for all of them.
 * metadata: address of the metadata service, passed to the program; NULL: none. */
int boot_open(struct boot **out, struct uv_loop_s *loop, const char *program, const char *run_dir,
	      const char *metadata, struct err *e);
void boot_on_exit(struct boot *b, boot_exited_fn fn, void *ctx);
int boot_start(struct boot *b, const struct boot_instance *i, struct err *e);
void boot_kill(struct boot *b, uint32_t row); /* unknown rows are ignored */
/* The last bytes, at most size - 1, of what the instance of this id wrote to its console, '?' for
 * NULs; "" if there is nothing. */
void boot_console(const struct boot *b, const char *id, char *out, size_t size);
unsigned boot_count(const struct boot *b); /* number of processes */
void boot_close(struct boot *b);           /* kills all processes; the loop frees b */

#endif
