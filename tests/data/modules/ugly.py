import os
import time

import torch
from torch import nn


class Leaves(nn.Module):
    def forward(self, x):
        os._exit(3)


class Loud(nn.Module):
    def forward(self, x):
        print("x" * 5_000_000)
        raise RuntimeError("loud")


class Deletes(nn.Module):
    def forward(self, x):
        os.remove(__file__)
        return x


class Constant(nn.Module):
    def forward(self, x):
        return torch.zeros(3)
