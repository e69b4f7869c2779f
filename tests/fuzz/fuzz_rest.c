/* fuzz_rest.c - what drivers of REST clouds share.  The first byte says which part: 'd' the getters
 * of a document, 'r' a refusal, 'n' names, 't' times, 'u' the URL of a next page, 'w' words. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "base/plain.h"
#include "providers/common/names.h"
#include "providers/common/rest.h"
#include "providers/common/rfc3339.h"
#include "providers/common/words.h"
#include "tests/unit/two_headers.h"

#define CLUSTER "0b1c2d3e-4f50-4000-8000-000000000001"
#define SECRET  "s3cret"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct rest_row rows[] = {{.code = "quota", .means = PROVIDER_QUOTA},
				       {.says = "no room", .means = PROVIDER_CAPACITY}};
static const struct rest_api api = {.auth = REST_BEARER,
				    .error_code = "error.code",
				    .error_message = "error.message",
				    .error_wait = "error.wait",
				    .wait_unit_ms = 1000,
				    .shows_code = true,
				    .request_id = "Location",
				    .rows = rows,
				    .nrows = 2};

static void check_row(const struct doc_at *o)
{
	const struct doc *d = o->doc;
	char id[16], text[16];
	int64_t sum;

	doc_id(o, "id", id, sizeof(id));
	assert(!doc_good(d) || words_is_plain(id, sizeof(id) - 1));
	doc_text(o, "name", text, sizeof(text));
	assert(strlen(text) < sizeof(text));
	(void)doc_text_if(o, "type.name", text, sizeof(text));
	sum = doc_int(o, "n");
	assert(sum >= 0 && (doc_good(d) || sum == 0));
	assert(doc_int_if(o, "m") >= 0 && doc_money(o, "price", 100) >= 0 &&
	       doc_money(o, "price", 1) >= 0);
	assert(doc_time(o, "at") >= 0);
	(void)doc_flag(o, "spot");
	(void)doc_word(o, "state");
}

static void check_doc(const char *text, size_t len)
{
	struct doc_at list, o;
	struct doc d;
	bool loaded = doc_load(&d, text, len);

	assert(loaded == doc_good(&d));
	list = doc_list(&d.top, "data", 9);
	assert(list.n <= 9);
	for (size_t i = 0; i < list.n; i++) {
		o = doc_item(&list, i);
		check_row(&o);
		assert(plain_is(d.wrong) && strlen(d.wrong) < DOC_WRONG_SIZE);
		(void)doc_forgive(&d);
	}
	(void)doc_list(&d.top, NULL, 9);
	assert(!doc_good(&d)); /* it was no object, or is no list */
	doc_fini(&d);
}

static void check_refusal(const struct rest *r, const char *text, size_t len)
{
	static const char *const ids[] = {"i-1"};
	struct provider_op op = {.kind = (enum provider_op_kind)(len % PROVIDER_NOPS)};
	struct provider_result out = {0};
	struct provider_reply reply = {.status = 400 + (long)(len % 150), .body = text, .len = len};
	struct header v[2];

	reply.headers = two_headers(v, NULL, "req-" SECRET);
	op.u.del.ids = ids;
	op.u.del.nids = 1;
	rest_refused(r, &op, &reply, &out);
	assert(out.code < PROVIDER_NCODES && out.code != PROVIDER_MORE);
	assert(out.code != PROVIDER_OK || (op.kind == PROVIDER_DELETE && out.nitems == 1));
	assert((out.message[0] == '\0') == (out.code == PROVIDER_OK));
	assert(plain_is(out.message) && strstr(out.message, SECRET) == NULL);
	assert(out.retry_after_ms >= 0 && out.retry_after_ms <= REST_RETRY_MAX_MS);
	provider_result_fini(&out);
}

/* What is read as ours is what we would have written. */
static void check_names(const char *text)
{
	const struct provider_names f = {.max = strlen(text) % 2 == 0 ? 63 : 0, .upper = true};
	struct provider_instance i = {0};
	char again[NAMES_SIZE];
	enum names_whose whose = names_unpack(&f, text, CLUSTER, &i);

	assert((whose == NAMES_FOREIGN) == (i.cluster[0] == '\0'));
	assert((whose == NAMES_OURS) == (i.node[0] != '\0' && i.gen != 0));
	if (whose == NAMES_OURS) {
		const struct provider_want want = {i.node, i.gen, 0};

		assert(names_pack(again, &f, CLUSTER, &want, NULL) == 0);
		assert(strcmp(again, text) == 0);
	}
}

static void check_time(const char *text)
{
	char again[FMT_TIME_SIZE];
	int64_t ms, same;

	if (rfc3339_parse(text, &ms) != 0) {
		assert(ms == 0);
		return;
	}
	if (strlen(fmt_time(again, ms)) == FMT_UTC_SIZE + 4 && again[0] != '-')
		assert(rfc3339_parse(again, &same) == 0 && same == ms);
}

static void check_next(const struct rest *r, const char *text)
{
	const struct provider_op first = {.kind = PROVIDER_LIST};
	struct provider_op op = {.kind = PROVIDER_LIST};
	struct provider_result out = {0};
	struct provider_request rq;
	struct rest_call c;

	if (rest_more_url(r, &first, &out, text) != 0)
		return;
	assert((out.code == PROVIDER_MORE) == (text[0] != '\0'));
	op.cursor = out.cursor;
	rest_begin_url(&c, r, &op, "/x");
	assert(rest_end(&c, &rq, "list", NULL) == 0);
	assert(strncmp(rq.url, "https://h.example/api", 21) == 0);
	assert(strchr("/?", rq.url[21]) != NULL && strstr(rq.url, "/..") == NULL);
	provider_request_fini(&rq);
}

static void check_words(const char *text)
{
	static const char *const secrets[] = {SECRET, "s3", NULL};
	char out[64];
	const size_t size = 1 + strlen(text) % (sizeof(out) - 1);

	words_show(out, size, text, secrets, 3);
	assert(strlen(out) < size && plain_is(out));
	assert(strstr(out, "s3") == NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct provider_conf conf = {
		.name = "x", .url = "https://h.example/api", .credential = SECRET};
	char *text;
	struct rest r;

	if (size == 0)
		return 0;
	if (rest_init(&r, &api, &conf, NULL) != 0)
		abort();
	text = mem_zalloc(size);
	memcpy(text, data + 1, size - 1);
	switch (data[0]) {
	case 'd':
		check_doc(text, size - 1);
		break;
	case 'r':
		check_refusal(&r, text, size - 1);
		break;
	case 'n':
		check_names(text);
		break;
	case 't':
		check_time(text);
		break;
	case 'u':
		check_next(&r, text);
		break;
	default:
		check_words(text);
		break;
	}
	free(text);
	rest_fini(&r);
	return 0;
}
