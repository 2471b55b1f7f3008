/*
 * A database at work: inserts, an index, joins, grouping and a recursive query, ROUNDS times.
 *
 *	sqlite ROUNDS
 */
#include <stdio.h>
#include <stdlib.h>

#include "sqlite3.h"

static void run(sqlite3 *db, const char *sql)
{
	char *message = NULL;

	if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK) {
		fprintf(stderr, "sqlite: %s\n", message);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 10;

	for (int i = 0; i < rounds; i++) {
		sqlite3 *db;
		if (sqlite3_open(":memory:", &db) != SQLITE_OK)
			return 1;
		run(db, "create table item(id integer primary key, kind int, name text, price real);"
			"create table sale(item int, day int, amount int);"
			"with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000)"
			" insert into item select i, i % 37, printf('item %d', i * 7919 % 20011), i * 0.5"
			" from n;"
			"with recursive n(i) as (select 1 union all select i + 1 from n where i < 60000)"
			" insert into sale select i * 6007 % 20000 + 1, i % 365, i % 11 from n;"
			"create index sale_item on sale(item);");
		run(db, "create table report as select kind, day / 30 as month, sum(amount * price) as s,"
			" count(distinct name) as names from sale join item on item.id = sale.item"
			" group by kind, month order by s desc;"
			"create table chain as with recursive up(a, b, depth) as"
			" (select id, id, 0 from item where id % 100 = 0 union all"
			"  select a, b - 1, depth + 1 from up where depth < 20) select * from up;"
			"select count(*) from item where name like '%99%' or name glob '*1[0-3]*';");
		sqlite3_close(db);
	}
	return 0;
}
