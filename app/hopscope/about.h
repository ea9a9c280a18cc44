#pragma once

class QWidget;

namespace hopscope::window {

// Version, licence and what the program is made with; a dialog that deletes itself.
void showAbout(QWidget* window);

}  // namespace hopscope::window
