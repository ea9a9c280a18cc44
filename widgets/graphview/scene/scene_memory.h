#pragma once

// A cache shared by the scenes of one model, so that opening or closing a module is cheap: layouts of frames, texts
// and routes, keyed by their inputs. It does not change the resulting scenes. For one thread at a time.

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
