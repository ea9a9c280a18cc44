#pragma once

// Horizontal bars that compare plans by their costs, or by bytes written and read, one plan per line.

#include <QColor>
#include <QWidget>
#include <cstdint>
#include <vector>

#include "models/document.h"
#include "style/theme.h"

namespace hopscope::panels {

struct PlanBar {
    QString name;
    std::int64_t written = 0, read = 0;
    std::optional<double> cost{};  // in seconds, where plans are judged by time
    bool current = false;          // the current plan
    [[nodiscard]] std::int64_t total() const { return written + read; }
    bool operator==(const PlanBar&) const = default;
};

// The current plan and those it is compared with; a plan without a prediction has no bar. Costs are those by which the
// optimiser ranks plans; without them, bytes are compared.
std::vector<PlanBar> planBars(const models::Document& document);
// How many pixels of `width` a part of a bar takes when the longest bar takes all of it.
int barLength(std::int64_t part, std::int64_t longest, int width);

// The text next to a bar, for the same number: "660 KiB", or with costs "1.3 ms" and, against `own`, "1.4 ms · +8.2 %".
QString barText(const PlanBar& bar, const PlanBar& own);

// Bars of the plans' time costs or, where bytes are the objective, of the bytes that they write and read.
class CompareBars : public QWidget {
    Q_OBJECT
public:
    explicit CompareBars(QWidget* parent = nullptr);
    void setBars(std::vector<PlanBar> bars);
    [[nodiscard]] const std::vector<PlanBar>& bars() const { return m_bars; }
    void setTheme(const style::Theme& theme);
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override { return {160, sizeHint().height()}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;

private:
    [[nodiscard]] int lineHeight() const;
    [[nodiscard]] int namesWidth() const;
    [[nodiscard]] int textsWidth() const;
    void paintBar(QPainter& painter, const PlanBar& bar, int top) const;

    std::vector<PlanBar> m_bars;
    style::Theme m_theme;
};

}  // namespace hopscope::panels
