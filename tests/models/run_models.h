#pragma once

#include <functional>
#include <string>

namespace hopscope::models {

// What is wrong after a model although its numbers are right; empty: nothing.
using Complaint = std::function<std::string()>;

// LIST [--only NAME]... [-j CHILDREN] [--device DEVICE] [--no-fork] [--brief]
// Runs every model of a list in a child process of its own and prints one row each; gives 1 if one is not as expected.
// --brief: three runs on each graph instead of some 22.
int runModels(int argc, char** argv, const Complaint& complaint = {});

}  // namespace hopscope::models
