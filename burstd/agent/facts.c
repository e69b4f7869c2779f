#include "agent/facts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FACTS_LINE_MAX = 256 };

/* Read the beginning of a file, NUL-terminated; returns its length, 0: unreadable. */
static size_t read_some(const char *path, char *out, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd >= 0 ? read(fd, out, size - 1) : 0;

	if (fd >= 0)
		(void)close(fd);
	if (n < 0)
		n = 0;
	out[n] = '\0';
	return (size_t)n;
}

void facts_word(const char *path, char *out, size_t size)
{
	static const char ok[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";

	out[0] = '\0';
	if (path[0] != '\0')
		(void)read_some(path, out, size);
	out[strspn(out, ok)] = '\0';
}

/* "0.52 ..." to 520, "351735.47" to 351735470. */
static int64_t milli(const char *text)
{
	char *end;
	long long whole = strtoll(text, &end, 10);
	int64_t sum = whole < 0 || whole > INT32_MAX ? 0 : whole * 1000;

	if (*end == '.')
		for (int64_t unit = 100; unit > 0 && *++end >= '0' && *end <= '9'; unit /= 10)
			sum += unit * (*end - '0');
	return sum;
}

/* Read the beginning of a file of a process; returns its length, 0: unreadable or empty. */
static size_t read_of(int dir, const char *pid, const char *name, char *text, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof(path), "%.32s/%.16s", pid, name);
	fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	n = fd >= 0 ? read(fd, text, size - 1) : -1;
	if (fd >= 0)
		(void)close(fd);
	if (n < 0)
		n = 0;
	text[n] = '\0';
	return (size_t)n;
}

/* Is the process root's, or ours?  Compare the real uid: slurmstepd takes on a user's effective uid
 * for moments. */
static bool is_roots(int dir, const char *pid)
{
	char text[2048];
	const char *uid;
	long real;

	if (read_of(dir, pid, "status", text, sizeof(text)) == 0)
		return false;
	uid = strstr(text, "\nUid:");
	if (uid == NULL)
		return false;
	real = strtol(uid + 5, NULL, 10);
	return real == 0 || real == (long)getuid();
}

int64_t facts_step(const char *cmdline, size_t len)
{
	static const char title[] = "slurmstepd: [";
	const char *name = cmdline, *slash = strrchr(cmdline, '/');
	const char *second = cmdline + strlen(cmdline) + 1;
	unsigned long id;
	char *end;

	if (strncmp(cmdline, title, sizeof(title) - 1) == 0) {
		id = strtoul(cmdline + sizeof(title) - 1, &end, 10);
		return *end == '.' && id > 0 && id <= UINT32_MAX ? (int64_t)id : -1;
	}
	if (slash != NULL)
		name = slash + 1;
	if (strcmp(name, "slurmstepd") != 0)
		return 0;
	return second < cmdline + len && strcmp(second, "infinity") == 0 ? 0 : -1;
}

static void add_job(struct facts *f, int64_t id)
{
	f->job = true;
	for (size_t i = 0; i < f->njobs; i++)
		if (f->jobs[i] == id)
			return;
	if (id > 0 && f->njobs < FACTS_JOBS_MAX)
		f->jobs[f->njobs++] = (uint32_t)id;
}

static void look_at(struct facts *f, int dir, const char *pid)
{
	char text[FACTS_LINE_MAX];
	size_t n = read_of(dir, pid, "cmdline", text, sizeof(text));
	int64_t id;

	if (n == 0)
		return;
	id = facts_step(text, n);
	if (id != 0 && is_roots(dir, pid))
		add_job(f, id);
}

static void read_jobs(struct facts *f, const char *proc)
{
	DIR *d = opendir(proc);
	struct dirent *ent;

	f->job = d == NULL; /* not known: assume a job, or the node may be powered off */
	while (d != NULL && (ent = readdir(d)) != NULL)
		if (ent->d_name[strspn(ent->d_name, "0123456789")] == '\0')
			look_at(f, dirfd(d), ent->d_name);
	if (d != NULL)
		(void)closedir(d);
}

void facts_read(struct facts *f, const char *proc)
{
	char path[FACTS_PATH_MAX], text[FACTS_LINE_MAX];

	memset(f, 0, sizeof(*f));
	(void)snprintf(path, sizeof(path), "%s/sys/kernel/random/boot_id", proc);
	facts_word(path, f->boot_id, sizeof(f->boot_id));
	(void)snprintf(path, sizeof(path), "%s/loadavg", proc);
	(void)read_some(path, text, sizeof(text));
	f->load_milli = milli(text);
	(void)snprintf(path, sizeof(path), "%s/uptime", proc);
	(void)read_some(path, text, sizeof(text));
	f->uptime = milli(text) / 1000;
	read_jobs(f, proc);
}

int64_t facts_gpus(const char *proc)
{
	char path[FACTS_PATH_MAX];
	struct dirent *ent;
	int64_t n = 0;
	DIR *d;

	(void)snprintf(path, sizeof(path), "%s/driver/nvidia/gpus", proc);
	d = opendir(path);
	if (d == NULL)
		return -1;
	while ((ent = readdir(d)) != NULL)
		n += ent->d_name[0] != '.';
	(void)closedir(d);
	return n;
}
