#include "command_palette.h"

#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QVBoxLayout>

#include "dialog_size.h"
#include "graphview/view/graph_panel.h"

namespace hopscope::window {

namespace {

QString labelOf(const QAction* action)
{
    const QString whole = action->property(graphview::fullNameProperty).toString();
    return QStringLiteral("%1: %2").arg(ActionBook::groupOf(action), whole.isEmpty() ? plainText(action) : whole);
}

bool beginsWord(const QString& text, qsizetype at) { return at == 0 || !text.at(at - 1).isLetterOrNumber(); }

}  // namespace

int matchScore(const QString& query, const QString& text)
{
    int score = 0;
    qsizetype from = 0, last = -2;
    for (const QChar letter : query) {
        if (letter.isSpace()) continue;
        const qsizetype at = text.indexOf(letter, from, Qt::CaseInsensitive);
        if (at < 0) return -1;
        score += at == last + 1 ? 4 : beginsWord(text, at) ? 3 : 1;
        last = at;
        from = at + 1;
    }
    const qsizetype whole = text.indexOf(query, 0, Qt::CaseInsensitive);
    if (whole >= 0 && !query.isEmpty()) score += beginsWord(text, whole) ? 40 : 20;
    return score;
}

CommandPalette::CommandPalette(const ActionBook& actions, QWidget* parent)
    : QDialog(parent, Qt::Popup),
      m_actions(actions)
{
    setObjectName(QStringLiteral("palette"));
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("Commands"));
    setAccessibleName(tr("Command palette"));
    setupWidgets();
    refill({});
    sizeDialog(*this, {520, 380});
    move(parent->mapToGlobal(QPoint((parent->width() - width()) / 2, 70)));
}

void CommandPalette::setupWidgets()
{
    m_query = new QLineEdit(this);
    m_query->setObjectName(QStringLiteral("paletteQuery"));
    m_query->setPlaceholderText(tr("Type a command…"));
    m_query->setAccessibleName(tr("Command"));
    m_query->installEventFilter(this);
    m_list = new QListWidget(this);
    m_list->setObjectName(QStringLiteral("paletteList"));
    m_list->setAccessibleName(tr("Commands"));
    m_list->setFocusPolicy(Qt::NoFocus);
    auto* column = new QVBoxLayout(this);
    column->addWidget(m_query);
    column->addWidget(m_list);
    connect(m_query, &QLineEdit::textChanged, this, &CommandPalette::refill);
    connect(m_query, &QLineEdit::returnPressed, this, &CommandPalette::runCurrent);
    connect(m_list, &QListWidget::itemClicked, this, &CommandPalette::runCurrent);
    m_query->setFocus();
}

void CommandPalette::refill(const QString& query)
{
    QVector<std::pair<int, QAction*>> found;
    for (QAction* action : m_actions.all()) {
        const int score = action->isSeparator() ? -1 : matchScore(query, labelOf(action));
        if (score >= 0) found.append({score, action});
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    m_list->clear();
    m_shown.clear();
    for (const auto& [score, action] : found) {
        const QString keys = action->shortcut().toString(QKeySequence::NativeText);
        auto* item = new QListWidgetItem(
            keys.isEmpty() ? labelOf(action) : labelOf(action) + QStringLiteral("    ") + keys, m_list);
        if (!action->isEnabled()) item->setFlags(item->flags() & ~Qt::ItemIsEnabled);
        item->setToolTip(action->statusTip());
        m_shown.append(action);
    }
    m_list->setCurrentRow(0);
}

void CommandPalette::runCurrent()
{
    QAction* action = m_shown.value(m_list->currentRow());
    if (!action || !action->isEnabled()) return;
    close();
    // Deferred until the palette is closed, so that a dialog of the action gets the focus.
    QMetaObject::invokeMethod(action, &QAction::trigger, Qt::QueuedConnection);
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        if (key == Qt::Key_Up || key == Qt::Key_Down || key == Qt::Key_PageUp || key == Qt::Key_PageDown) {
            QCoreApplication::sendEvent(m_list, event);
            return true;
        }
    }
    return QDialog::eventFilter(watched, event);
}

}  // namespace hopscope::window
