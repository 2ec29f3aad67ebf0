class Broken(:
    pass
