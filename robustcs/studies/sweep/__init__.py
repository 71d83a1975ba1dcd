"""How do the bins change with the threshold?"""
