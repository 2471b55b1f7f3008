#ifndef SONDE_CLI_EVENT_HELP_H
#define SONDE_CLI_EVENT_HELP_H

/* What `-e list` prints: all events that have a name, and which of them this machine counts. */
void event_help_print(void);

#endif
