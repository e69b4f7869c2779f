#include "base/text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

static int read_all(int fd, char *to, size_t max, size_t *len)
{
	ssize_t n;

	*len = 0;
	while ((n = read(fd, to + *len, max - *len)) != 0) {
		if (n > 0)
			*len += (size_t)n;
		else if (errno != EINTR)
			return -1;
	}
	return 0;
}

int text_file_read(const char *path, size_t max, char **text, size_t *len, struct err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc = 0;
	char *p = NULL;
	struct stat st;

	*text = NULL;
	*len = 0;
	if (fd < 0 || fstat(fd, &st) != 0) {
		rc = err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
	} else if (!S_ISREG(st.st_mode)) {
		rc = err_set(e, ERR_INVALID, "%s: not a regular file", path);
	} else if (st.st_size > (off_t)max) {
		rc = err_set(e, ERR_LIMIT, "%s: more than %zu bytes", path, max);
	} else {
		p = mem_zalloc((size_t)st.st_size + 1);
		if (read_all(fd, p, (size_t)st.st_size, len) != 0)
			rc = err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
	}
	if (fd >= 0)
		(void)close(fd);
	if (rc != 0) {
		free(p);
		*len = 0;
		return rc;
	}
	*text = p;
	return 0;
}
