"""What sums up the nodes of a graph."""

import torch
import torch.nn as nn


class SumPooling(nn.Module):
    def forward(self, graph, feat):
        return feat.sum(0, keepdim=True)


class AvgPooling(nn.Module):
    def forward(self, graph, feat):
        return feat.mean(0, keepdim=True)


class MaxPooling(nn.Module):
    def forward(self, graph, feat):
        return feat.amax(0, keepdim=True)


class GlobalAttentionPooling(nn.Module):
    def __init__(self, gate_nn, feat_nn=None):
        super().__init__()
        self.gate_nn, self.feat_nn = gate_nn, feat_nn

    def forward(self, graph, feat):
        gate = self.gate_nn(feat).softmax(0)
        return (gate * (feat if self.feat_nn is None else self.feat_nn(feat))).sum(0, keepdim=True)


class Set2Set(nn.Module):
    def __init__(self, input_dim, n_iters, n_layers):
        super().__init__()
        self.input_dim, self.n_iters, self.n_layers = input_dim, n_iters, n_layers
        self.lstm = nn.LSTM(2 * input_dim, input_dim, n_layers)

    def forward(self, graph, feat):
        state = (feat.new_zeros(self.n_layers, 1, self.input_dim), feat.new_zeros(self.n_layers, 1, self.input_dim))
        q_star = feat.new_zeros(1, 2 * self.input_dim)
        for _ in range(self.n_iters):
            q, state = self.lstm(q_star.unsqueeze(0), state)
            q = q.view(1, self.input_dim)
            weights = (feat * q).sum(-1, keepdim=True).softmax(0)
            q_star = torch.cat([q, (feat * weights).sum(0, keepdim=True)], dim=-1)
        return q_star
