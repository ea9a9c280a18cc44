#include "samples.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>

namespace hopscope::window {

namespace {

struct Known {
    const char *file, *title, *text;
};

const Known known[] = {
    {"karate/gcn.pt", QT_TRANSLATE_NOOP("Samples", "Karate club, GCN"),
     QT_TRANSLATE_NOOP("Samples", "Two hops, 34 nodes: the smallest sample")},
    {"digits/jknet.pt", QT_TRANSLATE_NOOP("Samples", "Digits, jumping knowledge"),
     QT_TRANSLATE_NOOP("Samples", "The last layer reads all others: several cuts")},
    {"digits/gat.pt", QT_TRANSLATE_NOOP("Samples", "Digits, attention"),
     QT_TRANSLATE_NOOP("Samples", "Several aggregations per layer")},
    {"digits/sage.pt", QT_TRANSLATE_NOOP("Samples", "Digits, GraphSAGE"),
     QT_TRANSLATE_NOOP("Samples", "The mean of the neighbours, and the node itself")},
    {"digits/residual.pt", QT_TRANSLATE_NOOP("Samples", "Digits, residual"),
     QT_TRANSLATE_NOOP("Samples", "Skip connections across layers")},
    {"digits/gcn.pt", QT_TRANSLATE_NOOP("Samples", "Digits, GCN"),
     QT_TRANSLATE_NOOP("Samples", "Graph convolutions on a nearest-neighbour graph")},
};

QString translated(const char* text) { return QCoreApplication::translate("Samples", text); }

}  // namespace

QString samplesFolder(const QString& programFolder)
{
    const QString candidates[] = {programFolder + QStringLiteral("/../share/hopscope/samples"),
                                  programFolder + QStringLiteral("/../../../samples"),
                                  QStringLiteral(HOPSCOPE_SOURCE_SAMPLES)};
    for (const QString& folder : candidates)
        if (QFileInfo::exists(folder + QStringLiteral("/karate/gcn.pt"))) return QDir(folder).canonicalPath();
    return {};
}

QVector<Sample> samplesIn(const QString& folder)
{
    QVector<Sample> found;
    for (const Known& item : known) {
        const QString model = folder + u'/' + QLatin1String(item.file);
        const QString data = dataBeside(model);
        if (!folder.isEmpty() && QFileInfo::exists(model))
            found.append(
                {.title = translated(item.title), .text = translated(item.text), .model = model, .data = data});
    }
    return found;
}

QString dataBeside(const QString& model)
{
    const QDir folder = QFileInfo(model).dir();
    QStringList files = folder.entryList({QStringLiteral("*.safetensors")}, QDir::Files, QDir::Name);
    if (files.contains(u"graph.safetensors")) return folder.filePath(QStringLiteral("graph.safetensors"));
    files.removeIf([](const QString& name) { return name.contains(u".expected."); });
    return files.size() == 1 ? folder.filePath(files.first()) : QString();
}

}  // namespace hopscope::window
