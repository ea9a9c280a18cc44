#include "panels/tensor_dialog.h"

#include <QFloat16>
#include <QHeaderView>
#include <QPushButton>
#include <bit>
#include <cstring>
#include <functional>

#include "models/labels.h"
#include "panels/parts.h"
#include "json/reader.h"

namespace hopscope::panels {

namespace {

constexpr qint64 pageRows = 50;
constexpr std::size_t columnLimit = 64;

using Decode = double (*)(const char*);

template <class T>
double decode(const char* bytes)
{
    T value{};
    std::memcpy(&value, bytes, sizeof(T));
    return static_cast<double>(value);
}

double decodeBfloat(const char* bytes)
{
    std::uint16_t high = 0;
    std::memcpy(&high, bytes, sizeof high);
    return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(high) << 16));
}

struct Format {
    const char* name;
    std::size_t bytes;
    Decode decode;
};

constexpr std::array formats{Format{"float32", 4, decode<float>},      Format{"float64", 8, decode<double>},
                             Format{"float16", 2, decode<qfloat16>},   Format{"bfloat16", 2, decodeBfloat},
                             Format{"int64", 8, decode<std::int64_t>}, Format{"int32", 4, decode<std::int32_t>},
                             Format{"int16", 2, decode<std::int16_t>}, Format{"int8", 1, decode<std::int8_t>},
                             Format{"uint8", 1, decode<std::uint8_t>}, Format{"bool", 1, decode<std::uint8_t>}};

const Format* formatOf(const std::string& dtype)
{
    const auto found = std::ranges::find_if(formats, [&](const Format& format) { return dtype == format.name; });
    return found == formats.end() ? nullptr : &*found;
}

std::vector<std::vector<double>> decodeRows(const QByteArray& bytes, const Format& format, std::int64_t count)
{
    std::vector<std::vector<double>> rows(static_cast<std::size_t>(count));
    const std::size_t width = count > 0 ? static_cast<std::size_t>(bytes.size()) / format.bytes / rows.size() : 0;
    const char* at = bytes.constData();
    for (std::vector<double>& row : rows)
        for (std::size_t column = 0; column < width; ++column, at += format.bytes) row.push_back(format.decode(at));
    return rows;
}

std::int64_t rowWidth(const std::vector<std::int64_t>& shape)
{
    std::int64_t width = 1;
    for (std::size_t dim = 1; dim < shape.size(); ++dim) width *= shape[dim];
    return width;
}

QString summary(const PeekedRows& rows)
{
    QStringList dims;
    for (const std::int64_t dim : rows.shape) dims << models::formatCount(static_cast<double>(dim));
    QString line = TensorDialog::tr("%1 %2 · rows %3 to %4")
                       .arg(dims.join(QStringLiteral(" × ")), rows.dtype)
                       .arg(rows.begin)
                       .arg(rows.end - 1);
    if (rows.least && rows.most && rows.mean)
        line += TensorDialog::tr(" · min %1 · max %2 · mean %3").arg(*rows.least).arg(*rows.most).arg(*rows.mean);
    if (rows.finite)
        line += TensorDialog::tr(" · %1 finite").arg(models::formatCount(static_cast<double>(*rows.finite)));
    return line;
}

}  // namespace

base::Result<PeekedRows> readPeek(const json::Value& answer)
{
    const json::Reader root(answer, "tensor/peek");
    PeekedRows read;
    const auto dtype = root.get<std::string>("dtype");
    read.dtype = models::text(dtype);
    read.shape = root.get<std::vector<std::int64_t>>("shape");
    read.begin = root.get<std::int64_t>("begin");
    read.end = root.get<std::int64_t>("end");
    read.finite = root.maybe<std::int64_t>("finite");
    read.least = root.maybe<double>("min");
    read.most = root.maybe<double>("max");
    read.mean = root.maybe<double>("mean");
    const QByteArray bytes = QByteArray::fromBase64(QByteArray::fromStdString(root.get<std::string>("rows")));
    const Format* format = formatOf(dtype);
    if (format == nullptr) root.child("dtype").refuse("is not a dtype that can be displayed");
    const std::int64_t count = read.end - read.begin;
    if (root.ok() &&
        (count < 0 || bytes.size() != count * rowWidth(read.shape) * static_cast<std::int64_t>(format->bytes)))
        root.child("rows").refuse("does not have the number of bytes that its shape requires");
    if (!root.ok()) return tl::unexpected<base::Error>(root.status().error());
    read.rows = decodeRows(bytes, *format, count);
    return read;
}

TensorDialog::TensorDialog(const Context& context, protocol::ValueId value, QWidget* parent)
    : QDialog(parent),
      m_context(context)
{
    setObjectName(QStringLiteral("tensor"));
    const protocol::ModelRecord& model = *context.document.model();
    m_value = models::text(model.values[value].id);
    setup(models::valueLabel(model, value));
    ask();
}

void TensorDialog::setup(const QString& title)
{
    setWindowTitle(tr("%1 (%2)").arg(title, m_value));
    m_text = wrapped(QStringLiteral("tensorText"), this);
    m_table = new QTableWidget(this);
    m_table->setObjectName(QStringLiteral("tensorRows"));
    m_table->setAccessibleName(tr("Rows"));
    m_table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_back = new QPushButton(tr("Previous rows"), this);
    m_back->setObjectName(QStringLiteral("tensorBack"));
    m_next = new QPushButton(tr("Next rows"), this);
    m_next->setObjectName(QStringLiteral("tensorNext"));
    auto* buttons = new QHBoxLayout;
    buttons->addWidget(m_back);
    buttons->addWidget(m_next);
    buttons->addStretch(1);
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(m_text);
    layout->addWidget(m_table, 1);
    layout->addLayout(buttons);
    resize(720, 420);
    connect(m_back, &QPushButton::clicked, this, [this] {
        m_begin = std::max<qint64>(0, m_begin - pageRows);
        ask();
    });
    connect(m_next, &QPushButton::clicked, this, [this] {
        m_begin += pageRows;
        ask();
    });
}

void TensorDialog::ask()
{
    m_back->setEnabled(false);
    m_next->setEnabled(false);
    m_text->setText(tr("Waiting for the engine..."));
    m_context.workbench.queries().peek(m_value, m_begin, m_begin + pageRows, this,
                                       [this](const base::Result<json::Value>& answer) { showRows(answer); });
}

void TensorDialog::showRows(const base::Result<json::Value>& answer)
{
    const base::Result<PeekedRows> rows = answer.and_then([](const json::Value& value) { return readPeek(value); });
    m_back->setEnabled(m_begin > 0);
    if (rows) return fill(*rows);
    m_text->setText(models::text(base::describe(rows.error())));
}

void TensorDialog::fill(const PeekedRows& rows)
{
    m_text->setText(summary(rows));
    m_rows = rows.shape.empty() ? 0 : rows.shape.front();
    m_next->setEnabled(rows.end < m_rows);
    const std::size_t columns = rows.rows.empty() ? 0 : std::min(rows.rows.front().size(), columnLimit);
    m_table->clear();
    m_table->setRowCount(static_cast<int>(rows.rows.size()));
    m_table->setColumnCount(static_cast<int>(columns));
    QStringList names;
    for (std::size_t row = 0; row < rows.rows.size(); ++row) {
        names << QString::number(rows.begin + static_cast<std::int64_t>(row));
        for (std::size_t column = 0; column < columns; ++column)
            m_table->setItem(static_cast<int>(row), static_cast<int>(column),
                             new QTableWidgetItem(QString::number(rows.rows[row][column], 'g', 6)));
    }
    m_table->setVerticalHeaderLabels(names);
}

}  // namespace hopscope::panels
