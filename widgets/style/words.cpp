#include "style/words.h"

#include <QAccessible>
#include <algorithm>

namespace hopscope::style {

QString fitting(const QFontMetrics& metrics, const QString& text, int room)
{
    const QString shown = metrics.elidedText(text, Qt::ElideRight, std::max(0, room));
    const bool some = shown.size() > 2 || shown == text;
    return some && metrics.horizontalAdvance(shown) <= room ? shown : QString();
}

void announce(QWidget& widget, const QString& words)
{
    if (words == widget.accessibleDescription()) return;
    widget.setAccessibleDescription(words);
    QAccessibleEvent event(&widget, QAccessible::DescriptionChanged);
    QAccessible::updateAccessibility(&event);
}

}  // namespace hopscope::style
