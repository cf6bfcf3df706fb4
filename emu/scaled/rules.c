/* SPDX-License-Identifier: MIT */
/* The rules of programs: each one is a text that hu_scaling_parse reads, or a reason. */
#include "halfulp/scaled.h"

#define E4M3 "scaled(float8_e4m3fn;scale="
#define TENSOR E4M3 "binary32;block=*x*;zero=formula;special=element;"
#define ROW E4M3 "binary32;block=1x*;zero=formula;special=element;"
#define GROUP E4M3 "binary32;block=1x128;zero=formula;special=element;"
#define GROUP_E8 E4M3 "float8_e8m0fnu;block=1x128;zero=formula;"
#define MX4 "scaled(float4_e2m1fn;scale=float8_e8m0fnu;block=1x32;"
#define MX8 E4M3 "float8_e8m0fnu;block=1x32;"
#define NV4 "scaled(float4_e2m1fn;scale=ue4m3;block=1x16;"
#define TE_S "zero=zero;S=2688/T;t=1/S;s=A*(S*(1/6));"
#define VLLM_S "zero=zero;S=2688/T;t=1/S;s=S*(A*(1/6));"
/* compressed-tensors: a quotient of -0 becomes 0, and so do scales of 0 the spacing of the type at 1. */
#define CT_FP8(type, block) E4M3 type ";block=" block ";zero=formula;minus=own;s=or(scale(A/448),"
#define CT_FP32(block) CT_FP8("binary32", block) "0x34000000);x=x/s)"
#define CT_BF16(block) CT_FP8("bfloat16", block) "0x3c000000);x=bf(x/s))"
#define CT_FP16(block) CT_FP8("binary16", block) "0x3a800000);x=h(x/s))"
#define CT_MX16 "zero=formula;minus=own;s=or(and(h(A/1535),max(even1(A),0x38800000)"
/* Its factor of a tensor is 1 where it would be an infinity: where T times this constant rounds to 0. */
#define CT_NV NV4 "zero=formula;minus=own;S=or(and("
#define CT_X "x=x/(s/S);v=P*(s/S))"
#define IF_SOURCE "fouroversix reference.py at dadfad6, select_intfloat: "
#define IF_OPEN "PyTorch chooses the order of its sums, which decides where both errors are nearly equal."
#define IF(element, error) \
  "scaled(" element ";scale=float8_e4m3fn;block=1x16;rule=intfloat_" error ";steps=multiply;tensor;zero=zero)"
#define MODELOPT_FP8 E4M3 "binary32;block=*x*;zero=formula;s=A/448;x="
#define MODELOPT_NV(t) NV4 "zero=one;minus=own;t=or(" t ",1);s=max(or(A/(6*t),1),0x3b000000);x=x/(s*t))"
#define EPS10 "amin=0x2edbe6ff;" /* 1e-10 */
#define NAN_DROPPED "NaN is dropped from amax there; here as under special=element."
#define APPROXIMATE \
  "It uses rcp.approx, div.full or __fdividef, which are bounded and not defined; within the bound it is "
#define LOG2 "Its exponent comes from a library's log2 in binary32, which differs just above powers of two."

static const hu_scaling_entry rules[] = {
    /* FP8, one level */
    {"torchao.float8.cpu", "torchao quant_primitives.py at 36027d8, Float8Tensor, binary32 on a CPU", "",
     ROW "s=A/448;x=x/s)"},
    {"torchao.float8.cuda", "torchao quant_primitives.py at 36027d8, Float8Tensor, binary32 with CUDA: A times 1/448",
     "Not run here.", ROW "s=A*(1/448);x=x/s)"},
    {"torchao.float8.bf16.cpu", "torchao quant_primitives.py at 36027d8, a bfloat16 tensor on a CPU", "",
     ROW "s=bf(A/448);x=x/s)"},
    {"torchao.float8.bf16.cuda", "torchao quant_primitives.py at 36027d8, a bfloat16 tensor with CUDA", "Not run here.",
     ROW "s=bf(A*(1/448));x=x/s)"},
    {"torchao.training.float8", "torchao float8_utils.py at 36027d8, amax_to_scale", "",
     E4M3 "binary32;block=*x*;special=element;amin=0x2b8cbccc;s=1/(448/A);x=x*(448/A))"},
    {"te.block.float8", "Transformer Engine recipe_common.cuh at d0067d0, block scaling, binary32 scales",
     "An amax whose 448 / A is beyond the input's type gives that type's largest number (here binary32's).",
     E4M3 "binary32;block=1x128;special=element;zero=one;s=1/(448/A);x=x*(448/A))"},
    {"te.block.float8.pow2", "Transformer Engine recipe_common.cuh at d0067d0, block scaling, powers of two", "",
     E4M3 "binary32;block=1x128;special=element;zero=one;s=1/down(448/A);x=x*down(448/A))"},
    {"vllm.fp8.tensor", "vLLM w8a8/fp8/common.cu at 096d3dc, static and dynamic per tensor",
     NAN_DROPPED " Where A / 448 rounds to 0, elements other than 0 are +-448 there, and 0 here.",
     TENSOR "s=A/448;x=x*(1/s))"},
    {"vllm.fp8.token", "vLLM w8a8/fp8/common.cu at 096d3dc, per token", NAN_DROPPED,
     ROW "s=max(A/448,0x36924925);x=x/s)"},
    {"vllm.fp8.group", "vLLM per_token_group_quant.cu at 0f5257e", NAN_DROPPED, GROUP EPS10 "s=A/448;x=x/s)"},
    {"vllm.fp8.group.ue8m0", "vLLM per_token_group_quant.cu at 0f5257e, UE8M0, registers", NAN_DROPPED,
     GROUP_E8 "s=up(max(A/448,0x2edbe6ff));x=x/s)"},
    {"vllm.fp8.group.ue8m0.shared", "vLLM per_token_group_quant.cu at 0f5257e, UE8M0, shared memory", LOG2, ""},
    {"sglang.fp8.token", "SGLang per_token_quant_fp8.cu at 0490047, many rows", NAN_DROPPED,
     ROW "s=A/448;x=x*and(s,1/s))"},
    {"sglang.fp8.token.few", "SGLang per_token_quant_fp8.cu at 0490047, few rows", NAN_DROPPED,
     ROW "s=A/448;x=x*(1/s)*or(and(s,1),0x7f7fffff))"},
    {"sglang.fp8.group", "SGLang per_token_group_quant_8bit_v2.cu at 037cd6e, binary32 scales", NAN_DROPPED,
     GROUP EPS10 "s=A*(1/448);x=x*(448/A))"},
    {"sglang.fp8.group.ue8m0", "SGLang per_token_group_quant_8bit_v2.cu at 037cd6e, UE8M0, column-major", NAN_DROPPED,
     GROUP_E8 EPS10 "s=up(A*(1/448));x=x/s)"},
    {"sglang.fp8.group.ue8m0.rows",
     "SGLang per_token_group_quant_8bit_v2.cu at 037cd6e, UE8M0, row-major: the scale that is stored is rounded up, "
     "the "
     "one that is used is not",
     NAN_DROPPED, GROUP_E8 EPS10 "s=up(A*(1/448));x=x*(448/A))"},
    {"sglang.fp8.triton", "SGLang fp8_kernel.py at 008601f, Triton", APPROXIMATE "vllm.fp8.group.", ""},
    {"sglang.fp8.group.gfx94", "SGLang on gfx94: float8_e4m3fnuz with 224 for its largest", NAN_DROPPED,
     "scaled(float8_e4m3fnuz;scale=binary32;block=1x128;special=element;" EPS10 "s=A*(1/224);x=x*(224/A))"},
    {"deepseek.act_quant", "DeepSeek-V3 inference/kernel.py at 0623163, compiled with exact division",
     "A block of zeros is NaN there (here scale 1).",
     "scaled(float8_e4m3fn;scale=binary32;block=1x128;zero=one;"
     "s=A/448;x=x/s)"},
    {"deepgemm.cpu", "DeepGEMM utils/math.py at 54e2261, per_token_cast_to_fp8 on a CPU", "",
     E4M3 "binary32;block=1x128;amin=0x38d1b717;s=A/448;x=x*(1/s))"},
    {"deepgemm.cuda", "DeepGEMM utils/math.py at 54e2261, per_token_cast_to_fp8 with CUDA", "Not run here.",
     E4M3 "binary32;block=1x128;amin=0x38d1b717;s=A*(1/448);x=x*(1/s))"},
    {"deepgemm.ue8m0", "DeepGEMM utils/math.py at 54e2261, UE8M0: exponents 1 to 254", "",
     E4M3 "float8_e8m0fnu;block=1x128;amin=0x38d1b717;s=max(up(A/448),0x00800000);x=x*(1/s))"},
    {"tensorrt.fp8.group", "TensorRT's scale_1x128_kernel, which FlashInfer has, too",
     "In the input's type the bound is 1.00044e-10.",
     E4M3 "binary32;block=1x128;special=element;" EPS10 "s=1/(448/A);x=x*(448/A))"},
    {"tensorrt.fp8.group.ue8m0", "TensorRT's scale_1x128_kernel, UE8M0", "", GROUP_E8 EPS10 "s=up(1/(448/A));x=x/s)"},
    {"compressed-tensors.fp8.tensor", "compressed-tensors 0.20 helpers.py, binary32 on a CPU", "", CT_FP32("*x*")},
    {"compressed-tensors.fp8.tensor.bf16", "compressed-tensors 0.20 helpers.py, bfloat16 on a CPU", "", CT_BF16("*x*")},
    {"compressed-tensors.fp8.tensor.f16", "compressed-tensors 0.20 helpers.py, binary16 on a CPU", "", CT_FP16("*x*")},
    {"compressed-tensors.fp8.channel", "compressed-tensors 0.20 helpers.py, binary32 on a CPU", "", CT_FP32("1x*")},
    {"compressed-tensors.fp8.channel.bf16", "compressed-tensors 0.20 helpers.py, bfloat16 on a CPU", "",
     CT_BF16("1x*")},
    {"compressed-tensors.fp8.channel.f16", "compressed-tensors 0.20 helpers.py, binary16 on a CPU", "", CT_FP16("1x*")},
    {"compressed-tensors.fp8.block", "compressed-tensors 0.20 helpers.py, binary32 on a CPU", "", CT_FP32("128x128")},
    {"compressed-tensors.fp8.block.bf16", "compressed-tensors 0.20 helpers.py, bfloat16 on a CPU", "",
     CT_BF16("128x128")},
    {"compressed-tensors.fp8.block.f16", "compressed-tensors 0.20 helpers.py, binary16 on a CPU", "",
     CT_FP16("128x128")},
    {"modelopt.fp8", "NVIDIA Model Optimizer 0.47 quant_utils.py, to_quantized_weight, binary32", "",
     MODELOPT_FP8 "x/or(s,1))"},
    {"modelopt.fp8.bf16", "NVIDIA Model Optimizer 0.47 quant_utils.py, to_quantized_weight, bfloat16", "",
     MODELOPT_FP8 "bf(x/or(s,1)))"},
    {"modelopt.fp8.f16", "NVIDIA Model Optimizer 0.47 quant_utils.py, to_quantized_weight, binary16", "",
     MODELOPT_FP8 "h(x/or(s,1)))"},
    {"transformers.fp8", "transformers 5.24 finegrained_fp8.py, Fp8Quantize",
     "Where 448 / A is beyond binary32, elements other than 0 are +-448 there, and zeros NaN.",
     E4M3 "binary32;block=128x128;zero=one;s=and(A*0x30124924,1/(448*(1/A)));x=x*(448*(1/A)))"},
    {"te.delayed", "Transformer Engine delayed_scaling.cu", "Its amax is that of steps before: give it as amax.", ""},
    /* MX */
    {"te.mxfp8", "Transformer Engine ptx_arch_spec.cuh at d0067d0", "An infinity gives the scale 2^127 there.",
     MX8 "s=up(A*(1/448));x=x/s)"},
    {"te.mxfp8.mxfma", "Transformer Engine specialized/quantize_mxfp8.cuh built with _ENABLE_MXFMA: 1/448 in bfloat16",
     "", MX8 "s=up(A*0x3b120000);x=x/s)"},
    {"torchao.mxfp8.rceil", "torchao mx_tensor.py at 36027d8, RCEIL", "", MX8 "s=up(A*(1/448));x=x/s)"},
    {"torchao.mxfp4.rceil", "torchao mx_tensor.py at 36027d8, RCEIL", "", MX4 "s=up(A*(1/6));x=x/s)"},
    {"torchao.mx.rceil.018", "torchao 0.18 RCEIL on a CPU", LOG2, ""},
    {"compressed-tensors.mxfp4", "compressed-tensors mxfp_utils.py at ac8e2ba", "",
     MX4 "minus=own;s=even1(A)/4;x=x/s)"},
    {"compressed-tensors.mxfp4.f16", "compressed-tensors 0.20 mxfp_utils.py, binary16", "",
     MX4 CT_MX16 "/4),1);x=x/s)"},
    {"compressed-tensors.mxfp4.triton", "compressed-tensors forward_helpers.py at ac8e2ba: elements by bfloat16", "",
     MX4 "s=even1(A)/4;x=bf(x/s))"},
    {"compressed-tensors.mxfp8", "compressed-tensors mxfp_utils.py at ac8e2ba: the threshold of E2M1", "",
     MX8 "minus=own;s=even1(A)/256;x=x/s)"},
    {"compressed-tensors.mxfp8.f16", "compressed-tensors 0.20 mxfp_utils.py, binary16", "",
     MX8 CT_MX16 "/256),1);x=x/s)"},
    {"aiter.mxfp8.triton", "AITER Triton MXFP8: the threshold of E2M1", "", MX8 "s=even1(A)/256;x=x/s)"},
    {"aiter.mxfp4", "AITER mx_quant_utils.h at e404860", "", MX4 EPS10 "s=up(A*(1/6));x=x/s)"},
    {"triton_kernels.mxfp4", "triton_kernels _downcast_to_mxfp.py at 0616e64",
     "No scale is below 2^-126, except that of zeros.", MX4 "s=and(A/6,max(up(A/6),0x00800000));x=x*and(A/6,1/s))"},
    {"triton_kernels.mxfp4.down", "triton_kernels ROUND_DOWN until 2025/26, ties to even", "",
     MX4 "s=down(A/6);x=x*(1/s))"},
    {"triton_kernels.mxfp4.old", "triton_kernels before, and Quark's copy: ties away from zero", "",
     MX4 "s=up(A/6);x=rna(x*(1/s)))"},
    {"mlx.mxfp4.gpu", "MLX fp4.h at 846d176, GPU", "NaN as an element is 6 there.", MX4 "s=near(A/6);x=x*(1/s))"},
    {"mlx.mxfp8.gpu", "MLX fp8.h at 846d176, GPU", "NaN as an element is 448 there.", MX8 "s=near(A/448);x=x*(1/s))"},
    {"mlx.mxfp4.generic", "MLX ops.cpp at 846d176: ties toward zero", "", MX4 "minus=none;s=near(A/6);x=rnz(x/s))"},
    {"mlx.mxfp4.032", "MLX 0.32 ops.cpp, binary32 on a CPU: ties toward zero", LOG2,
     MX4 "zero=formula;minus=none;s=or(up(A/6),1);x=rnz(x/s))"},
    {"mlx.mxfp4.032.bf16", "MLX 0.32 ops.cpp, bfloat16 on a CPU", "",
     MX4 "zero=formula;minus=none;s=or(up(bf(A/6)),1);x=rnz(x/s))"},
    {"mlx.mxfp4.032.f16", "MLX 0.32 ops.cpp, binary16 on a CPU", "",
     MX4 "zero=formula;minus=none;s=or(up(h(A/6)),1);x=rnz(x/s))"},
    {"mlx.mxfp8.032", "MLX 0.32 ops.cpp, binary32 on a CPU", LOG2, MX8 "zero=formula;s=or(up(A/448),1);x=x/s)"},
    {"mlx.mxfp8.032.bf16", "MLX 0.32 ops.cpp, bfloat16 on a CPU", "", MX8 "zero=formula;s=or(up(bf(A/448)),1);x=x/s)"},
    {"mlx.mxfp8.032.f16", "MLX 0.32 ops.cpp, binary16 on a CPU", "", MX8 "zero=formula;s=or(up(h(A/448)),1);x=x/s)"},
    {"ggml.mxfp4.cuda", "ggml quantize.cu at d99724f, MXFP4 activations, CUDA from 12.8 on", "",
     MX4 "s=near(A)/4;x=x*(1/s))"},
    {"vllm.mxfp8.fallback", "vLLM _mxfp8_e4m3_quantize_torch at 0013442: no emax", "", MX8 "s=down(A);x=x/s)"},
    {"trainium.mxfp8", "Trainium 3 quantize_mx, as its manual says: floor, and one more", "No device has run it.",
     MX8 "s=down(A)/128;x=x/s)"},
    {"modelopt.mxfp4", "NVIDIA Model Optimizer mxfp4_tensor.py at a2fbac7, apart from its log2",
     LOG2 " Here A / 6 rounded up.", MX4 "minus=all;s=up(A/6);x=rnz(x/s))"},
    {"quark.mxfp4.even", "AMD Quark quantization/utils.py at 1d27b55", "",
     MX4 "s=max(even1(A)/4,and(down(A/0x7f600000)*0x00000001,0x7f000000));x=x/s)"},
    {"quartet.mxfp4", "Quartet mxfp4_triton.py at 00ccd38, by amax", "The decoder takes 3/4 of it.",
     "scaled(float4_e2m1fn;scale=binary32;block=1x32;s=down(A)/4*(4/3);x=rnz(x/s))"},
    {"quartet.quest", "Quartet and qutlass, QuEST", "Its scale comes from a standard deviation.", ""},
    {"qutlass.mxfp4", "qutlass epilogue_quant.h at e74319e, forward, by amax", "", MX4 "s=down(A+0x322bcc77);x=x/s)"},
    {"qutlass.mxfp4.backward", "qutlass quartet_bwd_sm120.cu at e74319e: elements times 3 / s", "",
     MX4 "s=down(A);x=x*(3/s))"},
    {"amd.cvt_scalef32", "cvt_scalef32 of CDNA4, which takes the exponent of a binary32 scale alone", "",
     "scaled(float4_e2m1fn;scale=binary32;block=1x32;s=A/6;x=x/down(s))"},
    {"flashinfer.mxfp8", "FlashInfer quantization_utils.cuh at fb28d72", APPROXIMATE "te.mxfp8.", ""},
    /* NVFP4 */
    {"te.nvfp4.fast", "Transformer Engine with NVTE_USE_FAST_MATH, tuned 1D: a factor in bfloat16", "",
     NV4 TE_S "x=x*bf(S/s))"},
    {"te.nvfp4.zeros", "Transformer Engine core_nvfp4.cuh at d0067d0: +-6 where the scale rounds to 0", "",
     NV4 TE_S "x=x*(1/(s*(1/S))))"},
    {"te.nvfp4.hadamard", "Transformer Engine hadamard_transform_cast_fusion.cu", APPROXIMATE "nvfp4_te.", ""},
    {"fouroversix.static4", "fouroversix reference.py at dadfad6, static 4", "",
     NV4 "zero=zero;S=1792/T;t=1/S;s=A/4*S;x=x*and(s,1/(s*t)))"},
    {"fouroversix.if4", IF_SOURCE "IF4, scale rule mse", IF_OPEN, IF("float4_e2m1fn", "mse")},
    {"fouroversix.if4.mae", IF_SOURCE "IF4, scale rule mae", IF_OPEN, IF("float4_e2m1fn", "mae")},
    {"fouroversix.if4.max", IF_SOURCE "IF4, scale rule abs_max", "", IF("float4_e2m1fn", "max")},
    {"fouroversix.if6_e2m3", IF_SOURCE "IF6 of E2M3, scale rule mse", IF_OPEN, IF("float6_e2m3fn", "mse")},
    {"fouroversix.if6_e3m2", IF_SOURCE "IF6 of E3M2, scale rule mse", IF_OPEN, IF("float6_e3m2fn", "mse")},
    {"torchao.nvfp4.cpu", "torchao nvfp4_tensor.py at 36027d8, binary32 on a CPU", "",
     NV4 "zero=formula;t=T/2688;s=max(A/6/t,0x3c800000);x=x*(1/t/s))"},
    {"torchao.nvfp4.cuda", "torchao nvfp4_tensor.py at 36027d8, CUDA eager", "Not run here.",
     NV4 "zero=formula;t=T*(1/2688);s=max(A*(1/6)/t,0x3c800000);x=x*(1/t/s))"},
    {"torchao.nvfp4.one", "torchao nvfp4_tensor.py at 36027d8, one level", "",
     NV4 "zero=formula;s=max(A/6,0x3c800000);x=x*(1/s))"},
    {"modelopt.nvfp4.cpu", "NVIDIA Model Optimizer NVFP4QTensor at a2fbac7, CPU", "", MODELOPT_NV("T/2688")},
    {"modelopt.nvfp4.cuda", "NVIDIA Model Optimizer NVFP4QTensor at a2fbac7, CUDA", "Not run here.",
     MODELOPT_NV("T*(1/2688)")},
    {"modelopt.nvfp4.triton", "NVIDIA Model Optimizer nvfp4_quant.py", APPROXIMATE "modelopt.nvfp4.cuda.", ""},
    {"vllm.nvfp4.emulation", "vLLM nvfp4_emulation_utils.py at 055e47c, torch with CUDA",
     "Where s is 0 its factor is 1e-8, which gives zeros, too.", NV4 VLLM_S "x=x*and(s,1/(s*(1/S))))"},
    {"vllm.nvfp4.emulation.triton", "vLLM nvfp4_emulation_utils.py at 055e47c, Triton with exact division", "",
     NV4 VLLM_S "x=x*and(s,S/s))"},
    {"vllm.nvfp4.cuda", "vLLM nvfp4_utils.cuh at 20b4ad8; SGLang and FlashInfer have it, too",
     APPROXIMATE "vllm.nvfp4.emulation.", ""},
    {"flashinfer.fp8_to_nvfp4", "FlashInfer cvt_warp_fp8_to_fp4 with exact reciprocals: elements by binary16",
     "The kernel has rcp.approx; with exact reciprocals it is this.", NV4 VLLM_S "x=h(x*(6*(1/S)))*and(s,S*(1/s)))"},
    {"compressed-tensors.nvfp4.cpu", "compressed-tensors helpers.py at ac8e2ba, binary32 on a CPU", "",
     CT_NV "T*0x2ec30c30,2688*(1/T)),1);s=or(scale(S*(A/6)),0x3e000000);" CT_X},
    {"compressed-tensors.nvfp4.cuda", "compressed-tensors helpers.py at ac8e2ba, binary32 with CUDA", "Not run here.",
     CT_NV "T*0x2ec30c30,2688*(1/T)),1);s=or(scale(S*(A*(1/6))),0x3e000000);" CT_X},
    {"compressed-tensors.nvfp4.bf16", "compressed-tensors helpers.py at ac8e2ba, amax in bfloat16, S in binary32", "",
     CT_NV "T*0x2ec30c30,2688*(1/T)),1);s=or(scale(S*bf(A/6)),0x3e000000);" CT_X},
    {"compressed-tensors.nvfp4.bf16.both", "compressed-tensors helpers.py at ac8e2ba, amax and S in bfloat16", "",
     CT_NV "T*0x2ec30c30,bf(2688*bf(1/T))),1);s=or(scale(S*bf(A/6)),0x3e000000);" CT_X},
    {"compressed-tensors.nvfp4.f16.both", "compressed-tensors 0.20 helpers.py, amax and S in binary16", "",
     CT_NV "h(T*0x35430c30),h(2688*h(1/T))),1);s=or(scale(S*h(A/6)),0x3e000000);" CT_X},
    {"cutlass.nvfp4", "CUTLASS sm100_visitor_store_tma_warpspecialized.hpp at 7107b05 with exact reciprocals",
     "The kernel has rcp.approx; with exact reciprocals it is this.", NV4 TE_S "x=x*(S*(1/s)))"},
    {"triton_kernels.nvfp4", "triton_kernels mxfp.py at 018a674", "", NV4 "zero=zero;s=A/6;x=x*and(s,1/s))"},
    {"mlx.nvfp4.gpu", "MLX fp_quantized.h at 846d176, GPU", "", NV4 "zero=zero;S=2688/T;t=1/S;s=A/6*S;x=x*and(s,S/s))"},
    {"mlx.nvfp4.generic", "MLX ops.cpp at 846d176, binary32: ties toward zero", "",
     NV4 "zero=zero;minus=none;S=2688/T;t=1/S;s=A/6*S;x=rnz(x/s*S))"},
    {"mlx.nvfp4.one", "MLX 0.32 ops.cpp, one level, binary32 on a CPU: ties toward zero", "",
     NV4 "zero=zero;minus=none;s=A/6;x=and(s,rnz(x/s)))"},
    {"mlx.nvfp4.one.bf16", "MLX 0.32 ops.cpp, one level, bfloat16 on a CPU", "",
     NV4 "zero=zero;minus=none;s=bf(A/6);x=and(s,rnz(bf(x/s))))"},
    {"mlx.nvfp4.one.f16", "MLX 0.32 ops.cpp, one level, binary16 on a CPU", "",
     NV4 "zero=zero;minus=none;s=h(A/6);x=and(s,rnz(h(x/s))))"},
    {"mlx.nvfp4.cpu", "MLX cpu/quantized.cpp at 846d176: the quotient, then S", "",
     NV4 "zero=zero;S=2688/T;t=1/S;s=A/6*S;x=x/s*S)"},
    {"aiter.nvfp4.triton", "AITER Triton quant.py at e404860: the scale is used before it is rounded", "",
     NV4 "s=A/6;x=x*(1/(A/6)))"},
    {"quartet2.nvfp4", "Quartet-II round_four_six.cu at 8776a90 with exact reciprocals",
     "The kernel has rcp.approx; with exact reciprocals it is this.",
     NV4 "zero=zero;t=T*(1/448)*(1/6);s=A*(1/6)*(1/t);x=x*(1/(or(s,1)*t)))"},
    {"quartet2.eden", "Quartet-II quartet_ii.py, EDEN",
     "Its scales are corrected by a quotient of sums, and stochastic.", ""},
    {"ggml.nvfp4.cuda", "ggml quantize.cu at d99724f, NVFP4 activations",
     "Five scales are tried, by sums of fused multiply-adds: a search that no rule here makes.", ""},
    {"cudnn.nvfp4", "cuDNN block_scale_quantize, as its manual says: the scale rounded up", "No device has run it.",
     NV4 "round=rtp;zero=zero;s=A/6;x=x/s)"},
    {"bitsandbytes.nf4", "bitsandbytes kernels.cu at 95f9af3",
     "Elements are values of a table instead of a format's: see the presets bnb and the number systems.", ""},
};

size_t hu_scaling_rule_count(void) { return sizeof rules / sizeof *rules; }

hu_scaling_entry hu_scaling_rule_at(size_t i) {
  static const hu_scaling_entry none = {0, 0, 0, 0};
  return i < hu_scaling_rule_count() ? rules[i] : none;
}
