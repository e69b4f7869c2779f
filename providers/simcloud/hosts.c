#include "providers/simcloud/hosts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"
#include "providers/simcloud/addr.h"

enum {
	LINE_BYTES = 96, /* an address, a name of 63, and room */
	EXTRA_MAX =
		1 << 16, /* bytes of --hosts-extra: a few lines for the cluster's own machines */
	NAME_SIZE = 64,
};

struct line {
	char name[NAME_SIZE];
	uint32_t owner;
	off_t at;
};

struct hosts {
	int fd;
	off_t end;
	struct map by_name;
	struct line **lines;
	size_t n;
};

static int copy_extra(int fd, const char *path, off_t *end, struct err *e)
{
	char *text = mem_zalloc(EXTRA_MAX + 1);
	int in = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = in >= 0 ? read(in, text, EXTRA_MAX) : -1;
	int rc = 0;

	if (n < 0 || n == EXTRA_MAX) {
		rc = err_set(e, ERR_IO, "%s: %s", path, n < 0 ? strerror(errno) : "too long");
	} else if (n > 0) {
		if (text[n - 1] != '\n')
			text[n++] = '\n';
		if (pwrite(fd, text, (size_t)n, *end) != n)
			rc = err_set(e, ERR_IO, "hosts file: %s", strerror(errno));
		*end += n;
	}
	if (in >= 0)
		(void)close(in);
	free(text);
	return rc;
}

int hosts_open(struct hosts **out, const char *path, const char *extra, struct err *e)
{
	static const char local[] = "127.0.0.1 localhost\n";
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	off_t end = sizeof(local) - 1;

	*out = NULL;
	if (fd < 0)
		return err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
	if (pwrite(fd, local, sizeof(local) - 1, 0) != end ||
	    (extra != NULL && copy_extra(fd, extra, &end, e) != 0)) {
		(void)close(fd);
		return err_wrap(e, "%s", path);
	}
	*out = mem_zalloc(sizeof(**out));
	(*out)->fd = fd;
	(*out)->end = end;
	map_init(&(*out)->by_name);
	return 0;
}

void hosts_close(struct hosts *h)
{
	if (h == NULL)
		return;
	map_fini(&h->by_name);
	for (size_t i = 0; i < h->n; i++)
		free(h->lines[i]);
	free(h->lines);
	(void)close(h->fd);
	free(h);
}

static struct line *line_of(struct hosts *h, const char *node)
{
	struct line *l = map_get(&h->by_name, node);

	if (l != NULL)
		return l;
	l = mem_zalloc(sizeof(*l));
	(void)snprintf(l->name, sizeof(l->name), "%s", node);
	l->at = h->end;
	h->end += LINE_BYTES;
	h->lines = mem_realloc(h->lines, (h->n + 1) * sizeof(struct line *));
	h->lines[h->n++] = l;
	map_put(&h->by_name, l->name, l);
	return l;
}

void hosts_set(struct hosts *h, const char *node, uint32_t owner, uint32_t addr)
{
	struct line *l = line_of(h, node);
	char text[LINE_BYTES + 1], ip[ADDR_TEXT_SIZE];
	int n = 0;

	if (addr == 0 && l->owner != owner)
		return;
	l->owner = owner;
	memset(text, ' ', LINE_BYTES);
	if (addr != 0)
		n = snprintf(text, sizeof(text), "%s %s", addr_text(ip, addr), node);
	if (n > 0 && n < LINE_BYTES)
		text[n] = ' ';
	text[LINE_BYTES - 1] = '\n';
	if (pwrite(h->fd, text, LINE_BYTES, l->at) != LINE_BYTES)
		(void)fprintf(stderr, "simcloud: hosts file: %s\n", strerror(errno));
}
