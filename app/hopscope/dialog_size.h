#pragma once

#include <QDialog>

namespace hopscope::window {

// Resizes the dialog to the wanted size, but at most to that of the main window, which fits the screen.
inline void sizeDialog(QDialog& dialog, const QSize& wanted)
{
    const QWidget* main = &dialog;
    while (main->parentWidget() != nullptr) main = main->parentWidget();
    dialog.resize(main == &dialog ? wanted : wanted.boundedTo(main->size()));
}

}  // namespace hopscope::window
