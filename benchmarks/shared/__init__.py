"""What parts and studies share."""
