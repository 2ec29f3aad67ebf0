"""The compiled operators of PyTorch-Encoding that are not gradients (https://arxiv.org/abs/1803.08904)."""


def aggregate_forward(a, x, c):
    return (a.unsqueeze(3) * (x.unsqueeze(2) - c)).sum(1)


def scaled_l2_forward(x, c, s):
    return s * (x.unsqueeze(2) - c).pow(2).sum(3)
