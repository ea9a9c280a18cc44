#pragma once

// Shows pages of the manual for F1 and the menu "Help"; each part of the window has a page of its own.

#include <QObject>
#include <memory>
#include <span>

#include "manual/manual_window.h"

namespace hopscope::window {

// A part of the window, by its object name, and the position in the manual that describes it.
struct Topic {
    const char *part, *page, *heading;
};

std::span<const Topic> topics();
// Returns the topic of the innermost part around a widget, or the first page if there is none.
manual::Place topicOf(const QWidget* widget);

class Help : public QObject {
    Q_OBJECT
public:
    explicit Help(QObject* parent);
    ~Help() override;

    void open(const manual::Place& place);
    void openForFocus();  // opens the topic of the widget with the focus
    void setTheme(const style::Theme& theme);
    [[nodiscard]] manual::ManualWindow* window() const { return m_window.get(); }  // null until a page has been opened

protected:
    // Handles F1 in dialogs, which block the actions of the window behind them.
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    std::unique_ptr<manual::ManualWindow> m_window;
    style::Theme m_theme;
};

}  // namespace hopscope::window
