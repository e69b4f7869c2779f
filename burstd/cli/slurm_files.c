#include "cli/slurm_files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
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

struct slurm_files_place { /* where one is written */
	char *real;        /* behind links; a file that is not there yet is at its own path */
	char *parent;      /* of it */
	const char *name;
	int dir;
	bool is_new;
	struct stat st;          /* owner and mode */
	char text[NAME_MAX + 1]; /* of the temporary files; "": there is none */
	char kept[NAME_MAX + 1];
};

static int failed(const struct slurm_files_place *p, struct err *e)
{
	return err_set(e, err_of_errno(errno), "%.200s: %s", p->real, strerror(errno));
}

/* --- temporary files -----------------------------------------------------------------------------
 */

static void remove_temporary(int dir, char *name)
{
	const int saved = errno;

	if (name[0] != '\0')
		(void)unlinkat(dir, name, 0);
	name[0] = '\0';
	errno = saved;
}

/* A new file under a name that nobody else has; one of a crash stays, for it may be another's that
 * writes at this moment.  -1: errno, and name is "", since a file that has it is not ours. */
static int open_temporary(const struct slurm_files_place *p, char name[NAME_MAX + 1])
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	uint32_t dice;
	int fd = -1;

	name[0] = '\0';
	if (getrandom(&dice, sizeof(dice), 0) != sizeof(dice))
		return -1;
	if (snprintf(name, NAME_MAX + 1, ".%s.burstd-%08" PRIx32, p->name, dice) > NAME_MAX)
		errno = ENAMETOOLONG;
	else
		fd = openat(p->dir, name, flags, 0600);
	if (fd < 0)
		name[0] = '\0';
	return fd;
}

/* -1: errno, and name is "". */
static int put_temporary(const struct slurm_files_place *p, const char *text, size_t len,
			 char name[NAME_MAX + 1])
{
	int fd = open_temporary(p, name), rc = -1, saved;

	if (fd >= 0)
		rc = fchown(fd, p->st.st_uid, p->st.st_gid);
	if (rc == 0)
		rc = fchmod(fd, p->st.st_mode & 07777);
	if (rc == 0)
		rc = own_file_put(fd, text, len);
	saved = errno;
	if (fd >= 0)
		(void)close(fd);
	errno = saved;
	if (rc != 0)
		remove_temporary(p->dir, name);
	return rc;
}

/* Name the temporary file so; name becomes "". */
static int put_in_place(const struct slurm_files_place *p, char *name, const char *to)
{
	int rc = renameat(p->dir, name, p->dir, to);

	if (rc == 0)
		name[0] = '\0';
	return rc == 0 ? fsync(p->dir) : -1;
}

/* --- one file ------------------------------------------------------------------------------------
 */

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

static struct slurm_files_place *place_of(const char *path)
{
	struct slurm_files_place *p = mem_zalloc(sizeof(*p));

	p->real = realpath(path, NULL);
	if (p->real == NULL)
		p->real = mem_strdup(path);
	p->parent = own_file_split(p->real, &p->name);
	p->dir = open(p->parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	p->is_new = stat(p->real, &p->st) != 0;
	return p;
}

int slurm_files_prepare(struct slurm_files_change *c, struct err *e)
{
	struct slurm_files_place *p = c->place = place_of(c->path);
	int rc = p->dir >= 0 ? 0 : -1;

	if (p->is_new && c->like == NULL)
		p->st = (struct stat){.st_uid = geteuid(), .st_gid = getegid(), .st_mode = 0644};
	else if (rc == 0 && p->is_new)
		rc = stat(c->like, &p->st);
	if (rc == 0)
		rc = put_temporary(p, c->text, c->len, p->text);
	if (rc == 0 && !p->is_new)
		rc = put_temporary(p, c->old, c->old_len, p->kept);
	return rc == 0 ? 0 : failed(p, e);
}

static int keep_old(struct slurm_files_place *p)
{
	char to[NAME_MAX + 1];

	if (p->is_new)
		return 0;
	if ((size_t)snprintf(to, sizeof(to), "%s.last-good", p->name) >= sizeof(to)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return put_in_place(p, p->kept, to);
}

int slurm_files_commit(struct slurm_files_change *c, struct err *e)
{
	struct slurm_files_place *p = c->place;

	if (same_as_read(c, e) != 0)
		return -1;
	if (keep_old(p) == 0 && put_in_place(p, p->text, p->name) == 0)
		return 0;
	(void)failed(p, e);
	if (p->text[0] == '\0') /* it has the name, and perhaps not on the disk */
		(void)slurm_files_restore(c, NULL);
	return -1;
}

int slurm_files_restore(const struct slurm_files_change *c, struct err *e)
{
	struct slurm_files_place *p = c->place;
	int rc;

	if (p->is_new)
		rc = unlinkat(p->dir, p->name, 0) == 0 ? fsync(p->dir) : -1;
	else
		rc = put_temporary(p, c->old, c->old_len, p->text) == 0
			     ? put_in_place(p, p->text, p->name)
			     : -1;
	return rc == 0 ? 0 : failed(p, e);
}

void slurm_files_drop(struct slurm_files_change *c)
{
	struct slurm_files_place *p = c->place;

	if (p == NULL)
		return;
	remove_temporary(p->dir, p->text);
	remove_temporary(p->dir, p->kept);
	if (p->dir >= 0)
		(void)close(p->dir);
	free(p->parent);
	free(p->real);
	free(p);
	c->place = NULL;
}

int slurm_files_write(struct slurm_files_change *c, struct err *e)
{
	int rc = slurm_files_prepare(c, e);

	if (rc == 0)
		rc = slurm_files_commit(c, e);
	slurm_files_drop(c);
	return rc;
}

/* --- a trial's -----------------------------------------------------------------------------------
 */

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
