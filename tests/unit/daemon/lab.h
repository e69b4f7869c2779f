/* lab.h - burstd as a process, without Slurm or a cloud: slurmctld is a script, and the provider
 * refuses connections.  /run and /var/spool belong to the test, since the paths of socket and spool
 * are compiled in. */
#ifndef BURSTD_TEST_DAEMON_LAB_H
#define BURSTD_TEST_DAEMON_LAB_H

#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <cmocka.h>

enum {
	LAB_TEXT_SIZE = 1 << 16,
	LAB_PATIENCE_MS = 30000, /* far more than anything here takes; ends a hang */
	LAB_BAD_CONF = 78,
	LAB_FDS = 20, /* descriptors below this one may be made in lab_in_child */
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

struct burstd {
	pid_t pid;
	int err; /* its standard error */
	char text[LAB_TEXT_SIZE];
	int rc; /* exit status, -1: killed */
};

extern char lab_dir[];
extern bool lab_root; /* root outside of a namespace, too: other users exist */
extern uid_t lab_uid; /* burstd's uid; 0: ours */
/* Called between fork and exec; NULL: nothing is. */
extern void (*lab_in_child)(void);

/* Enter our own namespaces, for good.  false: not possible, main() ends with *rc. */
bool lab_open(int *rc);

const char *lab_path(const char *name); /* path in lab_dir; valid for the next three calls */
void lab_write(const char *name, const char *text, mode_t mode);
/* Write a good configuration with each `from` replaced by `to`; NULL: unchanged. */
void lab_write_conf(const char *from, const char *to);
void lab_make_files(const char *scontrol); /* write one, and all files it names */

/* An address on this machine where nobody listens. */
struct sockaddr_in lab_free_place(void);

void lab_start(struct burstd *b, const char *option, const char *operand);
void lab_start_args(struct burstd *b, char *const *argv);
void lab_start_ready(struct burstd *b); /* start, and wait until it is ready */
/* Read its standard error until `word`, or to the end if NULL. */
bool lab_read_until(struct burstd *b, const char *word);
void lab_finish(struct burstd *b); /* wait for its end */
void lab_stop(struct burstd *b);   /* end it by SIGTERM, as systemd does, and wait */

#endif
