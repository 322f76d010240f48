/* The answers that tests of this folder are held to: tests/golden/num/answers.py makes them. */
#ifndef SL_NUM_GOLDEN_H
#define SL_NUM_GOLDEN_H

#include "fixture/golden.h"
#include "num/num.h"

static inline golden open_answers(sl_fixture *t) { return golden_open(t, "num/answers.txt"); }

#endif
