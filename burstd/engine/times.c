#include "engine/times.h"

#include "base/fmt.h"
#include "engine/kernel.h"

enum {
	FUTURE_MS = 60000, /* a start time further ahead is not believed */
};

int64_t times_shift(int64_t ms, int64_t by)
{
	return ms <= 0 || ms == INT64_MAX ? ms : ms + by;
}

int64_t engine_wall(const struct engine *e, int64_t ms)
{
	return times_shift(ms, -e->ahead_ms);
}

int64_t engine_from_wall(const struct engine *e, int64_t wall_ms)
{
	return times_shift(wall_ms, e->ahead_ms);
}

char *engine_time(const struct engine *e, char *out, int64_t ms)
{
	return fmt_time(out, engine_wall(e, ms));
}

bool times_since(const struct engine *e, int64_t wall_ms, int64_t ms)
{
	int64_t at = engine_from_wall(e, wall_ms);

	return at > ms && at <= engine_now(e) + FUTURE_MS;
}
