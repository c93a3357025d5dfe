/** A step's resolved input, as control passes it on. */
import type { Dispatch } from '#contracts/dispatch.ts';
import type { ResolvedInputs } from '#kernel/inputs.ts';

export type StepInput = Extract<ResolvedInputs, { readonly ok: true }>;
export type Json = Dispatch['input'][string];
