#include "base/clock.h"

#include <assert.h>
#include <stdio.h>
#include <time.h>

#include "base/fnv.h"

static int64_t read_ms(clockid_t id)
{
	struct timespec ts;

	assert(clock_gettime(id, &ts) == 0);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

int64_t clock_wall_ms(void)
{
	return read_ms(CLOCK_REALTIME);
}

int64_t clock_boot_ms(void)
{
	return read_ms(CLOCK_BOOTTIME);
}

int64_t clock_boot_id(void)
{
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
	char text[64] = "";
	size_t n = f != NULL ? fread(text, 1, sizeof(text), f) : 0;

	if (f != NULL)
		(void)fclose(f);
	return n != 0 ? (int64_t)(fnv_bytes(FNV_BEGIN, text, n) >> 1 | 1) : 0;
}

int64_t clock_zone_ms(int64_t wall_ms)
{
	time_t t = (time_t)(wall_ms / 1000);
	struct tm tm;

	tzset(); /* localtime_r() alone would not see that an admin has changed the zone */
	return localtime_r(&t, &tm) != NULL ? (int64_t)tm.tm_gmtoff * 1000 : 0;
}

int64_t clock_line_offset(const struct clock_line *was, int64_t boot_id, int64_t boot_ms,
			  int64_t wall_ms)
{
	int64_t now = wall_ms + was->ahead_ms;

	if (boot_id != 0 && boot_id == was->boot_id)
		return was->offset_ms;
	if (now < was->last_ms)
		now = was->last_ms;
	return now - boot_ms;
}
