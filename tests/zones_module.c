/* An object with a zone of its own, which is opened and closed again. */
#define Prof_ENABLED
#include <prof.h>

Prof_API_ void zones_module_step(int times);

void zones_module_step(int times)
{
	while (times--) {
		Prof_Begin(module_step) Prof_End
	}
}
