/* gpu.h - what the name of an instance type says: "gpu_8x_h100" is a machine with 8 H100.
 *
 * For faces of clouds that sell a number of GPUs of a kind, not types with a name. */
#ifndef SIMCLOUD_GPU_H
#define SIMCLOUD_GPU_H

#include <stdbool.h>

enum gpu_shape { GPU_VM, GPU_CLUSTER, GPU_BARE_METAL }; /* gpu_, cluster_, bm_ */

struct gpu_type {
	enum gpu_shape shape;
	unsigned count;
	const char *name; /* "h100", within the type's name */
};

/* false: the name has another form, and *out is all zero. */
bool gpu_type_read(struct gpu_type *out, const char *type);

#endif
