"""inplace_abn's batch normalisation with its activation, as what it computes; that it saves memory is left out.

The package is a C++ extension. Arguments as its ``ABN`` has them: https://github.com/mapillary/inplace_abn.
"""

import torch.nn as nn
import torch.nn.functional as F


class ABN(nn.BatchNorm2d):
    def __init__(
        self,
        num_features,
        eps=1e-5,
        momentum=0.1,
        affine=True,
        activation="leaky_relu",
        activation_param=0.01,
        group=None,
    ):
        super().__init__(num_features, eps=eps, momentum=momentum, affine=affine)
        self.activation = activation
        self.activation_param = activation_param

    def forward(self, x):
        x = super().forward(x)
        if self.activation == "leaky_relu":
            return F.leaky_relu(x, self.activation_param)
        if self.activation == "elu":
            return F.elu(x, self.activation_param)
        return F.relu(x) if self.activation == "relu" else x


InPlaceABN = InPlaceABNSync = ABN
