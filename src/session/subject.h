#ifndef SONDE_SESSION_SUBJECT_H
#define SONDE_SESSION_SUBJECT_H

#include "session/question.h"

/*
 * What the next questions of a brief answer repeat: the files as the caller names them, the metric
 * and the filters.  NULL if the question is not brief or its caller names no files.
 */
const struct brief_subject *subject_of(const struct question *question, struct arena *arena);

#endif
