#include <doctest/doctest.h>

#include "role_rows.h"

using namespace hopscope;
using namespace inputs;

TEST_CASE("batches of molecules are recognised as chemprop and SchNetPack pass them")
{
    const Row rows[] = {
        {"descriptors of graphs called like features",
         {{"V", floats({12, 4})},
          {"edge_index", path(12, 4)},
          {"batch", column(batchOf(12, 3))},
          {"X_d", floats({3, 5})}},
         {},
         "V=node:node X_d=graph:graph batch=key:node>graph edge_index=index:node>node",
         "edge_index=15 graph=3 node=12"},
        {"features of the sources, as many as there are graphs of the destinations",
         {{"x_src", floats({3, 4})},
          {"x_dst", floats({12, 4})},
          {"edge_index", index({{0, 3}, {1, 4}, {2, 11}, {2, 5}})},
          {"batch", column(batchOf(12, 3))}},
         {},
         "batch=key:dst>graph edge_index=index:src>dst x_dst=node:dst x_src=node:src",
         "dst=12 edge_index=4 graph=3 src=3"},
        {"molecules as SchNetPack has them",
         {{"inputs._positions", floats({12, 3})},
          {"inputs._atomic_numbers", zeros({12})},
          {"inputs._idx_i", column({0, 0, 3, 11})},
          {"inputs._idx_j", column({1, 3, 0, 10})},
          {"inputs._offsets", floats({4, 3})},
          {"inputs._idx_m", column(batchOf(12, 3))},
          {"inputs._cell", floats({3, 3, 3})}},
         {},
         "inputs._atomic_numbers=node:node inputs._cell=graph:graph inputs._idx_i=destination:node>node "
         "inputs._idx_j=source:node>node inputs._idx_m=key:node>graph inputs._offsets=edge:idx "
         "inputs._positions=node:node",
         "graph=3 idx=4 node=12"},
    };
    for (const Row& row : rows) check(row);
}
