#ifndef TESTS_UNIT_STORE_RUN_SQL_H
#define TESTS_UNIT_STORE_RUN_SQL_H

/* run_sql.h - SQL of tests that make a database as an older burstd left it.  SQLite drops columns
 * from 3.35 on, and EL9 has 3.34: here the table is made anew without it, with its indexes and
 * triggers. */
#include <ctype.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* The result of a query, one text; "" if it has none.  The caller frees it (sqlite3_free). */
static inline char *run_sql_text(sqlite3 *db, char *query)
{
	sqlite3_stmt *st;
	char *text = sqlite3_mprintf("");

	if (sqlite3_prepare_v2(db, query, -1, &st, NULL) == SQLITE_OK) {
		if (sqlite3_step(st) == SQLITE_ROW && sqlite3_column_text(st, 0) != NULL) {
			sqlite3_free(text);
			text = sqlite3_mprintf("%s", (const char *)sqlite3_column_text(st, 0));
		}
		(void)sqlite3_finalize(st);
	}
	sqlite3_free(query);
	return text;
}

/* Cut a column's definition, and a comma beside it, out of a CREATE TABLE. */
static inline void run_sql_cut(char *make, const char *column)
{
	char *begin = strchr(make, '('), *end;
	const size_t len = strlen(column);
	int depth = 0;

	for (end = begin + 1; begin != NULL && *end != '\0'; end++) {
		if (depth > 0 || (*end != ',' && *end != ')')) {
			depth += (*end == '(') - (*end == ')');
			continue;
		}
		const char *name = begin + 1 + strspn(begin + 1, " \t\n");

		if (strncmp(name, column, len) == 0 && !isalnum((unsigned char)name[len]) &&
		    name[len] != '_') {
			if (*begin == '(')
				memmove(begin + 1, end + 1, strlen(end + 1) + 1);
			else
				memmove(begin, end, strlen(end) + 1);
			return;
		}
		begin = end;
	}
}

static inline int run_sql_drop(sqlite3 *db, const char *table, const char *column, char **why)
{
	char *make = run_sql_text(
		db, sqlite3_mprintf("SELECT sql FROM sqlite_master WHERE type = 'table'"
				    " AND name = %Q",
				    table));
	char *beside =
		run_sql_text(db, sqlite3_mprintf("SELECT group_concat(sql, ';') FROM sqlite_master"
						 " WHERE type <> 'table' AND tbl_name = %Q",
						 table));
	char *names = run_sql_text(
		db, sqlite3_mprintf("SELECT group_concat(name) FROM pragma_table_info(%Q)"
				    " WHERE name <> %Q",
				    table, column));
	char *all;
	int rc;

	run_sql_cut(make, column);
	all = sqlite3_mprintf("PRAGMA legacy_alter_table = ON; ALTER TABLE %s RENAME TO was; %s;"
			      "INSERT INTO %s (%s) SELECT %s FROM was; DROP TABLE was; %s",
			      table, make, table, names, names, beside);
	rc = sqlite3_exec(db, all, NULL, NULL, why);
	sqlite3_free(all);
	sqlite3_free(names);
	sqlite3_free(beside);
	sqlite3_free(make);
	return rc;
}

/* sqlite3_exec(), with ALTER TABLE table DROP COLUMN column among the statements. */
static inline int run_sql(sqlite3 *db, const char *text, char **why)
{
	const char *at;
	int rc = SQLITE_OK;

	while (rc == SQLITE_OK && (at = strstr(text, "ALTER TABLE ")) != NULL) {
		char *before = mem_check(strndup(text, (size_t)(at - text))), table[64], column[64];
		int len = 0;

		rc = sqlite3_exec(db, before, NULL, NULL, why);
		free(before);
		if (sscanf(at, "ALTER TABLE %63s DROP COLUMN %63[a-z_]%n", table, column, &len) !=
		    2)
			break;
		if (rc == SQLITE_OK)
			rc = run_sql_drop(db, table, column, why);
		text = at + len + (at[len] == ';');
	}
	return rc == SQLITE_OK ? sqlite3_exec(db, text, NULL, NULL, why) : rc;
}

#endif
