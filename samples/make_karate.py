"""Zachary's karate club (34 members, 78 friendships) and a 2-layer GCN that tells the two factions apart.

Usage: python samples/make_karate.py [FOLDER]      writes gcn.pt, graph.safetensors, gcn.expected.safetensors
"""

import sys
from pathlib import Path

import torch

from models import GCN
from training import accuracy, train, write_graph, write_model

# W. W. Zachary, An information flow model for conflict and fission in small groups (1977). Per member, counted from 1
# as there, the friends with a smaller number.
FRIENDS = {
    2: [1], 3: [1, 2], 4: [1, 2, 3], 5: [1], 6: [1], 7: [1, 5, 6], 8: [1, 2, 3, 4], 9: [1, 3], 10: [3], 11: [1, 5, 6],
    12: [1], 13: [1, 4], 14: [1, 2, 3, 4], 17: [6, 7], 18: [1, 2], 20: [1, 2], 22: [1, 2], 26: [24, 25],
    28: [3, 24, 25], 29: [3], 30: [24, 27], 31: [2, 9], 32: [1, 25, 26, 29], 33: [3, 9, 15, 16, 19, 21, 23, 24, 30, 31, 32],
    34: [9, 10, 14, 15, 16, 19, 20, 21, 23, 24, 27, 28, 29, 30, 31, 32, 33],
}
# The members who stayed with the instructor (1); the others followed the president (34).
INSTRUCTORS = {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 17, 18, 20, 22}
MEMBERS = 34


def graph():
    pairs = [(a - 1, b - 1) for b, friends in FRIENDS.items() for a in friends]
    assert len(pairs) == 78
    edge_index = torch.tensor(pairs + [(b, a) for a, b in pairs]).t()
    labels = torch.tensor([0 if member in INSTRUCTORS else 1 for member in range(1, MEMBERS + 1)])
    return {"x": torch.eye(MEMBERS), "edge_index": edge_index, "y": labels}


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    data = graph()
    torch.manual_seed(1)
    # Only the two leaders are given.
    known = torch.zeros(MEMBERS, dtype=torch.bool)
    known[[0, MEMBERS - 1]] = True
    model = train(GCN(MEMBERS, 16, 2), data, data["y"], known)
    write_graph(folder, data)
    out = write_model(folder, "gcn", model, data)
    print(f"gcn: {accuracy(out, data['y'], ~known):.3f} of the others where they went")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "karate")
