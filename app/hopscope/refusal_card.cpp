#include "refusal_card.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>

#include "models/labels.h"
#include "models/problem_model.h"

namespace hopscope::window {

RefusalCard::RefusalCard(QWidget* parent) : QFrame(parent)
{
    setObjectName(QStringLiteral("refusalCard"));
    setAccessibleName(tr("Why this model cannot be split"));
    m_title = makeLabel("refusalTitle");
    m_title->setProperty("heading", true);
    m_reason = makeLabel("refusalReason");
    m_hint = makeLabel("refusalHint");
    m_origin = makeLabel("refusalOrigin");
    m_origin->setProperty("muted", true);
    m_origin->setText(tr("Drawn from its code, since it could not be run: both sides of branches, and loops once."));
    m_show = makeButton("refusalShow", tr("Show the operator"));
    m_data = makeButton("refusalData", tr("Open with data…"));
    connect(m_show, &QPushButton::clicked, this, &RefusalCard::operatorWanted);
    connect(m_data, &QPushButton::clicked, this, &RefusalCard::dataWanted);
    auto* buttons = new QHBoxLayout;
    buttons->addWidget(m_show);
    buttons->addWidget(m_data);
    buttons->addStretch(1);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(16, 10, 16, 10);
    column->setSpacing(6);
    for (QLabel* label : {m_title, m_reason, m_hint, m_origin}) column->addWidget(label);
    column->addLayout(buttons);
    hide();
}

QLabel* RefusalCard::makeLabel(const char* name)
{
    auto* label = new QLabel(this);
    label->setObjectName(QLatin1String(name));
    label->setWordWrap(true);
    label->setTextFormat(Qt::PlainText);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    return label;
}

QPushButton* RefusalCard::makeButton(const char* name, const QString& text)
{
    auto* button = new QPushButton(text, this);
    button->setObjectName(QLatin1String(name));
    button->setAccessibleName(text);
    return button;
}

void RefusalCard::setModel(const protocol::ModelRecord* model, bool hasData)
{
    const protocol::LintRecord* lint = model ? models::blockingLint(*model) : nullptr;
    setVisible(lint != nullptr);
    if (!lint) return;
    m_title->setText(models::refusalTitle(*model));
    m_reason->setText(models::sentence(lint->message));
    m_hint->setText(tr("What you can do: %1").arg(models::sentence(lint->hint, false)));
    m_hint->setVisible(!lint->hint.empty());
    m_origin->setVisible(model->fromCode);
    m_show->setVisible(lint->op.valid());
    m_data->setVisible(!hasData);
}

}  // namespace hopscope::window
