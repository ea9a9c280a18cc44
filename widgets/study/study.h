#pragma once

// Factories of the panels that explain a model and find its faults, similar to those of panels/panels.h.

#include "panels/panels.h"

namespace hopscope::study {

// These functions create the panels. Object names: "receptive", "debugger", "tensor", "follow", "breakpoints", "rules",
// "animation", "monitor".
panels::Panel* makeReceptive(const panels::Context& context,
                             QWidget* parent);                                 // the inputs that node results depend on
panels::Panel* makeDebugger(const panels::Context& context, QWidget* parent);  // the origin of numerical errors
panels::Panel* makeTensor(const panels::Context& context, QWidget* parent);    // the numbers of a value
panels::Panel* makeFollow(const panels::Context& context, QWidget* parent);    // a node through the stages
panels::Panel* makeBreakpoints(const panels::Context& context, QWidget* parent);  // where runs stop
panels::Panel* makeRules(const panels::Context& context, QWidget* parent);        // how plans are derived

panels::Panel* makeAnimation(const panels::Context& context, QWidget* parent);  // how batches move over the graph
panels::Panel* makeMonitor(const panels::Context& context, QWidget* parent);    // the times of operators in a run

}  // namespace hopscope::study
