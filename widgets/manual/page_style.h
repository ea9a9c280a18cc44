#pragma once

// The looks of a page that was read from Markdown: fonts, distances, tables and code.

#include <QTextDocument>
#include <functional>

#include "style/theme.h"

namespace hopscope::manual {

// Also names the headings, so that links can lead there, and makes plain text of links for which `leads` is false.
void setLooks(QTextDocument& document, const style::Theme& theme, const std::function<bool(const QString&)>& leads);

}  // namespace hopscope::manual
