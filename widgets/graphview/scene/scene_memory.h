#pragma once

// What scenes of one model have in common, so that opening or closing a module costs little: layouts of frames, texts and
// routes by what they depend on. A scene is the same with and without. For one thread at a time.

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
