/* Inside report: what the forms of a fit share. */
#ifndef SL_REPORT_FIT_IMPL_H
#define SL_REPORT_FIT_IMPL_H

#include "report/discovery_impl.h"

/* *out := the formulas that have an R2 as candidates, in a, so that what shows a discovery can show
 * them. Nothing of it is freed. */
SL_NODISCARD sl_status sl_report__fit_discovery(sl_discovery *out, sl_arena *a,
                                                const sl_report_fit *r);

#endif
