#include <doctest/doctest.h>

#include <cmath>

#include "schema/every_member.h"
#include "schema/tensor.h"

using namespace hopscope;

namespace {

schema::TensorSummary tensor()
{
    schema::TensorSummary made;
    made.tensor = 3;
    made.place = {.op = ir::OpId(4),
                  .value = ir::ValueId(9),
                  .name = "relu",
                  .kind = "aten::relu",
                  .module = "convs.0",
                  .source = "gcn.py:17",
                  .depth = 1};
    made.stage = plan::StageId(2);
    made.batch = schema::BatchPlace{4, 270, 90};
    made.dtype = "float32";
    made.shape = {90, 8};
    made.axis = 0;
    made.count = 90;
    made.rows = "rows of node in the batch";
    made.statistics = {
        .numbers = 720, .finite = 719, .zeros = 2, .nan = 1, .least = -1, .most = 2.5, .mean = 0.5, .deviation = 1};
    made.statistics.histogram = {1, 2};
    made.shown = {{.table = "node", .row = 270, .ends = {4, 270}, .numbers = {1, std::nan("")}}};
    made.file = "relu.npy";
    made.seconds = 0.25;
    return made;
}

}  // namespace

TEST_CASE("the summary of a tensor reads back as it was written")
{
    const json::Value document = schema::tensorValue(tensor());
    const auto back = schema::tensorFrom(document, "tensor").value();
    CHECK(json::write(schema::tensorValue(back)) == json::write(document));
    CHECK((back.batch->firstDestination == 270 && back.statistics.histogram == tensor().statistics.histogram));
    CHECK(std::isnan(back.shown[0].numbers[1]));
    json::Value other = document;
    other["from"] = "elsewhere";
    CHECK(!schema::tensorFrom(other, "tensor").has_value());
}

TEST_CASE("the summary of a tensor has the bytes that it had, and refuses what its schema does not allow")
{
    described::checkDocument(schema::writeTensor(tensor()), "tensor", described::Schema("tensor-1.schema.json"),
                             schema::tensorFrom);
}
