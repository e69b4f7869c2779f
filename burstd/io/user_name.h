/* user_name.h - finds the name of a user by the uid, without making the loop wait.
 *
 * The kernel says by which uid somebody talks to us, and Slurm says by name whose a job is.  To
 * find the one from the other may take a network (LDAP), so `getent` does it, in a process of its
 * own with a deadline; what it said is remembered for a while. */
#ifndef BURSTD_USER_NAME_H
#define BURSTD_USER_NAME_H

#include <stdint.h>

#include "base/err.h"

struct loop;
struct proc;
struct user_names;
struct user_name_ask; /* one question that waits for its answer */

enum {
	USER_NAME_MAX = 63,    /* bytes; longer ones are as if there were none */
	USER_NAME_KEPT = 1024, /* names; more, and all are forgotten */
	USER_NAME_KEPT_MS = 600000,
	USER_NAME_NONE_MS = 30000, /* ... if the uid has no name: it may be new */
	USER_NAME_AT_ONCE = 8,     /* processes, and questions of one user, who has one process */
	USER_NAME_MS = 8000,       /* one of them; less than a held request has (ctl_server.h) */
};

/* Borrows both.  getent: its path; NULL: the system's. */
struct user_names *user_names_new(struct loop *l, struct proc *p, const char *getent);
/* Nobody is called any more.  p may still run, and is closed later.  NULL is fine. */
void user_names_free(struct user_names *u);

/* The name, "": the uid has none; NULL: it must be asked for.  Valid until control returns to the
 * loop. */
const char *user_names_get(const struct user_names *u, uint32_t uid);
/* Ask for it: fn is called once, later, unless the question is cancelled before; then
 * user_names_get() has the name, or err says why not.  NULL: it cannot be asked now, and *e says
 * why. */
typedef void (*user_name_fn)(void *ctx, const struct err *err);
struct user_name_ask *user_names_ask(struct user_names *u, uint32_t uid, user_name_fn fn, void *ctx,
				     struct err *e);
void user_name_cancel(struct user_name_ask *a);

#endif
