"""Which passages of each turn should be annotated?"""
