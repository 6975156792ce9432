"""The language server: what `aisimc_compiler.editor` knows, over the language server protocol."""
