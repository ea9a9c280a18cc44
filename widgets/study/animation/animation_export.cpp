#include "study/animation/animation_export.h"

#include <QBuffer>
#include <QFileInfo>
#include <QSaveFile>
#include <QSvgGenerator>

#include "models/tr.h"
#include "study/animation/animated_png.h"

namespace hopscope::study {

namespace {

constexpr QSize pictureSize{880, 660};

int framesOf(const FilmPicture& picture) { return static_cast<int>(picture.film.animation.frames.size()); }

QString write(const QString& name, const QByteArray& bytes)
{
    QSaveFile file(name);
    const bool written = file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size() && file.commit();
    return written ? QString() : tr("%1 cannot be written: %2").arg(name, file.errorString());
}

QString savePng(const FilmPicture& picture, const QString& name, int milliseconds)
{
    AnimatedPng film;
    QImage image(pictureSize, QImage::Format_RGB32);
    for (int frame = 0; frame < framesOf(picture); ++frame) {
        if (!image.isNull()) {
            QPainter painter(&image);
            paintFrame(painter, QRectF({0, 0}, QSizeF(pictureSize)), picture, frame, 0.5);
        }
        if (!film.add(image, milliseconds)) return tr("There is not enough memory for a picture of this size.");
    }
    return write(name, film.file());
}

QByteArray svg(const FilmPicture& picture, int frame)
{
    QBuffer buffer;
    QSvgGenerator generator;
    generator.setOutputDevice(&buffer);
    generator.setSize(pictureSize);
    generator.setViewBox(QRect({0, 0}, pictureSize));
    generator.setTitle(frameTitle(picture.film, frame));
    generator.setDescription(frameCaption(picture.film, frame));
    QPainter painter(&generator);
    paintFrame(painter, QRectF({0, 0}, QSizeF(pictureSize)), picture, frame, 0.5);
    painter.end();
    return buffer.data();
}

QString saveSvg(const FilmPicture& picture, const QString& name)
{
    const QFileInfo info(name);
    const QString stem = info.path() + u'/' + info.completeBaseName();
    for (int frame = 0; frame < framesOf(picture); ++frame) {
        const QString file = QStringLiteral("%1-%2.svg").arg(stem).arg(frame + 1, 3, 10, QLatin1Char('0'));
        if (const QString problem = write(file, svg(picture, frame)); !problem.isEmpty()) return problem;
    }
    return {};
}

}  // namespace

QString saveAnimation(const FilmPicture& picture, const QString& file, int milliseconds)
{
    const QString suffix = QFileInfo(file).suffix().toLower();
    if (suffix != u"svg" && suffix != u"png") return tr("An animation is written as .png or as .svg pictures.");
    if (picture.film.animation.frames.size() > mostFramesInFiles)
        return tr("There are %1 frames, but at most %2 can be written: choose more nodes per batch.")
            .arg(framesOf(picture))
            .arg(mostFramesInFiles);
    return suffix == u"svg" ? saveSvg(picture, file) : savePng(picture, file, milliseconds);
}

}  // namespace hopscope::study
