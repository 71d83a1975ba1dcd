"""How much does a rewriter vary between samples?"""
