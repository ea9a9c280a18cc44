#pragma once

// A line above the graph that reports an event and offers actions. It is never modal and never in the way.

#include <QFrame>
#include <functional>

class QBoxLayout;
class QLabel;

namespace hopscope::window {

struct BannerButton {
    QString text;
    std::function<void()> run;  // called after the banner has been hidden
};

class Banner : public QFrame {
    Q_OBJECT
public:
    explicit Banner(QWidget* parent = nullptr);

    // Shows a message in front of the current one, which returns once the new one is answered. Replaces a message with
    // the same topic. `topic` is the argument for dismiss(): "engine", "open", ... `dismissed` is called when the user
    // dismisses the message.
    void say(
        const QString& topic, const QString& sentence, const QVector<BannerButton>& buttons = {},
        std::function<void()> dismissed = [] {});
    void dismiss(const QString& topic);  // removes the messages with that topic
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
