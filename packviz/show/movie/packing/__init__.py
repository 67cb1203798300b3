"""The stages of a batch on its way through padding, packing, a recurrent cell and unpacking."""
