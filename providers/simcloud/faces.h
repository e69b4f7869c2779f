/* faces.h - the table of all faces of the simulated cloud. */
#ifndef SIMCLOUD_FACES_H
#define SIMCLOUD_FACES_H

#include "providers/simcloud/face.h"

/* Set v->face to the face whose request this is; one that no other recognizes is the neutral's. */
void faces_find(struct face_visit *v);

#endif
