#include <doctest/doctest.h>

#include "operators/names.h"
#include "operators/operators.h"

using namespace hopscope::operators;

TEST_CASE("every line of the table is found by its full name")
{
    for (const Operator& op : table()) {
        CAPTURE(op.name);
        CHECK(find(fullName(op)) == &op);
        CHECK(known(fullName(op)));
    }
    CHECK(find("relu") == nullptr);
    CHECK(find("aten::no_such_operator") == nullptr);
    CHECK(of("aten::no_such_operator").rule == Rule::None);
}

TEST_CASE("an in-place operator is known by its plain twin")
{
    CHECK(plainName("aten::scatter_add_") == "aten::scatter_add");
    CHECK(plainName("aten::__iand__") == "aten::__and__");
    CHECK(plainName("aten::relu").empty());
    for (const char* name : {"aten::relu_", "aten::__iand__", "aten::dropout_", "aten::copy_", "aten::index_put_"})
        CHECK_MESSAGE(known(name), name);
}

TEST_CASE("what changes a shape in place, draws random numbers or reaches outside is not known")
{
    for (const char* name :
         {"aten::t_", "aten::squeeze_", "aten::unsqueeze_", "aten::resize_", "aten::set_", "aten::save",
          "aten::from_file", "aten::rand", "aten::bernoulli_", "aten::normal_", "prim::PythonOp"})
        CHECK_MESSAGE(!known(name), name);
    CHECK(hasSideEffects("aten::save"));
    CHECK(isRandom("aten::randn_like"));
}

TEST_CASE("no name that may run without a line has side effects")
{
    for (const char* name : {"aten::save", "aten::manual_seed", "aten::file", "aten::wait", "aten::hash"}) {
        CHECK_MESSAGE(!isPlain(name), name);
        CHECK_MESSAGE(!isInstruction(name), name);
    }
}

TEST_CASE("a view can be undone or is refused where it is written, and nothing else claims to be undone")
{
    for (const Operator& op : table()) {
        CAPTURE(op.name);
        const Aliasing a = op.traits.aliasing;
        const bool views = a == Aliasing::View || a == Aliasing::ViewIfDense;
        CHECK((views || op.traits.undo == Undo::None));
        CHECK((op.traits.fill == Fill::Number) == (op.traits.fillArgument >= 0));
    }
}

TEST_CASE("arguments that lend their shape are those of fills and of the operators that say so")
{
    CHECK(isShapeOnly("aten::zeros_like", "self"));
    CHECK(isShapeOnly("aten::view_as", "other"));
    CHECK_FALSE(isShapeOnly("aten::add", "other"));
    CHECK_FALSE(isShapeOnly("aten::relu", "self"));
}
