/* Expected results for the tests of this folder, written by tests/golden/num/answers.py. */
#ifndef SL_NUM_GOLDEN_H
#define SL_NUM_GOLDEN_H

#include "fixture/golden.h"
#include "num/num.h"

static inline golden open_answers(sl_fixture *t) { return golden_open(t, "num/answers.txt"); }

#endif
