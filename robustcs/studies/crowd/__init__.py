"""What do the grades of crowd workers say?"""
