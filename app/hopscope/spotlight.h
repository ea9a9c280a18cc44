#pragma once

// Draws a frame around the part of the window that a lesson refers to. The frame lies over everything and takes no
// clicks.

#include <QTimer>
#include <QWidget>

#include "style/theme.h"

namespace hopscope::window {

class Spotlight : public QWidget {
    Q_OBJECT
public:
    explicit Spotlight(QWidget& window);
    void point(const QString& objectName);  // no frame if empty or not visible
    void setTheme(const style::Theme& theme);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void follow();
    void scrollThere() const;

    QWidget& m_window;
    QString m_name;
    QTimer m_pulse;  // parts move without a signal
    style::Theme m_theme;
};

}  // namespace hopscope::window
