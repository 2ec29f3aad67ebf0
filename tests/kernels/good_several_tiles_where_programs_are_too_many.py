# verified
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.abs(x)


def get_inputs():
    return [torch.randn(64, 128)]


def get_init_inputs():
    return []


MAX_GRID = 65536


@triton.jit
def abs_kernel(x_ptr, y_ptr, tasks, tiles_per_cta, TILE: tl.constexpr, one_tile_per_cta: tl.constexpr):
    program = tl.program_id(0)
    if one_tile_per_cta:
        place = program * TILE + tl.arange(0, TILE)
        mask = place < tasks
        tl.store(y_ptr + place, tl.abs(tl.load(x_ptr + place, mask=mask)), mask=mask)
    else:
        programs = tl.num_programs(0)
        for turn in range(0, tiles_per_cta):
            place = (program + turn * programs) * TILE + tl.arange(0, TILE)
            mask = place < tasks
            tl.store(y_ptr + place, tl.abs(tl.load(x_ptr + place, mask=mask)), mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        tasks = x.numel()
        tile = min(512, triton.next_power_of_2(tasks))
        tiles = triton.cdiv(tasks, tile)
        programs = min(MAX_GRID, tiles)
        each = triton.cdiv(tiles, programs)
        abs_kernel[(programs, 1, 1)](x, y, tasks, each, TILE=tile, one_tile_per_cta=each == 1)
        return y
