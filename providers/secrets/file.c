#include "providers/secrets/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "providers/secrets/parts.h"

/* The engine reads and writes the file by base/secret_file.h, which checks owner and mode. */

struct file {
	char *path;
};

static void file_close(void *self)
{
	struct file *f = self;

	if (f != NULL)
		free(f->path);
	free(f);
}

static int file_open(void **self, const struct secret_store_conf *c, struct err *e)
{
	struct file *f;

	*self = NULL;
	if (c->dir == NULL || c->dir[0] != '/')
		return err_set(e, ERR_INVALID, "dir is missing: the directory of the file");
	if (c->name == NULL || !parts_is_path(c->name) || strchr(c->name, '/') != NULL)
		return err_set(e, ERR_INVALID, "name: want the name of a file in dir");
	f = mem_zalloc(sizeof(*f));
	f->path = parts_text("%s/%s", c->dir, c->name);
	*self = f;
	return 0;
}

static unsigned file_flags(const void *self)
{
	(void)self;
	return SECRET_INSECURE;
}

static const char *file_address(const void *self, uint32_t i)
{
	(void)self;
	(void)i;
	return NULL;
}

static int file_build(const void *self, const struct secret_op *op, struct secret_request *out,
		      struct err *e)
{
	const struct file *f = self;

	if (op->kind != SECRET_VERSION && op->kind != SECRET_READ && op->kind != SECRET_WRITE)
		return err_set(e, ERR_INVALID, "operation not supported by a file");
	if (op->kind == SECRET_WRITE && op->bundle == NULL)
		return err_set(e, ERR_INVALID, "want a bundle");
	out->kind = SECRET_FILE;
	out->method = op->kind == SECRET_WRITE ? "PUT" : "GET";
	out->url = mem_strdup(f->path);
	if (op->kind == SECRET_WRITE) {
		out->body = mem_strdup(op->bundle);
		out->body_len = strlen(op->bundle);
	}
	return 0;
}

static void file_parse(const void *self, const struct secret_op *op,
		       const struct secret_reply *reply, struct secret_result *out)
{
	(void)self;
	if (reply->status != 200) {
		out->code = reply->status == 404   ? SECRET_MISSING
			    : reply->status == 409 ? SECRET_CONFLICT
						   : SECRET_INVALID;
		parts_message(out, reply->body, reply->len);
		return;
	}
	(void)snprintf(out->version, sizeof(out->version), "%s",
		       reply->version != NULL ? reply->version : "");
	if (op->kind != SECRET_READ)
		return;
	/* A file has only one version. */
	if (op->version != NULL && op->version[0] != '\0' &&
	    strcmp(op->version, out->version) != 0) {
		out->code = SECRET_MISSING;
		parts_message(out, "the file has another version now",
			      strlen("the file has another version now"));
		return;
	}
	if (reply->len <= SECRET_BUNDLE_MAX)
		out->value = secret_new(reply->body, reply->len);
	if (out->value == NULL) {
		out->code = SECRET_INVALID;
		(void)snprintf(out->message, sizeof(out->message), "the file is too long");
	}
}

static int64_t file_good_until(const void *self)
{
	(void)self;
	return INT64_MAX;
}

static int file_take(void *self, const struct secret_result *r, int64_t now_ms, struct err *e)
{
	(void)self;
	(void)r;
	(void)now_ms;
	(void)e;
	return 0;
}

static const char *file_path(const void *self, enum secret_op_kind kind)
{
	(void)self;
	(void)kind;
	return NULL;
}

const struct secret_store_ops secrets_file = {
	.name = "file",
	.open = file_open,
	.close = file_close,
	.flags = file_flags,
	.address = file_address,
	.build = file_build,
	.parse = file_parse,
	.good_until = file_good_until,
	.take = file_take,
	.path = file_path,
};
