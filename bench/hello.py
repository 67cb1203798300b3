"""A plain Streamlit app, to measure beside: `streamlit run hello.py -- torch pandas` imports torch and pandas too."""

import sys
from importlib import import_module

import streamlit as st

for name in sys.argv[1:]:
    import_module(name)

st.title("hello")
name = st.text_input("Name", "world")
st.write(f"Hello, {name}.")
