/** How a team's author groups served tools into one MCP server. */
import type { McpServerDefinition, ToolEndpoint } from '#ports/team-definition.ts';

/** A server by its name (as the tools' contracts call it), with the version it announces. Checked by `defineTeam`. */
export function mcpServer(
  name: string,
  options: { readonly version: string; readonly tools: readonly ToolEndpoint[] },
): McpServerDefinition {
  return { name, version: options.version, tools: [...options.tools] };
}
