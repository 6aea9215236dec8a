"""`yq`: YAML documents as trees that keep their form, and expressions over them."""
