#include "exporter.h"

#include <QSaveFile>

#include "panels/panels.h"
#include "study/animation/animation_panel.h"

namespace hopscope::window {

namespace {

QString writeBytes(const QString& name, const QByteArray& bytes)
{
    QSaveFile file(name);
    const bool written = file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size() && file.commit();
    return written ? QString() : QStringLiteral("%1: %2").arg(name, file.errorString());
}

}  // namespace

Exporter::Exporter(const WindowParts& parts, FileDialogs& dialogs, Notices& notices)
    : m_parts(parts),
      m_dialogs(dialogs),
      m_notices(notices)
{}

QString Exporter::write(const ExportTarget& target, int width) const
{
    const models::Document& document = m_parts.document;
    if (!document.model()) return tr("no model is open");
    if (target.kind == u"graph") return m_parts.graph.exportPicture(target.file, width);
    if (target.kind == u"plots") return panels::exportPlots(m_parts.plots, target.file);
    if (target.kind == u"animation")
        return static_cast<study::AnimationPanel*>(m_parts.docks.dock(QStringLiteral("animation"))->widget())
            ->save(target.file);
    if (target.kind == u"trace") return writeBytes(target.file, panels::exportTrace(document));
    if (target.kind == u"report") return writeBytes(target.file, document.runs().back().reportText.toUtf8());
    return writeBytes(target.file, panels::exportCsv(document, target.kind).toUtf8());
}

void Exporter::ask(const QString& kind, const QString& filter)
{
    m_dialogs.save(tr("Export"), kind, filter, [this, kind](const QString& file) {
        const QString problem = write({kind, file}, 0);
        if (problem.isEmpty()) m_parts.status.showMessage(tr("Saved to %1").arg(file), 8000);
        else m_notices.sayFailure(tr("Exporting"), problem, {});
    });
}

}  // namespace hopscope::window
