"""torch.distributed of one process: what all hold together is what that one holds."""


class ReduceOp:
    SUM = "sum"
    AVG = "avg"
    PRODUCT = "product"
    MIN = "min"
    MAX = "max"


class group:
    WORLD = None


class Done:
    def wait(self, *_):
        return True


def is_available():
    return False


def is_initialized():
    return False


def get_world_size(group=None):
    return 1


def get_rank(group=None):
    return 0


def new_group(*_, **__):
    return None


def barrier(*_, **__):
    pass


def all_reduce(tensor, *_, **__):
    return Done()


def reduce(tensor, *_, **__):
    return Done()


def broadcast(tensor, *_, **__):
    return Done()


def all_gather(tensor_list, tensor, *_, **__):
    tensor_list[0].copy_(tensor)
    return Done()


def all_gather_into_tensor(output_tensor, input_tensor, *_, **__):
    output_tensor.copy_(input_tensor.view_as(output_tensor))
    return Done()


def all_to_all_single(output, input, *_, **__):
    output.copy_(input)
    return Done()


def all_to_all(output_tensor_list, input_tensor_list, *_, **__):
    output_tensor_list[0].copy_(input_tensor_list[0])
    return Done()


def reduce_scatter(output, input_list, *_, **__):
    output.copy_(input_list[0])
    return Done()


def reduce_scatter_tensor(output, input, *_, **__):
    output.copy_(input.view_as(output))
    return Done()


def get_process_group_ranks(group=None):
    return [0]
