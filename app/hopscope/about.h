#pragma once

class QWidget;

namespace hopscope::window {

// A dialog with the version, the licence and the libraries of the program; it deletes itself.
void showAbout(QWidget* window);

}  // namespace hopscope::window
