"""Certified lower bounds on the privacy loss of the algorithms, for chosen neighbouring inputs.

`rows` is the line of a result, `bounds` the confidence statements of sampled results; `gaussian`
has exact likelihoods of Gaussian Thompson sampling. Nothing here proves that an algorithm is
private: a lower bound above the claim refutes it, one below it refutes nothing.
"""
