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
    m_buttons = new QHBoxLayout;
    m_row = new QBoxLayout(QBoxLayout::LeftToRight, this);
    m_row->setContentsMargins(14, 7, 10, 7);
    m_row->addWidget(m_text, 1);
    m_row->addLayout(m_buttons);
    hide();
}

// Beside a narrow graph the sentence has the whole width.
void Banner::resizeEvent(QResizeEvent* event)
{
    constexpr int narrow = 520;
    m_row->setDirection(width() < narrow ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
    QFrame::resizeEvent(event);
}

void Banner::say(const QString& topic, const QString& sentence, const QVector<BannerButton>& buttons)
{
    m_topic = topic;
    m_text->setText(sentence);
    m_text->setAccessibleName(sentence);
    while (QLayoutItem* item = m_buttons->takeAt(0)) {
        item->widget()->hide();
        item->widget()->deleteLater();
        delete item;
    }
    QVector<BannerButton> all = buttons;
    all.append({tr("Dismiss"), [] {}});
    for (const BannerButton& entry : all) {
        auto* button = new QPushButton(entry.text, this);
        button->setObjectName(QStringLiteral("banner.%1").arg(entry.text));
        button->setAccessibleName(entry.text);
        connect(button, &QPushButton::clicked, this, [this, run = entry.run] {
            hide();
            run();
        });
        m_buttons->addWidget(button);
    }
    show();
}

void Banner::dismiss(const QString& topic)
{
    if (m_topic == topic) hide();
}

QString Banner::sentence() const { return isHidden() ? QString() : m_text->text(); }

}  // namespace hopscope::window
