"""Published figures that several tests compare with."""

#: Table 1 of the error-analysis paper: counts in the order ✗✗✗ ✓✗✗ ✗✓✗ ✓✓✗ ✗✗✓ ✓✗✓ ✗✓✓ ✓✓✓.
TABLE_1 = {
    ("P_1", "=1"): [49, 0, 2, 0, 19, 0, 48, 55],
    ("ndcg_cut_3", ">0"): [10, 0, 0, 1, 10, 1, 63, 88],
    ("ndcg_cut_3", ">=0.5"): [55, 0, 1, 1, 25, 0, 47, 44],
    ("ndcg_cut_3", "=1"): [154, 0, 0, 0, 4, 0, 11, 4],
}
#: The same on the runs of cast2019/runs at relevance level 2, recomputed outside this project.
REAL_RUNS = {
    ("P_1", "=1"): [48, 3, 2, 2, 15, 2, 39, 62],
    ("ndcg_cut_3", ">0"): [13, 1, 4, 0, 16, 2, 48, 89],
    ("ndcg_cut_3", ">=0.5"): [63, 2, 2, 2, 22, 3, 33, 46],
    ("ndcg_cut_3", "=1"): [157, 0, 1, 0, 6, 0, 2, 7],
}
