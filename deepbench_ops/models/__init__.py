"""Whole networks of the published tables; their computation never changes.

No model library is used, because a new version of one could change the measured times.
`network_catalogue` lists the networks with their inputs and training, and `batches` draws the
inputs; both need numpy only. The other modules define the networks in torch, and those in
`mindspore/` in MindSpore.
"""
