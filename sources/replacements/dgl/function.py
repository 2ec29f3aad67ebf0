"""Messages along edges, and how a node sums up those that came to it, as functions of fields' names."""

import functools

import torch


def aligned(a, b):
    """Both with as many dimensions: what lacks some is the same along them."""
    while a.dim() < b.dim():
        a = a.unsqueeze(1)
    while b.dim() < a.dim():
        b = b.unsqueeze(1)
    return a, b


def binary(left, operation, right, lhs_field, rhs_field, out):
    def message(edges):
        return {out: operation(*aligned(getattr(edges, left)[lhs_field], getattr(edges, right)[rhs_field]))}

    return message


def dot(a, b):
    return (a * b).sum(-1, keepdim=True)


u_add_v = functools.partial(binary, "src", torch.add, "dst")
u_sub_v = functools.partial(binary, "src", torch.sub, "dst")
u_mul_v = functools.partial(binary, "src", torch.mul, "dst")
u_div_v = functools.partial(binary, "src", torch.div, "dst")
u_dot_v = functools.partial(binary, "src", dot, "dst")
v_add_u = functools.partial(binary, "dst", torch.add, "src")
v_sub_u = functools.partial(binary, "dst", torch.sub, "src")
v_mul_u = functools.partial(binary, "dst", torch.mul, "src")
v_div_u = functools.partial(binary, "dst", torch.div, "src")
v_dot_u = functools.partial(binary, "dst", dot, "src")
u_add_e = functools.partial(binary, "src", torch.add, "data")
u_sub_e = functools.partial(binary, "src", torch.sub, "data")
u_mul_e = src_mul_edge = functools.partial(binary, "src", torch.mul, "data")
u_div_e = functools.partial(binary, "src", torch.div, "data")
u_dot_e = functools.partial(binary, "src", dot, "data")
v_add_e = functools.partial(binary, "dst", torch.add, "data")
v_sub_e = functools.partial(binary, "dst", torch.sub, "data")
v_mul_e = functools.partial(binary, "dst", torch.mul, "data")
v_div_e = functools.partial(binary, "dst", torch.div, "data")
v_dot_e = functools.partial(binary, "dst", dot, "data")
e_add_u = functools.partial(binary, "data", torch.add, "src")
e_sub_u = functools.partial(binary, "data", torch.sub, "src")
e_mul_u = functools.partial(binary, "data", torch.mul, "src")
e_div_u = functools.partial(binary, "data", torch.div, "src")
e_add_v = functools.partial(binary, "data", torch.add, "dst")
e_sub_v = functools.partial(binary, "data", torch.sub, "dst")
e_mul_v = functools.partial(binary, "data", torch.mul, "dst")
e_div_v = functools.partial(binary, "data", torch.div, "dst")
e_dot_v = functools.partial(binary, "data", dot, "dst")


def copy_u(u=None, out=None, src=None):
    def message(edges):
        return {out: edges.src[u or src]}

    return message


def copy_e(e=None, out=None, edge=None):
    def message(edges):
        return {out: edges.data[e or edge]}

    return message


copy_src, copy_edge = copy_u, copy_e


def sum(msg, out):
    def reduce(nodes):
        return {out: nodes.mailbox[msg].sum(1)}

    return reduce


def mean(msg, out):
    def reduce(nodes):
        return {out: nodes.mailbox[msg].mean(1)}

    return reduce


def max(msg, out):
    def reduce(nodes):
        return {out: nodes.mailbox[msg].amax(1)}

    return reduce


def min(msg, out):
    def reduce(nodes):
        return {out: nodes.mailbox[msg].amin(1)}

    return reduce
