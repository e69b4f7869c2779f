#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#include "io/spool_private.h"

/* From `stat -f` of coreutils; the kernel's header lacks them, the last two before 5.16. */
#define CIFS_MAGIC   0xff534d42UL
#define LUSTRE_MAGIC 0x0bd00bd0UL
#define GPFS_MAGIC   0x47504653UL
#ifndef SMB2_SUPER_MAGIC
#define SMB2_SUPER_MAGIC 0xfe534d42UL
#endif
#ifndef CEPH_SUPER_MAGIC
#define CEPH_SUPER_MAGIC 0x00c36400UL
#endif

static const struct {
	unsigned long magic;
	const char *note;
} kinds[] = {
	{TMPFS_MAGIC, "is in memory (tmpfs): calls there do not outlive a reboot"},
	{RAMFS_MAGIC, "is in memory (ramfs): calls there do not outlive a reboot"},
	{NFS_SUPER_MAGIC, "is on NFS: calls wait for the network, and take longer"},
	{CIFS_MAGIC, "is on CIFS: calls wait for the network, and take longer"},
	{SMB2_SUPER_MAGIC, "is on SMB: calls wait for the network, and take longer"},
	{CEPH_SUPER_MAGIC, "is on CephFS: calls wait for the network, and take longer"},
	{LUSTRE_MAGIC, "is on Lustre: calls wait for the network, and take longer"},
	{GPFS_MAGIC, "is on GPFS: calls wait for the network, and take longer"},
};

static const char *note_of(const struct statfs *fs)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if ((unsigned long)fs->f_type == kinds[i].magic)
			return kinds[i].note;
	return NULL;
}

int spool_check(const char *dir, const char **note, struct err *e)
{
	struct statfs fs;
	struct stat st;

	*note = NULL;
	if (lstat(dir, &st) != 0)
		return err_set(e, ERR_IO, "%s: %s", dir, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return err_set(e, ERR_INVALID, "%s: not a directory, or a link to one", dir);
	if (!spool_is_trusted(&st))
		return err_set(e, ERR_AUTH, "%s: writable by users other than root and burstd",
			       dir);
	if (faccessat(AT_FDCWD, dir, R_OK | W_OK | X_OK, AT_EACCESS) != 0)
		return err_set(e, ERR_IO, "%s: %s", dir, strerror(errno));
	if (statfs(dir, &fs) == 0)
		*note = note_of(&fs);
	return 0;
}
