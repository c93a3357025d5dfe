/** Of the package; package.json says the same, and a test compares the two. */
export const VERSION = '0.1.0';
