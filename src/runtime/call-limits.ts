/** What a configuration says of tool servers: MCP server → calls in flight at most, in one team's process. The tool host keeps it. */
export type CallLimits = Readonly<Record<string, number>>;
