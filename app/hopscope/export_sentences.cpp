#include "export_sentences.h"

#include <QStringList>

#include "models/tr.h"
#include "json/reader.h"

namespace hopscope::window {

namespace {

QString textOf(const json::Reader& reader, const char* key)
{
    return QString::fromStdString(reader.maybe<std::string>(key).value_or(""));
}

// "equal within the tolerance on all rows", "unverifiable: no sampled node ...".
QString verdictText(const json::Reader& answer)
{
    const json::Reader record = answer.child("verification");
    if (!record.value().isObject()) return tr("not verified");
    const QString verdict = textOf(record, "verdict"), reason = textOf(record, "reason");
    return reason.startsWith(verdict) ? reason : verdict + QStringLiteral(": ") + reason;
}

QString listText(const json::Reader& answer, const char* key)
{
    QStringList texts;
    for (const json::Reader& item : answer.child(key).items())
        if (const std::string* text = item.value().asString()) texts.append(QString::fromStdString(*text));
    return texts.join(QStringLiteral(", "));
}

}  // namespace

QVector<ExportedFile> filesOf(const json::Value& preview)
{
    QVector<ExportedFile> files;
    const json::Reader reader(preview, "preview");
    for (const json::Reader& file : reader.child("files").items())
        files.append({textOf(file, "name"), textOf(file, "text")});
    return files;
}

ExportRecord recordOf(const json::Value& answer)
{
    const json::Reader reader(answer, "export");
    ExportRecord record{.folder = textOf(reader, "folder"), .verified = verdictText(reader), .rows = {}};
    record.rows = {{tr("Folder"), record.folder},
                   {tr("Written by"), textOf(reader, "tool")},
                   {tr("Strategy"), textOf(reader, "strategy")},
                   {tr("Stages"), QString::number(reader.maybe<std::int64_t>("stages").value_or(0))},
                   {tr("Inputs"), listText(reader, "inputs")},
                   {tr("Verified"), record.verified}};
    const json::Reader hashes = reader.child("hashes");
    for (const char* const what : {"model", "data", "roles", "plan"})
        if (hashes.has(what)) record.rows.append({tr("Hash of the %1").arg(QLatin1String(what)), textOf(hashes, what)});
    return record;
}

QString heldText(const base::Result<json::Value>& answer)
{
    if (!answer) {
        // The engine refuses given files; all other errors (memory, a device, a stop) say nothing about the export.
        const base::ErrorCode code = answer.error().code;
        const bool refused = code == base::ErrorCode::Input || code == base::ErrorCode::Different;
        return (refused ? tr("No longer valid: %1") : tr("It could not be checked: %1"))
            .arg(failureText(answer.error()));
    }
    const json::Reader reader(*answer, "check");
    const bool different = textOf(reader.child("verification"), "verdict") == u"different";
    const QString said = different ? tr("Not valid for these data: %1.") : tr("Still valid: %1.");
    const QString notes = listText(reader, "notes");
    return said.arg(verdictText(reader)) + (notes.isEmpty() ? QString() : QStringLiteral(" (%1)").arg(notes));
}

QString failureText(const base::Error& error)
{
    const QString sentence = QString::fromStdString(error.message);
    return error.hint.empty() ? sentence : sentence + QStringLiteral(". ") + QString::fromStdString(error.hint);
}

}  // namespace hopscope::window
