if (process.argv.length < 3) { console.error("Usage: tool <file>\n\nOptions:\n  --help"); process.exit(1); }
