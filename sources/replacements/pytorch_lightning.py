"""The base class of pytorch_lightning's models, as much as their forward needs."""

import torch.nn as nn


class LightningModule(nn.Module):
    def save_hyperparameters(self, *args, **kwargs):
        pass

    def log(self, *args, **kwargs):
        pass
