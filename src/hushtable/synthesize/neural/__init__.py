"""Networks that draw tables: autoregressive networks, adversarial networks and variational autoencoders.

The steps are here to be planned and described without PyTorch; the modules that define the networks import it, and are imported
only where a network is trained or drawn from (``hushtable.learn.network``).
"""
