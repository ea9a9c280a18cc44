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

    // Replaces what is shown. `topic`: what dismiss() is told; "engine", "open", "recovery", ...
    void say(const QString& topic, const QString& sentence, const QVector<BannerButton>& buttons = {});
    void dismiss(const QString& topic);  // hides it if it is about that
    [[nodiscard]] QString sentence() const;

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void arrange();

    QBoxLayout* m_row;
    QLabel* m_text = nullptr;
    QBoxLayout* m_buttons = nullptr;
    QString m_topic;
};

}  // namespace hopscope::window
