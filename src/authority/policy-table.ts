/** A team's own policy before Cedar: a table of (actor, action, resource type, purpose, tenants). Nothing listed, nothing permitted. */
import { digestOf } from '#kernel/digest.ts';
import type { PolicyDecisionPoint } from '#ports/policy.ts';
import type { PolicyRow } from '#ports/team-definition.ts';

/** Decides by exact strings; the first row that matches permits. The digest is over the rows in their order, RFC 8785. */
export function createPolicyTable(rows: readonly PolicyRow[]): PolicyDecisionPoint {
  const frozen = rows.map((row) => ({ ...row, tenants: [...row.tenants] }));
  return {
    digest: digestOf(frozen),
    decide({ tenant, actor, action, resourceType, purpose }) {
      const index = frozen.findIndex(
        (row) =>
          row.actor === actor &&
          row.action === action &&
          row.resourceType === resourceType &&
          row.purpose === purpose &&
          row.tenants.includes(tenant),
      );
      if (index !== -1) return { permit: true, rule: `row ${index + 1}` };
      return {
        permit: false,
        reason: `No row of the policy lets ${actor} do ${action} on ${resourceType} for ${purpose}.`,
      };
    },
  };
}
