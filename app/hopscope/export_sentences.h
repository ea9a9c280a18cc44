#pragma once

// The engine's answers about exported folders, in the wording of the dialogs.

#include <QString>
#include <QVector>

#include "base/result.h"
#include "json/json.h"

namespace hopscope::window {

struct ExportedFile {
    QString name, text;
};

QVector<ExportedFile> filesOf(const json::Value& preview);  // of export/preview

struct ExportRecord {
    QString folder;
    QString verified;                           // "equal within the tolerance on all rows"
    QVector<std::pair<QString, QString>> rows;  // facts by name
};

ExportRecord recordOf(const json::Value& answer);  // of export/write and export/read

// Says whether an export still holds, by the answer to export/check.
QString heldText(const base::Result<json::Value>& answer);

// The sentence and what to do about it.
QString failureText(const base::Error& error);

}  // namespace hopscope::window
