#include "providers/simcloud/faces.h"

#include "providers/simcloud/ec2.h"
#include "providers/simcloud/keystone.h"
#include "providers/simcloud/neutral.h"
#include "providers/simcloud/nova.h"
#include "providers/simcloud/sqs.h"

/* In the order in which they are asked. */
static const struct face *const faces[] = {
	&face_sqs,                     /* before EC2: both are at POST / */
	&face_ec2,     &face_keystone, /* /identity/ and /v3/ */
	&face_nova,                    /* /compute/ and /v2.1/ */
	&face_neutral,                 /* takes all that is left */
};

void faces_find(struct face_visit *v)
{
	size_t i = 0;

	while (!faces[i]->is(v))
		i++;
	v->face = faces[i];
}
