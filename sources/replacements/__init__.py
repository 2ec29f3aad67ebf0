"""Our own small stand-ins for third-party modules, cut into tasks like any other definition: never imported."""
