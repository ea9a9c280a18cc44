#pragma once

// A cache shared by the scenes of one model, which makes opening or closing a module cheap. It holds layouts of frames,
// texts and routes, keyed by their inputs, and does not change the resulting scenes. Only one thread may use it at a
// time.

#include "graphview/layout/arrange.h"
#include "graphview/scene/detour.h"
#include "graphview/scene/text_measure.h"

namespace hopscope::graphview {

struct SceneMemory {
    FrameLayouts frames;
    TextMemory texts;
    DetourMemory detours;
};

}  // namespace hopscope::graphview
