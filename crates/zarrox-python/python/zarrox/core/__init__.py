"""What the interfaces are made of; no part of what the package offers."""
