/** The A2A version spoken here, Major.Minor as it stands in header, card and query. Source: A2A 1.0.1 §3.6. */
export const A2A_VERSION = '1.0';
