#pragma once

// Shared by the panels that query the engine: buttons and fields, and the parsing of nodes entered in them.

#include <QLineEdit>
#include <QPushButton>
#include <cstdint>
#include <vector>

namespace hopscope::study {

// Screen readers call both `title`, without the marks of mnemonics and dialogs. An empty `tip` means none.
QPushButton* button(const char* name, const QString& title, const QString& tip, QWidget* parent);
QLineEdit* field(const char* name, const QString& title, QWidget* parent);

// Parses a list such as "0, 17"; empty if any part of it is not a row number.
std::vector<std::int64_t> rowNumbers(const QString& list);

}  // namespace hopscope::study
