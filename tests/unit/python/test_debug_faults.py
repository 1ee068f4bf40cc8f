"""Faults that are planted in kernels: `ember debug` names the node that has one.

Each is the source of one of Ember's kernels, with a fault behind it (planted.py).
"""

from __future__ import annotations

from pathlib import Path

import planted
import pytest
from committed_cases import path_of

from ember import boards, cases, kernels
from ember.run import debugging
from ember.run.first_wrong import Tolerance
from ember.select.rules import Rules

QUICK = 2  # of each kind, for every day

# Case, operator, kernel, the instruction that is the first wrong one.
FAULTS = {
    "rounding": [
        ("model_autoencoder_small", "aten::permute_copy.out", "permute_copy", 0),
        ("op_all", "aten::any.dims_out", "any", 2),
        ("op_cosine_similarity", "aten::sum.IntList_out", "sum_f32", 1),
        ("op_matmul_broadcast", "aten::expand_copy.out", "expand_copy", 0),
        ("op_one_hot", "aten::unsqueeze_copy.out", "unsqueeze_copy", 0),
        ("op_pad_reflect_2d", "aten::index.Tensor_out", "index", 5),
        ("op_repeat_interleave", "aten::view_copy.out", "view_copy", 3),
        ("op_silu_f16", "aten::sigmoid.out", "sigmoid_f32", 1),
        ("op_true_divide_s32", "aten::abs.out", "abs", 0),
        ("op_zeros_ones", "aten::full.out", "full", 0),
        ("special_cond", "dim_order_ops::_to_dim_order_copy.out", "to_copy", 3),
        ("special_constants", "aten::sub.out", "sub_f32_broadcast", 1),
        ("special_counter_integer", "dim_order_ops::_clone_dim_order.out", "clone", 3),
        ("special_delegate_inline", "aten::tanh.out", "tanh_f32", 2),
        ("special_dynamic_dropout", "aten::where.self_out", "where", 3),
        ("special_dynamic_reshape", "dim_order_ops::_clone_dim_order.out", "clone", 4),
        ("special_dynamic_steps", "aten::native_layer_norm.out", "layer_norm_f32", 1),
        ("special_input_mutation", "aten::add.out", "add_f32_broadcast", 0),
        ("special_planned_naive", "aten::addmm.out", "addmm_f32", 1),
        ("special_scan", "dim_order_ops::_to_dim_order_copy.out", "to_copy", 5),
        ("special_scan_cell", "aten::add.out", "add_f32", 8),
        ("special_scan_pair", "aten::mul.out", "mul_f32_broadcast", 0),
    ],
    "stride": [
        ("bundle_lenet", "aten::_softmax.out", "softmax_f32", 11),
        (
            "int8_resnet8_small_m4",
            "cortex_m::quantized_conv2d.out",
            "quantized_conv2d",
            1,
        ),
        ("int8_unet_small_m4", "cortex_m::quantized_conv2d.out", "quantized_conv2d", 2),
        ("model_tokens_small", "aten::permute_copy.out", "permute_copy", 10),
        ("model_torch_encoder_small", "aten::permute_copy.out", "permute_copy", 0),
        ("op_instance_norm", "aten::view_copy.out", "view_copy", 3),
        ("op_pad_replicate_2d", "aten::index.Tensor_out", "index", 2),
        ("op_select_scatter", "aten::eq.Scalar_out", "eq", 1),
        ("special_cond", "aten::mul.out", "mul_f32_broadcast", 8),
        ("special_delay_line", "aten::unsqueeze_copy.out", "unsqueeze_copy", 3),
        ("special_delegate", "aten::tanh.out", "tanh_f32", 2),
        ("special_dynamic_reshape", "aten::relu.out", "relu_f32", 2),
        ("special_io_unplanned", "aten::addmm.out", "addmm_f32", 1),
        ("special_many_dtypes", "aten::eq.Scalar_out", "eq", 3),
        ("special_outputs_unplanned", "aten::permute_copy.out", "permute_copy", 0),
        ("special_ptd", "aten::relu.out", "relu_f32", 2),
        ("special_ptd_state", "aten::add.out", "add_f32", 2),
        ("xnnpack_encoder", "aten::squeeze_copy.dims_out", "squeeze_copy_dims", 2),
    ],
    "border": [
        ("bundle_lenet", "aten::relu.out", "relu_f32", 1),
        ("bundle_stream", "aten::cat.out", "cat", 1),
        (
            "int8_autoencoder_small_m4",
            "cortex_m::quantized_linear.out",
            "quantized_linear",
            1,
        ),
        (
            "int8_mobilenet_small_m55",
            "cortex_m::quantized_conv2d.out",
            "quantized_conv2d",
            1,
        ),
        ("model_gru_small", "aten::sigmoid.out", "sigmoid_f32", 19),
        ("model_tokens_steps_small", "aten::add.out", "add_f32", 22),
        ("op_eye", "aten::add.out", "add_f32", 5),
        ("op_eye", "dim_order_ops::_to_dim_order_copy.out", "to_copy", 4),
        ("op_glu", "aten::slice_copy.Tensor_out", "slice_copy", 0),
        ("op_instance_norm", "aten::repeat.out", "repeat", 0),
        ("op_logsumexp", "aten::add.out", "add_f32", 10),
        ("op_rand_like", "aten::lt.Scalar_out", "lt", 5),
        (
            "special_channels_last",
            "aten::max_pool2d_with_indices.out",
            "max_pool2d_with_indices_f32",
            2,
        ),
        ("special_counter_integer", "aten::mul.out", "mul_f32_broadcast", 2),
        ("special_dynamic_slice", "aten::slice_copy.Tensor_out", "slice_copy", 2),
        ("special_input_mutation", "aten::mul.out", "mul_f32_broadcast", 2),
        ("special_kv_cache", "aten::expand_copy.out", "expand_copy", 5),
        ("special_map_consumed", "aten::mm.out", "mm_f32", 2),
        ("special_mask_rows", "aten::index.Tensor_out", "index_mask", 0),
        ("special_ptd", "aten::addmm.out", "addmm_f32", 1),
        ("xnnpack_encoder", "aten::expand_copy.out", "expand_copy", 5),
        ("xnnpack_rare_elements_f16", "aten::select_copy.int_out", "select_copy", 4),
    ],
    "scratch": [
        (
            "int8_autoencoder_small_m55",
            "cortex_m::dequantize_per_tensor.out",
            "dequantize_per_tensor_f32",
            11,
        ),
        (
            "int8_ds_cnn_small_m4",
            "cortex_m::dequantize_per_tensor.out",
            "dequantize_per_tensor_f32",
            11,
        ),
        (
            "int8_unet_small_m55",
            "cortex_m::quantized_conv2d.out",
            "quantized_conv2d",
            2,
        ),
        ("model_lenet_small", "aten::_softmax.out", "softmax_f32", 11),
        ("op_attention_causal", "aten::any.out", "any", 21),
        ("op_einsum", "aten::unsqueeze_copy.out", "unsqueeze_copy", 0),
        ("op_floor_divide_s32", "aten::div.out_mode", "div_floor", 3),
        ("op_roll", "aten::index_select.out", "index_select", 3),
        (
            "special_channels_last",
            "aten::max_pool2d_with_indices.out",
            "max_pool2d_with_indices_f32",
            2,
        ),
        ("special_cond_consumed", "aten::add.out", "add_f32_broadcast", 4),
        ("special_cond_two_outputs", "aten::sum.IntList_out", "sum_f32", 0),
        ("special_dynamic_arange", "aten::full.out", "full", 4),
        ("special_dynamic_batch", "aten::addmm.out", "addmm_f32", 1),
        ("special_inputs_unplanned", "aten::addmm.out", "addmm_f32", 1),
        ("special_map", "aten::select_copy.int_out", "select_copy", 1),
        ("special_map_cond", "aten::mul.out", "mul_f32_broadcast", 10),
        ("special_planned_alignment_64", "aten::addmm.out", "addmm_f32", 1),
        ("special_three_memories", "aten::addmm.out", "addmm_f32", 1),
        ("xnnpack_lstm", "aten::squeeze_copy.dims_out", "squeeze_copy_dims", 3),
    ],
}


def _cases() -> list[object]:
    return [
        pytest.param(
            kind,
            *row,
            marks=[pytest.mark.slow, *([pytest.mark.long] if number >= QUICK else [])],
            id=f"{kind}-{row[0]}",
        )
        for kind, rows in FAULTS.items()
        for number, row in enumerate(rows)
    ]


@pytest.mark.parametrize(("kind", "case", "op", "kernel", "instruction"), _cases())
def test_the_node_with_a_fault_is_named(
    tmp_path: Path, kind: str, case: str, op: str, kernel: str, instruction: int
) -> None:
    folder = planted.write(tmp_path / "kernels", op, kernel, kind)
    kernels.load.cache_clear()
    host = boards.load("host")
    report = debugging.debug(
        debugging.DebugOrder(
            case=cases.read(cases.find([path_of(case)])[0]),
            board=host,
            against=host,
            rules=Rules((folder,)),
            tolerance=Tolerance(),
        )
    )
    assert report.first is not None
    assert (report.first.instruction, report.kernel) == (instruction, "planted")
    assert debugging.name_of(report.first) == op
    assert report.first.read_by is None
    assert report.first.inputs == ()
