#pragma once

// Private to export: builds a method of the generated module, statement by statement.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "export/text.h"

namespace hopscope::exporter {

struct Parameter {
    std::string name;
    bool number = false;  // true: an int, false: a tensor
};

struct Statement {
    std::vector<std::string> targets;  // none: an assertion
    Text value;
    std::string comment;  // written above the statement, if it differs from that of the previous statement
};

class Method {
public:
    explicit Method(std::string name) : m_name(std::move(name)) {}

    // Returns a name, based on `wanted`, that no variable of the method has.
    std::string fresh(const std::string& wanted);
    // Adds a parameter under such a name, which is returned.
    std::string parameter(const std::string& wanted, bool number);
    // Returns a variable that holds `value`: an existing one, or a new one under such a name.
    std::string assign(const std::string& wanted, const Text& value);
    // Assigns the elements of a list or tuple to variables.
    std::vector<std::string> unpack(const std::vector<std::string>& wanted, const Text& value);
    void check(const Text& condition, const std::string& complaint);
    // Sets the origin of the statements that follow: "conv1.lin (sage_conv.py:134)".
    void comesFrom(const std::string& comment) { m_comment = comment; }
    void returns(Text value) { m_result = std::move(value); }

    // Removes unused statements and parameters. Call it once, at the end.
    void prune();

    [[nodiscard]] const std::string& name() const { return m_name; }
    [[nodiscard]] const std::vector<Parameter>& parameters() const { return m_parameters; }
    [[nodiscard]] bool knows(const std::string& name) const { return m_taken.contains(name); }
    [[nodiscard]] const std::vector<Statement>& statements() const { return m_statements; }
    [[nodiscard]] const Text& result() const { return m_result; }

private:
    void findDevice();

    std::string m_name, m_comment;
    std::vector<Parameter> m_parameters;
    std::vector<Statement> m_statements;
    Text m_result;
    std::set<std::string> m_taken;
    std::map<std::string, std::vector<std::string>> m_assigned;  // by the value in Python
};

}  // namespace hopscope::exporter
