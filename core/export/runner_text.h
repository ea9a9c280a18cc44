#pragma once

// Private to export: contains the text of run.py, which is the same for every model. Its parts are in
// core/export/runner/.

namespace hopscope::exporter {

const char* runnerText();

}  // namespace hopscope::exporter
