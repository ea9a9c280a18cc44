#pragma once

// Shows horizontal bars that compare plans by their costs, or by bytes written and read, one plan per line.

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
    std::optional<double> cost{};  // in seconds, if plans are compared by time
    bool current = false;          // the current plan
    [[nodiscard]] std::int64_t total() const { return written + read; }
    bool operator==(const PlanBar&) const = default;
};

// Returns bars for the current plan and those it is compared with; a plan without a prediction has none. Costs are
// those by which the optimiser ranks plans; without costs, bytes are compared.
std::vector<PlanBar> planBars(const models::Document& document);
// Returns how many of `width` pixels a part of a bar takes if the longest bar takes all of them.
int barLength(std::int64_t part, std::int64_t longest, int width);

// Returns the text next to a bar: "660 KiB", or with costs "1.3 ms" and, compared with `own`, "1.4 ms · +8.2 %".
QString barText(const PlanBar& bar, const PlanBar& own);

// Shows bars of the plans' time costs or, if bytes are the objective, of the bytes that the plans write and read.
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
