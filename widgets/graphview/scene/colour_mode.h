#pragma once

namespace hopscope::graphview {

// What the fill colour of a node shows.
enum class ColourMode { Depth, Stage, Kind, Bytes, PredictedTime, Time, Memory, Error };

}  // namespace hopscope::graphview
