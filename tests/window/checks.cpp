#include "checks.h"

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QAbstractSpinBox>
#include <QAccessible>
#include <QComboBox>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QScrollArea>
#include <QTabBar>
#include <QTableView>
#include <QTest>
#include <QTextDocument>
#include <QTextEdit>
#include <QToolButton>
#include <QTreeView>
#include <cmath>

#include "plots/figure.h"

namespace hopscope::checks {

namespace {

constexpr double legible = 4.5;

// Parts that Qt makes for itself inside of others.
bool internal(const QWidget* widget)
{
    const QString name = widget->objectName();
    if (name.startsWith(u"qt_") || name.startsWith(u"ScrollLeft") || name.startsWith(u"ScrollRight")) return true;
    for (const QWidget* parent = widget->parentWidget(); parent; parent = parent->parentWidget())
        if (qobject_cast<const QAbstractSpinBox*>(parent) || qobject_cast<const QComboBox*>(parent)) return true;
    return widget->inherits("QComboBoxPrivateContainer") || widget->inherits("QExtensionArea");
}

bool interactive(const QWidget* widget)
{
    if (internal(widget) || widget->isHidden()) return false;
    if (const auto* label = qobject_cast<const QLabel*>(widget); label && label->text().isEmpty()) return false;
    if (const auto* tabs = qobject_cast<const QTabBar*>(widget); tabs && tabs->count() == 0) return false;
    return qobject_cast<const QAbstractButton*>(widget) || qobject_cast<const QLineEdit*>(widget) ||
           qobject_cast<const QAbstractItemView*>(widget) || qobject_cast<const QComboBox*>(widget) ||
           qobject_cast<const QAbstractSpinBox*>(widget) || qobject_cast<const QPlainTextEdit*>(widget) ||
           qobject_cast<const QTextEdit*>(widget) || qobject_cast<const QTabBar*>(widget) ||
           widget->focusPolicy() != Qt::NoFocus;
}

QString path(const QWidget* widget)
{
    QStringList names;
    for (const QWidget* at = widget; at; at = at->parentWidget())
        names.prepend(at->objectName().isEmpty() ? QString::fromLatin1(at->metaObject()->className())
                                                 : at->objectName());
    return names.join(u'/');
}

QString accessibleName(QWidget* widget)
{
    QAccessibleInterface* face = QAccessible::queryAccessibleInterface(widget);
    return face ? face->text(QAccessible::Name) : QString();
}

bool isRich(const QLabel* label)
{
    return label->textFormat() == Qt::RichText ||
           (label->textFormat() == Qt::AutoText && Qt::mightBeRichText(label->text()));
}

QSize richSize(const QLabel* label)
{
    QTextDocument document;
    document.setDefaultFont(label->font());
    document.setDocumentMargin(0);
    document.setHtml(label->text());
    if (label->wordWrap()) document.setTextWidth(label->contentsRect().width());
    return {label->wordWrap() ? 0 : static_cast<int>(document.idealWidth()),
            static_cast<int>(document.size().height())};
}

// What a label's words need on one line, or as they are wrapped.
QString clippedLabel(const QLabel* label)
{
    if (label->text().isEmpty()) return {};
    const QSize need = isRich(label)       ? richSize(label)
                       : label->wordWrap() ? QSize(0, label->heightForWidth(label->width()))
                                           : label->fontMetrics().size(Qt::TextShowMnemonic, label->text());
    const bool fits = need.width() <= label->contentsRect().width() + 1 && need.height() <= label->height() + 1;
    return fits ? QString()
                : QStringLiteral("%1: \"%2\" needs %3 x %4, has %5 x %6")
                      .arg(path(label), label->text())
                      .arg(need.width())
                      .arg(need.height())
                      .arg(label->width())
                      .arg(label->height());
}

QString clippedButton(const QAbstractButton* button)
{
    if (button->text().isEmpty()) return {};
    const int need = button->fontMetrics().size(Qt::TextShowMnemonic, button->text()).width();
    return need <= button->width() ? QString()
                                   : QStringLiteral("%1: \"%2\" does not fit").arg(path(button), button->text());
}

QStringList clippedTabs(const QTabBar* tabs)
{
    QStringList found;
    for (int i = 0; i < tabs->count(); ++i) {
        const QRect room = tabs->usesScrollButtons() ? tabs->tabRect(i) : tabs->tabRect(i) & tabs->rect();
        if (tabs->fontMetrics().size(Qt::TextShowMnemonic, tabs->tabText(i)).width() > room.width())
            found.append(QStringLiteral("%1: tab \"%2\" does not fit").arg(path(tabs), tabs->tabText(i)));
    }
    return found;
}

QStringList clippedHeader(const QHeaderView* header)
{
    QStringList found;
    if (header->orientation() != Qt::Horizontal) return found;
    for (int section = 0; section < header->count(); ++section) {
        const QString text = header->model()->headerData(section, Qt::Horizontal).toString();
        const bool seen = !header->isSectionHidden(section) && header->sectionViewportPosition(section) >= 0;
        if (seen && header->fontMetrics().horizontalAdvance(text) > header->sectionSize(section))
            found << QStringLiteral("%1: \"%2\" does not fit").arg(path(header), text);
    }
    return found;
}

// Indices that are seen, with the room for their text.
QVector<std::pair<QModelIndex, QRect>> cellsOf(const QAbstractItemView* view)
{
    QVector<std::pair<QModelIndex, QRect>> cells;
    const QAbstractItemModel* model = view->model();
    if (!model) return cells;
    const auto add = [&](const QModelIndex& index) {
        const QRect room = view->visualRect(index);
        if (!room.isEmpty() && view->viewport()->rect().contains(room) && !index.data().toString().isEmpty())
            cells.append({index, room});
    };
    if (const auto* tree = qobject_cast<const QTreeView*>(view)) {
        for (QModelIndex at = tree->indexAt({2, 2}); at.isValid(); at = tree->indexBelow(at))
            for (int column = 0; column < model->columnCount(at.parent()); ++column) add(at.siblingAtColumn(column));
        return cells;
    }
    for (int row = 0; row < model->rowCount(view->rootIndex()); ++row)
        for (int column = 0; column < model->columnCount(view->rootIndex()); ++column)
            add(model->index(row, column, view->rootIndex()));
    return cells;
}

QStringList cutCells(const QAbstractItemView* view)
{
    QStringList found;
    for (const auto& [index, room] : cellsOf(view)) {
        const QString text = index.data().toString();
        const QVariant font = index.data(Qt::FontRole);
        const QFontMetrics metrics(font.isValid() ? font.value<QFont>() : view->font());
        if (metrics.horizontalAdvance(text.section(u'\n', 0, 0)) <= room.width()) continue;
        if (index.data(Qt::ToolTipRole).toString().isEmpty())
            found << QStringLiteral("%1: \"%2\" is cut and has no tip").arg(path(view), text);
    }
    return found;
}

bool scrolls(const QWidget* parent)
{
    return parent->parentWidget() && qobject_cast<const QAbstractScrollArea*>(parent->parentWidget()) &&
           static_cast<const QAbstractScrollArea*>(parent->parentWidget())->viewport() == parent;
}

// A parent that is too small hides what stands in it, unless it scrolls.
QString hiddenByParent(const QWidget* widget)
{
    for (const QWidget* parent = widget->parentWidget(); parent && !widget->isWindow();
         parent = parent->parentWidget()) {
        if (scrolls(parent)) return {};
        const QRect place(widget->mapTo(parent, QPoint()), widget->size());
        if (!parent->rect().adjusted(-1, -1, 1, 1).contains(place))
            return QStringLiteral("%1 is partly hidden by %2").arg(path(widget), parent->objectName());
        if (parent->isWindow()) break;
    }
    return {};
}

double luminance(const QColor& colour)
{
    const auto linear = [](double c) { return c <= 0.03928 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); };
    return 0.2126 * linear(colour.redF()) + 0.7152 * linear(colour.greenF()) + 0.0722 * linear(colour.blueF());
}

// Of the most frequent colour of a region and the one farthest from it: thin strokes are blurred, but their darkest pixels
// tell the colour of the text.
double contrastIn(const QImage& region)
{
    QHash<QRgb, int> counts;
    for (int y = 0; y < region.height(); ++y)
        for (int x = 0; x < region.width(); ++x) ++counts[region.pixel(x, y)];
    QRgb ground = 0;
    int most = 0;
    for (auto it = counts.begin(); it != counts.end(); ++it) {
        if (it.value() > most) {
            most = it.value();
            ground = it.key();
        }
    }
    double best = 1;
    for (auto it = counts.begin(); it != counts.end(); ++it) {
        const double a = luminance(QColor(ground)), b = luminance(QColor(it.key()));
        best = std::max(best, (std::max(a, b) + 0.05) / (std::min(a, b) + 0.05));
    }
    return best;
}

bool onScreen(const QWidget* widget)
{
    return widget->isVisible() &&
           widget->visibleRegion().boundingRect().contains(widget->rect().adjusted(1, 1, -1, -1));
}

}  // namespace

QStringList unnamedWidgets(const QWidget& window)
{
    QStringList found;
    for (QWidget* widget : window.findChildren<QWidget*>()) {
        if (!interactive(widget)) continue;
        if (accessibleName(widget).isEmpty())
            found.append(QStringLiteral("%1 has no accessible name").arg(path(widget)));
        if (widget->objectName().isEmpty()) found.append(QStringLiteral("%1 has no object name").arg(path(widget)));
    }
    return found;
}

QStringList clippedTexts(const QWidget& window)
{
    QStringList found = plots::crowdedLabels(window);
    for (const QWidget* widget : window.findChildren<QWidget*>()) {
        if (!widget->isVisible() || internal(widget)) continue;
        const bool holdsText = qobject_cast<const QLabel*>(widget) || qobject_cast<const QAbstractButton*>(widget);
        if (holdsText && !widget->visibleRegion().isEmpty()) found.append(hiddenByParent(widget));
        if (!onScreen(widget)) continue;
        if (const auto* label = qobject_cast<const QLabel*>(widget)) found.append(clippedLabel(label));
        if (const auto* button = qobject_cast<const QAbstractButton*>(widget)) found.append(clippedButton(button));
        if (const auto* tabs = qobject_cast<const QTabBar*>(widget)) found.append(clippedTabs(tabs));
        if (const auto* header = qobject_cast<const QHeaderView*>(widget)) found.append(clippedHeader(header));
        else if (const auto* view = qobject_cast<const QAbstractItemView*>(widget)) found.append(cutCells(view));
    }
    found.removeAll(QString());
    return found;
}

QStringList overlaps(const QWidget& window)
{
    QStringList found;
    for (const QWidget* parent : window.findChildren<QWidget*>()) {
        if (!parent->isVisible() || !parent->layout()) continue;
        QVector<const QWidget*> items;
        for (int i = 0; i < parent->layout()->count(); ++i) {
            const QWidget* item = parent->layout()->itemAt(i)->widget();
            if (item && item->isVisible()) items.append(item);
        }
        for (int i = 0; i < items.size(); ++i)
            for (int j = i + 1; j < items.size(); ++j)
                if (items[i]->geometry().intersects(items[j]->geometry()))
                    found.append(QStringLiteral("%1 and %2 overlap").arg(path(items[i]), path(items[j])));
    }
    return found;
}

namespace {

// The places in a widget where something is written, with what.
QVector<std::pair<QRect, QString>> textsOf(const QWidget* widget)
{
    if (const auto* label = qobject_cast<const QLabel*>(widget)) return {{label->rect(), label->text()}};
    if (const auto* button = qobject_cast<const QAbstractButton*>(widget))
        return {{button->rect().adjusted(3, 3, -3, -3), button->text()}};
    if (const auto* edit = qobject_cast<const QLineEdit*>(widget))
        return {{edit->rect().adjusted(3, 3, -3, -3), edit->text()}};
    if (const auto* box = qobject_cast<const QComboBox*>(widget))
        return {{box->rect().adjusted(4, 4, -24, -4), box->currentText()}};
    QVector<std::pair<QRect, QString>> texts;
    const auto scrolledTo = [](const QTabBar& bar, const QRect& tab) {  // else its end lies below the arrows
        return std::ranges::none_of(bar.findChildren<QToolButton*>(), [&](const QToolButton* arrow) {
            return arrow->isVisible() && arrow->geometry().left() < tab.right();
        });
    };
    if (const auto* tabs = qobject_cast<const QTabBar*>(widget))
        for (int i = 0; i < tabs->count(); ++i)
            if (scrolledTo(*tabs, tabs->tabRect(i)))
                texts.append({tabs->tabRect(i).adjusted(4, 4, -4, -6), tabs->tabText(i)});
    const auto* header = qobject_cast<const QHeaderView*>(widget);
    if (header && header->orientation() == Qt::Horizontal)
        for (int i = 0; i < header->count(); ++i)
            if (!header->isSectionHidden(i))
                texts.append({QRect(header->sectionViewportPosition(i), 0, header->sectionSize(i), header->height()),
                              header->model()->headerData(i, Qt::Horizontal).toString()});
    if (const auto* view = qobject_cast<const QAbstractItemView*>(widget); view && !header)
        for (const auto& [index, room] : cellsOf(view))
            texts.append({room.translated(view->viewport()->pos()), index.data().toString()});
    return texts;
}

}  // namespace

QStringList paleTexts(const QWidget& window, const QImage& picture)
{
    QStringList found;
    const double scale = picture.devicePixelRatio();
    for (const QWidget* widget : window.findChildren<QWidget*>()) {
        if (!onScreen(widget) || !widget->isEnabled()) continue;
        for (const auto& [place, text] : textsOf(widget)) {
            const QRect seen = place & widget->rect();
            if (text.trimmed().isEmpty() || seen.width() < 4 || seen.height() < 4) continue;
            const QRect where(widget->mapTo(&window, seen.topLeft()), seen.size());
            const double contrast = contrastIn(picture.copy(QRect(where.topLeft() * scale, where.size() * scale)));
            if (contrast < legible)
                found.append(
                    QStringLiteral("%1: \"%2\" has a contrast of %3").arg(path(widget), text).arg(contrast, 0, 'f', 1));
        }
    }
    return found;
}

QStringList lasting(const std::function<QStringList()>& find)
{
    constexpr int moment = 50, most = 20'000;  // milliseconds
    QStringList found;
    QTest::qWait(moment);
    static_cast<void>(QTest::qWaitFor([&] { return (found = find()).isEmpty(); }, most));
    return found;
}

}  // namespace hopscope::checks
