#include "checks.h"

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QAbstractSpinBox>
#include <QAccessible>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QScrollArea>
#include <QTabBar>
#include <QTextEdit>
#include <cmath>

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

// The width that a label's words need on one line, or as they are wrapped.
QString clippedLabel(const QLabel* label)
{
    if (label->text().isEmpty() || label->textFormat() == Qt::RichText) return {};
    const QSize need = label->wordWrap() ? QSize(0, label->heightForWidth(label->width()))
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
    for (int i = 0; i < tabs->count(); ++i)
        if (tabs->fontMetrics().size(Qt::TextShowMnemonic, tabs->tabText(i)).width() > tabs->tabRect(i).width())
            found.append(QStringLiteral("%1: tab \"%2\" does not fit").arg(path(tabs), tabs->tabText(i)));
    return found;
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
    QStringList found;
    for (const QWidget* widget : window.findChildren<QWidget*>()) {
        if (!onScreen(widget) || internal(widget)) continue;
        if (const auto* label = qobject_cast<const QLabel*>(widget)) found.append(clippedLabel(label));
        if (const auto* button = qobject_cast<const QAbstractButton*>(widget)) found.append(clippedButton(button));
        if (const auto* tabs = qobject_cast<const QTabBar*>(widget)) found.append(clippedTabs(tabs));
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

QStringList paleTexts(const QWidget& window, const QImage& picture)
{
    QStringList found;
    const double scale = picture.devicePixelRatio();
    for (const QLabel* label : window.findChildren<QLabel*>()) {
        if (!onScreen(label) || label->text().trimmed().isEmpty() || label->width() < 4 || !label->isEnabled())
            continue;
        const QRect where(label->mapTo(&window, QPoint(0, 0)), label->size());
        const QRect pixels(where.topLeft() * scale, where.size() * scale);
        const double contrast = contrastIn(picture.copy(pixels));
        if (contrast < legible)
            found.append(QStringLiteral("%1: \"%2\" has a contrast of %3")
                             .arg(path(label), label->text())
                             .arg(contrast, 0, 'f', 1));
    }
    return found;
}

}  // namespace hopscope::checks
