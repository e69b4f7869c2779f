/* fail.c - preloaded into burstd: one call of libc fails, or all of a kind from one on.
 *
 * Environment:
 *	TORTURE_FAULT  FUNCTION SITE NTH ERROR MS: the NTH call from SITE fails with ERROR (or is
 *		SHORT, or ends with EOF); SITE 0: from anywhere.  MS 0: only that one; else every
 *		call of FUNCTION from then on for so long; -1: for ever
 *	TORTURE_RECORD  FILE: every site is written there, with its calls, once
 *	TORTURE_SHARED  FILE: two counters, of calls at the site and of calls that failed
 *	TORTURE_SPEED   by how much burstd's clocks run faster than the world's ...
 *	TORTURE_ANCHOR  ... from this moment on, by CLOCK_REALTIME and CLOCK_BOOTTIME, in ns
 *
 * A site is a call with all its callers, as offsets into their files: the same in every run.
 * Programs that burstd starts do not inherit it; the child between fork and exec does.
 *
 * What it cannot see: calls inside libc (fopen's open, malloc's mmap, getaddrinfo's sockets), those
 * by syscall(2), and whatever is inlined. */
#define _GNU_SOURCE
/* The names below are the symbols; headers must not turn them into others. */
#undef _FORTIFY_SOURCE
#include "tests/torture/fail.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { FRAMES = 24, MODULES = 128, SITES = 1 << 15, CACHE = 1 << 12 };

static const char *const names[FAIL_NFUNCTIONS] = {
#define F(name) #name,
	FAIL_FUNCTIONS
#undef F
};

static const struct {
	const char *name;
	int value;
} errors[] = {
#define E(name) {#name, name},
	E(EACCES) E(EADDRINUSE) E(EAGAIN) E(EBUSY) E(ECONNABORTED) E(ECONNREFUSED) E(ECONNRESET)
		E(EINTR) E(EIO) E(EMFILE) E(ENFILE) E(ENOBUFS) E(ENOENT) E(ENOLCK) E(ENOMEM)
			E(ENOSPC) E(ENOSYS) E(EPIPE) E(EROFS) E(ETIMEDOUT){"SHORT", FAIL_SHORT},
	{"EOF", FAIL_EOF},
#undef E
};

struct module {
	uintptr_t from, to, base;
	uint64_t key;
	char name[48];
};

struct site {
	uint64_t hash;
	enum fail_function fn;
	unsigned count;
	bool child;
	int depth;
	void *frames[FRAMES];
};

static struct {
	bool on, recording, child;
	int busy;
	/* the fault */
	enum fail_function fn;
	uint64_t caller, site;
	unsigned long nth;
	int error;
	long ms;
	int64_t until_ns; /* of the window; 0: not open */
	struct fail_shared *shared;
	/* clocks */
	long speed;
	int64_t wall_ns, boot_ns;
	struct module modules[MODULES];
	int nmodules;
	struct {
		void *address;
		uint64_t key;
	} cache[CACHE];
	struct site *sites;
	int record_fd;
} t = {.speed = 1, .record_fd = -1};

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ (h >> 29);
}

static int add_module(struct dl_phdr_info *info, size_t size, void *ctx)
{
	const char *slash = strrchr(info->dlpi_name, '/');
	struct module *m = &t.modules[t.nmodules];

	(void)size;
	(void)ctx;
	if (t.nmodules == MODULES)
		return 1;
	*m = (struct module){.from = UINTPTR_MAX, .base = info->dlpi_addr};
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_LOAD)
			continue;
		if (m->base + p->p_vaddr < m->from)
			m->from = m->base + p->p_vaddr;
		if (m->base + p->p_vaddr + p->p_memsz > m->to)
			m->to = m->base + p->p_vaddr + p->p_memsz;
	}
	(void)snprintf(m->name, sizeof(m->name), "%s", slash != NULL ? slash + 1 : info->dlpi_name);
	for (const char *c = m->name; *c != '\0'; c++)
		m->key = mix(m->key, (uint64_t)*c);
	t.nmodules++;
	return 0;
}

static const struct module *module_of(const void *address)
{
	for (int again = 0; again < 2; again++) {
		for (int i = 0; i < t.nmodules; i++)
			if ((uintptr_t)address >= t.modules[i].from &&
			    (uintptr_t)address < t.modules[i].to)
				return &t.modules[i];
		t.nmodules = 0; /* one more was loaded */
		(void)dl_iterate_phdr(add_module, NULL);
	}
	return NULL;
}

/* The same number in every run, wherever things are loaded. */
static uint64_t key_of(void *address)
{
	size_t at = ((uintptr_t)address >> 1) % CACHE;
	const struct module *m;

	if (t.cache[at].address != address) {
		m = module_of(address);
		t.cache[at].address = address;
		t.cache[at].key = m == NULL ? 1 : mix(m->key, (uintptr_t)address - m->base);
	}
	return t.cache[at].key;
}

static uint64_t site_of(void *caller, void **frames, int *depth)
{
	void *all[FRAMES + 8];
	int n = backtrace(all, FRAMES + 8), i = 0;
	uint64_t h = 0;

	while (i < n && all[i] != caller) /* ourselves */
		i++;
	*depth = 0;
	for (; i < n && *depth < FRAMES; i++) {
		frames[(*depth)++] = all[i];
		h = mix(h, key_of(all[i]));
	}
	return h | 1; /* never 0 */
}

static void record(enum fail_function fn, void *caller)
{
	void *frames[FRAMES];
	int depth;
	uint64_t h = site_of(caller, frames, &depth), key = mix(h, fn);

	for (size_t i = key % SITES, tries = 0; tries < SITES; i = (i + 1) % SITES, tries++) {
		struct site *s = &t.sites[i];

		if (s->count > 0 && (s->hash != h || s->fn != fn))
			continue;
		if (s->count++ > 0)
			return;
		s->hash = h;
		s->fn = fn;
		s->child = t.child;
		s->depth = depth;
		memcpy(s->frames, frames, sizeof(frames));
		return;
	}
}

static int64_t now_ns(clockid_t id)
{
	struct timespec ts;

	(void)syscall(SYS_clock_gettime, id, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static bool in_window(void)
{
	return t.until_ns != 0 && now_ns(CLOCK_MONOTONIC) < t.until_ns;
}

static bool is_target(enum fail_function fn, void *caller)
{
	void *frames[FRAMES];
	int depth;

	if (fn != t.fn || t.nth == 0)
		return false;
	if (in_window())
		return true;
	if (t.until_ns != 0)
		return false;
	if (t.site != 0 &&
	    (key_of(caller) != t.caller || site_of(caller, frames, &depth) != t.site))
		return false;
	if (__atomic_add_fetch(&t.shared->seen, 1, __ATOMIC_SEQ_CST) != t.nth)
		return false;
	if (t.ms != 0)
		t.until_ns = t.ms < 0 ? INT64_MAX : now_ns(CLOCK_MONOTONIC) + t.ms * 1000000;
	return true;
}

int fail_now(enum fail_function fn, void *caller)
{
	int saved = errno, rc = 0;

	if (!t.on || t.busy > 0)
		return 0;
	t.busy++;
	if (t.recording)
		record(fn, caller);
	else if (is_target(fn, caller)) {
		rc = t.error;
		(void)__atomic_add_fetch(&t.shared->fired, 1, __ATOMIC_SEQ_CST);
	}
	t.busy--;
	errno = saved;
	return rc;
}

int fail_fd(enum fail_function fn, void *caller, int fd, int flags)
{
	struct stat st;

	if (!t.on || t.recording || t.fn != fn)
		return fail_now(fn, caller);
	if (t.error == EAGAIN && (flags & MSG_DONTWAIT) == 0 &&
	    (syscall(SYS_fcntl, fd, F_GETFL) & O_NONBLOCK) == 0)
		return 0; /* it never says so of one that waits */
	if ((t.error == EIO || t.error == ENOSPC) &&
	    (syscall(SYS_fstat, fd, &st) != 0 || !S_ISREG(st.st_mode)))
		return 0; /* pipes and sockets have no disk */
	if (fn == FAIL_write && t.error == FAIL_SHORT &&
	    (syscall(SYS_fstat, fd, &st) != 0 || (!S_ISREG(st.st_mode) && !S_ISSOCK(st.st_mode))))
		return 0; /* a pipe takes a few bytes whole */
	return fail_now(fn, caller);
}

void fail_in_child(void)
{
	t.child = true;
}

/* --- clocks ------------------------------------------------------------------------------------
 */

long fail_speed(void)
{
	return t.speed;
}

int64_t fail_clock_ns(int id)
{
	bool wall = id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE;
	int64_t now = now_ns(wall ? CLOCK_REALTIME : CLOCK_BOOTTIME);
	int64_t from = wall ? t.wall_ns : t.boot_ns;

	if (t.speed <= 1)
		return now_ns(id);
	return from + (now - from) * t.speed;
}

/* --- start and end -----------------------------------------------------------------------------
 */

void *fail_real(const char *name)
{
	void *p;

	t.busy++;
	p = dlsym(RTLD_NEXT, name);
	t.busy--;
	return p;
}

static void die(const char *what)
{
	(void)dprintf(2, "fail.so: %s\n", what);
	_exit(99);
}

static void parse_fault(const char *text)
{
	char fn[32], error[32];
	int i;

	if (sscanf(text, "%31s %lx:%lx %lu %31s %ld", fn, &t.caller, &t.site, &t.nth, error,
		   &t.ms) != 6)
		die("TORTURE_FAULT");
	for (i = 0; i < FAIL_NFUNCTIONS && strcmp(names[i], fn) != 0; i++)
		;
	if (i == FAIL_NFUNCTIONS)
		die(fn);
	t.fn = (enum fail_function)i;
	for (size_t k = 0; k < sizeof(errors) / sizeof(errors[0]); k++)
		if (strcmp(errors[k].name, error) == 0)
			t.error = errors[k].value;
	if (t.error == 0)
		die(error);
}

static void *map_file(const char *path, size_t size)
{
	int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	void *p;

	if (fd < 0 || syscall(SYS_ftruncate, fd, size) != 0)
		die(path);
	p = (void *)syscall(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	(void)syscall(SYS_close, fd);
	if (p == MAP_FAILED)
		die(path);
	return p;
}

__attribute__((constructor)) static void begin(void)
{
	const char *fault = getenv("TORTURE_FAULT"), *rec = getenv("TORTURE_RECORD");
	const char *shared = getenv("TORTURE_SHARED"), *speed = getenv("TORTURE_SPEED");
	const char *anchor = getenv("TORTURE_ANCHOR");
	void *frames[4];

	(void)dl_iterate_phdr(add_module, NULL);
	(void)backtrace(frames, 4); /* loads what it needs */
	if (speed != NULL && anchor != NULL) {
		t.speed = atol(speed);
		if (sscanf(anchor, "%ld %ld", &t.wall_ns, &t.boot_ns) != 2)
			die("TORTURE_ANCHOR");
	}
	if (rec != NULL) {
		t.record_fd = (int)syscall(SYS_openat, AT_FDCWD, rec,
					   O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		t.sites =
			(void *)syscall(SYS_mmap, NULL, SITES * sizeof(*t.sites),
					PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (t.record_fd < 0 || t.sites == MAP_FAILED)
			die(rec);
		t.recording = true;
	}
	if (fault != NULL) {
		if (shared == NULL)
			die("TORTURE_SHARED");
		t.shared = map_file(shared, sizeof(*t.shared));
		parse_fault(fault);
	}
	t.on = t.recording || fault != NULL;
}

static void write_site(const struct site *s)
{
	char line[2048];
	size_t n =
		(size_t)snprintf(line, sizeof(line), "%s %lx:%lx %u %s", names[s->fn],
				 key_of(s->frames[0]), s->hash, s->count, s->child ? "child" : "-");

	for (int i = 0; i < s->depth && n < sizeof(line) - 80; i++) {
		const struct module *m = module_of(s->frames[i]);

		n += (size_t)snprintf(line + n, sizeof(line) - n, " %s+0x%lx",
				      m == NULL    ? "?"
				      : m->name[0] ? m->name
						   : "burstd",
				      m == NULL ? 0 : (uintptr_t)s->frames[i] - m->base);
	}
	line[n++] = '\n';
	(void)syscall(SYS_write, t.record_fd, line, n);
}

__attribute__((destructor)) static void end(void)
{
	if (!t.recording || t.child)
		return;
	t.on = false;
	for (size_t i = 0; i < SITES; i++)
		if (t.sites[i].count > 0)
			write_site(&t.sites[i]);
}
