#include "export_sentences.h"

#include <QStringList>

#include "models/tr.h"

namespace hopscope::window {

namespace {

QString textOf(const std::vector<std::string>& list)
{
    QStringList texts;
    for (const std::string& text : list) texts.append(QString::fromStdString(text));
    return texts.join(QStringLiteral(", "));
}

}  // namespace

QString verdictText(const std::optional<schema::Verification>& verification)
{
    if (!verification) return tr("not verified");
    const QString verdict = QString::fromUtf8(base::nameOf(verification->verdict));
    const QString reason = QString::fromStdString(verification->reason);
    return reason.startsWith(verdict) ? reason : verdict + QStringLiteral(": ") + reason;
}

QVector<std::pair<QString, QString>> rowsOf(const protocol::ExportRecord& record)
{
    QVector<std::pair<QString, QString>> rows{{tr("Folder"), QString::fromStdString(record.folder)},
                                              {tr("Written by"), QString::fromStdString(record.tool)},
                                              {tr("Strategy"), QString::fromUtf8(base::nameOf(record.strategy))},
                                              {tr("Stages"), QString::number(record.stages)},
                                              {tr("Inputs"), textOf(record.inputs)},
                                              {tr("Verified"), verdictText(record.verification)}};
    for (const char* const what : {"model", "data", "roles", "plan"})
        if (const auto hash = record.hashes.find(what); hash != record.hashes.end())
            rows.append({tr("Hash of the %1").arg(QLatin1String(what)), QString::fromStdString(hash->second)});
    return rows;
}

QString heldText(const base::Result<protocol::ExportVerdict>& answer)
{
    if (!answer) {
        // The engine refuses given files; all other errors (memory, a device, a stop) say nothing about the export.
        const base::ErrorCode code = answer.error().code;
        const bool refused = code == base::ErrorCode::Input || code == base::ErrorCode::Different;
        return (refused ? tr("No longer valid: %1") : tr("It could not be checked: %1"))
            .arg(failureText(answer.error()));
    }
    const bool different = answer->verification && answer->verification->verdict == schema::Verdict::Different;
    const QString said = different ? tr("Not valid for these data: %1.") : tr("Still valid: %1.");
    const QString notes = textOf(answer->notes);
    return said.arg(verdictText(answer->verification)) +
           (notes.isEmpty() ? QString() : QStringLiteral(" (%1)").arg(notes));
}

QString failureText(const base::Error& error)
{
    const QString sentence = QString::fromStdString(error.message);
    return error.hint.empty() ? sentence : sentence + QStringLiteral(". ") + QString::fromStdString(error.hint);
}

}  // namespace hopscope::window
