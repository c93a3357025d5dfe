export const DEFAULT_ACCOUNT = 'requester@t9';
