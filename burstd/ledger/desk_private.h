/* desk_private.h - what the files of the desk share: desk.c has the socket and says whose costs are
 * asked for, desk_work.c has the questions and those who answer them. */
#ifndef BURSTD_LEDGER_DESK_PRIVATE_H
#define BURSTD_LEDGER_DESK_PRIVATE_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "ledger/desk.h"

struct loop;
struct proc;
struct timer;
struct user_name_ask;
struct user_names;

struct desk {
	const struct desk_opts *o;
	char *ledger; /* its whole path: those who answer are elsewhere */
	struct loop *loop;
	struct proc *proc;
	struct user_names *names;
	struct ctl_server *ctl;
	struct timer *look;  /* at burstd.conf */
	struct timer *serve; /* those that wait: never from inside a request */
	struct stat conf;    /* of the file, when it last was good */
	struct visit *visits;
	unsigned running;
	int64_t turn; /* of the last one that was begun */
};

/* A question, from when it is held until it is answered, and while its process runs.
 *
 *   NAME --the name is known--> WAITS --a worker is free--> RUNS --> answered
 */
enum visit_state { VISIT_NAME, VISIT_WAITS, VISIT_RUNS };

struct visit {
	struct visit *next, **prev;
	struct desk *desk;
	struct ctl_conn *conn; /* NULL: the peer is gone, or was told that it took too long */
	struct ctl_caller who;
	enum visit_state state;
	int64_t turn; /* the lowest is next */
	json_t *args;
	struct user_name_ask *name;
};

/* --- desk_work.c --- */
char *desk_failure(const char *code, const char *sentence); /* an answer; the caller's */
const char *desk_text(const json_t *args, const char *key); /* "" if it is no text */

/* Takes args. */
struct visit *visit_new(struct desk *d, struct ctl_conn *c, const struct ctl_caller *who,
			json_t *args);
void visit_tell(struct visit *v, char *text); /* takes text; nobody may be there any more */
void visit_drop(struct visit *v);
void visit_cancel(struct visit *v); /* likewise, of one that does not run */
/* How many questions the user has here; running: that are being answered. */
unsigned desk_count(const struct desk *d, uint32_t uid, bool running);
void desk_on_serve(void *ctx); /* fits timer_new(): begin those that wait, while there is room */

#endif
