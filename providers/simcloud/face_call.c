#include "providers/simcloud/face_call.h"

#include <stdlib.h>

#include "providers/simcloud/ec2.h"

static void free_ec2(struct ec2_call *x)
{
	if (x != NULL) {
		order_unref(x->order);
		order_unref(x->tags);
		userdata_unref(x->user_data);
	}
	free(x);
}

void face_call_free(struct face_call *f)
{
	if (f == NULL)
		return;
	for (size_t i = 0; f->wants != NULL && i < f->n; i++)
		userdata_unref(f->wants[i].user_data);
	free(f->wants);
	free(f->ids);
	free_ec2(f->ec2);
	free(f->sqs);
	free(f);
}

const char *face_node(const struct face_call *f, const struct cloud *c, size_t i)
{
	uint32_t row;

	if (f->op == OP_CREATE)
		return f->wants[i].node;
	if (f->ids == NULL || !meter_row_of(c->meter, f->ids[i], &row))
		return "";
	return c->meter->rows[row].node;
}
