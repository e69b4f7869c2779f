/* The questions at the desk, and the processes that answer them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/jsonw.h"
#include "base/mem.h"
#include "io/loop.h"
#include "io/proc.h"
#include "io/user_name.h"
#include "ledger/desk_private.h"

enum { FAILURE_MAX = 2048 };

/* --- words ------------------------------------------------------------------------------------
 */

char *desk_failure(const char *code, const char *sentence)
{
	struct str s;
	struct jsonw w = {.out = &s, .first = true};

	str_init(&s, FAILURE_MAX);
	jsonw_open(&w, NULL, '{');
	jsonw_bool(&w, "ok", false);
	jsonw_text(&w, "code", code);
	jsonw_text(&w, "error", sentence);
	jsonw_close(&w, '}');
	return str_take(&s);
}

const char *desk_text(const json_t *args, const char *key)
{
	const char *text = json_string_value(json_object_get(args, key));

	return text != NULL ? text : "";
}

/* --- visits -----------------------------------------------------------------------------------
 */

void visit_drop(struct visit *v)
{
	*v->prev = v->next;
	if (v->next != NULL)
		v->next->prev = v->prev;
	json_decref(v->args);
	free(v);
}

/* Takes text. */
void visit_tell(struct visit *v, char *text)
{
	if (v->conn != NULL)
		ctl_server_answer(v->conn, text);
	else
		free(text);
	v->conn = NULL;
}

unsigned desk_count(const struct desk *d, uint32_t uid, bool running)
{
	unsigned n = 0;

	for (const struct visit *v = d->visits; v != NULL; v = v->next)
		n += v->who.uid == uid && (!running || v->state == VISIT_RUNS);
	return n;
}

/* Of equal ones who came first, who is last in the list. */
static struct visit *next_of(const struct desk *d)
{
	struct visit *found = NULL;

	for (struct visit *v = d->visits; v != NULL; v = v->next)
		/* It is dropped from the list.  NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
		if (v->state == VISIT_WAITS && desk_count(d, v->who.uid, true) == 0 &&
		    (found == NULL || v->turn <= found->turn))
			found = v;
	return found;
}

struct visit *visit_new(struct desk *d, struct ctl_conn *c, const struct ctl_caller *who,
			json_t *args)
{
	struct visit *v = mem_zalloc(sizeof(*v));

	*v = (struct visit){.desk = d, .conn = c, .who = *who, .args = args};
	v->turn = d->turn + 1 + (int64_t)desk_count(d, who->uid, false);
	v->next = d->visits;
	v->prev = &d->visits;
	if (v->next != NULL)
		v->next->prev = &v->next;
	d->visits = v;
	return v;
}

void visit_cancel(struct visit *v)
{
	if (v->name != NULL)
		user_name_cancel(v->name);
	visit_drop(v);
}

/* --- answering --------------------------------------------------------------------------------
 */

static char *answer_of(const struct proc_reply *r, const struct err *failed)
{
	if (failed != NULL && failed->code == ERR_CANCELLED)
		return desk_failure("failed", "the ledger is being stopped");
	if (failed != NULL && failed->code == ERR_NET)
		return desk_failure("failed", "it took too long: ask for fewer days, or by less");
	if (failed == NULL && r->status == 0 && strncmp(r->out, "{\"ok\":", 6) == 0)
		return mem_strdup(r->out);
	if (failed == NULL && r->status > 128)
		return desk_failure("failed",
				    "it took too much time or memory: ask for fewer days, or "
				    "by less");
	return desk_failure("failed", "no answer could be made: the ledger's log says why");
}

static void on_answer(void *ctx, const struct proc_reply *r, const struct err *failed)
{
	struct visit *v = ctx;
	struct desk *d = v->desk;
	char uid[24];

	(void)snprintf(uid, sizeof(uid), "%" PRIu32, v->who.uid);
	if (failed != NULL ? failed->code != ERR_CANCELLED : r->status != 0 || r->errors[0] != '\0')
		log_write(d->o->log, LOG_WARN, "a question was not answered well", "uid", uid,
			  "error", failed != NULL ? failed->msg : r->errors, NULL);
	visit_tell(v, answer_of(r, failed));
	visit_drop(v);
	d->running--;
	if (d->ctl != NULL)
		timer_at(d->serve, 0);
}

static void refuse(struct visit *v, const char *code, const char *sentence)
{
	visit_tell(v, desk_failure(code, sentence));
	visit_drop(v);
}

static void begin(struct visit *v)
{
	static const char *const env[] = {"PATH=/usr/bin:/bin", "LC_ALL=C", NULL};
	struct desk *d = v->desk;
	const char *program = d->o->program != NULL ? d->o->program : "/proc/self/exe";
	const char *const argv[] = {program, "answer", "--ledger", d->ledger, NULL};
	char *input = mem_check(json_dumps(v->args, JSON_COMPACT));
	const struct proc_call call = {.argv = argv,
				       .envp = env,
				       .input = input,
				       .input_len = strlen(input),
				       .timeout_ms =
					       d->o->work_ms > 0 ? d->o->work_ms : DESK_WORK_MS,
				       .max_out = CTL_REPLY_MAX};
	struct err e = {0};

	d->turn = v->turn;
	/* Numbers may be written longer than they were sent. */
	if (call.input_len > DESK_QUESTION_MAX) {
		refuse(v, "invalid", "the request is too long");
	} else if (proc_run(d->proc, &call, on_answer, v, &e) == 0) {
		v->state = VISIT_RUNS;
		d->running++;
	} else {
		log_write(d->o->log, LOG_ERROR, "no process can be started", "error", e.msg, NULL);
		refuse(v, "failed", "no answer could be made: the ledger's log says why");
	}
	free(input);
}

void desk_on_serve(void *ctx)
{
	struct desk *d = ctx;
	struct visit *v;

	while (d->running < DESK_WORKERS && (v = next_of(d)) != NULL)
		begin(v);
}
