#include "cli/cost.h"

#include <inttypes.h>

#include "base/fmt.h"
#include "cli/cli.h"
#include "cli/ladder.h"
#include "cli/table.h"

void cost_add(json_t *r, int64_t limit_ms)
{
	char cost[FMT_MONEY_SIZE];
	const json_t *plan, *pool, *offer;
	int64_t rate;

	for (size_t i = 0; (plan = cli_row(r, "plans", i)) != NULL; i++)
		for (size_t k = 0; (pool = cli_row(plan, "pools", k)) != NULL; k++)
			for (size_t o = 0; (offer = cli_row(pool, "offers", o)) != NULL; o++)
				if (fmt_money_parse(cli_text(offer, "price"), &rate, NULL) == 0 &&
				    !__builtin_mul_overflow(rate, cli_int(pool, "new"), &rate))
					(void)json_object_set_new(
						(json_t *)(uintptr_t)offer, "cost",
						json_string(
							fmt_money(cost, fmt_cost(limit_ms, rate))));
	(void)json_object_set_new(r, "limit_ms", json_integer(limit_ms));
}

void cost_print(const struct out *o, const json_t *p, const json_t *r)
{
	static const struct table_column columns[] = {
		{"OFFER", false}, {"MARKET", false}, {"UNTIL THE TIME LIMIT", true}};
	char money[OUT_MONEY_SIZE + 4], time[FMT_DUR_SIZE];
	const json_t *offer;
	struct table t;

	if (cli_int(r, "limit_ms") <= 0 || cli_int(p, "new") == 0)
		return;
	table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; (offer = cli_row(p, "offers", i)) != NULL; i++) {
		table_add(&t, OUT_BOLD, cli_text(offer, "offer"));
		table_add(&t, OUT_PLAIN, cli_text(offer, "market"));
		table_add(&t, OUT_PLAIN,
			  cli_text(offer, "cost")[0] != '\0'
				  ? ladder_money(money, offer, "cost", cli_text(r, "currency"))
				  : "?");
	}
	(void)fprintf(o->f, "\n  %" PRId64 " %s for %s, and some minutes more to boot and end\n",
		      cli_int(p, "new"), cli_int(p, "new") == 1 ? "node" : "nodes",
		      fmt_duration(time, cli_int(r, "limit_ms")));
	table_print(&t, o, 2);
	table_fini(&t);
}
