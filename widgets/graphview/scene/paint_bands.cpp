// Bands of stages, and the frames of modules over them.

#include <QFontMetricsF>

#include "graphview/scene/paint_parts.h"
#include "models/labels.h"
#include "models/tr.h"

namespace hopscope::graphview {

namespace {

constexpr qreal cornerRadius = 9;

struct Progress {
    qreal share = 0;  // of all stages of a band, each as long as the others
    double seconds = 0;
    bool begun = false, finished = true;
};

Progress progressOf(const models::RunLog& run, const Band& band)
{
    Progress sum;
    const int count = band.last.number - band.stage.number + 1;
    int seen = 0;
    for (const models::StageProgress& stage : run.stages()) {
        if (stage.index < band.stage || stage.index > band.last) continue;
        const qreal share = stage.destinations > 0 ? qreal(stage.done) / qreal(stage.destinations) : 0;
        sum.share += (stage.finished ? 1 : std::min(share, 1.0)) / count;
        sum.seconds += stage.seconds;
        sum.begun = true;
        sum.finished = sum.finished && stage.finished;
        ++seen;
    }
    sum.finished = sum.finished && seen == count;
    return sum;
}

// During and after a run, shows the completed share of the band's stages.
void paintProgress(const PaintContext& c, const Band& band, QPointF at)
{
    const Progress progress = c.state.run ? progressOf(*c.state.run, band) : Progress();
    if (!progress.begun) return;
    const QRectF bar(at, QSizeF(92, 5));
    c.painter.setPen(Qt::NoPen);
    c.painter.setBrush(c.theme.border);
    c.painter.drawRoundedRect(bar, 2.5, 2.5);
    c.painter.setBrush(progress.finished ? c.theme.good : c.theme.accent);
    c.painter.drawRoundedRect(QRectF(bar.topLeft(), QSizeF(bar.width() * progress.share, 5)), 2.5, 2.5);
    if (c.state.scale < detailScale) return;
    c.painter.setPen(c.theme.textMuted);
    c.painter.setFont(legibleFont(c, detailFont()));
    const QString state = progress.finished ? tr("done") : QStringLiteral("%1 %").arg(int(progress.share * 100));
    c.painter.drawText(at + QPointF(0, 20),
                       models::formatSeconds(progress.seconds) + QStringLiteral(" \u00b7 ") + state);
}

void paintBandTitle(const PaintContext& c, const Band& band)
{
    const bool first = !band.stage.valid();
    if (c.scene.staging.count == 0 && !first) return;
    QFont font = legibleFont(c, labelFont());
    c.painter.setFont(font);
    c.painter.setPen(c.theme.textMuted);
    const int height = font.pixelSize();
    const QPointF at(c.state.titleX + 14, band.top + 7 + height);
    const QString title = bandTitle(band);
    const QSizeF size(QFontMetricsF(font).horizontalAdvance(title), height + 1);
    const QRectF place(at - QPointF(0, height - 1), size);
    if (band.bottom < place.bottom() || c.scene.nodeIndex.count(place, 1) > 0) return;
    c.painter.drawText(at, title);
    if (!first) return paintProgress(c, band, at + QPointF(0, 10));
    if (c.state.scale < detailScale) return;
    font = legibleFont(c, detailFont());
    font.setItalic(true);
    c.painter.setFont(font);
    const QRectF below(at + QPointF(0, 4), QSizeF(80, 14));
    if (c.scene.nodeIndex.count(below, 1) == 0) c.painter.drawText(at + QPointF(0, 16), tr("structure only"));
}

}  // namespace

QString bandTitle(const Band& band)
{
    if (!band.stage.valid()) return tr("Prologue (once per graph)");
    return band.last == band.stage ? tr("Stage %1").arg(band.stage.number)
                                   : tr("Stages %1\u2013%2").arg(band.stage.number).arg(band.last.number);
}

void paintBands(const PaintContext& c, const QRectF& exposed)
{
    const qreal top = c.scene.bands.empty() ? exposed.bottom() : c.scene.bands.front().top;
    const qreal bottom = c.scene.bands.empty() ? exposed.bottom() : c.scene.bands.back().bottom;
    const auto fillOutside = [&](qreal from, qreal to) {
        const QRectF area(exposed.left(), from, exposed.width(), to - from);
        if (to > from) c.painter.fillRect(area, c.theme.panel);
    };
    fillOutside(exposed.top(), std::min(top, exposed.bottom()));
    fillOutside(std::max(bottom, exposed.top()), exposed.bottom());
    for (const Band& band : c.scene.bands) {
        const QRectF area(exposed.left(), band.top, exposed.width(), band.bottom - band.top);
        if (!area.intersects(exposed)) continue;
        const QColor fill = !band.stage.valid()     ? c.theme.prologueBand
                            : band.stage.number % 2 ? c.theme.bandA
                                                    : c.theme.bandB;
        c.painter.fillRect(area, fill);
        if (c.state.stage.valid() && band.stage <= c.state.stage && c.state.stage <= band.last) {
            QColor tint = c.theme.accent;
            tint.setAlphaF(0.07F);
            c.painter.fillRect(area, tint);
        }
    }
}

void paintFrames(const PaintContext& c, const QRectF& exposed)
{
    for (std::size_t i = 0; i < c.scene.frames.size(); ++i) {
        const QRectF& frame = c.scene.frames[i];
        if (frame.isNull() || !frame.intersects(exposed)) continue;
        QColor fill = c.theme.panel;
        fill.setAlphaF(c.theme.dark ? 0.25F : 0.55F);
        c.painter.setPen(QPen(c.theme.border, 1));
        // Only the outermost is filled: every further one would cost as much as the whole picture.
        int parent = c.scene.graph->frames[i].parent;
        while (parent >= 0 && c.scene.frames[parent].isNull()) parent = c.scene.graph->frames[parent].parent;
        if (frame.adjusted(cornerRadius, frameTitle, -cornerRadius, -cornerRadius).contains(exposed)) {
            if (parent < 0) c.painter.fillRect(exposed, fill);  // a rounded path of that size takes 10 ms
            continue;                                           // nothing else of it is seen
        }
        c.painter.setBrush(parent < 0 ? QBrush(fill) : QBrush(Qt::NoBrush));
        c.painter.drawRoundedRect(frame.intersected(exposed.adjusted(-40, -40, 40, 40)), cornerRadius, cornerRadius);
        if (c.state.scale < titleScale) continue;
        c.painter.setFont(legibleFont(c, detailFont()));
        const QFontMetricsF metrics(c.painter.font());
        c.painter.setPen(c.theme.textMuted);
        // Left of the middle, where edges come in; the type is left out where there is no room for it.
        const QString sign = c.state.picture ? QString() : QStringLiteral("\u2212  ");
        const QString title = sign + c.scene.graph->frames[i].title;
        const qreal room = frame.width() / 2 - 18;
        const QString shown = metrics.horizontalAdvance(title) <= room
                                  ? title
                                  : title.section(QStringLiteral("  "), 0, sign.isEmpty() ? 0 : 1);
        c.painter.drawText(frame.topLeft() + QPointF(10, 15),
                           metrics.elidedText(shown, Qt::ElideMiddle, frame.width() - 20));
    }
}

// Over the frames: a module may reach over several stages.
void paintBandEdges(const PaintContext& c, const QRectF& exposed)
{
    for (const Band& band : c.scene.bands) {
        if (band.bottom < exposed.top() || band.bottom > exposed.bottom()) continue;
        c.painter.setPen(QPen(c.theme.border, 1));
        c.painter.drawLine(QPointF(exposed.left(), band.bottom), QPointF(exposed.right(), band.bottom));
    }
    if (c.state.scale < textScale) return;
    for (std::size_t band = 0; band < c.scene.bands.size(); ++band) {
        paintBandTitle(c, c.scene.bands[band]);
        if (band >= c.state.bandBreakpoints.size()) continue;
        const QPointF before(c.state.titleX + 7, c.scene.bands[band].top + 15);
        paintBreakpointMark(c.painter, before, c.state.bandBreakpoints[band], c.theme, 4.8);
    }
}

}  // namespace hopscope::graphview
