"""Operations as ONNX models, for the runtimes that execute them: one module per family.

ONNX is a format for trained networks. Weights are constants of a model, which a runtime may
rearrange when it compiles the model, and there are no backward passes.
"""
