import type { SeedRecord } from '../../records.ts';

const holder = (tenant: string, claim: string, version: string, member: string, name: string): SeedRecord => ({
  tenant,
  id: claim,
  version,
  data: { member_id: member, claim_id: claim, name, relationship: 'policyholder' },
});

/** Synthetic. C-201 belongs to another tenant. */
export const MEMBER_RECORDS: readonly SeedRecord[] = [
  holder('t9', 'C-102', 'v3', 'm42', 'Mara Ostrow'),
  holder('t9', 'C-103', 'v1', 'm57', 'Ilir Kade'),
  holder('t9', 'C-104', 'v5', 'm61', 'Noemi Falk'),
  holder('t8', 'C-201', 'v2', 'm90', 'Tarik Holm'),
];
