#include "io/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/paths.h"
#include "io/loop.h"
#include "io/spool_private.h"

enum {
	SPOOL_BAD_TRIES = 100,    /* NAME.bad, NAME.1.bad, ... for names that come again */
	SPOOL_BUFFER_MIN = 65536, /* bytes that are kept for the next file */
	SPOOL_BUFFER_KEEP = 1 << 20,
};

/* What is known of a name.  It is not offered again while its file is there, but for FATE_EARLY. */
enum fate {
	FATE_KEPT,   /* until spool_done() */
	FATE_DELETE, /* unlink failed */
	FATE_ASIDE,  /* rename to .bad failed */
	FATE_EARLY,  /* present at the first listing, but not readable */
};

struct known {
	struct known *next, **prevp;
	enum fate fate;
	bool seen; /* by the listing under way */
	char name[];
};

struct spool {
	struct loop *loop;
	const char *dir;
	int fd; /* the directory that was listed last; -1: none */
	struct spool_watch *watch;
	bool woken, first; /* first: no listing has ended yet */
	int64_t woken_ms;  /* when a listing is due: in a moment, since the hook is not done yet */
	int64_t listed_ms;
	char **names; /* of the last listing, sorted */
	size_t n, cap, at;
	bool cut; /* there are more than SPOOL_LIST_MAX */
	struct known *known;
	struct map by_name; /* of known */
	char *buffer;
	size_t size;
	uint64_t bad;
	struct err trouble; /* the last of this listing; code 0: none */
	void (*wake)(void *ctx);
	void *ctx;
};

struct pass { /* one spool_pass() */
	struct spool *s;
	spool_fn fn;
	void *ctx;
	size_t files, bytes;
};

/* --- names that are known ----------------------------------------------------------------------
 */

static void remember(struct spool *s, const char *name, enum fate fate)
{
	struct known *k = map_get(&s->by_name, name);
	const size_t len = strlen(name) + 1;

	if (k == NULL) {
		k = mem_zalloc(sizeof(*k) + len);
		memcpy(k->name, name, len);
		k->next = s->known;
		k->prevp = &s->known;
		if (k->next != NULL)
			k->next->prevp = &k->next;
		s->known = k;
		map_put(&s->by_name, k->name, k);
	}
	k->fate = fate;
	k->seen = true;
}

static void forget(struct spool *s, struct known *k)
{
	if (k == NULL)
		return;
	*k->prevp = k->next;
	if (k->next != NULL)
		k->next->prevp = k->prevp;
	map_del(&s->by_name, k->name);
	free(k);
}

/* Forget the names that a listing did not show.  Kept ones stay until spool_done(). */
static void forget_unseen(struct spool *s)
{
	for (struct known *k = s->known, *next; k != NULL; k = next) {
		next = k->next;
		if (!k->seen && k->fate != FATE_KEPT)
			forget(s, k);
	}
}

/* --- listing -----------------------------------------------------------------------------------
 */

/* Open the directory anew: it may be another one than the last time. */
static int open_dir(struct spool *s, struct err *e)
{
	struct stat st;

	if (s->fd >= 0)
		(void)close(s->fd);
	s->fd = open(s->dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (s->fd < 0 || fstat(s->fd, &st) != 0)
		return err_set(e, ERR_IO, "%s: %s", s->dir, strerror(errno));
	if (spool_is_trusted(&st))
		return 0;
	(void)close(s->fd);
	s->fd = -1;
	return err_set(e, ERR_AUTH, "%s: writable by users other than root and burstd", s->dir);
}

static void drop_names(struct spool *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->names[i]);
	s->n = s->at = 0;
}

static void add_name(struct spool *s, const char *name)
{
	struct known *k = map_get(&s->by_name, name);

	if (k != NULL)
		k->seen = true;
	if (k != NULL && k->fate != FATE_EARLY)
		return;
	if (s->n == SPOOL_LIST_MAX) {
		s->cut = true;
		return;
	}
	if (s->n == s->cap) {
		s->cap = s->cap == 0 ? 64 : 2 * s->cap;
		s->names = mem_realloc(s->names, s->cap * sizeof(s->names[0]));
	}
	s->names[s->n++] = mem_strdup(name);
}

static bool is_stale(const struct spool *s, const char *name)
{
	struct stat st;

	return fstatat(s->fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       clock_wall_ms() - (int64_t)st.st_mtim.tv_sec * 1000 > SPOOL_STALE_MS;
}

static bool is_offered(const struct spool *s, const char *name)
{
	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(name, SPOOL_RESERVE) == 0 ||
	    strcmp(name, PATHS_AWAY_NAME) == 0 || spool_is_aside(name))
		return false;
	return name[0] != '.' || is_stale(s, name);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int read_names(struct spool *s, struct err *e)
{
	int fd = openat(s->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *ent;

	if (d == NULL) {
		(void)err_set(e, ERR_IO, "%s: %s", s->dir, strerror(errno));
		if (fd >= 0)
			(void)close(fd);
		return -1;
	}
	while ((ent = readdir(d)) != NULL)
		if (is_offered(s, ent->d_name))
			add_name(s, ent->d_name);
	(void)closedir(d);
	return 0;
}

/* The watch first: it reports files that come while the names are read. */
static int list(struct spool *s, struct err *e)
{
	drop_names(s);
	s->woken = false;
	s->cut = false;
	s->listed_ms = loop_now(s->loop);
	spool_watch_renew(s->watch);
	for (struct known *k = s->known; k != NULL; k = k->next)
		k->seen = false;
	if (open_dir(s, e) != 0 || read_names(s, e) != 0)
		return -1;
	forget_unseen(s);
	if (s->n > 0)
		qsort(s->names, s->n, sizeof(s->names[0]), by_name);
	return 0;
}

/* --- one file ----------------------------------------------------------------------------------
 */

/* Use RENAME_NOREPLACE: an earlier file of that name is evidence, too. */
static int move_aside(const struct spool *s, const char *name)
{
	char to[NAME_MAX + 1];
	int rc = -1;

	errno = EEXIST;
	for (int i = 0; i < SPOOL_BAD_TRIES && rc != 0 && errno == EEXIST; i++) {
		if (i == 0)
			(void)snprintf(to, sizeof(to), "%.230s.bad", name);
		else
			(void)snprintf(to, sizeof(to), "%.230s.%d.bad", name, i);
		rc = renameat2(s->fd, name, s->fd, to, RENAME_NOREPLACE);
	}
	return rc;
}

static void failed(struct spool *s, const char *name, const char *what)
{
	(void)err_set(&s->trouble, ERR_IO, "%s/%s: %s: %s", s->dir, name, what, strerror(errno));
}

/* Delete the file, or move it aside; if that fails, try again after each listing. */
static void take_away(struct pass *p, const char *name, enum fate fate)
{
	struct spool *s = p->s;
	int rc = fate == FATE_ASIDE ? move_aside(s, name) : unlinkat(s->fd, name, 0);

	if (rc == 0 || errno == ENOENT) {
		forget(s, map_get(&s->by_name, name));
		return;
	}
	failed(s, name, fate == FATE_ASIDE ? "move aside" : "delete");
	remember(s, name, fate);
}

static void retry_known(struct pass *p)
{
	for (struct known *k = p->s->known, *next; k != NULL; k = next) {
		next = k->next;
		if (k->seen && (k->fate == FATE_DELETE || k->fate == FATE_ASIDE))
			take_away(p, k->name, k->fate);
	}
}

static void set_aside(struct pass *p, const char *name)
{
	p->s->bad++;
	take_away(p, name, FATE_ASIDE);
}

static void fit_buffer(struct spool *s, size_t size)
{
	if (size <= s->size && s->size <= SPOOL_BUFFER_KEEP)
		return;
	free(s->buffer);
	s->size = size > SPOOL_BUFFER_MIN ? size : SPOOL_BUFFER_MIN;
	s->buffer = mem_zalloc(s->size);
}

/* Read the whole file; returns its length, at most size; -1: errno. */
static ssize_t read_all(int fd, char *to, size_t size)
{
	size_t len = 0;

	while (len < size) {
		ssize_t n = read(fd, to + len, size - len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		len += (size_t)n;
	}
	return (ssize_t)len;
}

static bool understand(struct spool_call *c, const char *bytes, size_t len)
{
	struct call_end end;

	if (!call_end_read(&end, bytes, len))
		return spool_read_former(c, bytes, len);
	c->kind = end.kind;
	c->age_ms = end.boot_ms >= 0 ? clock_boot_ms() - end.boot_ms : INT64_MAX;
	c->list = bytes;
	c->list_len = end.list_len;
	if (end.file == CALL_FILE_SENT) {
		c->file = bytes + end.list_len;
		c->file_len = end.file_len;
	}
	return true;
}

static void offer_bytes(struct pass *p, const char *name, size_t len)
{
	struct spool *s = p->s;
	struct spool_call c = {.name = name,
			       .early = s->first || map_get(&s->by_name, name) != NULL};

	if (!understand(&c, s->buffer, len)) {
		set_aside(p, name);
		return;
	}
	/* Remember it before it is taken: spool_done() may come at once. */
	remember(s, name, FATE_KEPT);
	if (!p->fn(p->ctx, &c) && map_get(&s->by_name, name) != NULL)
		take_away(p, name, FATE_DELETE);
}

/* Try again after the next listing; an early file is still early then. */
static void try_later(struct pass *p, const char *name, const char *what)
{
	failed(p->s, name, what);
	if (p->s->first)
		remember(p->s, name, FATE_EARLY);
}

/* Is it a plain file, and ours?  A hard link could be somebody else's file, and a FIFO would block
 * us. */
static bool is_plain(const struct stat *st)
{
	return S_ISREG(st->st_mode) && st->st_nlink == 1 && spool_is_trusted(st) &&
	       st->st_size <= SPOOL_FILE_MAX;
}

static void offer_open(struct pass *p, const char *name, int fd)
{
	struct spool *s = p->s;
	struct stat st;
	ssize_t len;

	if (fstat(fd, &st) != 0 || !is_plain(&st)) {
		set_aside(p, name);
		return;
	}
	fit_buffer(s, (size_t)st.st_size + 1);
	len = read_all(fd, s->buffer, (size_t)st.st_size + 1);
	if (len < 0) {
		try_later(p, name, "read");
		return;
	}
	p->bytes += (size_t)len;
	offer_bytes(p, name, (size_t)len);
}

/* Is it an error that may pass?  Then the file stays, and is tried after the next listing. */
static bool may_mend(int errnum)
{
	return errnum == EMFILE || errnum == ENFILE || errnum == ENOMEM || errnum == EIO ||
	       errnum == EINTR || errnum == ESTALE;
}

static void offer(struct pass *p, const char *name)
{
	const struct known *k = map_get(&p->s->by_name, name);
	int fd;

	if (k != NULL && k->fate != FATE_EARLY)
		return; /* the directory has shown it twice */
	fd = openat(p->s->fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd >= 0) {
		offer_open(p, name, fd);
		(void)close(fd);
	} else if (may_mend(errno)) {
		try_later(p, name, "open");
	} else if (errno != ENOENT) {
		/* A link, a socket, or no permission: that would not change. */
		set_aside(p, name);
	}
}

/* --- what others call --------------------------------------------------------------------------
 */

static void on_watch(void *ctx)
{
	struct spool *s = ctx;

	if (!s->woken)
		s->woken_ms = loop_now(s->loop) + SPOOL_SETTLE_MS;
	s->woken = true;
	if (s->wake != NULL)
		s->wake(s->ctx);
}

struct spool *spool_new(struct loop *l, const char *dir)
{
	struct spool *s = mem_zalloc(sizeof(*s));

	s->loop = l;
	s->dir = dir;
	s->fd = -1;
	s->first = true;
	s->woken = true;
	map_init(&s->by_name);
	s->watch = spool_watch_new(l, dir, on_watch, s);
	return s;
}

void spool_free(struct spool *s)
{
	if (s == NULL)
		return;
	spool_watch_free(s->watch);
	while (s->known != NULL)
		forget(s, s->known);
	map_fini(&s->by_name);
	drop_names(s);
	free(s->names);
	free(s->buffer);
	if (s->fd >= 0)
		(void)close(s->fd);
	free(s);
}

void spool_on_wake(struct spool *s, void (*wake)(void *ctx), void *ctx)
{
	s->wake = wake;
	s->ctx = ctx;
}

int64_t spool_next_ms(const struct spool *s)
{
	if (s->at < s->n)
		return s->listed_ms;
	if (s->woken)
		return s->woken_ms;
	return s->listed_ms + (spool_watch_works(s->watch) ? SPOOL_EVERY_MS : SPOOL_UNWATCHED_MS);
}

/* Close the directory if there is nothing to do there: somebody may want to unmount its file
 * system. */
static void rest(struct spool *s)
{
	const struct known *k = s->known;

	while (k != NULL && k->fate != FATE_KEPT)
		k = k->next;
	if (s->at < s->n || k != NULL || s->fd < 0)
		return;
	(void)close(s->fd);
	s->fd = -1;
}

/* Report trouble of the whole listing: else one that takes several passes would fail and succeed by
 * turns. */
static int say_trouble(const struct spool *s, struct err *e)
{
	if (s->trouble.code == 0)
		return 0;
	if (e != NULL)
		*e = s->trouble;
	return -1;
}

int spool_pass(struct spool *s, spool_fn fn, void *ctx, struct err *e)
{
	struct pass p = {.s = s, .fn = fn, .ctx = ctx};

	if (loop_now(s->loop) < spool_next_ms(s))
		return 0;
	if (s->at == s->n) {
		s->trouble = (struct err){0};
		if (list(s, &s->trouble) != 0)
			return say_trouble(s, e);
		retry_known(&p);
	}
	for (; s->at < s->n && p.files < SPOOL_PASS_MAX && p.bytes < SPOOL_PASS_BYTES; p.files++)
		offer(&p, s->names[s->at++]);
	if (s->at == s->n) {
		s->first = s->first && s->cut;
		if (s->cut)
			s->woken_ms = s->listed_ms; /* the next listing at once */
		s->woken = s->woken || s->cut;
		rest(s);
	}
	return say_trouble(s, e);
}

void spool_done(struct spool *s, const char *name)
{
	struct known *k = map_get(&s->by_name, name);

	if (k == NULL)
		return;
	if (unlinkat(s->fd, name, 0) == 0 || errno == ENOENT)
		forget(s, k);
	else
		k->fate = FATE_DELETE;
	rest(s);
}

int spool_look(const struct spool *s, const char **note, struct err *e)
{
	return spool_check(s->dir, note, e);
}

uint64_t spool_bad(const struct spool *s)
{
	return s->bad;
}
