"""yacs's configuration node, and its like of other packages."""


class CfgNode(dict):
    def __init__(self, init_dict=None, key_list=None, new_allowed=False, **kwargs):
        super().__init__()
        for name, value in {**(init_dict or {}), **kwargs}.items():
            self[name] = CfgNode(value) if type(value) is dict else value

    def __getattr__(self, name):
        if name in self:
            return self[name]
        raise AttributeError(name)

    def __setattr__(self, name, value):
        self[name] = value

    def clone(self):
        return CfgNode(self)

    def defrost(self):
        pass

    def freeze(self):
        pass

    def merge_from_file(self, path):
        pass

    def merge_from_list(self, values):
        pass


EasyDict = AttrDict = ConfigDict = Dict = Munch = edict = CN = CfgNode
