#pragma once

// Translates texts of the window outside any QObject.

#include <QCoreApplication>

namespace hopscope {

// Returns the translation of `text`, or `text` if it has none; "%n" in it is replaced by `n`.
inline QString tr(const char* text, int n = -1) { return QCoreApplication::translate("hopscope", text, nullptr, n); }

}  // namespace hopscope
