"""The model: encoders, heads, subwords, the engine, recognizers for torch and ONNX, and the model folder."""
