/* test_pieces.c - a reply that the driver reads as it comes.  The driver is the test's. */
#include "bare_cloud.h"

struct reader {
	char text[64];
};

static unsigned readers; /* that live */
static char heard[256];  /* what the owner of the request was told, in order */

static void says(struct provider_result *out, const char *how, const char *text)
{
	(void)snprintf(out->message, sizeof(out->message), "%s %s", how, text);
	out->code = strncmp(text, "more", 4) == 0 ? PROVIDER_MORE : PROVIDER_OK;
	(void)snprintf(out->cursor, sizeof(out->cursor), "%s",
		       out->code == PROVIDER_MORE ? text : "");
}

static void parse(const void *self, const struct provider_op *op,
		  const struct provider_reply *reply, struct provider_result *out)
{
	(void)self;
	(void)op;
	if (reply->status == 200)
		says(out, "whole", reply->body);
	else
		out->code = PROVIDER_TRANSIENT;
}

static void *read_begin(const void *self, const struct provider_op *op)
{
	(void)self;
	if (op->kind != PROVIDER_QUOTES && op->kind != PROVIDER_DELETE)
		return NULL;
	readers++;
	return mem_zalloc(sizeof(struct reader));
}

static void read_some(void *reader, const char *p, size_t len)
{
	struct reader *r = reader;

	(void)snprintf(r->text + strlen(r->text), sizeof(r->text) - strlen(r->text), "%.*s|",
		       (int)len, p);
}

static void read_end(void *reader, const void *self, const struct provider_op *op,
		     const struct provider_reply *reply, struct provider_result *out)
{
	struct reader *r = reader;

	(void)self;
	readers--;
	if (out != NULL) {
		assert_true(op != NULL);
		assert_int_equal(reply->status, 200);
		says(out, "read", r->text);
	}
	free(r);
}

static const struct provider_ops ops = {.name = "test",
					.build = bare_build,
					.parse = parse,
					.read_begin = read_begin,
					.read_some = read_some,
					.read_end = read_end};

static int setup(void **state)
{
	(void)state;
	readers = 0;
	heard[0] = '\0';
	bare_quiet(&ops);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	bare_fini();
	assert_int_equal(readers, 0);
	return 0;
}

static void hear(struct cloud *c, void *ctx, const struct provider_result *r)
{
	(void)c;
	(void)ctx;
	add(heard, sizeof(heard), provider_code_str(r->code), r->message[0] != '\0' ? ": " : "",
	    r->message);
	add(heard, sizeof(heard), ";", "", "");
}

static void begin(enum provider_op_kind kind)
{
	struct provider_op op = {.kind = kind};

	cloud_send(B.c, &op, hear, NULL);
}

static void piece(const char *text)
{
	B.wire[B.answered].on_data(B.wire[B.answered].ctx, text, strlen(text));
}

static void next_request(void)
{
	while (waiting() == 0) {
		W.now = cloud_next_ms(B.c);
		engine_turn(&B.e);
	}
}

static void test_a_reply_is_read_as_it_comes(void **state)
{
	(void)state;
	begin(PROVIDER_QUOTES);
	piece("one");
	piece("two");
	answer("quotes", 200, "");
	assert_string_equal(heard, "ok: read one|two|;");
	begin(PROVIDER_QUOTES);
	answer("quotes", 200, ""); /* nothing came */
	assert_string_equal(heard, "ok: read one|two|;ok: read ;");
	assert_int_equal(readers, 0);
}

static void test_each_request_of_an_operation_has_a_reader_of_its_own(void **state)
{
	(void)state;
	begin(PROVIDER_DELETE);
	piece("more");
	answer("delete", 200, "");
	next_request();
	answer("delete", 503, "busy"); /* it is sent again */
	next_request();
	assert_int_equal(readers, 1);
	piece("last");
	answer("delete", 200, "");
	assert_string_equal(heard, "ok: read last|;");
	assert_int_equal(readers, 0);
}

static void test_what_is_no_success_comes_whole(void **state)
{
	(void)state;
	begin(PROVIDER_QUOTES);
	answer("quotes", 503, "busy");
	assert_string_equal(heard, "transient;");
	assert_int_equal(readers, 0);
}

static void test_other_replies_come_whole(void **state)
{
	(void)state;
	begin(PROVIDER_REPORT);
	assert_true(B.wire[0].on_data == NULL);
	answer("report", 200, "text");
	assert_string_equal(heard, "ok: whole text;");
}

static void test_what_breaks_off_is_dropped(void **state)
{
	static const struct err gone = {.code = ERR_NET, .msg = "reset"};

	(void)state;
	begin(PROVIDER_QUOTES);
	piece("half of");
	B.wire[B.answered].done(B.wire[B.answered].ctx, NULL, &gone);
	B.answered++;
	assert_string_equal(heard, "ambiguous: reset;");
	assert_int_equal(readers, 0);
	begin(PROVIDER_QUOTES); /* under way as burstd ends: teardown() */
	piece("half of");
	assert_int_equal(readers, 1);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_a_reply_is_read_as_it_comes),
		T(test_each_request_of_an_operation_has_a_reader_of_its_own),
		T(test_what_is_no_success_comes_whole),
		T(test_other_replies_come_whole),
		T(test_what_breaks_off_is_dropped),
	};

	return cmocka_run_group_tests_name("replies in pieces", tests, NULL, NULL);
}
