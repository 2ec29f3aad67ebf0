"""The assignment of least cost, in numpy: shortest augmenting paths, as scipy finds it."""

import numpy as np


def linear_sum_assignment(cost_matrix, maximize=False):
    cost = np.asarray(cost_matrix, dtype=float)
    if cost.shape[0] > cost.shape[1]:
        columns, rows = linear_sum_assignment(cost.T, maximize)
        order = np.argsort(rows)
        return rows[order], columns[order]
    return np.arange(len(cost)), assigned(-cost if maximize else cost)


def assigned(cost):
    """The column of each row; of what a row and a column contribute the sum is at most the cost of both."""
    count, width = cost.shape
    above, beside = np.zeros(count), np.zeros(width)
    column_of, row_of = np.full(count, -1), np.full(width, -1)
    for row in range(count):
        least, before, done = np.full(width, np.inf), np.full(width, -1), np.zeros(width, bool)
        at, length = row, 0.0
        while True:
            reached = length + cost[at] - above[at] - beside
            nearer = ~done & (reached < least)
            least[nearer], before[nearer] = reached[nearer], at
            column = int(np.argmin(np.where(done, np.inf, least)))
            length, done[column] = least[column], True
            if row_of[column] < 0:
                break
            at = row_of[column]
        above[row] += length
        for other in np.flatnonzero(done & (row_of >= 0)):
            above[row_of[other]] += length - least[other]
        beside[done] -= length - least[done]
        at = -1
        while at != row:
            at = before[column]
            row_of[column] = at
            column_of[at], column = column, column_of[at]
    return column_of
