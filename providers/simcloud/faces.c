#include "providers/simcloud/faces.h"

#include "providers/simcloud/ec2.h"
#include "providers/simcloud/ironic.h"
#include "providers/simcloud/keystone.h"
#include "providers/simcloud/lambda.h"
#include "providers/simcloud/lyceum.h"
#include "providers/simcloud/neutral.h"
#include "providers/simcloud/nova.h"
#include "providers/simcloud/spheron.h"
#include "providers/simcloud/sqs.h"

/* In the order in which they are asked. */
static const struct face *const faces[] = {
	&face_sqs,      /* POST / with X-Amz-Target, so before EC2 */
	&face_ec2,      /* POST / */
	&face_lambda,   /* /api/v1/ */
	&face_lyceum,   /* /api/v2/external/ */
	&face_spheron,  /* /api/, without a version behind it */
	&face_ironic,   /* /v1/nodes, /v1/allocations */
	&face_keystone, /* /identity/ and /v3/ */
	&face_nova,     /* /compute/ and /v2.1/ */
	&face_neutral,  /* all that is left */
};

void faces_find(struct face_visit *v)
{
	size_t i = 0;

	while (!faces[i]->is(v))
		i++;
	v->face = faces[i];
}
