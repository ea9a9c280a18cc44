#include "manual/term_tips.h"

#include <QAbstractButton>
#include <QApplication>
#include <QDockWidget>
#include <QHeaderView>
#include <QHelpEvent>
#include <QLabel>
#include <QTabBar>
#include <QTextDocumentFragment>
#include <QToolTip>

#include "manual/glossary.h"

namespace hopscope::manual {

namespace {

constexpr qsizetype longest = 60;  // of a text that is a label and not a sentence

QHeaderView* headerOf(QWidget& viewport)
{
    auto* header = qobject_cast<QHeaderView*>(viewport.parentWidget());
    return header != nullptr && header->viewport() == &viewport && header->model() != nullptr ? header : nullptr;
}

QString headerText(const QHeaderView& header, QPoint at, int role)
{
    const int section = header.logicalIndexAt(at);
    return section < 0 ? QString() : header.model()->headerData(section, header.orientation(), role).toString();
}

QString ownTip(QWidget& widget, QPoint at)
{
    if (const QHeaderView* header = headerOf(widget)) return headerText(*header, at, Qt::ToolTipRole);
    if (const auto* tabs = qobject_cast<const QTabBar*>(&widget)) return tabs->tabToolTip(tabs->tabAt(at));
    return widget.toolTip();
}

}  // namespace

QString shownText(QWidget& widget, QPoint at)
{
    QString text;
    if (const QHeaderView* header = headerOf(widget)) text = headerText(*header, at, Qt::DisplayRole);
    else if (const auto* label = qobject_cast<const QLabel*>(&widget)) text = label->text();
    else if (const auto* button = qobject_cast<const QAbstractButton*>(&widget)) text = button->text();
    else if (const auto* dock = qobject_cast<const QDockWidget*>(&widget)) text = dock->windowTitle();
    else if (const auto* tabs = qobject_cast<const QTabBar*>(&widget)) text = tabs->tabText(tabs->tabAt(at));
    if (Qt::mightBeRichText(text)) text = QTextDocumentFragment::fromHtml(text).toPlainText();
    text.remove(u'&');
    return text.size() > longest ? QString() : text;
}

QString tipAt(QWidget& widget, QPoint at)
{
    const QString meaning = definitionsIn(shownText(widget, at)), own = ownTip(widget, at);
    if (meaning.isEmpty() || own.isEmpty()) return meaning + own;
    return (Qt::mightBeRichText(own) ? own : QStringLiteral("<p>%1</p>").arg(own.toHtmlEscaped())) + meaning;
}

TermTips::TermTips(QObject* parent) : QObject(parent) { qApp->installEventFilter(this); }

bool TermTips::eventFilter(QObject* watched, QEvent* event)
{
    auto* widget = event->type() == QEvent::ToolTip ? qobject_cast<QWidget*>(watched) : nullptr;
    if (widget == nullptr) return false;
    const auto* help = static_cast<QHelpEvent*>(event);
    if (definitionsIn(shownText(*widget, help->pos())).isEmpty()) return false;
    QToolTip::showText(help->globalPos(), tipAt(*widget, help->pos()), widget);
    return true;
}

}  // namespace hopscope::manual
