/* front.h - the way of each request to the API: credential, rate, faults, effect, latency, answer.
 *
 * The effect of a request happens when it arrives; its answer leaves after the latency of its
 * operation.  If the client dies in between, the effect has happened and nobody
 * was told, as at a real cloud.  A request
 * for notices waits for one, if it says so. */
#ifndef SIMCLOUD_FRONT_H
#define SIMCLOUD_FRONT_H

#include <stdbool.h>
#include <stdint.h>

#include "io/http_server.h"
#include "providers/simcloud/cloud.h"
#include "providers/simcloud/face.h"
#include "providers/simcloud/fault.h"
#include "providers/simcloud/heap.h"
#include "providers/simcloud/throttle.h"

enum { FRONT_JOBS_MAX = 1 << 16 }; /* requests waiting at once; more are answered 503 */

struct front_stats {
	uint64_t requests, unauthorized, unreadable, dropped, held;
	uint64_t count[OP_COUNT][CODE_COUNT];          /* answers, by code of the request */
	uint64_t items[OP_COUNT][CODE_COUNT];          /* instances in them, by code */
	uint64_t refused[OP_COUNT];                    /* answers that lack instances */
	int64_t refused_ms[OP_COUNT];                  /* time of the first such answer */
	int64_t first_ms[OP_COUNT], last_ms[OP_COUNT]; /* arrivals; 0: none */
	int64_t second;         /* current second, whose requests are counted */
	uint64_t now_n, last_n; /* requests in that second, and in the one before */
};

struct front {
	struct cloud *cloud;
	struct settings *conf;
	struct http_server *server; /* sends late answers; NULL until it runs */
	struct face_keys keys;      /* of the clients */
	struct faults faults;
	struct throttle buckets[OP_COUNT], items[OP_COUNT]; /* items: of instances */
	struct throttle any;                                /* of all requests together */
	struct rng rng;
	struct heap due;
	struct front_slot *jobs;
	uint32_t njobs, cap, free_slot; /* free_slot == cap: none */
	unsigned last_hold;
	uint32_t nwaiting; /* requests that wait for notices */
	uint64_t heard;    /* number of the cloud's notices when they were last looked at */
	struct front_stats stats;
};

void front_init(struct front *f, struct cloud *c, struct settings *conf, uint64_t seed);
void front_fini(struct front *f);

void front_handle(struct front *f, const struct http_request *rq, struct http_answer *an,
		  int64_t now);
void front_tick(struct front *f, int64_t now);
int64_t front_next(const struct front *f); /* when front_tick() is due; INT64_MAX: never */

/* Let held requests go on: one, or all when id is 0.  Returns how many. */
unsigned front_release(struct front *f, unsigned id, int64_t now);
void front_write_held(const struct front *f, struct str *s, int64_t now);
void front_write_stats(const struct front *f, struct str *s, int64_t now);

#endif
