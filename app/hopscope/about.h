#pragma once

class QWidget;

namespace hopscope::window {

// Shows a dialog with the version, the licence and the libraries of the program; the dialog deletes itself.
void showAbout(QWidget* window);

}  // namespace hopscope::window
