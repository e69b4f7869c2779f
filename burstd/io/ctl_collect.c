#include <assert.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/frame.h"
#include "base/mem.h"
#include "base/str.h"
#include "io/ctl_server.h"

/* What may come next.  A frame of an earlier part is not a call. */
enum collect_part { COLLECT_HEAD, COLLECT_LIST, COLLECT_FILE, COLLECT_DONE };

struct ctl_collect {
	enum collect_part part;
	struct str head, list, file;
	bool has_file, dropped, truncated;
};

struct ctl_collect *ctl_collect_new(size_t max_file)
{
	struct ctl_collect *c = mem_zalloc(sizeof(*c));

	str_init(&c->head, CTL_HEAD_MAX);
	str_init(&c->list, FRAME_LIST_MAX);
	str_init(&c->file, max_file);
	return c;
}

void ctl_collect_free(struct ctl_collect *c)
{
	if (c == NULL)
		return;
	str_fini(&c->head);
	str_fini(&c->list);
	str_fini(&c->file);
	free(c);
}

void ctl_collect_drop(struct ctl_collect *c)
{
	size_t max = c->file.max;

	str_fini(&c->file);
	str_init(&c->file, max);
	c->dropped = true;
}

static int add_head(struct ctl_collect *c, const char *data, size_t len, struct err *e)
{
	json_error_t je;
	json_t *root;
	const char *op = NULL, *file = NULL;
	int rc = 0;

	if (len > CTL_HEAD_MAX)
		return err_set(e, ERR_LIMIT, "first frame of %zu bytes, at most %d", len,
			       CTL_HEAD_MAX);
	root = json_loadb(data, len, JSON_REJECT_DUPLICATES, &je);
	if (json_unpack(root, "{s?s,s?s}", "op", &op, "file", &file) != 0 || op == NULL ||
	    strcmp(op, "call") != 0)
		rc = err_set(e, ERR_INVALID, "the first frame is not the head of a call");
	/* The hook knows already that it is too long. */
	else if (file != NULL && strcmp(file, "dropped") == 0)
		c->dropped = true;
	json_decref(root);
	if (rc == 0)
		str_add(&c->head, data, len);
	return rc;
}

/* The last frame is empty, or says that the file went on. */
static int add_end(struct ctl_collect *c, const char *data, size_t len, struct err *e)
{
	json_error_t je;
	json_t *root;
	int truncated = 0, rc;

	if (len == 0)
		return 0;
	if (len > CTL_HEAD_MAX)
		return err_set(e, ERR_LIMIT, "last frame of %zu bytes, at most %d", len,
			       CTL_HEAD_MAX);
	root = json_loadb(data, len, JSON_REJECT_DUPLICATES, &je);
	rc = json_unpack(root, "{s?b}", "truncated", &truncated);
	json_decref(root);
	if (rc != 0)
		return err_set(e, ERR_INVALID, "the last frame is not the end of a call");
	if (truncated)
		ctl_collect_drop(c);
	return 0;
}

/* Half of a list is still a hint; half of a resume file is not JSON. */
static void add_list(struct ctl_collect *c, const char *data, size_t len)
{
	size_t room = c->list.max - c->list.len;

	c->truncated = c->truncated || len > room;
	str_add(&c->list, data, len < room ? len : room);
}

static void add_file(struct ctl_collect *c, const char *data, size_t len)
{
	c->has_file = true;
	if (!c->dropped)
		str_add(&c->file, data, len);
	if (c->file.full)
		ctl_collect_drop(c);
}

int ctl_collect_frame(struct ctl_collect *c, int type, const char *data, size_t len, struct err *e)
{
	if (c->part == COLLECT_HEAD && type == FRAME_JSON) {
		c->part = COLLECT_LIST;
		return add_head(c, data, len, e);
	}
	if (c->part == COLLECT_LIST && type == FRAME_LIST) {
		add_list(c, data, len);
		return 0;
	}
	if ((c->part == COLLECT_LIST || c->part == COLLECT_FILE) && type == FRAME_FILE) {
		c->part = COLLECT_FILE;
		add_file(c, data, len);
		return 0;
	}
	if ((c->part == COLLECT_LIST || c->part == COLLECT_FILE) && type == FRAME_END) {
		c->part = COLLECT_DONE;
		return add_end(c, data, len, e);
	}
	return err_set(e, ERR_INVALID, "not a call: frame 0x%02x out of place", (unsigned)type);
}

bool ctl_collect_done(const struct ctl_collect *c)
{
	return c->part == COLLECT_DONE;
}

void ctl_collect_get(const struct ctl_collect *c, struct ctl_call *out)
{
	bool file = c->has_file && !c->dropped;

	assert(c->part == COLLECT_DONE);
	*out = (struct ctl_call){.head = c->head.p,
				 .list = c->list.p,
				 .list_len = c->list.len,
				 .file = file ? c->file.p : NULL,
				 .file_len = file ? c->file.len : 0,
				 .dropped = c->dropped,
				 .truncated = c->truncated};
}

size_t ctl_collect_held(const struct ctl_collect *c)
{
	return c->head.len + c->list.len + c->file.len;
}
