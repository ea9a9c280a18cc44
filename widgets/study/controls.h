#pragma once

// Shared by the panels that query the engine: buttons and fields, and parsing of the nodes entered in them.

#include <QLineEdit>
#include <QPushButton>
#include <cstdint>
#include <vector>

namespace hopscope::study {

// Both are called `title` by screen readers, without the marks of mnemonics and dialogs. An empty `tip`: none.
QPushButton* button(const char* name, const QString& title, const QString& tip, QWidget* parent);
QLineEdit* field(const char* name, const QString& title, QWidget* parent);

// "0, 17" as numbers; empty where one of them is no row number.
std::vector<std::int64_t> rowNumbers(const QString& list);

}  // namespace hopscope::study
