"""A plain Streamlit app for comparison: `streamlit run hello.py -- torch pandas` also imports torch and pandas."""

import sys
from importlib import import_module

import streamlit as st

for name in sys.argv[1:]:
    import_module(name)

st.title("hello")
name = st.text_input("Name", "world")
st.write(f"Hello, {name}.")
