#pragma once

// Styles a page that was read from Markdown: fonts, spacing, tables and code.

#include <QTextDocument>
#include <functional>

#include "style/theme.h"

namespace hopscope::manual {

// Sets the styles, names the headings so that links can target them, and turns links for which `leads` is false into
// plain text.
void setLooks(QTextDocument& document, const style::Theme& theme, const std::function<bool(const QString&)>& leads);

}  // namespace hopscope::manual
