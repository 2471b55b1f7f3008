/*
 * As compilers use IProf: two workers, deep recursion, scopes in every function, the report as a
 * text made of its fields.  Prints "NAME COUNT" of the last frame for each zone.
 */
#include <prof.h>
#include <prof_internal.h>

#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

Prof_Define(parse);

struct Expression {
	std::unique_ptr<Expression> left, right;
};

static std::unique_ptr<Expression> parse_expression(int depth)
{
	Prof_Scope(parse);
	std::unique_ptr<Expression> expression(new Expression);

	if (depth > 0) {
		expression->left = parse_expression(depth - 1);
		Prof(right_hand_side);
		expression->right = parse_expression(depth - 1);
	}
	return expression;
}

static int generate(const Expression *expression)
{
	Prof(generate);

	if (!expression)
		return 0;
	return 1 + generate(expression->left.get()) + generate(expression->right.get());
}

static void work(int files, int *sum)
{
	Prof(worker);

	for (int i = 0; i < files; i++) {
		Prof(file);
		*sum += generate(parse_expression(7).get());
	}
}

static void print_report()
{
	Prof_set_average(0);
	Prof_set_report_mode(Prof_SELF_TIME);
	Prof_Report *report = Prof_create_report();

	for (int i = 0; i < report->num_record; i++) {
		const Prof_Report_Record &record = report->record[i];

		if (record.value_flag & 4)
			printf("%s %.0f\n", record.name, record.values[2]);
		for (int value = 0; value < 2; value++) {
			if (record.values[value] < 0)
				printf("negative\n");
		}
	}
	Prof_free_report(report);
}

int main()
{
	int sums[2] = {0, 0};

	Prof_update(1);
	{
		std::thread other(work, 3, &sums[1]);

		work(2, &sums[0]);
		other.join();
	}
	Prof_update(1);
	print_report();
	return sums[0] + sums[1] != 5 * 255;
}
