"""One recorded run: padded, sorted, packed, run step by step, unpacked, and verified against torch."""
