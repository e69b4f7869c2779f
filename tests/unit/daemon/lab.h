/* lab.h - burstd as a process, with no Slurm and no cloud: slurmctld is a script, the provider
 * refuses connections.  /run and /var/spool are the test's own, for the socket and the spool are
 * compiled in. */
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
	LAB_PATIENCE_MS = 30000, /* far beyond what anything here takes; a hang must not last */
	LAB_BAD_CONF = 78,
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

struct burstd {
	pid_t pid;
	int err; /* its standard error */
	char text[LAB_TEXT_SIZE];
	int rc; /* exit status, -1: killed */
};

extern char lab_dir[];
extern bool lab_root; /* not only in a namespace: other users exist */
extern uid_t lab_uid; /* what burstd is started as; 0: as we are */

/* Enter a world of our own, for good.  false: that cannot be, main() ends with *rc. */
bool lab_open(int *rc);

const char *lab_path(const char *name); /* in lab_dir; good for the next three calls */
void lab_write(const char *name, const char *text, mode_t mode);
/* A good configuration with each `from` as `to`; NULL: as it is. */
void lab_write_conf(const char *from, const char *to);
void lab_make_files(const char *scontrol); /* that, and all that it names */

/* Somewhere on this machine where nobody listens. */
struct sockaddr_in lab_free_place(void);

void lab_start(struct burstd *b, const char *option, const char *operand);
void lab_start_args(struct burstd *b, char *const *argv);
void lab_start_ready(struct burstd *b); /* ... and it is */
/* Read on until it says `word`, or, with NULL, to the end. */
bool lab_read_until(struct burstd *b, const char *word);
void lab_finish(struct burstd *b); /* wait for its end */

#endif
