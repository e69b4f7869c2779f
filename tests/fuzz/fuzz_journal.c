/* fuzz_journal.c - a damaged journal: a good one with bytes changed, cut or put over, and the same
 * for its log.  It is refused with a reason, or opened; then every row that comes is valid, and it
 * can be written to or says why not.
 *
 * Input: edits of 5 bytes: what and where (3 bytes, the first bit says: in the log), how, value. */
#include <assert.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/journal.h"
#include "store/journal_events.h"
#include "store/journal_jobs.h"
#include "store/journal_nodes.h"
#include "store/journal_pools.h"
#include "store/journal_price.h"
#include "store/journal_usage.h"

enum { FILE_MAX = 1 << 20, EDIT = 5 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static char dir[64];

static struct image {
	const char *suffix;
	unsigned char good[FILE_MAX], bad[FILE_MAX];
	size_t ngood, nbad;
} images[2] = {{.suffix = ""}, {.suffix = "-wal"}};

static const char *at(const char *name)
{
	static char path[96];

	(void)snprintf(path, sizeof(path), "%s/journal.db%s", dir, name);
	return path;
}

static void read_image(struct image *im)
{
	int fd = open(at(im->suffix), O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, im->good, sizeof(im->good));

	if (fd < 0 || n <= 0 || n == sizeof(im->good))
		abort();
	im->ngood = (size_t)n;
	(void)close(fd);
}

static void write_image(const struct image *im)
{
	int fd = open(at(im->suffix), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, im->bad, im->nbad) != (ssize_t)im->nbad)
		abort();
	(void)close(fd);
}

static void remove_all(void)
{
	static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		(void)unlink(at(suffixes[i]));
}

static void end(void)
{
	char path[96];

	remove_all();
	(void)snprintf(path, sizeof(path), "%s/reserve", dir); /* to make it takes a while */
	(void)unlink(path);
	(void)rmdir(dir);
}

static const struct price price = {.provider = "aws",
				   .region = "r",
				   .zone = "",
				   .type = "t",
				   .market = PROVIDER_SPOT,
				   .source = PRICE_QUOTE,
				   .currency = "EUR",
				   .nano_h = 7};

/* Something of everything; the second half stays in the log. */
static void fill(struct journal *j, uint64_t gen)
{
	const struct journal_usage u = {
		.pool = "p", .node = "c1", .instance = "i-1", .gen = gen, .cost_nano = 12};
	const struct journal_pool pool = {.name = "p", .paused = true};
	struct node n = {.name = "c1", .gen = gen, .state = NODE_READY, .instance = "i-1"};
	struct journal_tx *tx = journal_begin(j);

	journal_put_batch(tx, &(struct journal_batch){.id = gen, .token = "t", .pool = "p"});
	for (int i = 0; i < 8; i++) {
		n.name[1] = (char)('1' + i);
		n.state = (enum node_state)(i % NODE_NSTATES);
		journal_put_node(tx, &n, "p");
		journal_put_event(tx, 1000 + i, n.name, gen, "created", "a detail");
	}
	journal_put_usage(tx, &u);
	journal_put_number(tx, "gen_floor", 7);
	journal_put_refusal(tx, &(struct journal_refusal){.job = gen, .r = {.count = 2}});
	journal_put_pool(tx, &pool);
	journal_put_price(tx, &price);
	if (journal_commit(tx, NULL) != 0)
		abort();
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct journal *j;
	bool existed;

	(void)argc;
	(void)argv;
	(void)snprintf(dir, sizeof(dir), "%s/fuzz_journalXXXXXX",
		       access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	if (mkdtemp(dir) == NULL || atexit(end) != 0)
		abort();
	for (uint64_t gen = 1; gen <= 2; gen++) {
		if (journal_open(&j, at(""), &existed, NULL) != 0)
			abort();
		fill(j, gen);
		if (gen == 2) {
			read_image(&images[0]);
			read_image(&images[1]);
		}
		journal_close(j);
	}
	return 0;
}

static void edit(const uint8_t *e)
{
	struct image *im = &images[e[0] >> 7];
	size_t where = ((size_t)(e[0] & 0x7f) << 16 | (size_t)e[1] << 8 | e[2]) % im->ngood;

	if (where >= im->nbad)
		return;
	switch (e[3] & 3) {
	case 0:
		im->bad[where] = e[4];
		break;
	case 1:
		im->bad[where] ^= (unsigned char)(1U << (e[4] & 7));
		break;
	case 2: /* a run of one value, as of a sector */
		memset(im->bad + where, e[4],
		       im->nbad - where < (size_t)(e[3] >> 2) * 8 ? im->nbad - where
								  : (size_t)(e[3] >> 2) * 8);
		break;
	default:
		if (e[4] < 8)
			im->nbad = where;
		else
			im->bad[where] =
				(unsigned char)(im->bad[where] + ((e[4] & 1) != 0 ? 1 : -1));
		break;
	}
}

#define ENDS(text) assert(memchr(text, '\0', sizeof(text)) != NULL)

static int see_node(void *ctx, const struct node *n, const char *pool, struct err *e)
{
	(void)ctx;
	(void)e;
	ENDS(n->name);
	ENDS(n->instance);
	ENDS(n->addr);
	assert(hostlist_is_name(n->name) && n->state < NODE_NSTATES && n->reason < NODE_NREASONS);
	assert(strlen(pool) <= PROVIDER_WORD_MAX);
	return 0;
}

static int see_batch(void *ctx, const struct journal_batch *b, struct err *e)
{
	(void)ctx;
	(void)e;
	assert(b->token != NULL && b->pool != NULL && strlen(b->token) + strlen(b->pool) < 4096);
	return 0;
}

static int see_spent(void *ctx, const char *pool, int64_t cost, struct err *e)
{
	(void)ctx;
	(void)cost;
	(void)e;
	assert(strlen(pool) < 4096);
	return 0;
}

static int see_price(void *ctx, const struct price *p, struct err *e)
{
	(void)ctx;
	(void)e;
	ENDS(p->currency);
	assert(p->nano_h > 0 || p->nano_h == PRICE_WITHDRAWN);
	assert(p->market < PROVIDER_NMARKETS && p->source < PRICE_NSOURCES);
	assert(strlen(p->provider) + strlen(p->region) + strlen(p->zone) + strlen(p->type) < 4096);
	return 0;
}

static int see_numbered(void *ctx, int64_t seq, const struct price *p)
{
	assert(seq > 0);
	return see_price(ctx, p, NULL);
}

static int see_event(void *ctx, const struct journal_event *ev)
{
	(void)ctx;
	assert(strlen(ev->node) + strlen(ev->type) + strlen(ev->detail) < 1 << 20);
	return 0;
}

/* With a reason, and as what no second try mends: the disk is good here. */
static void refused(const struct err *e)
{
	if (e->code != ERR_DAMAGED && e->code != ERR_INVALID)
		(void)fprintf(stderr, "as %d: %s\n", e->code, e->msg);
	assert(e->code == ERR_DAMAGED || e->code == ERR_INVALID);
	assert(e->msg[0] != '\0');
}

static void use(struct journal *j)
{
	const struct journal_visitor v = {
		.node = see_node, .batch = see_batch, .spent = see_spent, .price = see_price};
	struct journal_tx *tx;
	struct err e = {0};
	int64_t floor;
	bool more;

	if (journal_load(j, &v, &e) != 0) {
		refused(&e);
		return; /* main.c ends here */
	}
	(void)journal_get_number(j, "gen_floor", &floor, NULL);
	(void)journal_last_event(j);
	(void)journal_events(j, 0, NULL, 100, see_event, NULL, NULL);
	(void)journal_events(j, 0, "c1", 100, see_event, NULL, NULL);
	(void)journal_prices(j, 0, 100, see_numbered, NULL, NULL);
	for (int64_t i = 0; i < 2; i++) {
		tx = journal_begin(j);
		journal_put_number(tx, "gen_floor", 8 + i);
		journal_put_event(tx, 1, "c1", 1, "test", "");
		journal_put_price(tx, &price);
		if (journal_commit(tx, &e) != 0) {
			refused(&e);
			return;
		}
	}
	if (journal_trim(j, 1001, 2000, &more, &e) != 0)
		refused(&e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct journal *j;
	struct err e = {0};
	bool existed;

	remove_all();
	for (int i = 0; i < 2; i++) {
		images[i].nbad = images[i].ngood;
		memcpy(images[i].bad, images[i].good, images[i].ngood);
	}
	for (; size >= EDIT; data += EDIT, size -= EDIT)
		edit(data);
	write_image(&images[0]);
	write_image(&images[1]);
	if (journal_open(&j, at(""), &existed, &e) != 0) {
		assert(j == NULL);
		refused(&e);
		return 0;
	}
	use(j);
	journal_close(j);
	return 0;
}
