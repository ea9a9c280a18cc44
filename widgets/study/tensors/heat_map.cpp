#include "study/tensors/heat_map.h"

#include <QHeaderView>
#include <QPainter>
#include <QScrollBar>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

namespace hopscope::study {

QColor heatColour(const style::Theme& theme, double number, double least, double most)
{
    if (!std::isfinite(number)) return theme.bad;
    const auto last = static_cast<double>(theme.scale.size() - 1);
    const double share = most > least ? std::clamp((number - least) / (most - least), 0.0, 1.0) : 0.5;
    const double place = share * last;
    const auto below = static_cast<qsizetype>(std::floor(place));
    const QColor from = theme.scale[below], to = theme.scale[std::min<qsizetype>(below + 1, theme.scale.size() - 1)];
    const double part = place - std::floor(place);
    const auto mixed = [&](int a, int b) { return static_cast<int>(std::lround(a + part * (b - a))); };
    return {mixed(from.red(), to.red()), mixed(from.green(), to.green()), mixed(from.blue(), to.blue())};
}

HeatMap::HeatMap(TensorModel& model, QTableView& table, QWidget* parent)
    : QWidget(parent),
      m_model(model),
      m_table(table)
{
    setObjectName(QStringLiteral("tensorHeat"));
    setAccessibleName(tr("Heat map of the visible rows"));
    setToolTip(tr("Numbers of these rows, coloured from the minimum to the maximum of the tensor"));
    connect(table.verticalScrollBar(), &QScrollBar::valueChanged, this, qOverload<>(&QWidget::update));
    connect(&model, &TensorModel::rowsCame, this, qOverload<>(&QWidget::update));
    connect(&model, &QAbstractItemModel::modelReset, this, qOverload<>(&QWidget::update));
}

void HeatMap::setRange(double least, double most)
{
    m_least = least;
    m_most = most;
    update();
}

void HeatMap::setTheme(const style::Theme& theme)
{
    m_theme = theme;
    update();
}

void HeatMap::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    const QWidget* viewport = m_table.viewport();
    const int top = viewport->mapTo(m_table.window(), QPoint()).y() - mapTo(window(), QPoint()).y();
    const int height = m_table.verticalHeader()->defaultSectionSize();
    const int first = m_table.rowAt(0), count = m_model.rowCount();
    if (first < 0 || m_theme.scale.isEmpty()) return;
    for (int row = first; row < count; ++row) {
        const int y = m_table.rowViewportPosition(row);
        if (y >= viewport->height()) break;
        paintRow(painter, row, QRect(0, top + y, width(), std::min(height, viewport->height() - y)));
    }
}

// Cells are at least one pixel wide: if there are more numbers than pixels, each pixel shows the number farthest from the
// middle, or one that is not finite.
void HeatMap::paintRow(QPainter& painter, int row, const QRect& place) const
{
    const double* numbers = m_model.rowNumbers(row);
    const int columns = m_model.columnCount();
    if (numbers == nullptr || columns == 0) return;
    const int pixels = std::min(columns, width());
    const double middle = (m_least + m_most) / 2;
    const auto weight = [&](double number) { return std::isfinite(number) ? std::abs(number - middle) : INFINITY; };
    for (int pixel = 0; pixel < pixels; ++pixel) {
        const double* begin = numbers + static_cast<qint64>(pixel) * columns / pixels;
        const double* end = numbers + static_cast<qint64>(pixel + 1) * columns / pixels;
        const double* most = std::max_element(begin, end, [&](double a, double b) { return weight(a) < weight(b); });
        const int left = pixel * place.width() / pixels, right = (pixel + 1) * place.width() / pixels;
        painter.fillRect(QRect(left, place.top(), right - left, place.height()),
                         heatColour(m_theme, *most, m_least, m_most));
    }
}

void HeatMap::wheelEvent(QWheelEvent* event) { QCoreApplication::sendEvent(m_table.verticalScrollBar(), event); }

}  // namespace hopscope::study
