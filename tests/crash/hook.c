/* A call that burstd did not take: burst-hook's own code writes it, io/spool.c reads it. */
#define main burst_hook_main
int burst_hook_main(int argc, char **argv);
#include "../../slurm/burst-hook.c" /* NOLINT: its spool() is static */
#undef main

#include <jansson.h>
#include <sys/mman.h>

#include "crash.h"
#include "io/spool.h"

int __real_engine_take_call(struct engine *e, const struct journal_call *call, int64_t *seq,
			    struct err *err);

enum { KEPT_MAX = 256 };

/* Calls that are in the spool or were lost with the power, by when and what: the simulator offers
 * them again. */
static struct {
	int64_t at_ms;
	enum journal_call_kind kind;
	bool durable, taken;
} kept[KEPT_MAX];
static size_t nkept;

/* Its place; nkept: it has none. */
static size_t find(const struct journal_call *call)
{
	size_t i = 0;

	while (i < nkept && (kept[i].at_ms != call->at_ms || kept[i].kind != call->kind))
		i++;
	return i;
}

static int resume_file(const struct journal_call *call)
{
	int fd = call->file != NULL ? memfd_create("resume", MFD_CLOEXEC) : -1;

	if (fd >= 0 && write(fd, call->file, call->file_len) != (ssize_t)call->file_len) {
		(void)close(fd);
		fd = -1;
	}
	return fd;
}

void hook_keep(struct crash *c, const struct journal_call *call)
{
	static struct sink s;
	struct call own = {.kind = kinds[call->kind].kind,
			   .list = call->list,
			   .file = -1,
			   .at_ns = call->at_ms * 1000000};

	if (find(call) < nkept || nkept == KEPT_MAX)
		return;
	kept[nkept].at_ms = call->at_ms;
	kept[nkept++].kind = call->kind;
	own.file = resume_file(call);
	(void)snprintf(own.head, sizeof(own.head),
		       "{\"v\":1,\"op\":\"call\",\"kind\":\"%s\",\"at_ms\":%lld,\"file\":\"%s\"}",
		       own.kind, (long long)call->at_ms, own.file >= 0 ? "sent" : "none");
	c->in_hook = true;
	kept[nkept - 1].durable = spool(&s, &own) == 0;
	if (!kept[nkept - 1].durable && !c->dead)
		world_fail(&c->w, "the hook cannot write into the spool: %s", strerror(errno));
	c->in_hook = false;
	if (own.file >= 0)
		(void)close(own.file);
}

static int on_spooled(void *ctx, const struct ctl_call *call, struct err *e)
{
	struct crash *c = ctx;
	json_t *head = json_loads(call->head, 0, NULL);
	const char *kind = json_string_value(json_object_get(head, "kind"));
	struct journal_call jc = {.at_ms = json_integer_value(json_object_get(head, "at_ms")),
				  .spooled = true,
				  .dropped = call->dropped,
				  .list = call->list,
				  .list_len = call->list_len,
				  .file = call->file,
				  .file_len = call->file_len};
	int64_t seq;
	int rc;

	for (int i = JOURNAL_RESUME; kind != NULL && i <= JOURNAL_RESUME_FAIL; i++)
		if (strcmp(kind, kinds[i].kind) == 0)
			jc.kind = (enum journal_call_kind)i;
	c->moment++;
	rc = __real_engine_take_call(c->w.engine, &jc, &seq, e);
	json_decref(head);
	if (find(&jc) == nkept)
		world_fail(&c->w, "a call is in the spool that nobody made");
	else
		kept[find(&jc)].taken = true;
	return rc;
}

int hook_drain(struct crash *c, struct err *e)
{
	return spool_drain(PATHS_SPOOL, on_spooled, c, e);
}

void hook_check(struct crash *c)
{
	for (size_t i = 0; i < nkept; i++)
		if (kept[i].durable && !kept[i].taken)
			world_fail(&c->w, "I29: a call of %lld was in the spool and is lost",
				   (long long)kept[i].at_ms);
}

void hook_forget(void)
{
	memset(kept, 0, sizeof(kept));
	nkept = 0;
}
