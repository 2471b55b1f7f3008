/* Frames of time. */
#include "zones/runtime.h"

void zones_update_forked(void)
{
}
