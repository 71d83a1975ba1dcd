"""How far do scores drop under other words?"""
