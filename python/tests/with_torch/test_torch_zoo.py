# SPDX-License-Identifier: MIT
"""Models of transformers, timm and torchvision, small and with random weights: all of their products under a recipe, forward
and backward, counted by a mode of its own. Without a package its models are left out."""
import copy
import importlib
import sys

from test_torch_precision import Count
from torch_support import ht, pytest, same, torch

try:  # transformer_engine without a framework is an empty package whose import fails; accelerate imports it where it is
    importlib.import_module('transformer_engine')
except ImportError:
    pass
except RuntimeError:
    sys.modules['transformer_engine'] = None

RECIPE = ht.Recipe(x='mxfp8_e4m3', w='mxfp8_e4m3', g='mxfp8_e5m2')
SMALL = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, vocab_size=100)
SPEECH = dict(conv_dim=(16, 16), conv_stride=(4, 4), conv_kernel=(8, 4), num_feat_extract_layers=2,
              num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=4, mask_time_prob=0.0)
WHISPER = dict(d_model=32, encoder_layers=1, decoder_layers=1, encoder_attention_heads=4, decoder_attention_heads=4,
               encoder_ffn_dim=64, decoder_ffn_dim=64, vocab_size=100, max_source_positions=32, max_target_positions=32,
               num_mel_bins=8, decoder_start_token_id=1, pad_token_id=0, bos_token_id=1, eos_token_id=2)


def tokens():
    words = torch.randint(0, 100, (2, 12))
    return dict(input_ids=words, labels=words)


def images(size=32):
    return lambda: dict(x=torch.randn(2, 3, size, size))


# The class of the model, the class of its configuration, its values, the input.
TRANSFORMERS = {
    'GPT2': ('GPT2LMHeadModel', 'GPT2Config', dict(n_embd=32, n_layer=2, n_head=4, vocab_size=100, n_positions=32,
                                                   bos_token_id=1, eos_token_id=2), tokens),
    'BERT': ('BertForMaskedLM', 'BertConfig', SMALL, tokens),
    'Llama': ('LlamaForCausalLM', 'LlamaConfig', dict(SMALL, num_key_value_heads=2), tokens),
    'T5': ('T5ForConditionalGeneration', 'T5Config', dict(d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4,
                                                          vocab_size=100, decoder_start_token_id=0), tokens),
    'Mixtral': ('MixtralForCausalLM', 'MixtralConfig', dict(SMALL, num_key_value_heads=2, num_local_experts=4), tokens),
    'Qwen3-MoE': ('Qwen3MoeForCausalLM', 'Qwen3MoeConfig', dict(
        SMALL, num_key_value_heads=2, num_experts=4, num_experts_per_tok=2, moe_intermediate_size=16, head_dim=8), tokens),
    'Mamba': ('MambaForCausalLM', 'MambaConfig', dict(hidden_size=32, num_hidden_layers=2, vocab_size=100, state_size=4),
              tokens),
    'ViT': ('ViTForImageClassification', 'ViTConfig', dict(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, image_size=32, patch_size=8),
        lambda: dict(pixel_values=torch.randn(2, 3, 32, 32), labels=torch.tensor([0, 1]))),
    'Whisper': ('WhisperForConditionalGeneration', 'WhisperConfig', WHISPER,
                lambda: dict(input_features=torch.randn(2, 8, 64), labels=tokens()['labels'])),
    'Wav2Vec2': ('Wav2Vec2ForCTC', 'Wav2Vec2Config', dict(SMALL, vocab_size=20, **SPEECH),
                 lambda: dict(input_values=torch.randn(2, 800), labels=torch.randint(1, 20, (2, 5)))),
}


def of_transformers(name):
    package = pytest.importorskip('transformers', reason='transformers is not installed')
    model, config, values, sample = TRANSFORMERS[name]
    return getattr(package, model)(getattr(package, config)(**values)), sample()


def of_torchvision(make, size=32):
    def made():
        return make(pytest.importorskip('torchvision', reason='torchvision is not installed').models), images(size)()
    return made


def of_timm(name, size):
    def made():
        package = pytest.importorskip('timm', reason='timm is not installed')
        return package.create_model(name, pretrained=False), images(size)()
    return made


def deeplab(models):
    found = importlib.import_module('torchvision.models.segmentation')
    return found.deeplabv3_mobilenet_v3_large(weights=None, weights_backbone=None)


MODELS = {name: (lambda name=name: of_transformers(name)) for name in TRANSFORMERS}
MODELS['vit_b_16'] = of_torchvision(lambda m: m.VisionTransformer(32, 8, 2, 4, 32, 64, num_classes=10))
MODELS['swin_t'] = of_torchvision(lambda m: m.SwinTransformer([4, 4], 16, [2, 2], [2, 2], [4, 4], num_classes=10))
LARGE = {'resnet18': of_torchvision(lambda m: m.resnet18(weights=None)),
         'convnext': of_torchvision(lambda m: m.convnext_tiny(weights=None)),
         'mobilenet': of_torchvision(lambda m: m.mobilenet_v3_small(weights=None)),
         'deeplab': of_torchvision(deeplab, 64), 'BiT': of_timm('resnetv2_50x1_bit', 64),
         'efficientnet': of_timm('tf_efficientnet_b0', 32), 'levit': of_timm('levit_128s', 224)}
MODELS.update(LARGE)


@pytest.mark.parametrize('name', [pytest.param(name, marks=[pytest.mark.long] * (name in LARGE)) for name in MODELS])
@pytest.mark.filterwarnings('ignore')
def test_every_product(name):
    torch.manual_seed(0)
    model, sample = MODELS[name]()
    with Count() as count, ht.precision(RECIPE, strict=True) as p:
        made = model(**sample)
        loss = getattr(made, 'loss', None)
        if loss is None:
            loss = (made['out'] if isinstance(made, dict) else made).square().mean()
        loss.backward()
    assert not count.high and p.report().share == 1
    assert p.report().work('halfulp') == count.low > 0
    assert all(q.grad is None or bool(torch.isfinite(q.grad).all()) for q in model.parameters())


@pytest.mark.long
@pytest.mark.parametrize('name', ['GPT2', 'resnet18'])
@pytest.mark.filterwarnings('ignore')
def test_graphs(name):
    """One graph of torch.compile for the whole model, and torch.export's, have the bits of eager mode."""
    torch.manual_seed(0)
    model, sample = MODELS[name]()
    sample.pop('labels', None)
    sample.update({'use_cache': False} if 'input_ids' in sample else {})  # torch.export has no rule for a cache as a result
    p = ht.precision(RECIPE)

    def passed(call, gradients=True):
        z = call(**sample)
        z = z.logits if hasattr(z, 'logits') else z
        return [z.detach()] + list(torch.autograd.grad(z.square().mean(), list(model.parameters())) if gradients else [])
    model.eval()
    with p:
        want = passed(model)
        got = passed(torch.compile(model, fullgraph=True, backend='aot_eager'))
        exported = torch.export.export(model, (), dict(sample), strict=False)
    for one, two in zip(got, want):
        same(one, two)
    same(passed(exported.module(), False)[0], want[0])
    assert not torch.equal(passed(model, False)[0], want[0])


def small(sample=True):
    model, values = of_transformers('GPT2')
    return (model, values) if sample else model


@pytest.mark.filterwarnings('ignore')
def test_lora():
    """The products of peft's adapters are products like others; only adapters have gradients."""
    peft = pytest.importorskip('peft', reason='peft is not installed')
    torch.manual_seed(0)
    model, sample = small()
    adapted = peft.get_peft_model(model, peft.LoraConfig(r=4, target_modules=['c_attn'], fan_in_fan_out=True))
    layer, seen = model.transformer.h[0].attn.c_attn, []
    layer.register_forward_hook(lambda module, args, z: seen.append((args[0].detach(), z.detach())))
    with torch.no_grad():
        layer.lora_B['default'].weight.normal_()
    with ht.precision(RECIPE, strict=True) as p:
        adapted(**sample).loss.backward()
    places = {row['module'] for row in p.report().rows}
    assert p.report().share == 1 and any('lora_A' in place for place in places)
    assert all((q.grad is not None) == ('lora' in name) for name, q in adapted.named_parameters())
    (x, z), = seen
    one, two = (layer.get_submodule(name + '.default').weight for name in ('lora_A', 'lora_B'))
    base = ht.linear(x, layer.base_layer.weight.t(), layer.base_layer.bias, RECIPE)
    same(z, (base + ht.linear(ht.linear(x, one, None, RECIPE), two, None, RECIPE) * layer.scaling['default']).detach())


@pytest.mark.filterwarnings('ignore')
def test_hooks_of_accelerate():
    """A module that accelerate has given a `forward` of its own, before and after."""
    hooks = pytest.importorskip('accelerate.hooks', reason='accelerate is not installed')
    calls = []

    class Seen(hooks.ModelHook):
        def pre_forward(self, module, *args, **kwargs):
            calls.append(module)
            return args, kwargs
    layer, x = torch.nn.Linear(8, 4), torch.randn(3, 8)
    want = ht.linear(x, layer.weight, layer.bias, RECIPE).detach()
    hooks.add_hook_to_module(layer, Seen())
    with ht.precision(RECIPE, strict=True):
        assert torch.equal(layer(x).detach(), want)
    low = ht.convert(layer, RECIPE, inplace=True)
    assert torch.equal(low(x).detach(), want) and len(calls) == 2


@pytest.mark.long
@pytest.mark.filterwarnings('ignore')
@pytest.mark.parametrize('more', [{}, {'bf16': True}, {'bf16': True, 'gradient_checkpointing': True}], ids=str)
def test_trainer(more, tmp_path):
    """The loop of transformers, in mixed precision and with checkpointing: every product is low, the first gradients have the
    bits of a pass by hand, without checkpointing, and the weights move."""
    package = pytest.importorskip('transformers', reason='transformers is not installed')
    pytest.importorskip('accelerate', reason='accelerate is not installed')
    torch.manual_seed(0)
    model, sample = small()
    rows = [{'input_ids': words, 'labels': words} for words in sample['input_ids']]
    seen = {}

    def first(module, args, kwargs):
        if not seen:
            seen.update(given=dict(kwargs), random=torch.get_rng_state(), state=copy.deepcopy(model.state_dict()))

    class Gradients(package.TrainerCallback):
        def on_pre_optimizer_step(self, *args, **more):
            seen.setdefault('gradients', {name: q.grad.clone() for name, q in model.named_parameters()})
    model.register_forward_pre_hook(first, with_kwargs=True)
    arguments = package.TrainingArguments(str(tmp_path), max_steps=2, per_device_train_batch_size=2, report_to=[],
                                          use_cpu=True, save_strategy='no', disable_tqdm=True, max_grad_norm=0, **more)
    with ht.precision(RECIPE, strict=True, model=model) as p:
        package.Trainer(model, arguments, train_dataset=rows, callbacks=[Gradients()]).train()
    assert p.report().share == 1
    assert any(row['module'] == 'transformer.h.0.attn.c_attn' for row in p.report().rows)
    alone = small(False)
    alone.load_state_dict(seen['state'])
    torch.set_rng_state(seen['random'])
    with torch.autocast('cpu', torch.bfloat16, enabled='bf16' in more), ht.precision(RECIPE):
        alone.train()(**seen['given']).loss.backward()
    for name, q in alone.named_parameters():
        same(q.grad, seen['gradients'][name])
        assert not torch.equal(q, model.get_parameter(name))
