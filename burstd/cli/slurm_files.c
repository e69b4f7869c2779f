#include "cli/slurm_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/own_file.h"
#include "base/text_file.h"
#include "slurmconf/line.h"

int slurm_files_read(void *ctx, const char *path, char **text, size_t *len, struct err *e)
{
	(void)ctx;
	return text_file_read(path, SLURMCONF_FILE_MAX, text, len, e);
}

int slurm_files_read_or_none(void *ctx, const char *path, char **text, size_t *len, struct err *e)
{
	struct stat st;

	if (lstat(path, &st) != 0 && errno == ENOENT) {
		*text = mem_strdup("");
		*len = 0;
		return 0;
	}
	return slurm_files_read(ctx, path, text, len, e);
}

/* A new file in this directory with owner and mode of st.  -1: errno, and there is none. */
static int put_new(int dir, const char *name, const char *text, size_t len, const struct stat *st)
{
	int fd, rc, saved;

	(void)unlinkat(dir, name, 0); /* of a crash */
	fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	rc = fchown(fd, st->st_uid, st->st_gid);
	if (rc == 0)
		rc = fchmod(fd, st->st_mode & 07777);
	if (rc == 0)
		rc = own_file_put(fd, text, len);
	saved = errno;
	(void)close(fd);
	if (rc != 0)
		(void)unlinkat(dir, name, 0);
	errno = saved;
	return rc;
}

static int replace(int dir, const char *name, const char *text, size_t len, const struct stat *st)
{
	char temporary[NAME_MAX + 1];
	int rc;

	if ((size_t)snprintf(temporary, sizeof(temporary), ".%s.burstd", name) >=
	    sizeof(temporary)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	rc = put_new(dir, temporary, text, len, st);
	if (rc == 0) {
		rc = renameat(dir, temporary, dir, name);
		if (rc != 0)
			(void)unlinkat(dir, temporary, 0);
	}
	return rc == 0 ? fsync(dir) : -1;
}

static int keep_old(int dir, const char *name, const struct slurm_files_change *c,
		    const struct stat *st)
{
	char kept[NAME_MAX + 1];

	if ((size_t)snprintf(kept, sizeof(kept), "%s.last-good", name) >= sizeof(kept)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return replace(dir, kept, c->old, c->old_len, st);
}

static int same_as_read(const struct slurm_files_change *c, struct err *e)
{
	char *now;
	size_t len;
	int rc = slurm_files_read_or_none(NULL, c->path, &now, &len, e);

	if (rc == 0 && (len != c->old_len || memcmp(now, c->old, len) != 0))
		rc = err_set(e, ERR_INVALID, "%.200s has changed since it was read; try again",
			     c->path);
	free(now);
	return rc;
}

/* Behind links; a file that is not there yet is at its own path.  The caller's (free()). */
static char *target_of(const char *path)
{
	char *real = realpath(path, NULL);

	return real != NULL ? real : mem_strdup(path);
}

static int put(const struct slurm_files_change *c, const char *text, size_t len, bool keep,
	       struct err *e)
{
	char *real = target_of(c->path), *parent;
	const char *name;
	struct stat st;
	bool is_new = stat(real, &st) != 0;
	int dir, rc = -1;

	parent = own_file_split(real, &name);
	dir = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (is_new && c->like == NULL)
		st = (struct stat){.st_uid = geteuid(), .st_gid = getegid(), .st_mode = 0644};
	if (dir >= 0 && (!is_new || c->like == NULL || stat(c->like, &st) == 0))
		rc = keep && !is_new ? keep_old(dir, name, c, &st) : 0;
	if (rc == 0)
		rc = replace(dir, name, text, len, &st);
	if (rc != 0)
		(void)err_set(e, err_of_errno(errno), "%.200s: %s", real, strerror(errno));
	if (dir >= 0)
		(void)close(dir);
	free(parent);
	free(real);
	return rc;
}

int slurm_files_write(const struct slurm_files_change *c, struct err *e)
{
	return same_as_read(c, e) == 0 ? put(c, c->text, c->len, true, e) : -1;
}

int slurm_files_restore(const struct slurm_files_change *c, struct err *e)
{
	return put(c, c->old, c->old_len, false, e);
}

int slurm_files_put(const char *path, const char *text, size_t len, struct err *e)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600), rc = -1;

	if (fd >= 0)
		rc = own_file_put(fd, text, len);
	if (rc != 0)
		(void)err_set(e, ERR_IO, "%.200s: %s", path, strerror(errno));
	if (fd >= 0)
		(void)close(fd);
	return rc;
}
