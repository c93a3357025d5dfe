import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetrics } from './metrics.ts';

test('counters and histograms are told in the text format of Prometheus', () => {
  const metrics = createMetrics();
  metrics.count('runs', { level: 'central', result: 'completed' });
  metrics.count('runs', { level: 'central', result: 'completed' });
  metrics.observe('run_duration', 0.3, { level: 'central', result: 'completed' });
  const lines = metrics.render().split('\n');
  assert.ok(lines.includes('# TYPE caseops_runs_total counter'));
  assert.ok(lines.includes('caseops_runs_total{level="central",result="completed"} 2'));
  assert.ok(lines.includes('caseops_run_duration_seconds_bucket{level="central",result="completed",le="0.25"} 0'));
  assert.ok(lines.includes('caseops_run_duration_seconds_bucket{level="central",result="completed",le="0.5"} 1'));
  assert.ok(lines.includes('caseops_run_duration_seconds_count{level="central",result="completed"} 1'));
  for (const line of lines)
    assert.match(line, /^$|^# (HELP|TYPE) caseops_\w+ .+|^caseops_\w+\{(\w+="[^"\\\n]*",?)+\} [\d.e+-]+$/);
});

test('a label that is no short word is told as other, and series are bounded whatever comes in', () => {
  const metrics = createMetrics();
  metrics.count('refusals', { boundary: 'a2a', code: 'a "quote"\nand more' });
  assert.match(metrics.render(), /\{boundary="a2a",code="other"\} 1/);
  for (let index = 0; index < 5_000; index++) metrics.count('refusals', { boundary: 'a2a', code: `code-${index}` });
  const series = metrics
    .render()
    .split('\n')
    .filter((line) => line.startsWith('caseops_refusals_total'));
  assert.ok(series.length <= 201, `${series.length} series`);
  assert.match(metrics.render(), /\{boundary="other",code="other"\} 4\d\d\d/);
});
