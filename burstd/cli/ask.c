/* One question to burstd and its answer. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/paths.h"
#include "cli/cli.h"
#include "cli/when.h"
#include "io/ctl_client.h"

enum {
	TIMEOUT_MS = 5000,         /* as long as burstd gives a connection */
	LEDGER_TIMEOUT_MS = 65000, /* burst-ledger gives up sooner, and says so */
};

int cli_complain(int rc, const char *what)
{
	char *clean = out_clean(what);

	(void)fprintf(stderr, "burstctl: %s\n", clean);
	free(clean);
	return rc;
}

/* Why these len bytes, after which no more come, are not a whole secret; NULL: they are. */
static const char *broken_off(const char *text, size_t len, bool typed)
{
	bool lines = memchr(text, '\n', len) != NULL, ended = len > 0 && text[len - 1] == '\n';

	while (len > 0 && strchr(" \t\r\n", text[len - 1]) != NULL)
		len--;
	if (len == 0)
		return "it is empty";
	if (memchr(text, '\0', len) != NULL)
		return "it has NUL bytes";
	if (text[0] == '{')
		return text[len - 1] == '}' ? NULL : "it is truncated: its last brace is missing";
	return !ended && (typed || lines) ? "it is truncated: its last line has no newline" : NULL;
}

const char *cli_read_secret(int fd, bool first_line, char *out, size_t size)
{
	bool typed = isatty(fd) != 0; /* a terminal has no end of file */
	const char *end = NULL, *why;
	size_t len = 0;
	ssize_t n = 0;

	while (end == NULL && len < size && (n = read(fd, out + len, size - len)) > 0) {
		len += (size_t)n;
		end = first_line || typed ? memchr(out, '\n', len) : NULL;
	}
	if (end != NULL)
		len = (size_t)(end - out) + 1;
	why = n < 0         ? strerror(errno)
	      : len == size ? "it is too long"
			    : broken_off(out, len, typed);
	while (why == NULL && strchr(" \t\r\n", out[len - 1]) != NULL)
		len--;
	if (why != NULL)
		len = 0;
	explicit_bzero(out + len, size - len);
	return why;
}

static int parse_reply(const char *text, size_t len, json_t **reply, struct err *e)
{
	json_t *r = json_loadb(text, len, 0, NULL);
	int rc = CLI_FAILED;

	if (!json_is_object(r) || !json_is_boolean(json_object_get(r, "ok"))) {
		(void)err_set(e, ERR_INVALID, "the answer is not from burstd, or is damaged");
	} else if (json_is_false(json_object_get(r, "ok"))) {
		char *error = out_people(cli_text(r, "error"));

		(void)err_set(e, ERR_INVALID, "%s",
			      error[0] != '\0' ? error : "burstd refused without saying why");
		free(error);
	} else {
		*reply = json_incref(r);
		rc = CLI_OK;
	}
	json_decref(r);
	return rc;
}

/* Whom a command asks. */
struct service {
	const char *name, *socket;
	int64_t timeout_ms;
	const char *absent, *stuck; /* hints: if it is not there, and if it does not answer */
};

static const char *advice(const struct err *e, const struct service *s)
{
	if (e->code == ERR_NOTSENT)
		return s->absent;
	if (e->code == ERR_AUTH)
		return "you may not use this socket; ask an admin";
	return s->stuck;
}

/* May it be asked twice?  events follows burstd over a restart itself. */
static bool only_looks(const json_t *request)
{
	static const char *const ops[] = {
		"status", "nodes",  "node",   "pools",   "plan",
		"audit",  "alerts", "config", "budgets", "budget-overrides",
		"secrets"};
	const char *op = cli_text(request, "op");

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		if (strcmp(op, ops[i]) == 0)
			return true;
	return false;
}

struct question {
	const char *text;
	bool again; /* it may be asked twice */
	char *answer;
	size_t len;
};

/* A burstd that is restarted breaks off what it has not answered yet, and the next one answers:
 * then ask that one, if nothing can be done twice by it. */
static int ask_over_restart(const struct service *s, struct question *q, struct err *e)
{
	const int64_t until = clock_boot_ms() + s->timeout_ms;
	int64_t left;
	int rc =
		ctl_client_ask(s->socket, q->text, (uint32_t)s->timeout_ms, &q->answer, &q->len, e);

	left = until - clock_boot_ms();
	if (rc != 0 && q->again && e->code == ERR_NET && left > 0)
		rc = ctl_client_ask(s->socket, q->text, (uint32_t)left, &q->answer, &q->len, e);
	return rc;
}

static int ask(const struct service *s, json_t *request, json_t **reply, struct err *e)
{
	struct question q = {.again = only_looks(request)};
	struct err why = {0};
	char *text;
	int rc;

	*reply = NULL;
	(void)json_object_set_new(request, "v", json_integer(1));
	text = mem_check(json_dumps(request, JSON_COMPACT));
	json_decref(request);
	q.text = text;
	if (ask_over_restart(s, &q, &why) == 0) {
		rc = parse_reply(q.answer, q.len, reply, e);
		free(q.answer);
	} else {
		rc = CLI_UNREACHABLE;
		(void)err_set(e, (enum err_code)why.code, "cannot reach %s: %s; %s", s->name,
			      why.msg, advice(&why, s));
	}
	free(text);
	return rc;
}

int cli_ask(const struct cli *c, json_t *request, json_t **reply, struct err *e)
{
	const struct service burstd = {
		"burstd", c->socket != NULL ? c->socket : PATHS_SOCKET,
		c->timeout_ms > 0 ? c->timeout_ms : TIMEOUT_MS,
		"is it running? (systemctl status burstd; --socket names another socket)",
		"is it stuck? (systemctl status burstd)"};

	return ask(&burstd, request, reply, e);
}

int cli_ask_ledger(const struct cli *c, json_t *request, json_t **reply)
{
	const struct service ledger = {
		"burst-ledger", c->socket != NULL ? c->socket : PATHS_LEDGER_SOCKET,
		c->timeout_ms > 0 ? c->timeout_ms : LEDGER_TIMEOUT_MS,
		"reports are made by the service burst-ledger: is it running? (systemctl status "
		"burst-ledger)",
		"is it stuck? (systemctl status burst-ledger)"};
	struct err e = {0};
	int rc = ask(&ledger, request, reply, &e);

	return rc == CLI_OK ? CLI_OK : cli_complain(rc, e.msg);
}

int cli_ask_loudly(const struct cli *c, json_t *request, json_t **reply)
{
	struct err e = {0};
	int rc = cli_ask(c, request, reply, &e);

	return rc == CLI_OK ? CLI_OK : cli_complain(rc, e.msg);
}

int cli_show(const struct cli *c, json_t *request,
	     void (*show)(const struct cli *c, const json_t *reply))
{
	json_t *r;
	int rc = cli_ask_loudly(c, request, &r);

	if (rc != CLI_OK)
		return rc;
	if (c->json)
		cli_print_json(c, r);
	else
		show(c, r);
	json_decref(r);
	return CLI_OK;
}

const char *cli_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text != NULL ? text : "";
}

int64_t cli_int(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

const json_t *cli_row(const json_t *object, const char *key, size_t i)
{
	return json_array_get(json_object_get(object, key), i);
}

int cli_since(const char *text, struct cli_since *out)
{
	struct err e = {0};
	char *end;

	*out = (struct cli_since){-1, -1};
	if (text == NULL)
		return CLI_OK;
	errno = 0;
	out->seq = strtoll(text, &end, 10);
	if (text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0)
		return CLI_OK;
	out->seq = -1;
	if (when_parse(text, clock_wall_ms(), &out->ms, &e) == 0) {
		out->ms = out->ms > 0 ? out->ms : 1; /* 0 would mean no time */
		return CLI_OK;
	}
	(void)err_wrap(&e, "--since: want a number of the first column, or a time");
	return cli_complain(CLI_USAGE, e.msg);
}

void cli_print_json(const struct cli *c, json_t *reply)
{
	(void)json_object_del(reply, "ok");
	(void)json_dumpf(reply, c->out.f, JSON_INDENT(2) | JSON_ENSURE_ASCII);
	(void)fputc('\n', c->out.f);
}
