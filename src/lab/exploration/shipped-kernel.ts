/** The kernel that ships. */
import { decide } from '#kernel/decide.ts';
import { evolve, openRun } from '#kernel/evolve.ts';
import { next } from '#kernel/next.ts';
import type { Kernel } from './explore-plan.ts';

export const SHIPPED_KERNEL: Kernel = { decide, openRun, evolve, next };
