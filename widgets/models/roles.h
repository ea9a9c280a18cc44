#pragma once

#include <Qt>

namespace hopscope::models {

// Item roles of the tables and trees of the window.
enum Role {
    TargetRole = Qt::UserRole + 1,  // models::Target of the row, as QVariant; invalid: none
    SortRole,                       // number or text to sort by
    DepthRole,                      // int: message-passing depth; invalid: none
    PinnedRole,                     // bool
    MutedRole,                      // bool: of less interest
    CopyRole,                       // text or number: copied instead of the displayed text; invalid: that text
};

}  // namespace hopscope::models
