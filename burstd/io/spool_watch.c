/* Watches the spool by an inotify descriptor of its own: uv_fs_event reports neither an overflow
 * nor that the watch was lost with the directory. */
#include <errno.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <uv.h>

#include "base/mem.h"
#include "io/loop.h"
#include "io/spool_private.h"

enum {
	WATCHED = IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | IN_DONT_FOLLOW,
	EVENTS_BYTES = 16384,
};

struct spool_watch {
	uv_poll_t poll;
	const char *dir;
	int fd, wd; /* -1: there is none */
	void (*came)(void *ctx);
	void *ctx;
};

/* Handle an event.  True: there may be a file to read. */
static bool hear(struct spool_watch *w, const struct inotify_event *ev)
{
	if ((ev->mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED | IN_UNMOUNT)) != 0) {
		const bool lost = ev->wd == w->wd;

		if (lost && (ev->mask & IN_IGNORED) == 0)
			(void)inotify_rm_watch(w->fd, w->wd);
		if (lost)
			w->wd = -1;
		return lost;
	}
	if ((ev->mask & IN_Q_OVERFLOW) != 0)
		return true;
	return ev->len > 0 && ev->name[0] != '.' && !spool_is_aside(ev->name);
}

static bool read_events(struct spool_watch *w)
{
	union {
		struct inotify_event first; /* for its alignment */
		char bytes[EVENTS_BYTES];
	} in;
	bool any = false;
	ssize_t n;

	while ((n = read(w->fd, in.bytes, sizeof(in.bytes))) > 0 || (n < 0 && errno == EINTR))
		for (ssize_t at = 0; at < n;) {
			const struct inotify_event *ev = (const void *)(in.bytes + at);

			any = hear(w, ev) || any;
			at += (ssize_t)sizeof(*ev) + ev->len;
		}
	return any;
}

static void on_events(uv_poll_t *poll, int status, int events)
{
	struct spool_watch *w = poll->data;

	(void)status;
	(void)events;
	if (read_events(w))
		w->came(w->ctx);
}

struct spool_watch *spool_watch_new(struct loop *l, const char *dir, void (*came)(void *ctx),
				    void *ctx)
{
	struct spool_watch *w = mem_zalloc(sizeof(*w));

	w->dir = dir;
	w->came = came;
	w->ctx = ctx;
	w->wd = -1;
	w->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	w->poll.data = w;
	if (w->fd < 0)
		return w;
	if (uv_poll_init(loop_uv(l), &w->poll, w->fd) == 0) {
		(void)uv_poll_start(&w->poll, UV_READABLE, on_events);
		uv_unref((uv_handle_t *)&w->poll);
		return w;
	}
	(void)close(w->fd);
	w->fd = -1;
	return w;
}

static void on_closed(uv_handle_t *h)
{
	free(h->data);
}

void spool_watch_free(struct spool_watch *w)
{
	if (w->fd < 0) {
		free(w);
		return;
	}
	uv_close((uv_handle_t *)&w->poll, on_closed);
	(void)close(w->fd);
}

/* Watch the directory that has this path now.  The same one keeps its number; the watch of another
 * one, which was moved away, ends. */
void spool_watch_renew(struct spool_watch *w)
{
	int wd;

	if (w->fd < 0)
		return;
	wd = inotify_add_watch(w->fd, w->dir, WATCHED);
	if (w->wd >= 0 && w->wd != wd)
		(void)inotify_rm_watch(w->fd, w->wd);
	w->wd = wd;
}

bool spool_watch_works(const struct spool_watch *w)
{
	return w->wd >= 0;
}
