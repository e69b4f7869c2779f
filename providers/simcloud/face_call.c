#include "providers/simcloud/face_call.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "providers/simcloud/face.h"
#include "providers/simcloud/name.h"

struct face_call *face_call_new(const struct face_visit *v, enum op op)
{
	struct face_call *f = mem_zalloc(sizeof(*f));

	f->face = v->face;
	f->op = op;
	return f;
}

void face_call_free(struct face_call *f)
{
	if (f == NULL)
		return;
	for (size_t i = 0; f->wants != NULL && i < f->n; i++)
		userdata_unref(f->wants[i].user_data);
	free(f->wants);
	free(f->ids);
	if (f->own != NULL)
		(f->face->free_own != NULL ? f->face->free_own : free)(f->own);
	free(f);
}

void face_call_id(struct face_call *f, const char *id)
{
	if (id[0] == '\0')
		return;
	f->n = 1;
	f->ids = mem_zalloc(sizeof(*f->ids));
	memcpy(f->ids[0], id, strnlen(id, FACE_ID_SIZE - 1));
}

void face_call_named(struct face_call *f, const char *name)
{
	struct name read = {0};

	if (!name_read(&read, name) && strlen(name) < sizeof(read.node))
		memcpy(read.node, name, strlen(name));
	memcpy(f->cluster, read.cluster, sizeof(read.cluster));
	memcpy(f->wants[0].node, read.node, sizeof(read.node));
	f->wants[0].gen = read.gen;
}

const char *face_node(const struct face_call *f, const struct cloud *c, size_t i)
{
	uint32_t row;

	if (f->face->node != NULL)
		return f->face->node(f, c, i);
	if (f->op == OP_CREATE)
		return f->wants[i].node;
	if (f->ids == NULL || !meter_row_of(c->meter, f->ids[i], &row))
		return "";
	return c->meter->rows[row].node;
}
