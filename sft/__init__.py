"""From dataset to model."""

import logging

# On a CPU bitsandbytes warns of products in four bits as soon as peft imports it: nothing here asks for these.
logging.getLogger("bitsandbytes.backends.cpu").setLevel(logging.ERROR)
