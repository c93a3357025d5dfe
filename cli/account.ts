/** The development identity that asks, by its role: of the case's first tenant. */
export const DEFAULT_ACCOUNT = 'requester';
