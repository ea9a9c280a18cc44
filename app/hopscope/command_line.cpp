#include "command_line.h"

#include <QCommandLineParser>
#include <QFileInfo>
#include <utility>

#include "base/text.h"
#include "docks.h"
#include "graph/formats.h"

namespace hopscope::window {

namespace {

const char* const tables[] = {"ops", "checkpoints", "stages", "batches", "phases"};
const char* const pictures[] = {"svg", "pdf", "png"};

template <std::size_t n>
bool contains(const char* const (&names)[n], const QString& name)
{
    return std::any_of(std::begin(names), std::end(names),
                       [&](const char* item) { return name == QLatin1String(item); });
}

auto usageError(const QString& sentence, const QString& advice = {})
{
    return base::fail(base::ErrorCode::Usage, sentence.toStdString(), advice.toStdString() + "see hopscope --help");
}

// Returns the names of the options.
QStringList addOptions(QCommandLineParser& parser)
{
    const auto tr = [](const char* text) { return QCoreApplication::translate("CommandLine", text); };
    parser.addPositionalArgument(QStringLiteral("file"),
                                 tr("TorchScript file, exported program (*.pt2) or session (*.hopscope)."),
                                 QStringLiteral("[MODEL | SESSION.hopscope]"));
    const QCommandLineOption options[] = {
        {QStringLiteral("data"),
         tr("Inputs of the model: %1; may be repeated.").arg(QString::fromStdString(graph::dataForms())),
         QStringLiteral("DATA")},
        {QStringLiteral("role"), tr("Role of an input, as for hopscope-engine --role; may be repeated."),
         QStringLiteral("ROLE")},
        {QStringLiteral("plan"), tr("Plan to open."), QStringLiteral("FILE.json")},
        {QStringLiteral("engine"),
         tr("Command that starts the engine, e.g. \"ssh host hopscope-engine serve\"; paths then refer to the machine "
            "of the engine."),
         QStringLiteral("COMMAND")},
        {QStringLiteral("run"), tr("Run the model after opening it.")},
        {QStringLiteral("screenshot"), tr("Write a screenshot of the window and exit."), QStringLiteral("FILE.png")},
        {QStringLiteral("export"),
         tr("Write [KIND=]FILE and exit; KIND is graph, plots, ops, checkpoints, stages, batches, "
            "phases or trace; may be repeated."),
         QStringLiteral("[KIND=]FILE")},
        {QStringLiteral("width"), tr("Width of an exported PNG in pixels, at most 32000."), QStringLiteral("N")},
        {QStringLiteral("size"), tr("Size of the window in pixels, such as 1600x1000."), QStringLiteral("WxH")},
        {QStringLiteral("theme"), tr("Theme: light, dark or auto."), QStringLiteral("NAME")},
        {QStringLiteral("perspective"), tr("Arrangement of the panels: analyse, run, compare or explain."),
         QStringLiteral("NAME")},
        {QStringLiteral("recover"),
         tr("Recover the model or session that was open when the window last terminated unexpectedly.")},
        {{QStringLiteral("h"), QStringLiteral("help")}, tr("Show this help.")},
        {{QStringLiteral("v"), QStringLiteral("version")}, tr("Show the version.")},
    };
    QStringList names;
    for (const QCommandLineOption& option : options) {
        parser.addOption(option);
        names << option.names();
    }
    return names;
}

// "did you mean '--theme'? "; empty if more than a third of the letters differ from every name.
QString nearest(const QString& word, const QStringList& names)
{
    QString found;
    std::size_t least = static_cast<std::size_t>(word.size()) / 3 + 1;
    for (const QString& name : names) {
        const std::size_t edits = base::edits(word.toStdString(), name.toStdString());
        if (edits < least) found = name, least = edits;
    }
    return found.isEmpty() ? found : QStringLiteral("did you mean '--%1'? ").arg(found);
}

base::Result<QSize> parseSize(const QString& text)
{
    const QStringList parts = text.split(u'x');
    bool wide = false, high = false;
    const QSize size(parts.value(0).toInt(&wide), parts.value(1).toInt(&high));
    const bool fits = size.width() >= 320 && size.height() >= 240 && size.width() <= 16384 && size.height() <= 16384;
    if (parts.size() == 2 && wide && high && fits) return size;
    return usageError(QStringLiteral("--size expects WxH, e.g. 1600x1000, not '%1'").arg(text));
}

base::Result<style::Mode> parseTheme(const QString& text)
{
    if (text == u"auto") return style::Mode::Auto;
    if (text == u"light") return style::Mode::Light;
    if (text == u"dark") return style::Mode::Dark;
    return usageError(QStringLiteral("--theme must be light, dark or auto, not '%1'").arg(text));
}

base::Status readAppearance(CommandLine& line, const QCommandLineParser& parser)
{
    if (parser.isSet(QStringLiteral("size"))) {
        const auto size = parseSize(parser.value(QStringLiteral("size")));
        if (!size) return base::forward(size);
        line.size = *size;
    }
    if (parser.isSet(QStringLiteral("theme"))) {
        const auto theme = parseTheme(parser.value(QStringLiteral("theme")));
        if (!theme) return base::forward(theme);
        line.theme = *theme;
    }
    line.perspective = parser.value(QStringLiteral("perspective"));
    if (line.perspective.isEmpty() || perspectiveNames().contains(line.perspective)) return {};
    return usageError(QStringLiteral("--perspective must be %1, not '%2'")
                          .arg(perspectiveNames().join(QStringLiteral(", ")), line.perspective));
}

base::Status readOutputs(CommandLine& line, const QCommandLineParser& parser)
{
    line.screenshot = parser.value(QStringLiteral("screenshot"));
    for (const QString& text : parser.values(QStringLiteral("export"))) {
        const auto target = exportTarget(text);
        if (!target) return base::forward(target);
        line.exports.append(*target);
    }
    if (!parser.isSet(QStringLiteral("width"))) return {};
    bool number = false;
    line.width = parser.value(QStringLiteral("width")).toInt(&number);
    if (number && line.width >= 1 && line.width <= 32000) return {};
    return usageError(QStringLiteral("--width must be a number of pixels up to 32000"));
}

}  // namespace

base::Result<ExportTarget> exportTarget(const QString& text)
{
    const qsizetype equals = text.indexOf(u'=');
    const QString named = equals > 0 ? text.left(equals) : QString();
    const bool known = contains(tables, named) || named == u"graph" || named == u"plots" || named == u"trace";
    ExportTarget target{known ? named : QString(), known ? text.mid(equals + 1) : text};
    const QFileInfo file(target.file);
    const QString suffix = file.suffix().toLower(), stem = file.completeBaseName();
    if (known && !target.file.isEmpty()) return target;
    if (contains(pictures, suffix)) target.kind = stem == u"plots" ? stem : QStringLiteral("graph");
    else if (suffix == u"csv") target.kind = contains(tables, stem) || stem == u"plots" ? stem : QStringLiteral("ops");
    else if (suffix == u"json") target.kind = QStringLiteral("trace");
    else return usageError(QStringLiteral("--export does not support '%1': use svg, pdf, png, csv or json").arg(text));
    return target;
}

QStringList splitCommand(const QString& command)
{
    QStringList words;
    QString word;
    QChar quote;
    bool begun = false;
    for (const QChar c : command) {
        const bool blank = c.isSpace() && quote.isNull(), mark = c == u'"' || c == u'\'';
        if (blank && begun) words.append(std::exchange(word, {}));
        if (c == quote) quote = {};
        else if (mark && quote.isNull()) quote = c;
        else if (!blank) word += c;
        begun = !blank && (begun || mark || !word.isEmpty());
    }
    if (begun) words.append(word);
    return words;
}

QString usage()
{
    QCommandLineParser parser;
    parser.setApplicationDescription(QCoreApplication::translate(
        "CommandLine", "Shows where a graph neural network can be cut, and runs it layer by layer for all nodes.\n\n"
                       "  hopscope model.pt --data graph.safetensors\n"
                       "  hopscope model.pt --data graph.safetensors --run --screenshot window.png"));
    addOptions(parser);
    return parser.helpText().replace(QCoreApplication::arguments().value(0), QStringLiteral("hopscope"));
}

base::Result<CommandLine> parseCommandLine(const QStringList& arguments)
{
    QCommandLineParser parser;
    const QStringList names = addOptions(parser);
    if (!parser.parse(arguments)) {
        const QStringList unknown = parser.unknownOptionNames();
        if (unknown.isEmpty()) return usageError(parser.errorText());
        return usageError(QStringLiteral("unknown option '%1'").arg(unknown.front()), nearest(unknown.front(), names));
    }
    CommandLine line;
    if (parser.positionalArguments().size() > 1)
        return usageError(QStringLiteral("only one model or session can be opened; use --data for data"));
    line.file = parser.positionalArguments().value(0);
    line.data = parser.values(QStringLiteral("data"));
    line.roles = parser.values(QStringLiteral("role"));
    line.plan = parser.value(QStringLiteral("plan"));
    line.engine = parser.value(QStringLiteral("engine"));
    line.run = parser.isSet(QStringLiteral("run"));
    line.recover = parser.isSet(QStringLiteral("recover"));
    line.help = parser.isSet(QStringLiteral("help"));
    line.version = parser.isSet(QStringLiteral("version"));
    if (const auto outputs = readOutputs(line, parser); !outputs) return base::forward(outputs);
    if (const auto appearance = readAppearance(line, parser); !appearance) return base::forward(appearance);
    return line;
}

}  // namespace hopscope::window
