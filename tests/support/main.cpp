#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

namespace {

bool noneMatched = false;

// Listens for the end of a run.
class Matches final : public doctest::IReporter {
public:
    explicit Matches(const doctest::ContextOptions&) {}
    void report_query(const doctest::QueryData&) override {}
    void test_run_start() override {}
    void test_run_end(const doctest::TestRunStats& run) override { noneMatched = run.numTestCasesPassingFilters == 0; }
    void test_case_start(const doctest::TestCaseData&) override {}
    void test_case_reenter(const doctest::TestCaseData&) override {}
    void test_case_end(const doctest::CurrentTestCaseStats&) override {}
    void test_case_exception(const doctest::TestCaseException&) override {}
    void subcase_start(const doctest::SubcaseSignature&) override {}
    void subcase_end() override {}
    void log_assert(const doctest::AssertData&) override {}
    void log_message(const doctest::MessageData&) override {}
    void test_case_skipped(const doctest::TestCaseData&) override {}
};

REGISTER_LISTENER("matches", 1, Matches);

}  // namespace

// Runs the cases that the filters of its arguments let through (-sf=*tests/graph/* those of a folder); if these are none, the
// tests have failed.
int main(int count, char** arguments)
{
    const int failed = doctest::Context(count, arguments).run();
    if (noneMatched) std::fputs("No test case matches the filters.\n", stderr);
    return noneMatched ? 1 : failed;
}
