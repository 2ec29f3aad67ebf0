"""What models written for transformers take from it: base classes, activations, outputs."""

import inspect
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
        fields = {name for kind in type(self).__mro__ for name in inspect.get_annotations(kind)}
        for name, value in {**defaults, **kwargs}.items():
            if not hasattr(type(self), name) or name in kwargs and name in fields:
                setattr(self, name, value)
        self.__post_init__()

    def __post_init__(self, **kwargs):
        pass

    @classmethod
    def from_pretrained(cls, name, **kwargs):
        return cls(**kwargs)

    @classmethod
    def from_dict(cls, settings, **kwargs):
        return cls(**{**settings, **kwargs})


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

    @classmethod
    def from_pretrained(cls, name, **kwargs):
        return cls(
            hidden_size=768, num_attention_heads=12, intermediate_size=3072, max_position_embeddings=512, **kwargs
        )


RobertaConfig = AutoConfig = BertConfig


class GenerationMixin:
    pass


class PreTrainedModel(nn.Module):
    config_class = None
    gradient_checkpointing = is_gradient_checkpointing = is_activation_checkpointing = False
    base_model_prefix = ""

    def __init__(self, config=None, *args, **kwargs):
        super().__init__()
        self.config = config

    @classmethod
    def from_pretrained(cls, name, *args, config=None, **kwargs):
        return cls(config or cls.config_class.from_pretrained(name))

    @classmethod
    def _from_config(cls, config, **kwargs):
        return cls(config)

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
        return PreTrainedModel.get_extended_attention_mask(self, encoder_attention_mask)  # a class may have its own


class BertPreTrainedModel(PreTrainedModel):
    config_class = BertConfig
    base_model_prefix = "bert"


RobertaPreTrainedModel = BertPreTrainedModel


class BertEmbeddings(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.word_embeddings = nn.Embedding(config.vocab_size, config.hidden_size, padding_idx=config.pad_token_id)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.token_type_embeddings = nn.Embedding(config.type_vocab_size, config.hidden_size)
        self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, input_ids=None, token_type_ids=None, position_ids=None, inputs_embeds=None):
        x = self.word_embeddings(input_ids) if inputs_embeds is None else inputs_embeds
        if position_ids is None:
            position_ids = torch.arange(x.shape[1], device=x.device)[None]
        if token_type_ids is None:
            token_type_ids = torch.zeros(x.shape[:2], dtype=torch.long, device=x.device)
        x = x + self.token_type_embeddings(token_type_ids) + self.position_embeddings(position_ids)
        return self.dropout(self.LayerNorm(x))


class BertLayer(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, self.heads = config.hidden_size, config.num_attention_heads
        self.query, self.key, self.value = nn.Linear(width, width), nn.Linear(width, width), nn.Linear(width, width)
        self.output = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width, eps=config.layer_norm_eps)
        self.intermediate = nn.Linear(width, config.intermediate_size)
        self.down = nn.Linear(config.intermediate_size, width)
        self.output_norm = nn.LayerNorm(width, eps=config.layer_norm_eps)
        self.attention_dropout = nn.Dropout(config.attention_probs_dropout_prob)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.activation = ACT2FN[config.hidden_act]

    def forward(self, x, attention_mask=None):
        query, key, value = (
            layer(x).unflatten(-1, (self.heads, -1)).transpose(1, 2) for layer in (self.query, self.key, self.value)
        )
        scores = query @ key.transpose(-1, -2) / math.sqrt(query.shape[-1])
        scores = scores if attention_mask is None else scores + attention_mask
        weights = self.attention_dropout(scores.softmax(dim=-1))
        attended = (weights @ value).transpose(1, 2).flatten(2)
        x = self.norm(x + self.dropout(self.output(attended)))
        inner = self.down(self.activation(self.intermediate(x)))
        return self.output_norm(x + self.dropout(inner)), weights


class BertEncoder(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.layer = nn.ModuleList([BertLayer(config) for _ in range(config.num_hidden_layers)])

    def forward(self, x, attention_mask=None):
        states, weights = [x], []
        for layer in self.layer:
            x, weight = layer(x, attention_mask)
            states.append(x)
            weights.append(weight)
        return x, tuple(states), tuple(weights)


class BertPooler(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        self.activation = nn.Tanh()

    def forward(self, x):
        return self.activation(self.dense(x[:, 0]))


class BertModel(BertPreTrainedModel):
    def __init__(self, config, add_pooling_layer=True):
        super().__init__(config)
        self.embeddings = BertEmbeddings(config)
        self.encoder = BertEncoder(config)
        self.pooler = BertPooler(config) if add_pooling_layer else None

    def get_input_embeddings(self):
        return self.embeddings.word_embeddings

    def resize_token_embeddings(self, size):
        self.embeddings.word_embeddings = nn.Embedding(size, self.config.hidden_size)

    def forward(self, input_ids=None, attention_mask=None, token_type_ids=None, position_ids=None, head_mask=None,
                inputs_embeds=None, output_attentions=None, output_hidden_states=None, return_dict=None, **kwargs):  # fmt: skip
        x = self.embeddings(input_ids, token_type_ids, position_ids, inputs_embeds)
        mask = None if attention_mask is None else self.get_extended_attention_mask(attention_mask)
        x, states, weights = self.encoder(x, mask)
        pooled = None if self.pooler is None else self.pooler(x)
        all_states = self.config.output_hidden_states if output_hidden_states is None else output_hidden_states
        all_weights = self.config.output_attentions if output_attentions is None else output_attentions
        return ModelOutput(last_hidden_state=x, pooler_output=pooled, hidden_states=states if all_states else None,
                           attentions=weights if all_weights else None)  # fmt: skip


RobertaModel = AutoModel = BertModel


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
