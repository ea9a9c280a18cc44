#include "panels/compare_bars.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "base/rules.h"
#include "models/front.h"
#include "models/labels.h"

namespace hopscope::panels {

namespace {

constexpr int gap = 10;

void add(std::vector<PlanBar>& bars, const QString& name, const models::PlanPtr& plan, bool current)
{
    if (!plan || !plan->predicted) return;
    const bool timed = plan->objective == base::Objective::Time && plan->cost && *plan->cost > 0;
    bars.push_back({.name = name,
                    .written = plan->predicted->d2h,
                    .read = plan->predicted->h2d,
                    .cost = timed ? plan->cost : std::nullopt,
                    .current = current});
}

QString describe(const PlanBar& bar)
{
    const QString bytes = CompareBars::tr("%1: %2 written, %3 read")
                              .arg(bar.name, models::formatBytes(static_cast<double>(bar.written)),
                                   models::formatBytes(static_cast<double>(bar.read)));
    if (!bar.cost) return bytes;
    return CompareBars::tr("%1, at a cost of %2").arg(bytes, models::formatSecondsFinely(*bar.cost));
}

std::int64_t lengthOf(const PlanBar& bar) { return bar.cost ? std::llround(*bar.cost * 1e9) : bar.total(); }

}  // namespace

std::vector<PlanBar> planBars(const models::Document& document)
{
    std::vector<PlanBar> bars;
    add(bars, CompareBars::tr("your plan"), document.plan(), true);
    const auto compareWith = [&](base::Strategy other) {
        const models::PlanPtr plan = document.reference(other);
        if (plan) add(bars, models::planLabel(*plan), plan, false);
    };
    compareWith(base::Strategy::Optimal);
    std::ranges::for_each(base::rules, compareWith);
    if (!std::ranges::all_of(bars, [](const PlanBar& bar) { return bar.cost.has_value(); }))
        for (PlanBar& bar : bars) bar.cost.reset();
    return bars;
}

QString barText(const PlanBar& bar, const PlanBar& own)
{
    if (!bar.cost || !own.cost) return models::formatBytes(static_cast<double>(bar.total()));
    const QString cost = models::formatSecondsFinely(*bar.cost);
    if (bar.current) return cost;
    const double more = 100 * (*bar.cost / *own.cost - 1);
    if (std::abs(more) < 0.05) return CompareBars::tr("%1 \u00b7 same").arg(cost);
    const QString change = QString::number(std::abs(more), 'f', std::abs(more) < 10 ? 1 : 0);
    return (more > 0 ? CompareBars::tr("%1 \u00b7 +%2 %") : CompareBars::tr("%1 \u00b7 \u2212%2 %")).arg(cost, change);
}

int barLength(std::int64_t part, std::int64_t longest, int width)
{
    if (part <= 0 || longest <= 0) return 0;
    return std::max(1, static_cast<int>(static_cast<double>(part) / static_cast<double>(longest) * width));
}

CompareBars::CompareBars(QWidget* parent) : QWidget(parent)
{
    setObjectName(QStringLiteral("compareBars"));
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
}

void CompareBars::setBars(std::vector<PlanBar> bars)
{
    m_bars = std::move(bars);
    QStringList lines;
    for (const PlanBar& bar : m_bars) lines << describe(bar);
    setAccessibleName(tr("Plans compared"));
    setAccessibleDescription(lines.join(QStringLiteral("; ")));
    setVisible(!m_bars.empty());
    updateGeometry();
    update();
}

void CompareBars::setTheme(const style::Theme& theme)
{
    m_theme = theme;
    update();
}

int CompareBars::lineHeight() const { return fontMetrics().height() + 8; }

int CompareBars::namesWidth() const
{
    int width = 0;
    for (const PlanBar& bar : m_bars) width = std::max(width, fontMetrics().horizontalAdvance(bar.name));
    return width + gap;
}

QSize CompareBars::sizeHint() const { return {320, static_cast<int>(m_bars.size()) * lineHeight()}; }

void CompareBars::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    int top = 0;
    for (const PlanBar& bar : m_bars) {
        paintBar(painter, bar, top);
        top += lineHeight();
    }
}

int CompareBars::textsWidth() const
{
    int width = 0;
    for (const PlanBar& bar : m_bars)
        width = std::max(width, fontMetrics().horizontalAdvance(barText(bar, m_bars.front())));
    return width;
}

void CompareBars::paintBar(QPainter& painter, const PlanBar& bar, int top) const
{
    std::int64_t longest = 0;
    for (const PlanBar& each : m_bars) longest = std::max(longest, lengthOf(each));
    const int left = namesWidth(), room = std::max(20, width() - left - gap - textsWidth());
    const int thick = std::min(12, lineHeight() - 6), y = top + (lineHeight() - thick) / 2;
    const int all = barLength(lengthOf(bar), longest, room);
    const int strongPart = bar.cost ? all : barLength(bar.written, longest, room);
    const QColor strong = bar.current ? m_theme.checkpoint : m_theme.edge;
    QColor pale = strong;
    pale.setAlphaF(0.5F);
    painter.setPen(bar.current ? m_theme.text : m_theme.textMuted);
    painter.drawText(QRect(0, top, left, lineHeight()), Qt::AlignVCenter, bar.name);
    painter.setPen(Qt::NoPen);
    painter.setBrush(strong);
    painter.drawRoundedRect(QRect(left, y, strongPart, thick), 2, 2);
    painter.setBrush(pale);
    if (all > strongPart + 1) painter.drawRoundedRect(QRect(left + strongPart + 1, y, all - strongPart, thick), 2, 2);
    painter.setPen(m_theme.textMuted);
    painter.drawText(QRect(left + all + gap, top, width(), lineHeight()), Qt::AlignVCenter,
                     barText(bar, m_bars.front()));
}

bool CompareBars::event(QEvent* event)
{
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    auto* help = static_cast<QHelpEvent*>(event);
    const int line = help->pos().y() / lineHeight();
    if (line >= 0 && static_cast<std::size_t>(line) < m_bars.size())
        QToolTip::showText(help->globalPos(), describe(m_bars[static_cast<std::size_t>(line)]), this);
    return true;
}

}  // namespace hopscope::panels
