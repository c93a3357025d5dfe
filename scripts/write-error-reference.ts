/** Writes docs/errors.md. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorReference } from './error-reference.ts';

writeFileSync(join(import.meta.dirname, '../docs/errors.md'), errorReference());
