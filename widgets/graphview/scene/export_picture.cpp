#include "graphview/scene/export_picture.h"

#include <QBuffer>
#include <QFileInfo>
#include <QImageWriter>
#include <QPainter>
#include <QPdfWriter>
#include <QSaveFile>
#include <QSvgGenerator>

#include "graphview/scene/scene_painter.h"
#include "models/tr.h"

namespace hopscope::graphview {

namespace {

constexpr int tile = 2048;  // painters lose precision on very large surfaces

class Picture {
public:
    Picture(const Scene& scene, const Colouring& colouring, const style::Theme& theme)
        : m_scene(scene),
          m_colouring(colouring),
          m_theme(theme),
          m_area(scene.bounds.adjusted(-120, 0, 20, 0))
    {
        m_state.picture = true;
        m_state.titleX = m_area.left();
    }

    QString write(const QString& file, int width) const
    {
        const QString suffix = QFileInfo(file).suffix().toLower();
        if (suffix != QLatin1String("svg") && suffix != QLatin1String("pdf") && suffix != QLatin1String("png"))
            return tr("Pictures are written as .svg, .pdf or .png.");
        QSaveFile out(file);
        if (!out.open(QIODevice::WriteOnly)) return tr("%1 cannot be written: %2").arg(file, out.errorString());
        const bool done = suffix == QLatin1String("svg")   ? svg(out)
                          : suffix == QLatin1String("pdf") ? pdf(out)
                                                           : png(out, width);
        if (!done) return tr("There is not enough memory or disk space for a picture of this size.");
        return out.commit() ? QString() : tr("%1 cannot be written: %2").arg(file, out.errorString());
    }

private:
    void paint(QPainter& painter, const QRectF& part) const
    {
        paintScene({.painter = painter, .scene = m_scene, .colouring = m_colouring, .theme = m_theme, .state = m_state},
                   part);
    }

    bool svg(QIODevice& out) const
    {
        QSvgGenerator generator;
        generator.setOutputDevice(&out);
        generator.setSize(m_area.size().toSize());
        generator.setViewBox(QRectF({0, 0}, m_area.size()));
        generator.setTitle(tr("Dependency graph"));
        QPainter painter(&generator);
        painter.translate(-m_area.topLeft());
        paint(painter, m_area);
        return painter.end();
    }

    bool pdf(QIODevice& out) const
    {
        QPdfWriter writer(&out);
        writer.setResolution(72);
        // Acrobat shows pages of up to 200 inches a side.
        const qreal scale = std::min(1.0, 14'000 / std::max(m_area.width(), m_area.height()));
        writer.setPageSize(QPageSize(m_area.size() * scale, QPageSize::Point, {}, QPageSize::ExactMatch));
        writer.setPageMargins({});
        QPainter painter(&writer);
        painter.scale(scale, scale);
        painter.translate(-m_area.topLeft());
        paint(painter, m_area);
        return painter.end();
    }

    bool png(QIODevice& out, int width) const
    {
        const qreal wanted = width > 0 ? width / m_area.width() : 2;
        const qreal scale = std::min({wanted, maxPictureSide / m_area.width(), maxPictureSide / m_area.height()});
        const QSize size((m_area.size() * scale).toSize().expandedTo({1, 1}));
        QImage image(size, QImage::Format_RGB32);
        if (image.isNull()) return false;
        for (int y = 0; y < size.height(); y += tile)
            for (int x = 0; x < size.width(); x += tile)
                paintTile(image, QRect(x, y, tile, tile) & image.rect(), scale);
        QImageWriter writer(&out, "png");
        return writer.write(image);
    }

    // A view into the picture's own bytes, so that nothing is copied.
    void paintTile(QImage& image, const QRect& part, qreal scale) const
    {
        uchar* first = image.bits() + static_cast<qsizetype>(part.top()) * image.bytesPerLine() +
                       4 * static_cast<qsizetype>(part.left());
        QImage view(first, part.width(), part.height(), image.bytesPerLine(), image.format());
        QPainter painter(&view);
        painter.scale(scale, scale);
        const QPointF corner = m_area.topLeft() + QPointF(part.topLeft()) / scale;
        painter.translate(-corner);
        paint(painter, QRectF(corner, QSizeF(part.size()) / scale));
    }

    const Scene& m_scene;
    const Colouring& m_colouring;
    const style::Theme& m_theme;
    QRectF m_area;
    PaintState m_state;
};

}  // namespace

QString exportScene(const Scene& scene, const Colouring& colouring, const style::Theme& theme, const QString& file,
                    int width)
{
    return Picture(scene, colouring, theme).write(file, width);
}

}  // namespace hopscope::graphview
