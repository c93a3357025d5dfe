/** The read-only page in a real browser: a click on a sentence shows its chain; no script is needed; nothing is reported to the console. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { chromium } from 'playwright-core';
import type { RunView } from 'caseops';
import { Home } from './command-line.ts';

const CHROMIUM = '/usr/bin/chromium';
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const skip = existsSync(CHROMIUM) ? false : `no ${CHROMIUM} on this machine`;

test('a click on a sentence shows the chain behind it, with and without script', { skip }, async () => {
  using home = new Home();
  await using server = await home.serve();
  const run = JSON.parse(
    home.run('ask', 'Why has C-102 not been completed? Do not notify anyone.', '-o', 'json').stdout,
  ) as RunView;
  const link = new URL(/page: (\S+)/.exec(server.text())?.[1] ?? '');
  for (const javaScriptEnabled of [true, false]) {
    const profile = mkdtempSync(join(tmpdir(), 'caseops-chromium-'));
    await using browser = await chromium.launchPersistentContext(profile, {
      executablePath: CHROMIUM,
      headless: true,
      args: FLAGS,
      javaScriptEnabled,
    });
    const page = await browser.newPage();
    const reported: string[] = [];
    page.on('console', (message) => message.type() === 'error' && reported.push(message.text()));
    page.on('pageerror', (error) => reported.push(String(error)));
    await page.goto(`${server.url}/runs/${run.runId}${link.search}`);
    assert.ok(!page.url().includes('key='), 'the sign-in key must leave the address');
    for (const claim of run.claims) {
      await page.click(`button.claim[value="${claim.key}"]`);
      await page.locator(`button.claim[value="${claim.key}"][aria-pressed="true"]`).waitFor();
      const why = await page.locator('#why').innerText();
      assert.match(why, /Holds: (\d+) of \1 links verified/);
      for (const item of claim.evidence)
        if (claim.kind === 'fact') assert.ok(why.includes(item.ref), `${claim.key}: ${item.ref}`);
    }
    assert.equal(await page.locator('.answer li').count(), run.claims.length);
    assert.deepEqual(reported, []);
    await browser.close();
    rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
});
