"""What torchvision asks torch's compiler for: nothing is compiled, and the question alone loads all of it."""


def is_compile_supported(device_type):
    return False
