#pragma once

// A line above the graph for what happened and what to do about it: never modal, never in the way.

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

    // Shows it above what is said already, which comes back once this is answered; what was said about the same topic is
    // gone. `topic`: what dismiss() is told; "engine", "open", ... `dismissed`: also done when it is dismissed by hand.
    void say(
        const QString& topic, const QString& sentence, const QVector<BannerButton>& buttons = {},
        std::function<void()> dismissed = [] {});
    void dismiss(const QString& topic);  // takes back what was said about that
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
    QVector<Message> m_messages;  // the last one is seen
};

}  // namespace hopscope::window
