#include "refusal_card.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QStyle>

#include "models/labels.h"
#include "models/problem_model.h"

namespace hopscope::window {

RefusalCard::RefusalCard(QWidget* parent) : QFrame(parent)
{
    setObjectName(QStringLiteral("refusalCard"));
    setAccessibleName(tr("Why this model has no plan"));
    m_title = makeLabel("refusalTitle");
    m_title->setProperty("heading", true);
    m_reason = makeLabel("refusalReason");
    m_hint = makeLabel("refusalHint");
    m_origin = makeLabel("refusalOrigin");
    m_origin->setProperty("muted", true);
    m_show = makeButton("refusalShow", tr("Show the operator"));
    m_data = makeButton("refusalData", tr("Open with data…"));
    connect(m_show, &QPushButton::clicked, this, &RefusalCard::operatorWanted);
    connect(m_data, &QPushButton::clicked, this, &RefusalCard::dataWanted);
    m_run = makeButton("refusalRun", tr("Run this model"));
    m_folder = makeButton("refusalFolder", tr("Trust all models in its folder"));
    connect(m_run, &QPushButton::clicked, this, [this] { emit trusted(false); });
    connect(m_folder, &QPushButton::clicked, this, [this] { emit trusted(true); });
    auto* buttons = new QHBoxLayout;
    for (QPushButton* button : {m_run, m_folder, m_show, m_data}) buttons->addWidget(button);
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

void RefusalCard::setModel(const protocol::ModelRecord* model, const QString& folder, bool hasData)
{
    const bool shown = model != nullptr && models::blockingLint(*model) != nullptr;
    setVisible(shown);
    if (!shown) return;
    const bool untrusted = models::isUntrusted(*model);
    m_title->setText(models::refusalTitle(*model));
    setProperty("untrusted", untrusted);
    style()->unpolish(this);
    style()->polish(this);
    m_run->setVisible(untrusted);
    m_folder->setVisible(untrusted);
    if (untrusted) showUntrusted(folder);
    else showRefusal(*model, hasData);
}

void RefusalCard::showRefusal(const protocol::ModelRecord& model, bool hasData)
{
    const protocol::LintRecord& lint = *models::blockingLint(model);
    m_reason->setText(models::sentence(lint.message));
    m_hint->setText(tr("What you can do: %1").arg(models::sentence(lint.hint, false)));
    m_hint->setVisible(!lint.hint.empty());
    m_origin->setText(tr("This graph is drawn from the model's code, because the model could not be run. It shows both "
                         "sides of branches, and each loop once."));
    m_origin->setVisible(model.fromCode);
    m_show->setVisible(lint.op.valid());
    m_data->setVisible(!hasData);
}

void RefusalCard::showUntrusted(const QString& folder)
{
    m_reason->setText(tr("The file contains code that you have not agreed to run. Depth, cuts and sizes become known "
                         "when it runs on a small part of the data."));
    m_hint->setText(
        tr("Run it if you know where it comes from. You will not be asked again for this file, or for the files in "
           "a folder that you trust."));
    m_hint->show();
    m_origin->setText(
        tr("This graph is drawn from the model's code. It shows both sides of branches, and each loop once."));
    m_origin->show();
    m_folder->setText(tr("Trust all models in “%1”").arg(folder));
    m_folder->setAccessibleName(m_folder->text());
    m_show->hide();
    m_data->hide();
}

}  // namespace hopscope::window
