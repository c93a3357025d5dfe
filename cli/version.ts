/** The package's version, so that `--version` and `--help` load nothing else; a test compares it with package.json. */
export const VERSION = '0.1.0';
