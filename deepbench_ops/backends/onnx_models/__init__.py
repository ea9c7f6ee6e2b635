"""The operations as ONNX models, for the runtimes that execute them: one module per family.

ONNX is a format of trained networks. Weights are constants in it, which a runtime may rearrange
when it compiles, and there are no backward passes.
"""
