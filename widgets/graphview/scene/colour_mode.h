#pragma once

namespace hopscope::graphview {

// The quantity that the fill colour of a node shows.
enum class ColourMode { Depth, Stage, Kind, Bytes, PredictedTime, Time, Memory, Error };

}  // namespace hopscope::graphview
