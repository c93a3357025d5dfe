/** What each error code means and what to do next: the part of docs/errors.md that no program can know. A code without a row does not compile. */
import type { ErrorCode, ErrorKind } from '#contracts/error.ts';

export interface Meaning {
  readonly meaning: string;
  readonly next: string;
}

const row = (meaning: string, next: string): Meaning => ({ meaning, next });

/** What a caller does next, by kind alone. */
export const KIND_MEANINGS: Readonly<Record<ErrorKind, string>> = {
  usage: 'The request is not one that can be served. Change it; the same again fails again.',
  contract: 'Something does not keep to a contract. Its producer changes it; the same again fails again.',
  denied: 'It may not be done by who asked. Somebody with the authority asks, or the policy is changed.',
  conflict: 'The world is no longer as the request assumes. Look again, then decide again.',
  limit:
    'A bound was reached. Ask for less, later, or with a larger bound; `detail.retryAfterMs` says when, where it is known.',
  unavailable: 'A part does not answer. The same may be tried again; `retryable` is true.',
  unknown_effect: 'It is not known whether something happened. Do not repeat it; find out first.',
  cancelled: 'It was stopped on purpose. Nothing has to be done.',
  invariant:
    'A rule that must always hold was about to be broken, and nothing was written. Report it with the id in the message.',
};

export const ERROR_MEANINGS: Readonly<Record<ErrorCode, Meaning>> = {
  ERR_USAGE: row('A command, parameter or header does not fit.', 'Correct what the message names.'),
  ERR_CONFIG: row(
    'A configuration, case, team or tool definition is not sound, or a part cannot be opened with it.',
    'Correct what the message names; `caseops doctor` checks an installation.',
  ),
  ERR_PRECONDITION_REQUIRED: row(
    'A decision must name the state that it was made over, by If-Match; this one names none.',
    'Read the item again and send its ETag back.',
  ),
  ERR_NOT_FOUND: row(
    'There is no such run, task, approval or path for this caller. What belongs to another tenant looks the same.',
    'Check id and account.',
  ),
  ERR_GOAL_UNCLEAR: row(
    'The text does not say what is needed for a goal.',
    'Answer the question of the blocked run, or ask in other words.',
  ),
  ERR_STEP_BLOCKED: row(
    'A worker cannot go on without a value that only a person knows; `detail.wants` names the input.',
    'Answer the question of the blocked run: `caseops answer RUN --input NAME=VALUE`.',
  ),
  ERR_GOAL_TEXT: row('The text is blank, or holds a NUL or half a character.', 'Send plain, complete Unicode text.'),
  ERR_GOAL_TOO_LARGE: row(
    'The text is longer than a goal may be.',
    'Say it shorter; records belong in a tool, not in the goal.',
  ),
  ERR_JSON_SYNTAX: row('The body is not JSON.', 'Send one JSON value; the message says where reading stopped.'),
  ERR_JSON_DUPLICATE_NAME: row(
    'An object has a name twice, so that two readers could see two values.',
    'Send each name once.',
  ),
  ERR_JSON_DEPTH: row('The JSON is nested deeper than the bound.', 'Flatten it.'),
  ERR_JSON_NUMBER: row('A number cannot be represented exactly.', 'Send it as text, or within the range of a double.'),
  ERR_JSON_UNICODE: row(
    'A text holds half a character (a lone surrogate) or invalid UTF-8.',
    'Send complete Unicode text.',
  ),
  ERR_JSON_SIZE: row(
    'The body is larger than the bound of this door.',
    'Send less; large results travel as artifacts by digest.',
  ),
  ERR_SCHEMA: row(
    'A value does not conform to the schema of its contract.',
    'Correct the places that the message names by JSON pointer.',
  ),
  ERR_GOAL_CONTRACT: row(
    'A proposed goal contract contradicts the request it was made from.',
    'Correct the intake, usually a model behind it, that proposed it.',
  ),
  ERR_PLAN_REFUSED: row(
    'No plan passed the validator within the allowed rounds.',
    'Read the findings (`caseops runs show`); a skill, a permission or an input is missing.',
  ),
  ERR_PROHIBITION_LOST: row(
    'A goal contract has fewer prohibitions than its text.',
    'Correct the intake; the contract was not used.',
  ),
  ERR_INPUT_UNMAPPED: row(
    'An input of a step has no source in the goal or in an earlier result.',
    'Correct the skill contract or the plan.',
  ),
  ERR_TOOL_OUTPUT_SCHEMA: row(
    "A tool's output does not conform to its pinned schema.",
    'Correct the tool, or pin a new contract version on purpose.',
  ),
  ERR_TOOL_OUTPUT_TENANT: row(
    'A tool returned a record of another tenant, or without one. Nothing of it entered the run.',
    'Correct the tool; treat it as a leak until it is understood.',
  ),
  ERR_TOOL_OUTPUT_VERSION: row(
    'A tool returned a record without a version or observation time, or two of one version.',
    'Let the tool return both; evidence needs them.',
  ),
  ERR_TOOL_OUTPUT_RESOURCE: row('A tool returned a record that was not asked for.', 'Correct the tool.'),
  ERR_TOOL_CONTRACT_DRIFT: row(
    'A server serves a tool otherwise than pinned. The tool is not called until it verifies again.',
    'Compare the two contracts; pin the new one after review.',
  ),
  ERR_TOOL_RESULT_TYPE: row(
    'A server answered with a kind of result that was not planned, such as a request for input.',
    'Use tools that answer with records.',
  ),
  ERR_TOOL_FAILED: row('A tool answered that it failed.', "Look at the tool's own code in `detail.toolCode`."),
  ERR_TOOL_THROTTLED: row(
    'A tool asks to be called later. That is no failure of the tool.',
    'Wait as told, or raise the limit of that server.',
  ),
  ERR_TOOL_UNKNOWN_OUTCOME: row(
    'The connection ended before a tool answered; what it did is not known.',
    'For a read, try again. For a write, look at the owner of the record first.',
  ),
  ERR_ARTIFACT_SCHEMA: row("An artifact or a worker's result does not conform to its schema.", 'Correct the worker.'),
  ERR_ARTIFACT_BINDING: row(
    'An artifact answers another task, step, attempt or lease.',
    'Nothing to do for the run; look at the team that sent it.',
  ),
  ERR_ARTIFACT_DIGEST: row(
    'The bytes of an artifact do not have the digest that it names.',
    'Look for what changes bytes between producer and here.',
  ),
  ERR_ARTIFACT_PRODUCER: row(
    'An artifact names another producer than the team that was asked.',
    'Look at the team that sent it.',
  ),
  ERR_ARTIFACT_MEDIA: row(
    'An artifact has a media type that was not agreed.',
    'Let the team deliver the media type of the contract.',
  ),
  ERR_ARTIFACT_SIZE: row('An artifact is larger than the bound.', 'Let the worker deliver less, or by reference.'),
  ERR_ARTIFACT_EVIDENCE: row(
    'An artifact cites evidence that none of its calls observed, or too little of it.',
    'Correct the worker; only its own calls may be cited.',
  ),
  ERR_ARTIFACT_MISSING: row(
    'A task ended without an artifact, or a stored one cannot be found.',
    "Look at the team's log under the task id.",
  ),
  ERR_ARTIFACT_INCOMPLETE: row(
    'Not all pieces of a streamed artifact came, or not in order. Nothing of it was taken.',
    'It is asked for again; look at the connection if it repeats.',
  ),
  ERR_FINDINGS: row(
    'Findings of several branches are not the exact set that was asked for, or not all passed.',
    'Look at the branch that is missing or failed.',
  ),
  ERR_RESULT_CONFLICT: row(
    'Two results of one step differ. Neither was taken over the other.',
    'A person decides; the run is blocked until then.',
  ),
  ERR_RESULT_FIELD_NOT_OWNED: row(
    'A step returned a field that belongs to another.',
    'Correct the worker or the skill contract.',
  ),
  ERR_CLAIM_NO_EVIDENCE: row(
    'A sentence has no evidence.',
    'It is not said; whoever proposed it binds it to evidence.',
  ),
  ERR_CLAIM_UNKNOWN_EVIDENCE: row(
    'A sentence cites evidence that this run does not have.',
    'It is not said; correct who proposed it.',
  ),
  ERR_CLAIM_FOREIGN_TENANT: row(
    "A sentence cites another tenant's evidence.",
    'It is not said; treat it as an attempt until it is understood.',
  ),
  ERR_CLAIM_FOREIGN_TASK: row("A sentence cites another task's evidence.", 'It is not said; correct who proposed it.'),
  ERR_CLAIM_POINTER: row(
    'A slot of a sentence points to nothing in the observed record.',
    'Correct the claim template, or the record lacks the field.',
  ),
  ERR_CLAIM_FREE_FACT: row('Free text holds a fact outside its slots.', 'Put the fact into a slot, or leave it out.'),
  ERR_CLAIM_PROOF: row(
    'The proof that something did not happen does not hold.',
    'Look at leases and effect ledger of the run: something may have happened.',
  ),
  ERR_EFFECT_PARAMETERS: row('Parameters of an action do not conform to its target.', 'Correct the proposal.'),
  ERR_EFFECT_POSTCONDITION: row(
    'An effect was applied and reads back otherwise than it was approved.',
    'A person compares the two; the ledger has both.',
  ),
  ERR_APPROVER: row(
    'This person may not decide this approval, such as their own request.',
    'Somebody else with the role decides.',
  ),
  ERR_APPROVAL_REJECTED: row('An approver said no.', 'Nothing was done; ask again with another proposal.'),
  ERR_APPROVAL_EXPIRED: row('Nobody decided in time.', 'Ask again; a new approval is requested.'),
  ERR_APPROVAL_WITHDRAWN: row('The request for approval was taken back.', 'Ask again if it is still wanted.'),
  ERR_EFFECT_REFUSED: row(
    'The owner of a resource refused an effect. It was certainly not applied.',
    "Read the owner's reason.",
  ),
  ERR_UNAUTHENTICATED: row(
    'There is no valid identity with this request.',
    'Sign in; `caseops login` for the development identities.',
  ),
  ERR_DENIED: row('The identity is known and may not do this.', 'Ask somebody who may.'),
  ERR_LEASE: row(
    'A lease was refused, or none was given: `detail.code` and `detail.boundary` say by which check and where.',
    'Look at that check in SECURITY.md; no lease means no.',
  ),
  ERR_LEASE_CONSUMED: row(
    'A lease was used before for another request.',
    'A fresh lease is needed; the repeat of the same request would have been answered.',
  ),
  ERR_POLICY: row(
    'A policy does not allow it: of the team, of the goal, or of the skill.',
    'Change the policy on purpose, or the plan.',
  ),
  ERR_IDEMPOTENCY_KEY_REUSED: row(
    'A key or message id was used before for another request.',
    'Take a new key for a new request.',
  ),
  ERR_SEQUENCE: row('Another writer appended to the run first.', 'The driver tries again by itself.'),
  ERR_FENCE: row('Another process holds the run now.', 'This process lets go of it by itself.'),
  ERR_STATE: row('The run or task is in a state that does not allow it.', 'Look at it again.'),
  ERR_CONTRACT_MOVED: row(
    'What a run was planned with is not offered any more: a skill has another contract, or its team is gone.',
    'Migrate the run with `caseops runs migrate RUN --reason …`, bring the contract back, or cancel.',
  ),
  ERR_APPROVAL_STATE: row('The approval is decided, spent or gone.', 'Look at it again.'),
  ERR_APPROVAL_DIGEST: row(
    'The decision is about another action than the one that waits.',
    'Show the action again and decide about that.',
  ),
  ERR_APPROVAL_STALE: row(
    'A bound field changed after approval: `detail` names it.',
    'A new approval is requested over the world as it is.',
  ),
  ERR_EFFECT_PRECONDITION: row(
    'The record has another version than was approved. Nothing was applied.',
    'A new approval is requested over the new version.',
  ),
  ERR_EFFECT_LOCKED: row('Another effect on the same resource is open.', 'Wait for it, or reconcile it.'),
  ERR_BUDGET: row(
    'A step or run has used its budget.',
    'Raise the budget of the goal kind, or let the step ask for less.',
  ),
  ERR_QUOTA: row(
    "The tenant's quota of the day has less left than a step would need; `detail` says how much.",
    'Ask again on the next day (UTC). Nothing of this version holds such a quota; who writes against the store port does.',
  ),
  ERR_DEADLINE: row(
    'It was not done by its deadline.',
    'Look at the slow part (`caseops runs show`, traces), or raise the deadline.',
  ),
  ERR_ATTEMPTS: row('All attempts of a step failed.', 'Read the error of each attempt.'),
  ERR_QUEUE_FULL: row('Too many goals wait already.', 'Ask again after `retry-after`.'),
  ERR_RATE_LIMITED: row('The tenant has asked for too many goals in this minute.', 'Ask again after `retry-after`.'),
  ERR_TEAM_UNREACHABLE: row(
    'A team does not answer, did not start, or shows a card that cannot be trusted.',
    '`caseops agents ls` tells which and why.',
  ),
  ERR_TEAM_FAILED: row('A team answered with a failure of its own.', "Look at the team's log under the task id."),
  ERR_ISSUER_UNREACHABLE: row('The token endpoint does not answer.', 'It is tried again; look at the supervisor.'),
  ERR_STORE: row(
    'A store cannot be opened, read or written.',
    'Look at disk, permissions and the file that the message names.',
  ),
  ERR_SERVER_UNREACHABLE: row('A server, ours or of tools, does not answer.', 'Start it, or correct its address.'),
  ERR_MODEL: row('A model does not answer, or not in the agreed form.', 'The rules work without; look at the model.'),
  ERR_EFFECT_TARGET: row(
    'The owner of a resource does not answer, or nothing here can apply the effect.',
    'It is tried again where it is certain that nothing happened.',
  ),
  ERR_EFFECT_UNKNOWN: row(
    'An effect was sent and its outcome is not known.',
    'It is reconciled by reading back; only an authoritative no lets it be tried again.',
  ),
  ERR_CANCELLED: row(
    'A person, a caller or a shutdown stopped it.',
    'Ask again if it is still wanted; a shutdown continues where it is resumed.',
  ),
  ERR_INVARIANT: row(
    'An invariant would have been broken: `detail.invariant` names it.',
    'Report it with the run id; nothing was written.',
  ),
};
