/** The role that our connections act as: it owns nothing, is no superuser and does not bypass row security. */
export const APP_ROLE = 'caseops_app';
