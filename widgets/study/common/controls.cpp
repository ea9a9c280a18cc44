#include "study/common/controls.h"

namespace hopscope::study {

QPushButton* button(const char* name, const QString& title, const QString& tip, QWidget* parent)
{
    auto* made = new QPushButton(title, parent);
    made->setObjectName(QLatin1String(name));
    made->setAccessibleName(QString(title).remove(u'&').remove(u'…'));
    made->setToolTip(tip);
    made->setAutoDefault(false);
    return made;
}

QLineEdit* field(const char* name, const QString& title, QWidget* parent)
{
    auto* edit = new QLineEdit(parent);
    edit->setObjectName(QLatin1String(name));
    edit->setAccessibleName(title);
    edit->setToolTip(title);
    return edit;
}

std::vector<std::int64_t> rowNumbers(const QString& list)
{
    std::vector<std::int64_t> numbers;
    for (const QString& each : list.split(u',', Qt::SkipEmptyParts)) {
        bool fine = false;
        numbers.push_back(each.trimmed().toLongLong(&fine));
        if (!fine || numbers.back() < 0) return {};
    }
    return numbers;
}

}  // namespace hopscope::study
