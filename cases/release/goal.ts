/** The goal this case understands: promote a release to a share of the traffic, on what its checks found. */
import type { GoalKind } from 'caseops';

export const releasePromotion: GoalKind = {
  kind: 'release_promotion',
  version: '1.0.0',
  purpose: 'release_promotion',
  subject: { type: 'release', entity: 'release_name' },
  recognise: {
    en: [['\\bpromot(e|es|ed|ing|ion)\\b|\\broll(ing|ed)?[ -]?out\\b|\\bramp\\b', 'traffic|%|\\bpercent\\b']],
    ja: [['昇格|展開|リリース', '%|パーセント|トラフィック']],
  },
  entities: [
    {
      kind: 'release_name',
      pattern:
        '(?<![\\p{L}\\p{N}._-])[a-z][a-z0-9]*(?:-[a-z0-9]+)*-(?:v\\d{1,6}|canary|next|candidate)(?![\\p{L}\\p{N}_-])',
      cardinality: 'one',
      question: {
        en: 'Which release is meant? Name one, such as reranker-v17.',
        ja: 'どのリリースのことですか。reranker-v17 のように一つ指定してください。',
      },
    },
    {
      kind: 'traffic_percent',
      pattern: '(?<![\\d.,])\\d{1,3}(?=\\s?(?:%|percent\\b|パーセント))',
      cardinality: 'one',
      question: {
        en: 'Which share of the traffic, in percent?',
        ja: 'トラフィックの何パーセントですか。',
      },
    },
    {
      kind: 'release_version',
      pattern: '(?<=\\bversion\\s{1,4}v?|バージョン\\s{0,4}v?)\\d{1,9}(?![\\d.])',
      cardinality: 'one',
      optional: true,
      question: {
        en: 'Which version of the release? Give one number.',
        ja: 'リリースのどのバージョンですか。',
      },
    },
  ],
  outputs: [
    { kind: 'eval_regressions', required: true },
    { kind: 'error_budget_burn', required: true },
    { kind: 'rollout_policy', required: true },
    { kind: 'promotion_assessment', required: true },
    { kind: 'promotion', required: true },
  ],
  prohibitions: [
    {
      action: 'releases:promote',
      phrases: {
        en: ['\\bpromot', '\\btraffic\\b', '\\broll', '\\bramp', '\\bship', '\\bdeploy'],
        ja: ['昇格', '展開', 'トラフィック'],
      },
    },
  ],
  alwaysProhibitedActions: [],
  constraints: ['evidence-required', 'exact-set-of-findings', 'approval-required'],
  claims: [
    {
      key: 'regressions',
      kind: 'fact',
      output: 'eval_regressions',
      sentence: {
        en: 'Evaluation {run} of {release} against {baseline} found these regressions: {regressions}.',
        ja: '{baseline} に対する {release} の評価 {run} で見つかった後退：{regressions}。',
      },
      slots: {
        run: { anchorType: 'eval-run', pointer: '/run_id', format: 'identifier' },
        release: { anchorType: 'eval-run', pointer: '/release_id', format: 'identifier' },
        baseline: { anchorType: 'eval-run', pointer: '/baseline', format: 'identifier' },
        regressions: { anchorType: 'eval-run', pointer: '/regressions', format: 'list' },
      },
      impact: { en: 'It is not known what the release does worse.', ja: '後退の有無が分かりません。' },
    },
    {
      key: 'burn',
      kind: 'fact',
      output: 'error_budget_burn',
      sentence: {
        en: 'From {from} to {to} the canary of {release} failed {errors} of {requests} requests and burned {burn} of the error budget of that hour.',
        ja: '{from} から {to} の間に {release} のカナリアは {requests} 件中 {errors} 件失敗し、その一時間のエラーバジェットの {burn} を消費しました。',
      },
      slots: {
        release: { anchorType: 'health-window', pointer: '/release_id', format: 'identifier' },
        from: { anchorType: 'health-window', pointer: '/window_from', format: 'date' },
        to: { anchorType: 'health-window', pointer: '/window_to', format: 'date' },
        errors: { anchorType: 'health-window', pointer: '/error_count', format: 'number' },
        requests: { anchorType: 'health-window', pointer: '/request_count', format: 'number' },
        burn: { anchorType: 'health-window', pointer: '/error_budget_burn', format: 'number' },
      },
      impact: {
        en: 'It is not known whether the canary burned error budget.',
        ja: 'エラーバジェットの消費が分かりません。',
      },
    },
    {
      key: 'policy',
      kind: 'fact',
      output: 'rollout_policy',
      sentence: {
        en: 'Rollout policy {policy} allows up to {max} % of the traffic, and above {unreviewed} % a person decides.',
        ja: '展開方針 {policy} は最大 {max} % を許し、{unreviewed} % を超えると人が判断します。',
      },
      slots: {
        policy: { anchorType: 'rollout-policy', pointer: '/policy_id', format: 'identifier' },
        max: { anchorType: 'rollout-policy', pointer: '/traffic_percent_max', format: 'number' },
        unreviewed: { anchorType: 'rollout-policy', pointer: '/unreviewed_percent_max', format: 'number' },
      },
      impact: { en: 'It is not known what the rollout policy allows.', ja: '展開方針が分かりません。' },
    },
    {
      key: 'promoted',
      kind: 'fact',
      output: 'promotion',
      sentence: {
        en: '{release} has {percent} % of the traffic, at version {version} of its flag.',
        ja: '{release} はトラフィックの {percent} % を受けます（フラグのバージョン {version}）。',
      },
      slots: {
        release: { anchorType: 'release-promotion', pointer: '/release_id', format: 'identifier' },
        percent: { anchorType: 'release-promotion', pointer: '/traffic_percent', format: 'number' },
        version: { anchorType: 'release-promotion', pointer: '/version', format: 'code' },
      },
      impact: { en: 'The release has not been promoted.', ja: 'リリースは昇格していません。' },
    },
  ],
  budget: {
    stepCountMax: 8,
    modelTokenCountMax: 0,
    toolCallCountMax: 16,
    concurrencyMax: 4,
    deadlineMs: 15_000,
    replanCountMax: 2,
  },
  observationAgeMsMax: 60_000,
};
