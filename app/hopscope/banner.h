#pragma once

// A line above the graph that reports an event and offers actions: never modal, never in the way.

#include <QFrame>
#include <functional>

class QBoxLayout;
class QLabel;

namespace hopscope::window {

struct BannerButton {
    QString text;
    std::function<void()> run;  // the banner hides first
};

class Banner : public QFrame {
    Q_OBJECT
public:
    explicit Banner(QWidget* parent = nullptr);

    // Shows a message above the current one, which returns once this one is answered; replaces one with the same topic.
    // `topic`: the argument for dismiss(); "engine", "open", ... `dismissed`: also called when the user dismisses it.
    void say(
        const QString& topic, const QString& sentence, const QVector<BannerButton>& buttons = {},
        std::function<void()> dismissed = [] {});
    void dismiss(const QString& topic);  // removes the messages about that topic
    [[nodiscard]] QString sentence() const;

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    struct Message {
        QString topic, sentence;
        QVector<BannerButton> buttons;
    };
    void showLast();
    void arrange();

    QBoxLayout* m_row;
    QLabel* m_text = nullptr;
    QBoxLayout* m_buttons = nullptr;
    QVector<Message> m_messages;  // the last one is visible
};

}  // namespace hopscope::window
