#include "base/choices.h"

namespace hopscope::base {

std::string pinText(PinKind kind, const std::string& value, const std::string& third)
{
    switch (kind) {
    case PinKind::Checkpoint: return "store " + value;
    case PinKind::NoCheckpoint: return "never store " + value;
    case PinKind::Cut: return "read " + value + " from a store for " + third;
    case PinKind::HopStage: return "run the gathers for " + value + " in stage " + third;
    case PinKind::NoRecompute: return "compute " + value + " only once";
    }
    return {};
}

}  // namespace hopscope::base
