"""Chooses the models that the quick and the default tier run: a set cover of what models have the engine do.

Usage: cover.py TEST_MODELS ZOO [--check]
ZOO is what zoo.py has written without --cover: all models. TEST_MODELS prints the features of each (features.h): operators with
their rules and tables, how operands are used, keys, rewritings, roles of inputs, refusals. cover.txt, beside this script, gets
models that hold each feature; the quick tier those that the greedy choice takes first. --check writes nothing and fails where
cover.txt lacks a feature that some model has.
"""
import argparse
import os
import subprocess
import sys

COVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cover.txt")
QUICK = 60
# What other tests take from the generated models by name.
NAMED = {
    "convolutions": ["gcn_1", "gcn_2", "gat_1", "gat_2", "sage_mean_1", "gcn_weighted_2", "sage_max_project_2", "gat_edges_2",
                     "gatv2_2", "gine_2", "transformer_2", "pna_std_1", "cheb_2", "gated_graph_1", "edge_conv_2", "rgcn_bases_2",
                     "mf_1", "film_typed_1", "appnp_1", "dir_gat_1", "point_transformer_1"],
    "scripted": ["tag_1_scripted", "gcn2_2_scripted"],
    "bags": ["bags_mean_padded", "ScriptedBagsAlone"],
    "structures": ["jumping_concat", "jumping_max", "norm_graph_twice", "norm_standard_deviation", "softmax_over_nodes",
                   "pool_mean_max_min", "scalar_output", "virtual_node", "edge_output", "edge_states", "both_directions",
                   "loops_removed_and_added", "edges_sorted_in_the_model"],
    "further": ["reverse_edge_by_flip", "sage_median_traced", "sage_quantile_traced", "sage_lstm"],
    "typed": ["two_types", "two_types_only_source", "tuple_scripted"],
    "programs": ["program_2", "program_16", "program_39"],
}


def features_of(program, zoo):
    """(group, name) -> its features, of each model of each list."""
    found = {}
    for entry in sorted(os.listdir(zoo)):
        if not entry.endswith(".list"):
            continue
        text = subprocess.run([program, os.path.join(zoo, entry), "--features"], capture_output=True, text=True, check=True).stdout
        for line in text.splitlines():
            name, verdict, *rest = line.split(None, 2)
            if verdict == "features" and rest:
                found[entry[:-5], name] = frozenset(rest[0].split("s  ", 1)[1].split())
    return found


def greedy(features):
    """Models in the order in which they cover most of what is left; the smaller model where two cover as much."""
    chosen = [(group, name) for group, names in NAMED.items() for name in names]
    rest = {key: words for key, words in features.items() if key not in chosen}
    left = set().union(*rest.values()).difference(*(features[key] for key in chosen))
    while left:
        best = max(rest, key=lambda key: (len(rest[key] & left), -len(rest[key]), key))
        left -= rest.pop(best)
        chosen.append(best)
    return chosen


def read_cover():
    with open(COVER) as file:
        return [tuple(line.split()) for line in file if not line.startswith("#")]


def check(features):
    held = {feature for group, name, _ in read_cover() for feature in features.get((group, name), ())}
    missing = {feature: key for key, words in sorted(features.items()) for feature in words - held}
    for feature, (group, name) in missing.items():
        print(f"no model of cover.txt has {feature}, as {group}/{name} does")
    return 1 if missing else 0


def write(features):
    chosen = greedy(features)
    quick = set(chosen[len(sum(NAMED.values(), [])):][:QUICK])
    lines = [f"{group} {name} {'quick' if (group, name) in quick else 'default'}" for group, name in sorted(chosen)]
    with open(COVER, "w") as file:
        file.write("# The models that each tier runs: GROUP NAME TIER, as cover.py has chosen them.\n" + "\n".join(lines) + "\n")
    print(f"{len(chosen)} of {len(features)} models, {len(quick)} of them quick")
    return 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("test_models")
    parser.add_argument("zoo")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    features = features_of(arguments.test_models, arguments.zoo)
    return check(features) if arguments.check else write(features)


if __name__ == "__main__":
    sys.exit(main())
