/* fuzz_static.c - any bytes as what burst-static prints, to driver static; driver_check.h says
 * how. */
#include <stdlib.h>

#include "providers/static.h"
#include "tests/fuzz/driver_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const command[] = {"/bin/true", "%n", NULL};
	static const struct static_options own = {.on = command,
						  .off = command,
						  .status = command,
						  .records = "/r",
						  .program = "/bin/true"};
	const struct provider_conf conf = {
		.name = "own", .options = &own, .timeout_ms = 1000, .concurrency = 1};
	void *self;

	if (provider_static.open(&self, &conf, NULL) != 0)
		abort();
	check_driver(&provider_static, self, data, size);
	provider_static.close(self);
	return 0;
}
