/* The spool between hooks and burstd: the simulator's hooks write into it by burst-hook's own code,
 * the daemon's io/spool.c reads it; the watch is ours, for inotify does not know this disk.  And
 * the judge of what becomes of each call (I29). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../sim/sim_journal.h"
#include "../sim/sim_tx.h"
#include "base/fnv.h"
#include "base/mem.h"
#include "base/paths.h"
#include "crash.h"
#include "engine/kernel.h"
#include "io/spool_private.h"

enum {
	KEPT_MAX = 256,
	SPACES = 3 * DISK_SECTOR,
	EAGER_CALL = 1, /* burstd reads this one while its hook syncs */
	LATE_CALL = 3,  /* the disk holds this one up, and inotify says nothing of it */
	LATE_MS = 2000, /* ... for so long, which is too old to act on */
	STALE_MS = SPOOL_STALE_MS + 2 * SPOOL_EVERY_MS,
};

/* A call of a hook, whatever became of it. */
struct kept {
	char name[64]; /* of its file; "": it was never made */
	int64_t at;
	uint64_t sum;  /* of what it says */
	bool durable;  /* the hook said so */
	bool offered;  /* ever */
	unsigned life; /* which offered it last, from 1 */
	bool fresh;    /* and acts on it */
	bool bare;     /* it has no resume file: what comes of it is an event, which is committed */
	uint64_t commits; /* until it was offered */
	bool gone;        /* deleted; a power cut may bring it back */
	bool unheard;     /* by the watch */
};

struct spool_watch {
	void (*came)(void *ctx);
	void *ctx;
};

static struct kept kept[KEPT_MAX];
static size_t nkept;
static struct spool_watch *watch; /* of the burstd that runs; NULL: none does */

/* --- the watch ---------------------------------------------------------------------------------
 */

struct spool_watch *spool_watch_new(struct loop *l, const char *dir, void (*came)(void *ctx),
				    void *ctx)
{
	(void)l;
	(void)dir;
	watch = mem_zalloc(sizeof(*watch));
	*watch = (struct spool_watch){.came = came, .ctx = ctx};
	return watch;
}

void spool_watch_free(struct spool_watch *w)
{
	free(w);
	watch = NULL;
}

void spool_watch_renew(struct spool_watch *w)
{
	(void)w;
}

bool spool_watch_works(const struct spool_watch *w)
{
	(void)w;
	return true;
}

/* The name is there before it is synced: burstd may be faster than the hook. */
static void tell_watch(struct crash *c)
{
	if (watch == NULL || c->dead || kept[nkept - 1].unheard)
		return;
	watch->came(watch->ctx);
	if (nkept != EAGER_CALL)
		return;
	c->in_hook = false;
	while (!c->dead && !c->w.failed && sim_loop_next(c->w.loop) <= c->w.now)
		sim_loop_fire(c->w.loop);
	c->in_hook = true;
}

/* --- what becomes of a call --------------------------------------------------------------------
 */

static uint64_t sum_of(enum call_kind kind, const char *list, size_t list_len, const char *file,
		       size_t file_len)
{
	uint64_t sum = fnv_bytes(FNV_BEGIN, call_kind_str(kind), strlen(call_kind_str(kind)));

	sum = fnv_bytes(sum, list, list_len);
	return file != NULL ? fnv_bytes(sum, file, file_len) : sum;
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash != NULL ? slash + 1 : path;

	return strncmp(name, ".new-", 5) == 0 ? name + 5 : name;
}

static struct kept *find(struct crash *c, const char *path)
{
	static struct kept none;

	for (size_t i = 0; i < nkept; i++)
		if (strcmp(kept[i].name, base_of(path)) == 0)
			return &kept[i];
	world_fail(&c->w, "%s is in the spool, and no hook made it", path);
	none = (struct kept){.name = "none"};
	return &none;
}

static void check_deleted(struct crash *c, struct kept *k)
{
	k->gone = true;
	if (k->life != c->w.life + 1)
		world_fail(&c->w, "I29: %s is deleted by a burstd that did not offer it", k->name);
	if (!k->fresh)
		return;
	life_check_synced(c, "I29: a call is done with");
	if (sim_journal_txs(c->w.journal)->open > 0 || c->w.engine->unwritten.v != NULL ||
	    (k->bare && c->commits == k->commits))
		world_fail(&c->w, "I29: %s is deleted before what came of it is durable", k->name);
}

void spool_saw(struct crash *c, const char *from, const char *to)
{
	if (strncmp(from[0] != '\0' ? from : to, PATHS_SPOOL "/", sizeof(PATHS_SPOOL)) != 0)
		return;
	if (c->in_hook) {
		if (from[0] == '\0')
			(void)snprintf(kept[nkept - 1].name, sizeof(kept[0].name), "%s",
				       base_of(to));
		else if (to[0] != '\0')
			tell_watch(c);
	} else if (from[0] == '\0') {
		world_fail(&c->w, "burstd makes %s", to);
	} else if (to[0] == '\0') {
		check_deleted(c, find(c, from));
	} else if (find(c, from)->durable) {
		world_fail(&c->w, "I29: %s is set aside, and it was durable", from);
	}
}

bool __real_intake_take(void *ctx, const struct spool_call *call);
bool __wrap_intake_take(void *ctx, const struct spool_call *call);
bool __wrap_intake_take(void *ctx, const struct spool_call *call)
{
	struct crash *c = &crash;
	bool fresh = __real_intake_take(ctx, call);
	struct kept *k;

	if (c->dead)
		return fresh;
	c->moment++;
	k = find(c, call->name);
	if (k->life == c->w.life + 1)
		world_fail(&c->w, "I29: %s is offered twice", k->name);
	if (k->sum != sum_of(call->kind, call->list, call->list_len, call->file, call->file_len))
		world_fail(&c->w, "F54: %s does not say what its hook wrote", k->name);
	if (fresh && (k->at < c->w.life_began || c->w.now - k->at > CALL_FRESH_MS))
		world_fail(&c->w, "%s is acted on, and it is old", k->name);
	k->offered = true;
	k->life = c->w.life + 1;
	k->fresh = fresh;
	k->commits = c->commits;
	c->fresh += fresh;
	c->hints += !fresh;
	return fresh;
}

/* Whole, or never whole: NAME.bad; or what a hook began that died with the machine, for a minute.
 */
static bool may_stay(struct crash *c, const char *name)
{
	char path[DISK_PATH];
	struct stat st;

	if (spool_is_aside(name))
		return true;
	(void)snprintf(path, sizeof(path), "%s/%s", PATHS_SPOOL, name);
	return name[0] == '.' && !find(c, name)->durable && lstat(path, &st) == 0 &&
	       (int64_t)st.st_mtim.tv_sec * 1000 + STALE_MS > c->w.now;
}

void spool_check_end(struct crash *c)
{
	const char *name;

	for (size_t i = 0; (name = disk_list(PATHS_SPOOL, i)) != NULL; i++)
		if (!may_stay(c, name))
			world_fail(&c->w, "%s is left in the spool", name);
	for (size_t i = 0; i < nkept; i++)
		if (kept[i].durable && !kept[i].offered)
			world_fail(&c->w, "I29: %s was in the spool and is lost", kept[i].name);
}

void spool_forget(void)
{
	memset(kept, 0, sizeof(kept));
	nkept = 0;
}

/* --- the simulator's hooks ---------------------------------------------------------------------
 */

static void check_kept(struct crash *c, const struct kept *k)
{
	char path[DISK_PATH];

	(void)snprintf(path, sizeof(path), "%s/%s", PATHS_SPOOL, k->name);
	if (k->durable && !k->gone && !disk_is_synced(path))
		world_fail(&c->w, "I29: the hook says that %s is durable", k->name);
	if (!k->durable && life_hook_lives(c))
		world_fail(&c->w, "the hook cannot write into the spool");
}

/* A resume file that fills some sectors, of which a power cut can leave any. */
static char *lengthened(const char *file)
{
	const size_t len = file != NULL ? strlen(file) : 0;
	char *out = file != NULL ? mem_zalloc(len + SPACES + 1) : NULL;

	if (out != NULL) {
		memcpy(out, file, len);
		memset(out + len, ' ', SPACES);
	}
	return out;
}

static void put(struct crash *c, const struct sim_call *from, bool unheard)
{
	struct sim_call call = *from;
	struct kept *k = &kept[nkept];
	char *file;

	if (nkept == KEPT_MAX) {
		world_fail(&c->w, "I25: hooks without end");
		return;
	}
	nkept++;
	call.file = file = lengthened(from->file);
	k->at = call.at;
	k->unheard = unheard;
	k->bare = file == NULL;
	k->sum = sum_of(call.kind, call.list, strlen(call.list), file,
			file != NULL ? strlen(file) : 0);
	c->moment++;
	k->durable = hook_run(c, &call);
	c->moment++;
	free(file);
	check_kept(c, k);
	if (c->dead && c->w.engine == NULL)
		life_again(c); /* nobody else sees it */
}

static void on_late(struct world *w, void *ctx, uint64_t arg)
{
	struct sim_call *call = ctx;

	(void)w;
	(void)arg;
	put(&crash, call, true);
	free((void *)(uintptr_t)call->list);
	free((void *)(uintptr_t)call->file);
	free(call);
}

void sim_spool_put(struct spool *s, const struct sim_call *call)
{
	struct crash *c = &crash;
	struct sim_call *late;

	(void)s;
	if (++c->calls != LATE_CALL) {
		put(c, call, false);
		return;
	}
	late = mem_zalloc(sizeof(*late));
	*late = *call;
	late->list = mem_strdup(call->list);
	late->file = call->file != NULL ? mem_strdup(call->file) : NULL;
	world_at(&c->w, c->w.now + LATE_MS, on_late, late, 0);
}

/* Each life has one of its own: life.c. */
struct spool *sim_spool_new(struct world *w)
{
	(void)w;
	return NULL;
}

void sim_spool_free(struct spool *s)
{
	spool_free(s);
}

void sim_spool_life(struct spool *s)
{
	(void)s;
}

void sim_spool_choose(struct world *w)
{
	(void)w;
}
