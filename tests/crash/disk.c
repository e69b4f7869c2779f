#include "disk.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

const char *const disk_op_names[OP_NOPS] = {"write",  "truncate", "sync",     "make",
					    "rename", "delete",   "sync-dir", "send"};

struct image {
	unsigned char *p;
	size_t len, cap;
};

/* A write that is not synced, or a file's new length. */
struct change {
	bool cut;
	size_t at, len;
	unsigned char *data;
};

struct file {
	bool used, dir;
	struct image now, kept;
	struct change *todo;
	size_t ntodo, cap;
};

struct name {
	char path[DISK_PATH];
	int file;
};

struct names {
	struct name v[DISK_NAMES];
	size_t n;
};

/* "" for from: it was made; for to: taken away. */
struct move {
	char from[DISK_PATH], to[DISK_PATH];
	int file;
};

static struct {
	struct file files[DISK_FILES];
	int nfiles;
	struct names now, kept;
	struct move moves[DISK_NAMES]; /* not synced, in order */
	size_t nmoves;
} disk;

/* --- images ----------------------------------------------------------------------------------- */

static void image_fit(struct image *im, size_t len)
{
	if (len > im->cap) {
		im->cap = 2 * len;
		im->p = mem_realloc(im->p, im->cap);
	}
	if (len > im->len)
		memset(im->p + im->len, 0, len - im->len);
	im->len = len > im->len ? len : im->len;
}

static void image_write(struct image *im, const unsigned char *data, size_t len, size_t at)
{
	image_fit(im, at + len);
	if (len > 0)
		memcpy(im->p + at, data, len);
}

static void image_cut(struct image *im, size_t len)
{
	if (len > im->len)
		image_fit(im, len);
	im->len = len;
}

static void image_copy(struct image *to, const struct image *from)
{
	to->len = 0;
	image_write(to, from->p, from->len, 0);
}

static void image_apply(struct image *im, const struct change *c)
{
	if (c->cut)
		image_cut(im, c->len);
	else
		image_write(im, c->data, c->len, c->at);
}

static void forget(struct file *f)
{
	for (size_t i = 0; i < f->ntodo; i++)
		free(f->todo[i].data);
	f->ntodo = 0;
}

static void add_change(struct file *f, struct change c)
{
	if (f->ntodo == f->cap) {
		f->cap = f->cap == 0 ? 16 : 2 * f->cap;
		f->todo = mem_realloc(f->todo, f->cap * sizeof(*f->todo));
	}
	f->todo[f->ntodo++] = c;
	image_apply(&f->now, &c);
}

/* --- names ------------------------------------------------------------------------------------ */

static int find(const struct names *t, const char *path)
{
	for (size_t i = 0; i < t->n; i++)
		if (strcmp(t->v[i].path, path) == 0)
			return (int)i;
	return -1;
}

static void drop(struct names *t, const char *path)
{
	int i = find(t, path);

	if (i >= 0)
		t->v[i] = t->v[--t->n];
}

static void put(struct names *t, const char *path, int file)
{
	drop(t, path);
	assert(t->n < DISK_NAMES && strlen(path) < DISK_PATH);
	(void)snprintf(t->v[t->n].path, DISK_PATH, "%s", path);
	t->v[t->n++].file = file;
}

static void names_apply(struct names *t, const struct move *m)
{
	if (m->from[0] != '\0')
		drop(t, m->from);
	if (m->to[0] != '\0')
		put(t, m->to, m->file);
}

static void add_move(const char *from, const char *to, int file)
{
	struct move *m = &disk.moves[disk.nmoves++];

	assert(disk.nmoves <= DISK_NAMES);
	(void)snprintf(m->from, sizeof(m->from), "%s", from);
	(void)snprintf(m->to, sizeof(m->to), "%s", to);
	m->file = file;
	names_apply(&disk.now, m);
}

static bool is_in(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return strncmp(path, dir, n) == 0 && path[n] == '/' && strchr(path + n + 1, '/') == NULL;
}

/* All moves are within a directory. */
static void sync_names(const char *dir)
{
	size_t left = 0;

	for (size_t i = 0; i < disk.nmoves; i++) {
		const struct move *m = &disk.moves[i];

		if (is_in(m->from[0] != '\0' ? m->from : m->to, dir))
			names_apply(&disk.kept, m);
		else
			disk.moves[left++] = *m;
	}
	disk.nmoves = left;
}

/* --- what processes do ------------------------------------------------------------------------ */

static int new_file(bool dir)
{
	assert(disk.nfiles < DISK_FILES);
	disk.files[disk.nfiles] = (struct file){.used = true, .dir = dir};
	return disk.nfiles++;
}

void disk_init(void)
{
	static const char *const dirs[] = {"/var", "/var/lib", "/var/spool", "/var/spool/burstd"};

	disk_fini();
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		put(&disk.now, dirs[i], new_file(true));
		put(&disk.kept, dirs[i], disk.nfiles - 1);
	}
}

void disk_fini(void)
{
	for (int i = 0; i < disk.nfiles; i++) {
		struct file *f = &disk.files[i];

		forget(f);
		free(f->todo);
		free(f->now.p);
		free(f->kept.p);
	}
	memset(&disk, 0, sizeof(disk));
}

int disk_find(const char *path)
{
	int i = find(&disk.now, path);

	return i >= 0 ? disk.now.v[i].file : -1;
}

bool disk_is_dir(int file)
{
	return disk.files[file].dir;
}

int disk_make(const char *path, bool dir)
{
	int file;

	if (!crash_point(OP_MAKE, path))
		return -1;
	file = new_file(dir);
	add_move("", path, file);
	return file;
}

int disk_delete(const char *path)
{
	if (!crash_point(OP_DELETE, path))
		return -1;
	add_move(path, "", disk_find(path));
	return 0;
}

int disk_rename(const char *from, const char *to)
{
	if (!crash_point(OP_RENAME, to))
		return -1;
	add_move(from, to, disk_find(from));
	return 0;
}

int disk_write(int file, const void *data, size_t len, size_t at)
{
	struct change c = {.at = at, .len = len};

	if (!crash_point(OP_WRITE, disk_path(file)))
		return -1;
	c.data = mem_zalloc(len + 1);
	memcpy(c.data, data, len);
	add_change(&disk.files[file], c);
	return 0;
}

int disk_truncate(int file, size_t len)
{
	if (!crash_point(OP_TRUNCATE, disk_path(file)))
		return -1;
	add_change(&disk.files[file], (struct change){.cut = true, .len = len});
	return 0;
}

int disk_sync(int file)
{
	struct file *f = &disk.files[file];

	if (!crash_point(f->dir ? OP_SYNC_DIR : OP_SYNC, disk_path(file)))
		return -1;
	if (f->dir)
		sync_names(disk_path(file));
	for (size_t i = 0; i < f->ntodo; i++)
		image_apply(&f->kept, &f->todo[i]);
	forget(f);
	return 0;
}

size_t disk_read(int file, void *out, size_t len, size_t at)
{
	const struct image *im = &disk.files[file].now;
	size_t n = at < im->len ? im->len - at : 0;

	n = n < len ? n : len;
	if (n > 0)
		memcpy(out, im->p + at, n);
	return n;
}

size_t disk_len(int file)
{
	return disk.files[file].now.len;
}

const char *disk_path(int file)
{
	for (size_t i = 0; i < disk.now.n; i++)
		if (disk.now.v[i].file == file)
			return disk.now.v[i].path;
	return "";
}

const char *disk_list(const char *dir, size_t place)
{
	for (size_t i = 0; i < disk.now.n; i++)
		if (is_in(disk.now.v[i].path, dir) && place-- == 0)
			return disk.now.v[i].path + strlen(dir) + 1;
	return NULL;
}

bool disk_is_synced(const char *path)
{
	int file = disk_find(path), i = find(&disk.kept, path);

	return file >= 0 && i >= 0 && disk.kept.v[i].file == file && disk.files[file].ntodo == 0;
}

/* --- crashes ---------------------------------------------------------------------------------- */

static uint64_t dice(uint64_t *s)
{
	uint64_t z = (*s += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* Sector by sector: there, not there, or its first bytes.  A sector keeps what the write did not
 * touch (SQLITE_IOCAP_POWERSAFE_OVERWRITE). */
static void tear(struct image *im, const struct change *c, uint64_t *seed)
{
	for (size_t at = c->at, end = c->at + c->len; at < end;) {
		size_t n = DISK_SECTOR - at % DISK_SECTOR;
		uint64_t throw = dice(seed);

		n = n < end - at ? n : end - at;
		if (throw % 8 == 0)
			image_write(im, c->data + (at - c->at), (throw >> 8) % n, at);
		else if (throw % 2 == 0)
			image_write(im, c->data + (at - c->at), n, at);
		at += n;
	}
}

static void lose(struct file *f, bool torn, uint64_t *seed)
{
	for (size_t i = 0; torn && i < f->ntodo; i++) {
		if (!f->todo[i].cut)
			tear(&f->kept, &f->todo[i], seed);
		else if (dice(seed) % 2 == 0)
			image_cut(&f->kept, f->todo[i].len);
	}
	forget(f);
	image_copy(&f->now, &f->kept);
}

/* A file below a directory that is gone is gone. */
static void drop_strays(struct names *t)
{
	bool again = true;

	while (again) {
		again = false;
		for (size_t i = 0; i < t->n && !again; i++) {
			char dir[DISK_PATH];

			(void)snprintf(dir, sizeof(dir), "%s", t->v[i].path);
			*strrchr(dir, '/') = '\0';
			again = dir[0] != '\0' && find(t, dir) < 0;
			if (again)
				drop(t, t->v[i].path);
		}
	}
}

void disk_crash(enum disk_model m, uint64_t seed)
{
	size_t moves = m == DISK_TORN ? dice(&seed) % (disk.nmoves + 1) : 0;

	if (m == DISK_KILL)
		return;
	/* File systems keep the order of their names. */
	for (size_t i = 0; i < moves; i++)
		names_apply(&disk.kept, &disk.moves[i]);
	disk.nmoves = 0;
	drop_strays(&disk.kept);
	disk.now = disk.kept;
	for (int i = 0; i < disk.nfiles; i++)
		lose(&disk.files[i], m == DISK_TORN, &seed);
}

static uint64_t hash(uint64_t h, const void *p, size_t n)
{
	const unsigned char *b = p;

	for (size_t i = 0; i < n; i++)
		h = (h ^ b[i]) * UINT64_C(1099511628211);
	return h;
}

uint64_t disk_hash(void)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < disk.now.n; i++) {
		const struct name *n = &disk.now.v[i];
		const struct image *im = &disk.files[n->file].now;
		uint64_t h = hash(UINT64_C(14695981039346656037), n->path, strlen(n->path) + 1);

		sum += hash(h, im->p, im->len); /* in any order */
	}
	return sum;
}
