#include "providers/simcloud/face_call.h"

#include <stdlib.h>

#include "base/mem.h"
#include "providers/simcloud/face.h"

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
