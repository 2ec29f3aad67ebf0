"""CornerNet's compiled operator: each place has the largest value of it and of those left of it."""


def forward(x):
    return [x.cummax(3).values]
