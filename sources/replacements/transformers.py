"""What models written for transformers take from it: base classes, activations, outputs."""

import logging as standard_logging
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class PretrainedConfig:
    def __init__(self, **kwargs):
        defaults = {
            "output_attentions": False,
            "output_hidden_states": False,
            "use_return_dict": False,
            "return_dict": False,
            "use_cache": False,
            "is_decoder": False,
            "is_encoder_decoder": False,
            "add_cross_attention": False,
            "chunk_size_feed_forward": 0,
            "pruned_heads": {},
            "num_labels": 2,
            "problem_type": None,
            "tie_word_embeddings": False,
            "pad_token_id": None,
        }
        for name, value in {**defaults, **kwargs}.items():
            if not hasattr(type(self), name):
                setattr(self, name, value)


PreTrainedConfig = PretrainedConfig


class BertConfig(PretrainedConfig):
    def __init__(
        self,
        vocab_size=1024,
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=128,
        hidden_act="gelu",
        hidden_dropout_prob=0.1,
        attention_probs_dropout_prob=0.1,
        max_position_embeddings=128,
        type_vocab_size=2,
        initializer_range=0.02,
        layer_norm_eps=1e-12,
        pad_token_id=0,
        position_embedding_type="absolute",
        classifier_dropout=None,
        **kwargs,
    ):
        super().__init__(
            vocab_size=vocab_size,
            hidden_size=hidden_size,
            num_hidden_layers=num_hidden_layers,
            num_attention_heads=num_attention_heads,
            intermediate_size=intermediate_size,
            hidden_act=hidden_act,
            hidden_dropout_prob=hidden_dropout_prob,
            attention_probs_dropout_prob=attention_probs_dropout_prob,
            max_position_embeddings=max_position_embeddings,
            type_vocab_size=type_vocab_size,
            initializer_range=initializer_range,
            layer_norm_eps=layer_norm_eps,
            pad_token_id=pad_token_id,
            position_embedding_type=position_embedding_type,
            classifier_dropout=classifier_dropout,
            **kwargs,
        )


RobertaConfig = BertConfig


class GenerationMixin:
    pass


class PreTrainedModel(nn.Module):
    config_class = None
    gradient_checkpointing = is_gradient_checkpointing = is_activation_checkpointing = False
    base_model_prefix = ""

    def __init__(self, config=None, *args, **kwargs):
        super().__init__()
        self.config = config

    def post_init(self):
        pass

    def init_weights(self):
        pass

    def tie_weights(self):
        pass

    def warn_if_padding_and_no_attention_mask(self, *args):
        pass

    @property
    def base_model(self):
        return getattr(self, self.base_model_prefix, self)

    @property
    def device(self):
        return next(self.parameters()).device

    @property
    def dtype(self):
        return next(self.parameters()).dtype

    def get_head_mask(self, head_mask, num_hidden_layers, is_attention_chunked=False):
        return [None] * num_hidden_layers

    def get_extended_attention_mask(self, attention_mask, input_shape=None, device=None, dtype=torch.float32):
        mask = attention_mask[:, None, :, :] if attention_mask.dim() == 3 else attention_mask[:, None, None, :]
        return (1.0 - mask.to(dtype)) * torch.finfo(dtype).min

    def invert_attention_mask(self, encoder_attention_mask):
        return self.get_extended_attention_mask(encoder_attention_mask)


class BertPreTrainedModel(PreTrainedModel):
    config_class = BertConfig
    base_model_prefix = "bert"


RobertaPreTrainedModel = BertPreTrainedModel


class GradientCheckpointingLayer(nn.Module):
    pass


class ModelOutput(dict):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **{k: v for k, v in kwargs.items() if v is not None})

    def __post_init__(self):
        self.update({k: v for k, v in vars(self).items() if v is not None})

    def __getattr__(self, name):
        return self.get(name)

    def __getitem__(self, key):
        return super().__getitem__(key) if isinstance(key, str) else self.to_tuple()[key]

    def to_tuple(self):
        return tuple(self.values())


BaseModelOutput = BaseModelOutputWithPooling = BaseModelOutputWithPast = CausalLMOutput = ModelOutput
BaseModelOutputWithPastAndCrossAttentions = BaseModelOutputWithPoolingAndCrossAttentions = ModelOutput
CausalLMOutputWithPast = CausalLMOutputWithCrossAttentions = MaskedLMOutput = SequenceClassifierOutput = ModelOutput
SequenceClassifierOutputWithPast = TokenClassifierOutput = QuestionAnsweringModelOutput = ModelOutput
Seq2SeqLMOutput = Seq2SeqModelOutput = MultipleChoiceModelOutput = NextSentencePredictorOutput = ModelOutput
ImageClassifierOutput = BaseModelOutputWithNoAttention = BackboneOutput = ModelOutput


class Conv1D(nn.Module):
    def __init__(self, nf, nx):
        super().__init__()
        self.nf = nf
        self.weight = nn.Parameter(torch.empty(nx, nf))
        self.bias = nn.Parameter(torch.zeros(nf))
        nn.init.normal_(self.weight, std=0.02)

    def forward(self, x):
        return torch.addmm(self.bias, x.view(-1, x.size(-1)), self.weight).view(*x.size()[:-1], self.nf)


class NewGELUActivation(nn.Module):
    def forward(self, x):
        return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))))


class QuickGELUActivation(nn.Module):
    def forward(self, x):
        return x * torch.sigmoid(1.702 * x)


gelu, swish, silu = F.gelu, F.silu, F.silu
gelu_new = NewGELUActivation()
GELUActivation, SiLUActivation = nn.GELU, nn.SiLU
ACT2FN = {
    "gelu": nn.GELU(),
    "gelu_new": NewGELUActivation(),
    "gelu_fast": NewGELUActivation(),
    "gelu_pytorch_tanh": nn.GELU(approximate="tanh"),
    "quick_gelu": QuickGELUActivation(),
    "relu": nn.ReLU(),
    "silu": nn.SiLU(),
    "swish": nn.SiLU(),
    "tanh": nn.Tanh(),
    "sigmoid": nn.Sigmoid(),
    "mish": nn.Mish(),
    "leaky_relu": nn.LeakyReLU(),
    "linear": nn.Identity(),
}


def get_activation(name):
    return ACT2FN[name]


def apply_chunking_to_forward(forward_fn, chunk_size, chunk_dim, *input_tensors):
    return forward_fn(*input_tensors)


def find_pruneable_heads_and_indices(heads, n_heads, head_size, already_pruned_heads):
    return set(), torch.arange(n_heads * head_size)


def prune_linear_layer(layer, index, dim=0):
    return layer


class logging:
    @staticmethod
    def get_logger(name=None):
        logger = standard_logging.getLogger(name)
        logger.warning_once = lambda *args, **kwargs: None
        return logger


def is_torch_available():
    return True
