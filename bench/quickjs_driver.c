/*
 * A JavaScript interpreter at work: evaluates a script, in which `units` is the number given.
 *
 *	quickjs SCRIPT UNITS
 */
#include <stdio.h>
#include <stdlib.h>

#include "quickjs.h"

static char *read_script(const char *path, size_t *size)
{
	static char script[1 << 20];
	FILE *f = fopen(path, "r");

	if (!f)
		return NULL;
	*size = fread(script, 1, sizeof(script) - 1, f);
	fclose(f);
	return script;
}

int main(int argc, char **argv)
{
	size_t size;
	char *script = argc == 3 ? read_script(argv[1], &size) : NULL;

	if (!script) {
		fprintf(stderr, "usage: quickjs SCRIPT UNITS\n");
		return 2;
	}
	JSRuntime *runtime = JS_NewRuntime();
	JSContext *context = JS_NewContext(runtime);
	JSValue global = JS_GetGlobalObject(context);

	JS_SetMaxStackSize(runtime, 6 << 20);
	JS_SetPropertyStr(context, global, "units", JS_NewInt32(context, atoi(argv[2])));
	JSValue result = JS_Eval(context, script, size, argv[1], JS_EVAL_TYPE_GLOBAL);
	int failed = JS_IsException(result);

	JS_FreeValue(context, result);
	JS_FreeValue(context, global);
	JS_FreeContext(context);
	JS_FreeRuntime(runtime);
	return failed;
}
