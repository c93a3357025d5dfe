/** One SDK client per server: era pinned, no request on connect, nothing of the server's asked for that was not planned. */
import { Client, type CallToolResult, type PriorDiscovery, type Transport } from '@modelcontextprotocol/client';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';
import { OutputMismatch } from './outcome-map.ts';
import { MCP_REVISION } from './wire.ts';

/** What is known of a server before it is asked: `connect` sends nothing, so no request is without a lease. Mandatory on stdio. */
const PRIOR: PriorDiscovery = {
  kind: 'modern',
  discover: {
    supportedVersions: [MCP_REVISION],
    capabilities: { tools: {} },
    ttlMs: 0,
    cacheScope: 'private',
  },
};

/** Connects without sending. A server's wish for input (`input_required`) is an error here: a tool does not talk back. */
export async function connectClient(transport: Transport): Promise<Client> {
  const client = new Client(
    { name: 'caseops', version: '1.0.0' },
    {
      versionNegotiation: { mode: { pin: MCP_REVISION } },
      inputRequired: { autoFulfill: false },
      jsonSchemaValidator: new MismatchValidator(),
    },
  );
  await client.connect(transport, { prior: PRIOR });
  return client;
}

/** The server's own name for its version, from the result's metadata. */
export function serverVersionOf({ _meta: meta }: Pick<CallToolResult, '_meta'>): string | undefined {
  const info = meta?.['io.modelcontextprotocol/serverInfo'];
  const version: unknown = typeof info === 'object' && info !== null && 'version' in info ? info.version : undefined;
  return typeof version === 'string' ? version.slice(0, 64) : undefined;
}

/** The SDK's validator, with a mismatch that can be told from an error which the server sent. */
class MismatchValidator extends AjvJsonSchemaValidator {
  override getValidator<T>(
    schema: Parameters<AjvJsonSchemaValidator['getValidator']>[0],
  ): ReturnType<typeof AjvJsonSchemaValidator.prototype.getValidator<T>> {
    const validate = super.getValidator<T>(schema);
    return (input) => {
      const result = validate(input);
      if (!result.valid) throw new OutputMismatch(`The output breaks the pinned schema: ${result.errorMessage}.`);
      return result;
    };
  }
}
