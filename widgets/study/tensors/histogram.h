#pragma once

// Shows the distribution of the numbers of a tensor: the bins of its histogram as bars, in the colours that the heat
// map gives to such numbers.

#include <QWidget>

#include "schema/tensor.h"
#include "style/theme.h"

namespace hopscope::study {

class Histogram : public QWidget {
    Q_OBJECT
public:
    explicit Histogram(QWidget* parent = nullptr);
    void display(const schema::Statistics& statistics);
    void setTheme(const style::Theme& theme);
    [[nodiscard]] QSize sizeHint() const override { return {320, 84}; }
    [[nodiscard]] QSize minimumSizeHint() const override { return {160, 64}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;

private:
    [[nodiscard]] QRectF room() const;
    [[nodiscard]] QRectF bar(int part) const;
    [[nodiscard]] double edge(int part) const;
    [[nodiscard]] QString partText(int part) const;

    schema::Statistics m_statistics;
    style::Theme m_theme;
};

}  // namespace hopscope::study
