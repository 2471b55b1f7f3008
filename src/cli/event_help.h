#ifndef SONDE_CLI_EVENT_HELP_H
#define SONDE_CLI_EVENT_HELP_H

/* The output of `-e list`: all named events, and which of them this machine can count. */
void event_help_print(void);

#endif
