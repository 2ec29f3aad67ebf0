"""CornerNet's compiled operator: each place has the largest value of it and of those above it."""


def forward(x):
    return [x.cummax(2).values]
