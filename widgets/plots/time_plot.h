#pragma once

// Plots one quantity over the time of a run, with the stages as bands behind it, a limit, and a predicted level per
// stage. Drawing takes time proportional to the pixels, not to the points. The wheel zooms, dragging pans, and a double
// click shows everything again.

#include <QWidget>
#include <memory>
#include <optional>
#include <vector>

#include "plots/axis_units.h"
#include "plots/figure.h"
#include "plots/series.h"
#include "protocol/model.h"
#include "style/theme.h"

namespace hopscope::plots {

struct Band {
    protocol::StageId stage{1};
    double from = 0, to = 0;      // seconds
    std::optional<double> level;  // predicted, in the unit of the plot
    bool operator==(const Band&) const = default;
};

class TimePlot : public QWidget, public Figure {
    Q_OBJECT
public:
    TimePlot(const QString& title, Unit unit, QWidget* parent = nullptr);
    ~TimePlot() override;

    [[nodiscard]] Series& series();  // append to it, then refresh()
    // Returns a second line in the unit of the first, without a fill. It appears in the legend once it has points and a
    // name.
    [[nodiscard]] Series& second();
    void setSecondName(const QString& name);
    void setOther(const QString& title, std::vector<double> perStage);  // another run's value per band; empty: none
    void setBands(std::vector<Band> bands);
    void setLimit(std::optional<double> limit);
    void setEnd(double seconds, bool finished);  // the time reached by the run; a finished run fills the width
    void setSelected(protocol::StageId stage);   // invalid: none
    void setTheme(const style::Theme& theme);
    void refresh();  // draws the changes, unless the curve has moved by less than a pixel
    [[nodiscard]] int drawnPoints() const;
    void zoom(double from, double to);  // in seconds; from >= to: shows everything

    [[nodiscard]] QString figureTitle() const override;
    void paintFigure(QPainter& painter, const QSize& size) override;
    [[nodiscard]] const Legend* figureLegend() const override;
    [[nodiscard]] QString csv() const override;

signals:
    void stageClicked(hopscope::protocol::StageId stage);

protected:
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

}  // namespace hopscope::plots
