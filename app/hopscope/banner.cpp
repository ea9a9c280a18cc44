#include "banner.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>

namespace hopscope::window {

Banner::Banner(QWidget* parent) : QFrame(parent)
{
    setObjectName(QStringLiteral("banner"));
    setAccessibleName(tr("Message"));
    m_text = new QLabel(this);
    m_text->setObjectName(QStringLiteral("bannerText"));
    m_text->setWordWrap(true);
    m_text->setTextFormat(Qt::PlainText);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_buttons = new QBoxLayout(QBoxLayout::LeftToRight);
    m_row = new QBoxLayout(QBoxLayout::LeftToRight, this);
    m_row->setContentsMargins(14, 7, 10, 7);
    m_row->addWidget(m_text, 1);
    m_row->addLayout(m_buttons);
    m_row->setAlignment(m_buttons, Qt::AlignRight);
    hide();
}

void Banner::resizeEvent(QResizeEvent* event)
{
    arrange();
    QFrame::resizeEvent(event);
}

// Next to a narrow graph, or above wide buttons, the sentence has the whole width; buttons that do not fit in a row stand
// below each other. A hidden banner has an outdated width: its parent's width counts.
void Banner::arrange()
{
    constexpr int narrow = 520, margins = 24;
    const int room = parentWidget() ? parentWidget()->width() : width();
    int wide = margins;
    for (int i = 0; i < m_buttons->count(); ++i)
        wide += m_buttons->itemAt(i)->sizeHint().width() + m_buttons->spacing();
    const bool below = room < narrow || 2 * wide > room;
    m_row->setDirection(below ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
    m_buttons->setDirection(wide > room ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
}

void Banner::say(const QString& topic, const QString& sentence, const QVector<BannerButton>& buttons,
                 std::function<void()> dismissed)
{
    m_messages.removeIf([&](const Message& message) { return message.topic == topic; });
    m_messages.append({.topic = topic, .sentence = sentence, .buttons = buttons});
    m_messages.last().buttons.append({tr("Dismiss"), std::move(dismissed)});
    showLast();
}

void Banner::showLast()
{
    while (QLayoutItem* item = m_buttons->takeAt(0)) {
        item->widget()->hide();
        item->widget()->deleteLater();
        delete item;
    }
    if (m_messages.isEmpty()) return hide();
    const Message& message = m_messages.last();
    m_text->setText(message.sentence);
    m_text->setAccessibleName(message.sentence);
    for (const BannerButton& entry : message.buttons) {
        auto* button = new QPushButton(entry.text, this);
        button->setObjectName(QStringLiteral("banner.%1").arg(entry.text));
        button->setAccessibleName(entry.text);
        connect(button, &QPushButton::clicked, this, [this, topic = message.topic, run = entry.run] {
            dismiss(topic);
            run();
        });
        m_buttons->addWidget(button);
    }
    arrange();
    show();
}

void Banner::dismiss(const QString& topic)
{
    const bool said = m_messages.removeIf([&](const Message& message) { return message.topic == topic; }) > 0;
    if (said) showLast();
}

QString Banner::sentence() const { return m_messages.isEmpty() ? QString() : m_messages.last().sentence; }

}  // namespace hopscope::window
