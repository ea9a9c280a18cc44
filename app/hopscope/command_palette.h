#pragma once

// The palette of Ctrl+Shift+P, which finds every action by a few typed letters.

#include <QDialog>

#include "actions.h"

class QLineEdit;
class QListWidget;

namespace hopscope::window {

// Returns how well `text` matches `query`. The letters have to appear in order; beginnings of words count more.
// Negative if it does not match.
int matchScore(const QString& query, const QString& text);

class CommandPalette : public QDialog {
    Q_OBJECT
public:
    CommandPalette(const ActionBook& actions, QWidget* parent);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void setupWidgets();
    void refill(const QString& query);
    void runCurrent();

    const ActionBook& m_actions;
    QLineEdit* m_query = nullptr;
    QListWidget* m_list = nullptr;
    QVector<QAction*> m_shown;
};

}  // namespace hopscope::window
