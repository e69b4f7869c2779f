#include "io/user_name.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/plain.h"
#include "io/loop.h"
#include "io/proc.h"

enum {
	LINE_MAX = 4096, /* bytes of getent's answer */
	NOT_FOUND = 2,   /* its exit status: there is no such user */
};

struct known {
	uint32_t uid;
	char key[FMT_U64_SIZE], name[USER_NAME_MAX + 1];
	int64_t until_ms;
};

struct user_name_ask {
	struct user_name_ask *next, **prev;
	struct user_name_ask *after; /* asked for the same uid, and has no process of its own */
	struct user_names *of;       /* NULL: freed */
	uint32_t uid;
	user_name_fn fn; /* NULL: cancelled */
	void *ctx;
};

struct user_names {
	struct loop *loop;
	struct proc *proc;
	const char *getent;
	struct map by_uid; /* -> struct known */
	struct known *all[USER_NAME_KEPT];
	size_t n;
	struct user_name_ask *asks;
	unsigned running;
};

struct user_names *user_names_new(struct loop *l, struct proc *p, const char *getent)
{
	struct user_names *u = mem_zalloc(sizeof(*u));

	*u = (struct user_names){
		.loop = l, .proc = p, .getent = getent != NULL ? getent : "/usr/bin/getent"};
	map_init(&u->by_uid);
	return u;
}

static void forget_all(struct user_names *u)
{
	for (size_t i = 0; i < u->n; i++)
		free(u->all[i]);
	u->n = 0;
	map_fini(&u->by_uid);
	map_init(&u->by_uid);
}

void user_names_free(struct user_names *u)
{
	if (u == NULL)
		return;
	for (struct user_name_ask *a = u->asks; a != NULL; a = a->next)
		a->of = NULL;
	forget_all(u);
	map_fini(&u->by_uid);
	free(u);
}

static struct known *find(const struct user_names *u, uint32_t uid)
{
	char key[FMT_U64_SIZE];

	return map_get(&u->by_uid, fmt_u64(key, uid));
}

const char *user_names_get(const struct user_names *u, uint32_t uid)
{
	const struct known *k = find(u, uid);

	return k != NULL && loop_now(u->loop) < k->until_ms ? k->name : NULL;
}

static void keep(struct user_names *u, uint32_t uid, const char *name)
{
	struct known *k = find(u, uid);

	if (k == NULL) {
		if (u->n == USER_NAME_KEPT)
			forget_all(u);
		k = mem_zalloc(sizeof(*k));
		k->uid = uid;
		(void)fmt_u64(k->key, uid);
		u->all[u->n++] = k;
		map_put(&u->by_uid, k->key, k);
	}
	(void)snprintf(k->name, sizeof(k->name), "%s", name);
	k->until_ms = loop_now(u->loop) + (name[0] != '\0' ? USER_NAME_KEPT_MS : USER_NAME_NONE_MS);
}

/* "ann:x:1000:1000:Ann:/home/ann:/bin/bash": the name must be this uid's, whole, and plain text. */
static int parse(const char *line, uint32_t uid, char name[USER_NAME_MAX + 1], struct err *e)
{
	size_t n = strcspn(line, ":\n"), password;
	char want[FMT_U64_SIZE + 2], *end;
	unsigned long long has;

	(void)snprintf(want, sizeof(want), "%" PRIu32, uid);
	if (n == 0 || n > USER_NAME_MAX || line[n] != ':')
		return err_set(e, ERR_INVALID, "getent passwd %s: no name that can be used", want);
	password = strcspn(line + n + 1, ":\n");
	if (line[n + 1 + password] != ':')
		return err_set(e, ERR_INVALID, "getent passwd %s: its answer is no line of a user",
			       want);
	has = strtoull(line + n + password + 2, &end, 10);
	if (*end != ':' || has != uid || line[n + password + 2] < '0' ||
	    line[n + password + 2] > '9')
		return err_set(e, ERR_INVALID, "getent passwd %s: it answered for another user",
			       want);
	memcpy(name, line, n);
	name[n] = '\0';
	if (plain_is(name))
		return 0;
	name[0] = '\0';
	return err_set(e, ERR_INVALID, "getent passwd %s: no name that can be used", want);
}

static int read_answer(struct user_names *u, uint32_t uid, const struct proc_reply *r,
		       struct err *e)
{
	char name[USER_NAME_MAX + 1] = "";

	if (r->status != 0 && r->status != NOT_FOUND)
		return err_set(e, ERR_IO, "getent passwd %" PRIu32 ": exit status %d: %.100s", uid,
			       r->status, r->errors);
	if (r->status == 0 && parse(r->out, uid, name, e) != 0)
		return -1;
	keep(u, uid, name);
	return 0;
}

/* e NULL: nobody is told.  One that is told may cancel others. */
static void end(struct user_name_ask *a, const struct err *e)
{
	while (a != NULL) {
		struct user_name_ask *after = a->after;

		if (e != NULL && a->fn != NULL)
			a->fn(a->ctx, e->code != 0 ? e : NULL);
		free(a);
		a = after;
	}
}

static void on_done(void *ctx, const struct proc_reply *r, const struct err *failure)
{
	struct user_name_ask *a = ctx;
	struct err e = {0};

	if (a->of == NULL) {
		end(a, NULL);
		return;
	}
	if (failure != NULL) {
		e = *failure;
		(void)err_wrap(&e, "getent passwd %" PRIu32, a->uid);
	} else {
		(void)read_answer(a->of, a->uid, r, &e);
	}
	a->of->running--;
	*a->prev = a->next;
	if (a->next != NULL)
		a->next->prev = a->prev;
	end(a, &e);
}

static void join(struct user_names *u, struct user_name_ask *a)
{
	a->next = u->asks;
	a->prev = &u->asks;
	if (a->next != NULL)
		a->next->prev = &a->next;
	u->asks = a;
	u->running++;
}

static struct user_name_ask *refuse(struct err *e)
{
	(void)err_set(e, ERR_LIMIT, "too many names of users are looked up: ask again");
	return NULL;
}

/* A question for the same uid is asked already: its answer is this one's, too. */
static struct user_name_ask *ask_with(struct user_name_ask *a, user_name_fn fn, void *ctx,
				      struct err *e)
{
	unsigned n = 1;

	for (; a->after != NULL; a = a->after)
		n++;
	if (n >= USER_NAME_AT_ONCE)
		return refuse(e);
	a->after = mem_zalloc(sizeof(*a));
	*a->after = (struct user_name_ask){.of = a->of, .uid = a->uid, .fn = fn, .ctx = ctx};
	return a->after;
}

struct user_name_ask *user_names_ask(struct user_names *u, uint32_t uid, user_name_fn fn, void *ctx,
				     struct err *e)
{
	static const char *const env[] = {"PATH=/usr/bin:/bin", "LC_ALL=C", NULL};
	char number[FMT_U64_SIZE];
	const char *const argv[] = {u->getent, "passwd", fmt_u64(number, uid), NULL};
	const struct proc_call call = {
		.argv = argv, .envp = env, .timeout_ms = USER_NAME_MS, .max_out = LINE_MAX};
	struct user_name_ask *a;

	for (a = u->asks; a != NULL; a = a->next)
		if (a->uid == uid)
			return ask_with(a, fn, ctx, e);
	if (u->running >= USER_NAME_AT_ONCE)
		return refuse(e);
	a = mem_zalloc(sizeof(*a));
	*a = (struct user_name_ask){.of = u, .uid = uid, .fn = fn, .ctx = ctx};
	if (proc_run(u->proc, &call, on_done, a, e) != 0) {
		free(a);
		return NULL;
	}
	join(u, a);
	return a;
}

void user_name_cancel(struct user_name_ask *a)
{
	a->fn = NULL;
}
