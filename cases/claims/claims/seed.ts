import type { SeedRecord } from '../../records.ts';

interface Row {
  readonly tenant: string;
  readonly id: string;
  readonly version: string;
  readonly member: string;
  readonly status: string;
  readonly updatedAt: string;
  readonly missing: readonly string[];
}

/** Synthetic. C-201 belongs to another tenant. */
const ROWS: readonly Row[] = [
  {
    tenant: 't9',
    id: 'C-102',
    version: 'v17',
    member: 'm42',
    status: 'pending_documents',
    updatedAt: '2026-07-22T14:11:09Z',
    missing: ['accident_report'],
  },
  {
    tenant: 't9',
    id: 'C-103',
    version: 'v4',
    member: 'm57',
    status: 'under_review',
    updatedAt: '2026-07-20T08:02:40Z',
    missing: [],
  },
  {
    tenant: 't9',
    id: 'C-104',
    version: 'v9',
    member: 'm61',
    status: 'pending_documents',
    updatedAt: '2026-07-18T16:45:00Z',
    missing: ['repair_invoice', 'identity_document'],
  },
  {
    tenant: 't8',
    id: 'C-201',
    version: 'v2',
    member: 'm90',
    status: 'under_review',
    updatedAt: '2026-07-21T10:00:00Z',
    missing: [],
  },
];

const REQUIRED = ['accident_report', 'identity_document', 'repair_invoice'];

export const CLAIM_RECORDS: readonly SeedRecord[] = ROWS.map(({ tenant, id, version, member, status, updatedAt }) => ({
  tenant,
  id,
  version,
  data: { claim_id: id, member_id: member, claim_type: 'motor', status, updated_at: updatedAt },
}));

export const DOCUMENT_RECORDS: readonly SeedRecord[] = ROWS.map(({ tenant, id, version, missing }) => ({
  tenant,
  id,
  version,
  data: { claim_id: id, missing, required: REQUIRED },
}));
