/* fuzz_sim.c - any bytes as the answer of a provider, to driver sim; driver_check.h says how. */
#include <stdlib.h>

#include "providers/sim.h"
#include "tests/fuzz/driver_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct provider_conf conf = {.name = "sim", .url = "http://127.0.0.1:1"};
	void *self;

	if (provider_sim.open(&self, &conf, NULL) != 0)
		abort();
	check_driver(&provider_sim, self, data, size);
	provider_sim.close(self);
	return 0;
}
