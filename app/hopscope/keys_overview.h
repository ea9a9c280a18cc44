#pragma once

// The dialog of the key '?', which lists all keys on one page, by menu.

#include <QDialog>

#include "actions.h"

namespace hopscope::window {

class KeysOverview : public QDialog {
    Q_OBJECT
public:
    KeysOverview(const ActionBook& actions, QWidget* parent);
};

}  // namespace hopscope::window
