#include "io/claim_key.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/rand.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own_file.h"

static const char name[] = "claim-key";

static int fail(const char *dir, struct err *e)
{
	return err_set(e, err_of_errno(errno), "%.150s/%s: %s", dir, name, strerror(errno));
}

/* 1: *key was read; 0: there is no such file. */
static int read_key(int at, unsigned char *key, const char *dir, struct err *e)
{
	int fd = openat(at, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	unsigned char text[CLAIM_KEY_BYTES + 1];
	struct stat st;
	ssize_t n = -1;
	int rc = 1;

	if (fd < 0)
		return errno == ENOENT ? 0 : fail(dir, e);
	if (fstat(fd, &st) < 0 || (n = read(fd, text, sizeof(text))) < 0)
		rc = fail(dir, e);
	else if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077) != 0)
		rc = err_set(e, ERR_AUTH,
			     "%.150s/%s: must be a regular file owned by this user, mode 0600", dir,
			     name);
	else if (n != CLAIM_KEY_BYTES)
		rc = err_set(e, ERR_INVALID,
			     "%.150s/%s: damaged (want %d bytes); remove it while no machine "
			     "boots: one that boots cannot claim with a new key",
			     dir, name, CLAIM_KEY_BYTES);
	else
		memcpy(key, text, CLAIM_KEY_BYTES);
	explicit_bzero(text, sizeof(text));
	(void)close(fd);
	return rc;
}

static int make_key(int at, unsigned char *key, const char *dir, struct err *e)
{
	if (RAND_bytes(key, CLAIM_KEY_BYTES) != 1)
		return err_set(e, ERR_IO, "%.150s/%s: cannot get random bytes", dir, name);
	/* Another burstd's key must not be replaced. */
	if (own_file_write(at, name, key, CLAIM_KEY_BYTES, OWN_FILE_NEW) == 0)
		return 0;
	explicit_bzero(key, CLAIM_KEY_BYTES);
	return fail(dir, e);
}

int claim_key_open(unsigned char key[CLAIM_KEY_BYTES], const char *dir, struct err *e)
{
	int at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc;

	if (at < 0)
		return fail(dir, e);
	rc = read_key(at, key, dir, e);
	if (rc == 0)
		rc = make_key(at, key, dir, e);
	(void)close(at);
	return rc < 0 ? -1 : 0;
}
