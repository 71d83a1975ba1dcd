"""Do similar questions get similar answers?"""
