#pragma once

namespace hopscope::graphview {

// What the fill of a node says.
enum class ColourMode { Depth, Stage, Kind, Bytes, Time, Memory, Error };

}  // namespace hopscope::graphview
