"""yq's language, version 4: documents as trees of nodes, their YAML in and out, expressions over
them.
"""
