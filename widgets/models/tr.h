#pragma once

// Translates texts of the window outside any QObject.

#include <QCoreApplication>

namespace hopscope {

// Returns the translation of `text`, or `text` if it has none.
inline QString tr(const char* text) { return QCoreApplication::translate("hopscope", text); }

}  // namespace hopscope
