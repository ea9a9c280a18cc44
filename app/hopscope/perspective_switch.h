#pragma once

// Shows the perspectives at the end of the menu bar: one button each, or a single button with a list if the menus need
// the room.

#include <QMenuBar>
#include <QPushButton>
#include <QToolButton>

namespace hopscope::window {

class PerspectiveSwitch : public QWidget {
    Q_OBJECT
public:
    PerspectiveSwitch(const QList<QAction*>& perspectives, QMenuBar& bar);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    QPushButton* buttonFor(QAction* perspective);
    QToolButton* listOf(const QList<QAction*>& perspectives);
    void makeRoom(int width);

    QMenuBar& m_bar;
    QList<QPushButton*> m_buttons;
    QToolButton* m_list;
};

}  // namespace hopscope::window
